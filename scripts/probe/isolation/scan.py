"""The scan of a run's transcripts: what its sessions were shown, said and tried of the time after T0.

A hit is evidence for a person, and is weighed by what else can explain it:

- ``leak``: what a tool printed, or a prompt gave, cannot be known at T0: the name of a window commit (10
  digits or more, or two shorter ones), lines of one fix (two of them in one text, or a long one), a
  later issue by its address on the project's host; and results of a provider's web search.
- ``suspect``: the same in the model's own words or commands, and in output that may echo them. A model
  can remember the project's future from its training, may write the very fix because it found the bug,
  and a bare ``#600`` may be a colour, or an issue of another project. That is contamination, skill or
  chance, and no hole in the isolation.
- ``attempt``: a command that asks for history or a network, a web tool that the model called.

What the snapshot holds is no hit, and what the prompt or the model said before is no leak of the output
that repeats it.
"""

import os.path
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from probe.isolation.attempts import Attempt, find_attempts, find_web_tools
from probe.isolation.transcripts import Piece, Transcript, read_session
from probe.isolation.unknown import (
    HEX,
    SURE_DIGITS,
    Needle,
    Unknown,
    find_needles,
    references,
)
from probe.records import LeakKind, LeakSource, LeakWeight, PassResult, SessionLeak

_SURE_LINES = 2
"""So many lines of one fix in one text are no chance."""
_SURE_CHARS = 80
"""So long a line of a fix is none either."""
_SURE_COMMITS = 2
"""So many abbreviated window commits in one text are no chance."""
_SHOWN = 160
_OWN: frozenset[LeakSource] = frozenset({"message", "command"})


class Scan(NamedTuple):
    """What a scan of a run gave."""

    leaks: list[SessionLeak]
    """Hits, by pass in the order of the results."""
    transcripts: int
    """Transcripts that were read."""


class _Hit(NamedTuple):
    kind: LeakKind
    key: str
    """What was hit: a commit, a number."""
    words: str
    line: int
    sure: bool


def scan_run(results: Iterable[tuple[Path, PassResult]], unknown: Unknown) -> Scan:
    """Scan the transcripts of a run's passes.

    Args:
        results: each pass file with what is in it; a pass without a transcript had no session.
        unknown: what to look for.

    Raises:
        IsolationError: a transcript is missing or malformed: its pass counts as clean nowhere.
    """
    leaks: list[SessionLeak] = []
    read = 0
    for file, result in results:
        if result.transcript is not None:
            read += 1
            transcript = Path(os.path.normpath(file.parent / result.transcript))
            leaks += scan_session(transcript, result.pass_id, unknown)
    return Scan(leaks, read)


def scan_session(transcript: Path, pass_id: str, unknown: Unknown) -> list[SessionLeak]:
    """The hits in one transcript, each thing once for who said it, in the transcript's order.

    Raises:
        IsolationError: it is missing or malformed.
    """
    found: dict[tuple[LeakKind, str, LeakSource], list[_Hit]] = {}
    session = read_session(transcript)
    for piece in session.pieces:
        for hit in _hits(piece, unknown):
            found.setdefault((hit.kind, hit.key, piece.source), []).append(hit)
    leaks = []
    first = {key: hits[0].line for key, hits in found.items()}
    for (kind, key, source), hits in found.items():
        said = [first[kind, key, own] for own in _OWN if (kind, key, own) in first]
        echo = source == "output" and any(line <= hits[0].line for line in said)
        given = source != "prompt" and (kind, key, "prompt") in first
        if given:  # the prompt's hit stands for all that repeat it
            continue
        weight = _weight(source, hits, echo=echo)
        leaks.append(_leak(transcript, pass_id, source, weight, hits))
    leaks += _attempts(transcript, pass_id, session)
    return sorted(leaks, key=lambda leak: int(leak.where.rpartition(":")[2]))


