"""Plays the agent of stage presence: looks at the snapshot with a few commands, then decides.

It reads its task in the prompt, asks for one command a turn, reads what was printed, and cites it.
Its rule is plain blame: a candidate is dropped when none of its lines go back to the snapshot. The
same prompt and outputs lead to the same answers.
"""

import json
import re
import shlex
from typing import Any, NamedTuple

from modelserver.neutral import Asked, Reply, Tool

_COMMITS = re.compile(
    r"^Snapshot commit: (\w+)\nFix commit: (\w+)\nParent of the fix: (\w+)", re.MULTILINE
)
_PLACES = "{}:\n((?:- .*\n)+)"
_PLACE = re.compile(r"^- (.+):(\d+)-(\d+)$", re.MULTILINE)
_REMOVED = re.compile(r"^-(?!--)(.*)$", re.MULTILINE)
_WORD = re.compile(r"[A-Za-z_]\w{3,}")
_OUTPUT = re.compile(
    r"^command (\d+): (?:exit status (-?\d+)|time ran out, killed)\n(.*?)"
    r'(?=^command \d+: |^\{"action"|^Not accepted|^Last chance|\Z)',
    re.MULTILINE | re.DOTALL,
)
_LINES = 12


class Task(NamedTuple):
    """What the prompt asks about."""

    t0: str
    parent: str
    places: list[tuple[str, str, str]]
    word: str | None
    """A word of the code that the fix takes away."""


class Seen(NamedTuple):
    """What a command printed."""

    command: str
    exit: int
    text: str


def investigate(asked: Asked) -> Reply | None:
    """The agent's next action; None where the prompt is not one of stage presence."""
    task = read_task(asked) if _is_presence(asked) else None
    if task is None:
        return None
    commands = plan(task)
    seen = _seen(asked.prompt, commands)
    native = bool(asked.tools)
    may_run = "bash" in asked.tools if native else "bash" in json.dumps(asked.schema)
    if len(seen) < len(commands) and may_run:
        return _say(native, "bash", {"command": commands[len(seen)], "timeout_s": None})
    return _say(native, "submit", decide(task, seen))


def read_task(asked: Asked) -> Task | None:
    """Commits, places and a word of the candidate; None where the prompt has none."""
    commits = _COMMITS.search(asked.prompt)
    if commits is None:
        return None
    places: list[tuple[str, str, str]] = []
    for heading in ("in the parent of the fix", "after which the fix only adds"):
        listed = re.search(_PLACES.format(heading), asked.prompt)
        places += _PLACE.findall(listed.group(1)) if listed else []
    diff = asked.prompt.partition("DIFF OF THE FIX")[2]
    words = [word for line in _REMOVED.findall(diff) for word in _WORD.findall(line)]
    return Task(commits[1], commits[3], places, max(words, key=len) if words else None)


def plan(task: Task) -> list[str]:
    """The commands that it runs, one a turn."""
    commands = []
    if task.places:
        path, first, last = task.places[0]
        name = shlex.quote(path)
        commands.append(f"git blame -s -M -w -L{first},{last} {task.t0}..{task.parent} -- {name}")
    if task.word is not None:
        commands.append(f"git grep -I -n -w -F -e {task.word} {task.t0} -- | head -n {_LINES}")
    if task.places:
        count = f"import pathlib; p = pathlib.Path({path!r})\n"
        count += "print(len(p.read_text(errors='replace').splitlines()) if p.exists() else 'none')"
        commands.append(f"python3 - <<'END'\n{count}\nEND")
    return commands


def decide(task: Task, seen: list[Seen]) -> dict[str, Any]:
    """What it submits; every citation is of something that was printed."""
    blamed = [one for one in seen if one.command.startswith("git blame") and one.exit == 0]
    lines = [line for one in blamed for line in one.text.splitlines() if line.strip()]
    drop = bool(lines) and not any(line.startswith("^") for line in lines)
    old = sum(line.startswith("^") for line in lines)
    return {
        "rationale": f"{old} of {len(lines)} blamed lines go back to the snapshot.",
        "verdict": "drop" if drop else "keep",
        "ground": "postdated_precondition" if drop else None,
        "confidence": 0.8 if lines else 0.3,
        "names": [],
        "citations": [_citation(one) for one in (blamed if drop else seen)],
    }


def _citation(one: Seen) -> dict[str, Any]:
    excerpt = "\n".join(one.text.splitlines()[:_LINES])
    shows = "which of the lines the snapshot has" if "blame" in one.command else "what is there"
    return {"command": one.command, "exit": one.exit, "output": excerpt, "shows": shows}


def _seen(prompt: str, commands: list[str]) -> list[Seen]:
    found = []
    for number, status, rest in _OUTPUT.findall(prompt):
        if int(number) <= len(commands):
            text = re.sub(r"^(?:stdout:|stderr:|no output)\n?", "", rest, flags=re.MULTILINE)
            found.append(Seen(commands[int(number) - 1], int(status or -1), text.strip("\n")))
    return found


def _is_presence(asked: Asked) -> bool:
    schema = json.dumps([asked.tools.get("submit"), asked.schema])
    return "deliberate_rejection" in schema and '"citations"' in schema


def _say(native: bool, name: str, arguments: dict[str, Any]) -> Reply:
    if native:
        return Reply(tool_calls=[Tool(name, arguments)])
    given = {"answer": arguments} if name == "submit" else arguments
    return Reply(content=json.dumps({"action": name, **given}))
