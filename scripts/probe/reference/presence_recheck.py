"""Before a drop counts: the workflow runs its cited commands again and looks for itself.

Each citation gets a fresh sandbox, equal to the agent's and without anything that the agent left.
It is reproduced when the command ends in time with the same exit status, and the excerpt stands in
what it prints. A claim that code is absent is checked besides, since no excerpt can show that
something is nowhere: the names that the code needs are searched for in the whole snapshot.
"""

import re
import shlex
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from probe.code.languages import language_of
from probe.code.units import Unit, find_units
from probe.errors import SandboxError
from probe.git.objects import ObjectReader
from probe.records import Candidate, Evidence
from probe.reference.presence_answer import Citation
from probe.reference.presence_box import Checkout
from probe.sandbox import Output

MAX_OUTPUT = 4_000
"""Characters of an excerpt that are kept."""

_LEFT_OUT = re.compile(
    r"(?m)^[ \t]*(?:\.\.\.+|…|\[\.\.\.\]|\[…\]|\[\d+ lines, \d+ characters cut here\]"
    r"|command \d+: .*|stdout:|stderr:|no output)[ \t]*$"
)
"""Lines of an excerpt that no command printed: marks of what is left out, and the loop's own."""


@dataclass(frozen=True)
class Recheck:
    """What became of the evidence for a drop."""

    evidence: tuple[Evidence, ...]
    """The citations with what their second execution showed, then the workflow's own searches."""
    problem: str | None
    """Why the drop does not hold, in a line; None where it does."""


def mismatch(cited: Citation, fresh: Output) -> str | None:
    """How a second execution differs from what was cited; None where it is reproduced.

    1. It must end in time, with the cited exit status.
    2. The excerpt is cut at lines that only mark what is left out (``...``), and at the words with
       which the agent loop introduces an output. Each piece must stand in the fresh output (stdout,
       then stderr) word for word, in order; between words any whitespace is like any other.
    3. An excerpt without a word is reproduced by a command that prints none.
    """
    if fresh.exit is None:
        return "its time ran out"
    if fresh.exit != cited.exit:
        return f"ended with {fresh.exit} instead of {cited.exit}"
    printed = _words(f"{fresh.stdout}\n{fresh.stderr}")
    pieces = [words for piece in _LEFT_OUT.split(cited.output) if (words := _words(piece)).strip()]
    if not pieces:
        return "printed something, but nothing of it is cited" if printed.strip() else None
    place = 0
    for piece in pieces:
        found = printed.find(piece, place)
        if found < 0:
            return f"did not print: {' '.join(piece.split())[:80]}"
        place = found + len(piece) - 1
    return None


def recheck(checkout: Checkout, citations: Iterable[Citation], command_s: float) -> Recheck:
    """Execute each cited command once more; all of them must be reproduced.

    Args:
        checkout: what the agent's sandbox was opened from.
        citations: those of the drop.
        command_s: seconds of one command.

    Raises:
        SandboxError: no sandbox can be opened any more.
    """
    evidence, problems = [], []
    for cited in citations:
        fresh = _execute(checkout, cited.command, command_s)
        problem = "ended its sandbox" if fresh is None else mismatch(cited, fresh)
        evidence.append(
            Evidence(
                command=cited.command,
                output=cited.output[:MAX_OUTPUT],
                exit=None if fresh is None else fresh.exit,
                reproduced=problem is None,
            )
        )
        if problem:
            problems.append(f"{' '.join(cited.command.split())[:120]}: {problem}")
    return Recheck(tuple(evidence), problems[0] if problems else None)


def search_names(
    checkout: Checkout, t0: str, repaired: Sequence[str], names: Sequence[str], command_s: float
) -> Recheck:
    """Look for the names of code that is said to be absent in every file of the snapshot.

    A dotted name is there when each of its words is. Absence holds when no name is there, and
    when every name does occur in the repaired code: a made-up name is absent from anything.

    Args:
        checkout: what the agent's sandbox was opened from.
        t0: the snapshot commit.
        repaired: the fix commit and its parent, where the names must occur.
        names: the agent's names and those of the enclosing units.
        command_s: seconds of one command.

    Raises:
        SandboxError: no sandbox can be opened any more.
    """
    evidence: list[Evidence] = []
    with closing(checkout.open()) as box:
        for name in dict.fromkeys(names):
            words = re.findall(r"\w+", name) or [name]
            for word in reversed(words):
                known = box.run(_grep(("-q",), word, repaired), command_s)
                if known.exit != 0:
                    problem = f"{word!r} does not occur in the repaired code"
                    return Recheck(tuple(evidence), problem)
                found = _search(box.run(command := _grep(("-n",), word, [t0]), command_s), command)
                if found.reproduced:
                    break
            evidence.append(found)
            if not found.reproduced:
                said = "occurs in the snapshot" if found.exit == 0 else "could not be searched for"
                return Recheck(tuple(evidence), f"{name!r} {said}")
    return Recheck(tuple(evidence), None)


def unit_names(mirror: Path, parent: str | None, candidate: Candidate) -> list[str]:
    """Qualified names of the innermost units around the lines that a fix repairs.

    Args:
        mirror: a git directory with the window.
        parent: the fix commit's first parent; None for a root commit.
        candidate: with its places in that parent.
    """
    names: list[str] = []
    if parent is None:
        return names
    with ObjectReader(mirror) as reader:
        for place in (*candidate.parent_locations, *candidate.insertion_points):
            language, content = language_of(place.path), reader.read(parent, place.path)
            if language is None or not content:
                continue
            around = find_units(language, content, (place.first, place.last))
            if around:
                names.append(min(around, key=_span).name)
    return list(dict.fromkeys(names))


def _execute(checkout: Checkout, command: str, command_s: float) -> Output | None:
    """What a command does in a fresh sandbox; None where it ends two of them."""
    for _ in range(2):
        with closing(checkout.open()) as box:
            try:
                output = box.run(command, command_s)
            except SandboxError:
                continue
            if output.exit == 0 or box.alive():
                return output
    return None


def _search(output: Output, command: str) -> Evidence:
    """A search of our own; it is for absence exactly when git says that there is nothing."""
    lines = "".join(f"{line[:200]}\n" for line in output.stdout.splitlines()[:5])
    return Evidence(
        command=command, output=lines, exit=output.exit, reproduced=output.exit == 1 and not lines
    )


def _grep(options: Sequence[str], word: str, revisions: Sequence[str]) -> str:
    whole = ("-w",) if re.fullmatch(r"\w+", word) else ()
    return shlex.join(["git", "grep", "-I", *options, *whole, "-F", "-e", word, *revisions, "--"])


def _words(text: str) -> str:
    """Words with one space between them and around them."""
    return f" {' '.join(text.split())} "


def _span(unit: Unit) -> tuple[int, int]:
    return unit.last - unit.first, -unit.first