def _weight(source: LeakSource, hits: Iterable[_Hit], *, echo: bool) -> LeakWeight:
    if source in _OWN or echo:
        return "suspect"
    return "leak" if any(hit.sure for hit in hits) else "suspect"


def _hits(piece: Piece, unknown: Unknown) -> Iterator[_Hit]:
    yield from _commit_hits(piece, unknown)
    yield from _number_hits(piece, unknown)
    yield from _fix_hits(piece, unknown)


def _fix_hits(piece: Piece, unknown: Unknown) -> Iterator[_Hit]:
    if not unknown.needles:
        return
    lines: dict[str, dict[str, Needle]] = {}
    for line in piece.text.splitlines():
        for needle in find_needles(line, unknown.needles):
            lines.setdefault(needle.commit, {})[needle.text] = needle
    for commit, found in lines.items():
        for text, needle in found.items():
            sure = len(found) >= _SURE_LINES or len(text) >= _SURE_CHARS
            yield _Hit("fix_text", commit, needle.shown, piece.line, sure)


def _commit_hits(piece: Piece, unknown: Unknown) -> Iterator[_Hit]:
    found: list[tuple[str, str]] = []
    for match in HEX.finditer(piece.text):
        word = match[0].lower()
        if word in unknown.seen.hexes:
            continue
        sha = next((s for s in unknown.commits.get(word[:7], ()) if s.startswith(word)), None)
        # an older commit's name too, or a number, or a word
        chance = word[:7] in unknown.old or word.isdigit() or word.isalpha()
        if sha is not None and (len(word) >= SURE_DIGITS or not chance):
            found.append((sha, match[0]))
    several = len({sha for sha, _ in found}) >= _SURE_COMMITS
    for sha, words in found:
        sure = several or len(words) >= SURE_DIGITS
        yield _Hit("window_sha", sha, words, piece.line, sure)


def _number_hits(piece: Piece, unknown: Unknown) -> Iterator[_Hit]:
    if unknown.last is None:
        return
    for found in references(piece.text):
        ours = found.slug is not None and f"/{found.slug}".endswith(unknown.slug)
        if found.slug and not ours:
            continue
        late = unknown.last < found.number <= unknown.newest
        if late and found.number not in unknown.seen.numbers:
            yield _Hit("issue_number", str(found.number), found.words, piece.line, ours)


def _attempts(transcript: Path, pass_id: str, session: Transcript) -> list[SessionLeak]:
    """Attempts of a session, each program once."""
    tried: dict[tuple[LeakKind, str, LeakWeight], list[Attempt]] = {}
    found = [one for piece in session.pieces for one in find_attempts(piece)]
    found += [one for line, text in session.events for one in find_web_tools(text, line)]
    for one in found:
        tried.setdefault((one.kind, one.name, one.weight), []).append(one)
    return [
        SessionLeak(
            kind=kind,
            where=f"{transcript.name}:{uses[0].line}",
            detail=f"{name}: {uses[0].words}",
            pass_id=pass_id,
            source="command",
            weight=weight,
            count=len({one.words for one in uses}),
        )
        for (kind, name, weight), uses in tried.items()
    ]


def _leak(
    transcript: Path, pass_id: str, source: LeakSource, weight: LeakWeight, hits: Sequence[_Hit]
) -> SessionLeak:
    first = hits[0]
    words = " | ".join(dict.fromkeys(hit.words for hit in hits))
    about = {
        "window_sha": f"names the window commit {first.key}: {words}",
        "fix_text": f"has {len({h.words for h in hits})} line(s) of the fix {first.key[:12]}: {words}",
    }.get(first.kind, f"names the later issue or pull request {first.key}: {words}")
    return SessionLeak(
        kind=first.kind,
        where=f"{transcript.name}:{first.line}",
        detail=" ".join(about.split())[:_SHOWN],
        pass_id=pass_id,
        source=source,
        weight=weight,
        count=len(hits),
    )
