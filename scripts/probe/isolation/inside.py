"""What a finder's sandbox shows: every path inside, and the start of every file that is not the system's.

Only bash, coreutils and GNU find are used, which every image with a shell of its own has: the audit
must not depend on an interpreter that is part of what it looks at.
"""

import base64
import binascii
from collections.abc import Iterable

from probe.errors import IsolationError
from probe.isolation.listing import HEAD_BYTES, Entry, EntryKind, Listing
from probe.sandbox import Limits, Output, Sandbox

AUDIT_LIMITS = Limits(output_kb=500_000)
"""Of the sandbox that is audited: a listing of a whole system is long."""

_KINDS: dict[str, EntryKind] = {"f": "file", "d": "folder", "l": "link", "s": "socket"}
_LIST = r"""
export LC_ALL=C
find / \( -path /proc -o -path /sys \) -prune -o -printf '%y\t%s\t%T@\t%p\0' 2>/tmp/probe-unread
echo
wc -l </tmp/probe-unread
"""
_HEADS = r"""
export LC_ALL=C
while mapfile -d '' -t -n 400 files && ((${#files[@]})); do
    head -vc 48 -- "${files[@]}" 2>/dev/null
    printf '\n'
done </tmp/probe-files
"""
_WHOLE_HEADS = r"""
export LC_ALL=C
while IFS= read -r -d '' file; do
    head -c BYTES -- "$file" 2>/dev/null | base64 -w0
    echo
done </tmp/probe-files
"""
_LIST_S, _HEADS_S = 300, 600
_SYSTEM = ("/usr/", "/bin/", "/sbin/", "/lib", "/etc/", "/dev/", "/nix/")
"""Where the image's own programs lie: there git's data is looked for by name and layout."""
_GIT_SUFFIXES = (".pack", ".idx", ".bundle")
_OWN_FILES = {"/tmp/probe-unread", "/tmp/probe-files"}  # noqa: S108
_FIRST = ("PACK", "\ufffdtOc", "# v", "CGPH", "MIDX", "RIDX", "BITM", "DIRC", "REFT", "# pack-refs",
          "ref: refs/", "gitdir: ", "x")  # fmt: skip
"""How everything begins that may be git's, as text in which odd bytes are replaced."""


def list_sandbox(box: Sandbox) -> Listing:
    """Everything inside a sandbox, /proc and /sys left out.

    Raises:
        IsolationError: it cannot be listed in full: a tool is missing, or the output was cut.
        SandboxError: the sandbox died.
    """
    entries = [
        entry for entry in _entries(_told(box, _LIST, _LIST_S)) if entry.path not in _OWN_FILES
    ]
    looked = [e.path for e in entries if e.kind == "file" and e.size and _is_looked_at(e.path)]
    odd = [path for path, start in _starts(box, looked) if _may_be_git(start)]
    heads = dict.fromkeys(looked, b"")
    heads.update(read_heads(box, odd, HEAD_BYTES))
    return Listing(entries, heads, lambda paths, most: read_heads(box, paths, most))


def read_heads(box: Sandbox, paths: Iterable[str], most: int) -> dict[str, bytes]:
    """The first bytes of files inside, exactly; empty for what cannot be read.

    Raises:
        IsolationError: the output was cut.
        SandboxError: the sandbox died.
    """
    named = list(paths)
    if not named:
        return {}
    _name_files(box, named)
    lines = _told(box, _WHOLE_HEADS.replace("BYTES", str(most)), _HEADS_S).splitlines()
    if len(lines) != len(named):
        raise IsolationError(
            f"the sandbox: {len(named)} files were asked for, {len(lines)} were read"
        )
    try:
        return {path: base64.b64decode(line) for path, line in zip(named, lines, strict=True)}
    except binascii.Error as error:
        raise IsolationError(f"the sandbox: base64 printed something else: {error}") from error


def _entries(listed: str) -> list[Entry]:
    body, _, unread = listed.rstrip("\n").rpartition("\n")
    records = body.split("\0")
    if not unread.isdigit() or records.pop() != "" or len(records) < 10:
        raise IsolationError(
            "the sandbox cannot be listed: find printed no listing; its image needs GNU find"
        )
    entries = []
    for record in records:
        kind, size, mtime, path = record.split("\t", 3)
        entries.append(Entry(path, _KINDS.get(kind, "other"), int(size), float(mtime)))
    return entries


def _starts(box: Sandbox, paths: list[str]) -> list[tuple[str, str]]:
    """The first characters of each file, as ``head`` prints them under the file's name."""
    if not paths:
        return []
    _name_files(box, paths)
    text = _told(box, _HEADS, _HEADS_S)
    found, at = [], 0
    for path in paths:
        title = f"==> {path} <==\n"
        place = text.find(title, at)
        if place >= 0:  # else it cannot be read, by a finder neither
            at = place + len(title)
            found.append((path, text[at : at + 48]))
    return found


def _is_looked_at(path: str) -> bool:
    return not path.startswith(_SYSTEM) or path.endswith(_GIT_SUFFIXES)


def _may_be_git(start: str) -> bool:
    return start.startswith(_FIRST) or all(c in "0123456789abcdef" for c in start[:40])


def _name_files(box: Sandbox, paths: list[str]) -> None:
    box.write("/tmp/probe-files", "".join(f"{path}\0" for path in paths).encode())  # noqa: S108


def _told(box: Sandbox, script: str, timeout_s: float) -> str:
    output: Output = box.run(script, timeout_s)
    if output.timed_out or output.truncated or output.exit != 0:
        why = (
            "took too long"
            if output.timed_out
            else "printed too much"
            if output.truncated
            else ((output.stderr.strip().splitlines() or [f"exit status {output.exit}"])[-1])
        )
        raise IsolationError(f"the sandbox cannot be looked through: a listing {why}")
    return output.stdout
