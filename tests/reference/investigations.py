"""A small history with a candidate of every kind, and an agent whose script a test writes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from builders import HistoryBuilder
from histories import ROOT
from modelserver import ModelServer
from scripted import Step, play

from probe.agent import AgentLimits
from probe.code.paths import SourceScope
from probe.config import ModelEntry
from probe.git.archive import build_archive
from probe.git.log import iter_window
from probe.models.base import Model
from probe.models.client import Client
from probe.models.prompts import load_prompt
from probe.records import Candidate, Presence
from probe.records.transcript import CommandLine, read_transcript
from probe.reference.candidates import build_candidates
from probe.reference.presence_model import Investigation, investigate_presences

TOTAL = "def total(x):\n    return x.one + x.two\n"
CHECK = "\n\ndef check(x):\n    if x < 0:\n        raise ValueError('negative is refused')\n    return x\n"
SCALE = "def scale(value, factor):\n    shifted = value + factor\n    return shifted\n"
LATER = "\n\ndef later(x):\n    return x.newest * 2\n"


class Case:
    """A history, its snapshot, and its fixes by name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        history = self.history = HistoryBuilder(folder / "history.git")
        history.commit({"README.md": "# pkg\n"})
        self.t0 = history.commit({"pkg/a.py": TOTAL + CHECK, "pkg/old.py": SCALE})
        self.born = history.commit({"pkg/a.py": TOTAL + CHECK + LATER}, "feat: later")
        history.commit({"pkg/old.py": None, "pkg/moved.py": SCALE}, "refactor: move")
        fixed = TOTAL.replace("+", "-")
        self.fixes = {"total": history.commit({"pkg/a.py": fixed + CHECK + LATER}, "fix: total")}
        self.fixes["later"] = history.commit(
            {"pkg/a.py": fixed + CHECK + LATER.replace("* 2", "* 3")}, "fix: later"
        )
        self.fixes["scale"] = history.commit(
            {"pkg/moved.py": SCALE.replace("+", "*")}, "fix: scale"
        )
        self.t1 = history.tip()
        self.archive = folder / "source.tar"
        build_archive(history.path, self.t0, self.archive, repo="case")
        self.candidates = self._candidates()

    def _candidates(self) -> dict[str, Candidate]:
        window = iter_window(self.history.path, self.t0, self.t1)
        fixes = [commit for commit in window if commit.sha in self.fixes.values()]
        found, _ = build_candidates(self.history.path, self.t0, self.t1, fixes, SourceScope())
        return {one.title.removeprefix("fix: "): one for one in found}

    def parent(self, name: str) -> str:
        return self.history.git("rev-parse", f"{self.fixes[name]}^1").decode().strip()


def about(case: Case, url: str, engine: str, **more: Any) -> Investigation:
    """The block of a case; ``entry``, ``limits`` and ``folder`` besides the fields themselves."""
    entry = {"litellm_id": "openai/stub", "api_base": url, "price": "free", "max_attempts": 2}
    model = Model("stub", ModelEntry.model_validate(entry | more.pop("entry", {})))
    limits = AgentLimits(**{"turns": 12, "command_s": 20, **more.pop("limits", {})})
    fields = {
        "mirror": case.history.path,
        "archive": case.archive,
        "t0": case.t0,
        "prompt": load_prompt(ROOT / "prompts/presence.j2"),
        "model": model,
        "engine": engine,
        "limits": limits,
        "transcripts": case.folder / "transcripts",
        "purpose": "presence case/0000",
    }
    return Investigation(**(fields | more))


def investigate(case: Case, about: Investigation, *names: str, usd: float = 0.0) -> list[Presence]:
    """Presence of the named candidates, with the case's own cache."""
    with Client(case.folder / "cache", usd) as client:
        return investigate_presences([case.candidates[n] for n in names], about, client)


def run(*commands: str) -> tuple[str, ...]:
    return commands


def keep(**fields: Any) -> dict[str, Any]:
    base = {"rationale": "It was there.", "verdict": "keep", "ground": None, "confidence": 0.9}
    return {**base, "names": [], "citations": [], **fields}


def drop(ground: str | None, *citations: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    return keep(
        rationale="It was not.", verdict="drop", ground=ground, citations=list(citations), **fields
    )


def cite(command: str, output: str = "", status: int = 0) -> dict[str, Any]:
    return {"command": command, "exit": status, "output": output, "shows": "what it shows"}


def commands(case: Case, name: str) -> list[CommandLine]:
    """What an agent ran for a candidate."""
    path = case.folder / "transcripts" / f"{case.candidates[name].id}.jsonl"
    return [line for line in read_transcript(path) if isinstance(line, CommandLine)]


def looked(
    case: Case, server: ModelServer, engine: str, name: str, *steps: Step, **more: Any
) -> Presence:
    """Presence of one candidate, by an agent that follows a script."""
    play(server, *steps)
    (presence,) = investigate(case, about(case, server.openai, engine, **more), name)
    assert server.errors == []
    assert presence.candidate == case.candidates[name].id
    return presence
