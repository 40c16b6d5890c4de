"""Attempts to read the future: commands that ask for history or a network, tools that search the web.

In a sandbox without either they come to nothing; that a session tries says how it works, and where
the answer to one is not empty the other checks will show it.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from probe.isolation.transcripts import Piece
from probe.records import LeakKind, LeakWeight

_SEPARATORS = re.compile(r"&&|\|\||[;|&\n(`]|\$\(")
_PREFIXES = re.compile(
    r"""^\s*(?:
        (?:\w+=\S*|sudo|exec|time|nohup|command|env|then|do|else|if|!|\{|xargs|stdbuf\s+\S+)\s+
      | timeout\s+(?:-\S+\s+)*[\d.]+\w?\s+
      | (?:ba)?sh\s+-l?c\s+["']?
    )*""",
    re.VERBOSE,
)
_HISTORY = re.compile(
    r"(?:git|gh|hg|svn)\s+(?:-[\w-]+(?:[= ]\S+)?\s+)*(log|show|reflog|blame|annotate|rev-list|cat-file|fsck|"
    r"bisect|whatchanged|shortlog|cherry|describe|stash|bundle|for-each-ref|branch|tag|checkout|diff\s+\S+\.\.)\b"
)
_NETWORK = (
    re.compile(r"(curl|wget|aria2c|nc|ncat|netcat|telnet|ssh|scp|sftp|rsync|ftp|ping6?|dig|host|nslookup|"
               r"traceroute|lynx|w3m|socat)\s+\S"),
    re.compile(r"(?:python[\d.]*\s+-m\s+)?(pip[\d.]*|uv|pipx|poetry|pdm|conda)\s+(?:pip\s+)?"
               r"(install|download|index|search|add|sync|lock|update)\b"),
    re.compile(r"(npm|pnpm|yarn|bun)\s+(install|i|ci|add|view|info|show|pack|update|outdated|search|audit)\b"),
    re.compile(r"(npx|pnpx|bunx|uvx)\s+\S"),
    re.compile(r"(git)\s+(?:-\S+\s+)*(clone|fetch|pull|ls-remote|remote\s+update)\b"),
    re.compile(r"(gh)\s+(api|pr|issue|repo|release|search)\b"),
    re.compile(r"(apt|apt-get|apk|dnf|yum|brew)\s+(?:-\S+\s+)*(install|update|download)\b"),
)  # fmt: skip
_INLINE = re.compile(
    r"""(urlopen|urlretrieve|requests\.\w+|httpx\.\w+|aiohttp\.\w+|fetch|axios\.\w+|https?\.get)
        \s*\(\s*[frb]?["'`]https?://(?!localhost|127\.|0\.0\.0\.0|\[::1\])""",
    re.VERBOSE,
)
_DEVICE = re.compile(r"/dev/(?:tcp|udp)/(?!localhost|127\.)")
_WEB_TOOLS = re.compile(
    r"""(?<!\\)"(?:name|tool|tool_name|toolName)"\s*:\s*"
        (web_?search\w*|web_?fetch\w*|google_web_search|browser_?\w*|url_?context)\"""",
    re.VERBOSE | re.IGNORECASE,
)
_SERVED_WEB = re.compile(
    r"""(?<!\\)"(?:type"\s*:\s*"(?P<type>web_search|web_search_call|web_search_tool_result|web_fetch_tool_result
        |server_tool_use)|(?P<key>groundingMetadata|grounding_metadata|url_context_metadata))\"""",
    re.VERBOSE,
)


class Attempt(NamedTuple):
    """Something that a session tried."""

    kind: LeakKind
    """``history``, ``network`` or ``web_tool``."""
    name: str
    """The program or tool."""
    words: str
    """The command, cut."""
    line: int
    """Line of the transcript."""
    weight: LeakWeight = "attempt"
    """``leak`` where the provider's own web tool answered: no sandbox bounds that."""


def commands_in(text: str) -> Iterator[str]:
    """The simple commands of shell text, without what only prepares them; quotes are not parsed."""
    for part in _SEPARATORS.split(text):
        command = part[_match_end(part) :].strip()
        if command:
            yield command


def find_attempts(piece: Piece) -> Iterator[Attempt]:
    """What one text of a session tries; commands only."""
    if piece.source != "command":
        return
    for command in commands_in(piece.text):
        for kind, name in _tried(command):
            yield Attempt(kind, name, " ".join(command.split())[:200], piece.line)
    for pattern in (_INLINE, _DEVICE):
        for match in pattern.finditer(piece.text):
            name = match[1] if match.re.groups else "/dev/tcp"
            yield Attempt("network", name, match[0][:200], piece.line)


def find_web_tools(text: str, line: int) -> Iterator[Attempt]:
    """Web tools in a raw line of a command-line agent's transcript.

    A tool of the agent's own works inside the sandbox, and reaches nothing. One that the provider
    serves works outside: its results in a transcript are a leak.
    """
    for match in _SERVED_WEB.finditer(text):
        name = match["type"] or match["key"]
        yield Attempt("web_tool", name, "served by the provider", line, "leak")
    for match in _WEB_TOOLS.finditer(text):
        yield Attempt("web_tool", match[1], "asked for by the model", line)


def _tried(command: str) -> Iterator[tuple[LeakKind, str]]:
    found = _HISTORY.match(command)
    if found:
        yield "history", f"{command.split()[0]} {found[1].split()[0]}"
    for pattern in _NETWORK:
        match = pattern.match(command)
        if match:
            yield "network", " ".join(match.groups())


def _match_end(text: str) -> int:
    match = _PREFIXES.match(text)
    return match.end() if match else 0
