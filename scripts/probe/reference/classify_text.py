"""What a model is shown of a commit: valid text of a bounded number of tokens, the same every time.

Production files come first, so that a lock file of 13,000 lines never pushes a small repair out of
sight; what is still too long keeps its head and its tail, and says how much lies between them.
"""

from collections.abc import Callable, Iterable, Sequence

from probe.code.paths import path_role
from probe.code.tokens import count_tokens
from probe.git.diff import CommitDiff, FileDiff, Hunk
from probe.records import Commit, FileChange

HEAD_SHARE = 2 / 3
"""Of a cut text's tokens, those that go to its head."""

_LONGEST_TOKEN = 128
"""Characters of the longest token of cl100k_base (a run of blanks)."""
_GAP_TOKENS = 24
_RANK = {"source": 0, "vendored": 1, "test": 2}
_CONTROLS = {code: "\ufffd" for code in range(32) if chr(code) not in "\t\n\r"}


def cut_middle(text: str, budget: int) -> str:
    """The text, or its head and tail around a line that states the gap.

    Args:
        text: any text.
        budget: tokens (cl100k_base) of the result, at most; below 30 nothing of a longer text
            may be left.
    """
    if _count(text, budget) <= budget:
        return text
    lines = text.split("\n")
    pieces = [f"{line}\n" for line in lines[:-1]] + [lines[-1]]
    room = budget - _GAP_TOKENS
    while room > 0:
        head_room = round(room * HEAD_SHARE)
        head = _take(pieces, head_room, lambda piece, size: piece[:size])
        tail = _take(reversed(pieces), room - head_room, lambda piece, size: piece[-size:])
        cut = _join(text, head, tail) if head + tail < len(text) else text
        over = count_tokens(cut) - budget
        if over <= 0:
            return cut
        room -= over
    return ""


def one_line(text: str, longest: int | None = None) -> str:
    """The words of a text with single spaces between them, at most ``longest`` characters."""
    return " ".join(text.split())[:longest]


def clean(text: str) -> str:
    """The text as valid UTF-8 without control characters; tabs and line ends stay."""
    return text.encode("utf-8", errors="replace").decode("utf-8").translate(_CONTROLS)


def statistics_text(commit: Commit) -> str:
    """The changed paths with their line counts, after a line with the sums."""
    added = sum(change.added or 0 for change in commit.files)
    deleted = sum(change.deleted or 0 for change in commit.files)
    lines = [f"{len(commit.files)} files, +{added} -{deleted}"]
    for change in sorted(commit.files, key=_rank):
        counts = "" if change.added is None else f" +{change.added} -{change.deleted or 0}"
        notes = "".join(f" ({note})" for note in _notes(change))
        lines.append(f"{change.path}{counts}{notes}")
    if commit.renames_limited:
        lines.append("(too many files to look for renames)")
    return clean("\n".join(lines))


def diff_text(diff: CommitDiff | None) -> str:
    """The changed lines in the unified format, production files first, whole.

    Args:
        diff: None where it is not there.
    """
    if diff is None or (diff.missing and not any(file.hunks for file in diff.files)):
        return "[the diff cannot be read: its content is missing from the repository]"
    files = sorted(diff.files, key=lambda file: _rank(file.change))
    lines = [line for file in files for line in _file_lines(file)]
    if diff.missing:
        lines.append("[part of the diff cannot be read: missing from the repository]")
    return clean("\n".join(lines)) or "[no content changes]"


def _count(text: str, budget: int) -> int:
    """Its tokens, or any number above the budget: a text that cannot fit is not read."""
    return budget + 1 if len(text) > budget * _LONGEST_TOKEN else count_tokens(text)


def _take(pieces: Iterable[str], room: int, part: Callable[[str, int], str]) -> int:
    """Characters of the leading pieces that fit; a part of the next one if half is still free."""
    taken, left = 0, room
    for piece in pieces:
        tokens = _count(piece, left)
        if tokens > left:
            return taken + (_longest_part(piece, left, part) if 2 * left >= room else 0)
        taken += len(piece)
        left -= tokens
    return taken


def _longest_part(piece: str, room: int, part: Callable[[str, int], str]) -> int:
    low, high = 0, min(len(piece), 8 * room)
    while low < high:
        middle = (low + high + 1) // 2
        if count_tokens(part(piece, middle)) <= room:
            low = middle
        else:
            high = middle - 1
    return low


def _join(text: str, head: int, tail: int) -> str:
    end = len(text) - tail
    gap = text[head:end]
    lines = gap.count("\n") + (not gap.endswith("\n"))
    before = "" if head == 0 or text[head - 1] == "\n" else "\n"
    note = f"[... {len(gap)} characters in {lines} lines left out here ...]"
    return f"{text[:head]}{before}{note}\n{text[end:]}"


def _rank(change: FileChange) -> int:
    return _RANK.get(path_role(change.path), 3)


def _notes(change: FileChange) -> list[str]:
    notes = []
    if change.old_path is not None:
        verb = "copied" if change.status == "C" else "renamed"
        notes.append(f"{verb} from {change.old_path}")
    named = {"A": "new file", "D": "deleted", "T": "type changed"}.get(change.status)
    if named:
        notes.append(named)
    if change.submodule:
        notes.append("submodule pointer")
    elif change.binary:
        notes.append("binary")
    return notes


def _file_lines(file: FileDiff) -> list[str]:
    change = file.change
    old = "/dev/null" if change.status == "A" else f"a/{change.old_path or change.path}"
    new = "/dev/null" if change.status == "D" else f"b/{change.path}"
    lines = [f"--- {old}", f"+++ {new}"]
    if change.submodule or change.binary:
        lines.append(f"[{'submodule pointer' if change.submodule else 'binary file'} changed]")
    for hunk in file.hunks:
        lines += _hunk_lines(hunk)
    if file.cut:
        lines.append("[further changes of this file are too many to show]")
    return lines


def _hunk_lines(hunk: Hunk) -> Sequence[str]:
    old, new = f"-{hunk.old_start},{hunk.old_count}", f"+{hunk.new_start},{hunk.new_count}"
    header = f"@@ {old} {new} @@ {hunk.section}".rstrip()
    return [header, *(f"-{line}" for line in hunk.removed), *(f"+{line}" for line in hunk.added)]
