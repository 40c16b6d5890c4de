"""Reads what ``git diff-tree --stdin`` prints for many commits, line by line, as bytes.

Per commit: a header with NUL after each field, the raw entries, then the patch without
context, and at last the line that we fed to git as a mark (``= SHA``), which git
echoes. Hunks are read by the counts in their headers, so content that looks like a header, or
like our mark, stays content. A commit whose mark did not come is not yielded: git died in it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from probe.errors import GitError
from probe.git.diff import Hunk
from probe.git.names import decode_path, unquote

HEADER_FORMAT = "%H%x00%P%x00%at%x00%ct%x00%s%x00%b%x00"
COMMIT_FACTOR = 25
"""A commit may hold this many times the lines that one file may hold."""

LINE_BYTES = 200
"""… and a file or commit this many bytes for each line that it may hold: lines can be long."""

_HEADER_FIELDS = 6
_GITLINK = b"160000"


@dataclass(frozen=True, slots=True)
class RawEntry:
    """One changed path: git's letter, both object names, and the paths."""

    status: str
    old_mode: bytes
    new_mode: bytes
    old_blob: bytes
    new_blob: bytes
    path: str
    old_path: str | None

    @property
    def submodule(self) -> bool:
        """The entry is a submodule pointer before or after."""
        return _GITLINK in (self.old_mode, self.new_mode)


@dataclass(slots=True)
class Section:
    """The text changes of one entry: counts always whole, hunks up to the limit."""

    added: int = 0
    deleted: int = 0
    binary: bool = False
    cut: bool = False
    hunks: list[Hunk] = field(default_factory=list)

    def join(self, other: "Section") -> "Section":
        """Both halves of a type change, which git prints as a deletion and a creation."""
        return Section(
            self.added + other.added,
            self.deleted + other.deleted,
            self.binary or other.binary,
            self.cut or other.cut,
            self.hunks + other.hunks,
        )


@dataclass(slots=True)
class Block:
    """All that git printed for one commit; ``sections`` runs parallel to ``entries``."""

    header: list[bytes]
    entries: list[RawEntry] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    listed: bool = True
    """False: git could not even list the changed paths."""

    @property
    def sha(self) -> str:
        """Full object name of the commit."""
        return self.header[0].decode()


class _EndedEarlyError(Exception):
    """The stream ended inside a commit."""


def marked(request: str) -> str:
    """What to feed to ``git diff-tree --stdin`` for one commit: its line, then its mark.

    git echoes lines that name no object, so the mark comes back when all of the commit is out.
    """
    return f"{request}\n= {request.split()[0]}\n"


def read_blocks(
    lines: Iterable[bytes], *, max_file_lines: int, contents: bool = True
) -> Iterator[Block]:
    """Yield a block per commit whose mark has come; stop silently at the end of the stream.

    Args:
        lines: git's output, each line with its newline.
        max_file_lines: a file's hunks beyond this many changed lines are counted, not kept.
        contents: git was asked for a patch; without it ``sections`` stays empty.

    Raises:
        GitError: the output is not what this parser knows.
    """
    try:
        rest = iter(lines)
        for line in rest:
            block, sections = _read_block(line, rest, max_file_lines)
            block.sections = _pair(block, sections) if contents else []
            yield block
    except _EndedEarlyError:
        return


def _read_block(line: bytes, lines: Iterator[bytes], limit: int) -> tuple[Block, list[Section]]:
    block = Block(_read_header(line, lines))
    sections: list[Section] = []
    room = _Room(limit * COMMIT_FACTOR)
    line = _next(lines)
    while not line.startswith(b"= "):
        if line.startswith(b":"):
            block.entries.append(parse_raw(line))
            line = _next(lines)
        elif line.startswith(b"diff --git "):
            section, line = _read_section(lines, _Room(limit), room)
            sections.append(section)
        else:
            if line != b"\n":
                raise GitError(f"git diff-tree: cannot read the line {line!r}")
            line = _next(lines)
    if line[2:-1] != block.header[0]:
        raise GitError(f"git diff-tree: found the mark {line!r} after commit {block.sha}")
    return block, sections


def _read_header(line: bytes, lines: Iterator[bytes]) -> list[bytes]:
    text = line
    while text.count(b"\0") < _HEADER_FIELDS:
        text += _next(lines)
    return text.split(b"\0")[:_HEADER_FIELDS]


def parse_raw(line: bytes) -> RawEntry:
    """Read one ``:mode mode blob blob letter<TAB>path`` line.

    Raises:
        GitError: it is not such a line.
    """
    try:
        facts, *paths = line[1:].rstrip(b"\n").split(b"\t")
        old_mode, new_mode, old_blob, new_blob, letter = facts.split(b" ")
        names = [decode_path(unquote(path)) for path in paths]
        old_path, path = names if len(names) == 2 else (None, names[0])
    except (ValueError, IndexError) as error:
        raise GitError(f"git diff-tree: cannot read the raw line {line!r}") from error
    return RawEntry(letter[:1].decode(), old_mode, new_mode, old_blob, new_blob, path, old_path)


class _Room:
    """How much may still be kept of a file or of a commit."""

    def __init__(self, lines: int) -> None:
        self._lines = lines
        self._bytes = lines * LINE_BYTES

    def holds(self, lines: int) -> bool:
        """Whether so many lines still fit; bytes are known when they are read."""
        return lines <= self._lines and self._bytes > 0

    def fill(self, lines: int, size: int) -> bool:
        """Take up room; False when it was too little."""
        self._lines -= lines
        self._bytes -= size
        return self._bytes >= 0


def _read_section(lines: Iterator[bytes], *rooms: _Room) -> tuple[Section, bytes]:
    section = Section()
    while True:
        line = _next(lines)
        if line.startswith(b"@@ "):
            old_start, old_count, new_start, new_count, title = _hunk_header(line)
            section.deleted += old_count
            section.added += new_count
            count = old_count + new_count
            section.cut = section.cut or not all(room.holds(count) for room in rooms)
            if section.cut:
                _skip_hunk(lines, old_count, new_count)
                continue
            removed, added, size = _read_hunk(lines, old_count, new_count)
            fits = [room.fill(count, size) for room in rooms]
            if not all(fits):
                section.cut = True
                continue
            section.hunks.append(
                Hunk(old_start, old_count, new_start, new_count, removed, added, title)
            )
        elif line.startswith((b"diff --git ", b"= ")):
            return section, line
        elif line.startswith(b"Binary files "):
            section.binary = True


def _hunk_header(line: bytes) -> tuple[int, int, int, int, str]:
    words = line.rstrip(b"\n").split(b" ", 4)
    try:
        old_start, old_count = _range(words[1])
        new_start, new_count = _range(words[2])
    except (ValueError, IndexError) as error:
        raise GitError(f"git diff-tree: cannot read the hunk header {line!r}") from error
    title = words[4].decode("utf-8", errors="replace") if len(words) == 5 else ""
    return old_start, old_count, new_start, new_count, title


def _range(word: bytes) -> tuple[int, int]:
    start, _, count = word[1:].partition(b",")
    return int(start), int(count) if count else 1


def _read_hunk(
    lines: Iterator[bytes], old_count: int, new_count: int
) -> tuple[tuple[str, ...], tuple[str, ...], int]:
    """Both sides of a hunk, and their size in bytes."""
    old = b"".join(islice(lines, old_count))
    removed = _side(old, b"-", old_count)
    if not new_count:
        return removed, (), len(old)
    new = _first_added(lines) + b"".join(islice(lines, new_count - 1))
    return removed, _side(new, b"+", new_count), len(old) + len(new)


def _skip_hunk(lines: Iterator[bytes], old_count: int, new_count: int) -> None:
    for _ in islice(lines, old_count):
        pass
    if new_count:
        _first_added(lines)
        for _ in islice(lines, new_count - 1):
            pass


def _first_added(lines: Iterator[bytes]) -> bytes:
    # The removed side may end with "\ No newline at end of file", which no count includes.
    line = _next(lines)
    return _next(lines) if line.startswith(b"\\") else line


def _side(body: bytes, sign: bytes, count: int) -> tuple[str, ...]:
    """Decode and split ``count`` lines at once; the split proves that each carries ``sign``."""
    if not count:
        return ()
    found = tuple(body[1:-1].decode("utf-8", errors="replace").split("\n" + sign.decode()))
    if len(found) == count and body[:1] == sign and body[-1:] == b"\n":
        return found
    if body.count(b"\n") < count:
        raise _EndedEarlyError
    raise GitError(f"git diff-tree: expected {count} lines that start with {sign!r} in a hunk")


def _pair(block: Block, sections: list[Section]) -> list[Section]:
    paired: list[Section] = []
    left = iter(sections)
    for entry in block.entries:
        section = next(left, None)
        half = next(left, None) if section and entry.status == "T" else None
        if section is None:
            break
        paired.append(section.join(half) if half else section)
    if len(paired) != len(block.entries) or next(left, None) is not None:
        raise GitError(
            f"git diff-tree: commit {block.sha} has {len(block.entries)} changed paths "
            f"but {len(sections)} diffs"
        )
    return paired


def _next(lines: Iterator[bytes]) -> bytes:
    line = next(lines, None)
    if line is None or not line.endswith(b"\n"):
        raise _EndedEarlyError
    return line
