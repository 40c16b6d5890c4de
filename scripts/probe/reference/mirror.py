"""What the stages read from a mirror: blame and diffs of the window, files of the snapshot."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from pathlib import Path

from probe.code.languages import language_of
from probe.code.paths import SourceScope, is_code
from probe.code.units import Unit, find_units
from probe.errors import GitError
from probe.git.blame import BlamedLine, blame
from probe.git.diff import CommitDiff
from probe.git.log import iter_diffs
from probe.git.names import decode_path
from probe.git.objects import ObjectReader, list_tree
from probe.git.process import run_git
from probe.reference.extract import runs
from probe.reference.hunks import words_of
from probe.reference.lineage import squeeze
from probe.reference.trace import Place

MAX_OTHER_FILE = 1_000_000
"""Bytes looked at of a file that is no production code."""


class MirrorHistory:
    """The window's past, by git; implements :class:`probe.reference.trace.History`."""

    def __init__(self, mirror: Path, t0: str, ignored: Collection[str] = ()) -> None:
        self._mirror = mirror
        self._t0 = t0
        self._ignored = ignored
        self.unblamed: list[str] = []
        """Files that git could not blame, with the reason: their lines have no origin."""

    def blame(self, rev: str, path: str, lines: Sequence[int]) -> list[BlamedLine]:
        """Blame of ascending lines; empty where git cannot blame the file."""
        try:
            return blame(
                self._mirror,
                rev,
                path,
                boundary=self._t0,
                ranges=runs(lines),
                ignored=self._ignored,
            )
        except GitError as error:
            self.unblamed.append(str(error))
            return []

    def uses(self, rev: str, words: Collection[str]) -> dict[str, list[Place]]:
        """Lines of a revision that hold a whole word, by word, in git's order.

        By one git process; words that occur nowhere, or of which git cannot say, have no key.
        """
        found: dict[str, list[Place]] = {}
        patterns = [part for word in sorted(words) for part in ("-e", word)]
        options = ("-n", "-o", "-I", "-w", "-F", "-z", "--full-name")
        try:
            printed = run_git(self._mirror, "grep", *options, *patterns, rev, "--")
        except GitError:
            return found
        for line in printed.split(b"\n")[:-1]:
            name, number, word = line.split(b"\0")
            place = Place(rev, decode_path(name.removeprefix(f"{rev}:".encode())), int(number))
            found.setdefault(word.decode("utf-8", errors="replace"), []).append(place)
        return found

    def diffs(self, shas: Iterable[str]) -> Iterable[CommitDiff]:
        """Diffs against the first parent, in the given order, by one git process."""
        return iter_diffs(self._mirror, shas)


class Snapshot:
    """The production files of T0 as lines, units and a text index; read once, on first use."""

    def __init__(self, mirror: Path, t0: str, scope: SourceScope, reader: ObjectReader) -> None:
        self.t0 = t0
        self._mirror = mirror
        self._scope = scope
        self._reader = reader
        self._lines: dict[str, list[str]] = {}
        self._units: dict[str, list[Unit]] = {}
        self._squeezed: dict[str, dict[str, list[int]]] = {}

    @cached_property
    def paths(self) -> frozenset[str]:
        """All files of the snapshot, production or not."""
        return frozenset(
            entry.path
            for entry in list_tree(self._mirror, self.t0)
            if entry.type == "blob" and entry.mode != "120000"
        )

    @cached_property
    def production(self) -> tuple[str, ...]:
        """Production files, sorted."""
        return tuple(sorted(path for path in self.paths if self._scope.is_production(path)))

    def lines(self, path: str) -> list[str]:
        """The lines of a file, without line ends; empty where it is missing or not text."""
        if path not in self._lines:
            self._lines[path] = split_lines(self._content(path))
        return self._lines[path]

    def squeezed(self, path: str) -> dict[str, list[int]]:
        """The numbers of a file's lines by their text without whitespace."""
        if path not in self._squeezed:
            self._squeezed[path] = index_lines(self.lines(path))
        return self._squeezed[path]

    def units(self, path: str) -> list[Unit]:
        """The units of a file; empty where no language plugin claims it."""
        if path not in self._units:
            language = language_of(path)
            content = self._content(path)
            self._units[path] = find_units(language, content) if language and content else []
        return self._units[path]

    @cached_property
    def by_text(self) -> dict[str, list[tuple[str, int]]]:
        """Where each line of a production file stands, by its text without whitespace."""
        index: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for path in self.production:
            for text, numbers in self.squeezed(path).items():
                if text:
                    index[text] += [(path, number) for number in numbers]
        return index

    def unique_text(self, text: str) -> tuple[str, int] | None:
        """The only line with a text: in production files, else in all other program text.

        Tests, examples, generated and vendored code count there, since code moves out of them.

        Args:
            text: without whitespace.
        """
        places = self.by_text.get(text)
        if places is None:
            return self._elsewhere.get(hash(text))
        return places[0] if len(places) == 1 else None

    @cached_property
    def _elsewhere(self) -> dict[int, tuple[str, int] | None]:
        """Lines of other program text, by the hash of what they say; None for repeated ones."""
        index: dict[int, tuple[str, int] | None] = {}
        for path in sorted(self.paths.difference(self.production)):
            content = self._content(path) if is_code(path) else b""
            for number, line in enumerate(split_lines(content[:MAX_OTHER_FILE]), 1):
                key = hash(squeeze(line))
                index[key] = None if key in index else (path, number)
        return index

    @cached_property
    def words(self) -> frozenset[str]:
        """Every name that occurs in a production file."""
        return frozenset(
            word for path in self.production for line in self.lines(path) for word in words_of(line)
        )

    @cached_property
    def by_unit(self) -> dict[str, list[tuple[str, Unit]]]:
        """The units of all production files by qualified name."""
        index: dict[str, list[tuple[str, Unit]]] = defaultdict(list)
        for path in self.production:
            for unit in self.units(path):
                index[unit.name].append((path, unit))
        return index

    def _content(self, path: str) -> bytes:
        return (self._reader.read(self.t0, path) or b"") if path in self.paths else b""


def index_lines(lines: Sequence[str]) -> dict[str, list[int]]:
    """The numbers of lines, from 1, by their text without whitespace."""
    index: dict[str, list[int]] = defaultdict(list)
    for number, line in enumerate(lines, 1):
        index[squeeze(line)].append(number)
    return dict(index)


def split_lines(content: bytes) -> list[str]:
    """Lines as git counts them: ended by line feeds alone, undecodable bytes replaced.

    Binary content (a NUL among the first 8,000 bytes, git's own rule) has no lines.
    """
    if b"\0" in content[:8000]:
        return []
    text = content.decode("utf-8", errors="replace")
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines
