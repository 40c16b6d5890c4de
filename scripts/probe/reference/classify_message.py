"""What a commit message claims, told apart from what its diff shows.

Messages are read as claims: a prefix, a first verb, words of fault. Issue references, quoted code
and identifiers in capitals are taken out first, since "support RESPECT NULLS, fixes #12" is a
feature. Bodies are read no further than their first paragraph: squash bodies repeat templates and
other pull requests' text.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from probe.reference.classify_languages import FOREIGN_KINDS, FOREIGN_PREFIX, plain_signs

Kind = Literal[
    "fix", "feature", "performance", "upkeep", "style", "docs", "test", "ci", "release", "revert"
]

_KINDS: dict[Kind, tuple[str, ...]] = {
    "fix": ("fix", "fixes", "fixed", "bugfix", "hotfix", "bug", "bf", "rob", "sec", "security",
            "regression"),
    "feature": ("feat", "feats", "feature", "enh", "enhancement", "new"),
    "performance": ("perf", "pi", "performance", "optimize", "speed"),
    "upkeep": ("refactor", "refac", "ref", "rf", "maint", "chore", "dev", "cleanup", "clean",
               "dep", "deprecate", "internal", "misc"),
    "style": ("style", "sty", "lint", "fmt", "format", "typing", "types", "type", "typo"),
    "docs": ("docs", "doc"),
    "test": ("test", "tests", "tst", "bench", "benchmark"),
    "ci": ("ci", "build", "bld", "deps", "pkg", "packaging", "tooling"),
    "release": ("rel", "release"),
    "revert": ("revert", "reverts"),
}  # fmt: skip
KIND_OF: dict[str, Kind] = {name: kind for kind, names in _KINDS.items() for name in names}

_PREFIX = re.compile(
    r"^\W{0,3}(?P<type>[A-Za-z]{2,14})(?:/[A-Z]{2,4})?\s*!?\s*(?:\((?P<scope>[^()]{0,60})\))?"
    r"\s*!?\s*:\s*(?P<rest>\S.*)$"
)
_BRACKETED = re.compile(
    r"^\[(?P<type>[A-Za-z]{2,14})(?:[ :/-][^\]]{0,40})?\]\s*:?\s*(?P<rest>\S.*)$"
)
_AREA = re.compile(r"^`?[\w./{},*-]{2,50}`?\s*:\s+(?P<rest>\S.*)$")
_EMOJI_FIX = re.compile(r"^(?:\U0001f41b|\U0001f691|\U0001f512|:bug:|:ambulance:|:lock:)\ufe0f?\s*")
_REVERT = re.compile(
    r"^(?:revert|back out|roll back)\b(?! (?:button|command|operation|option|action|function))",
    re.IGNORECASE,
)
_NEXT_REVERT = re.compile(r"^[\s\"'`:(]*(?P<word>revert|reapply)\b[\s:]*[\"'`]?", re.IGNORECASE)
_FORK = re.compile(r"^merge (?:commit|pull request) from (?:a )?(?:private )?fork\b", re.IGNORECASE)
_MERGE = re.compile(r"^merge\b.*\b(?:branch|into|pull request|remote)\b", re.IGNORECASE)
_RELEASE = re.compile(
    r"^(?:chore\(release\)|release\b|prepare (?:for )?(?:the )?release|bump (?:the )?version"
    r"|version bump|publish v?\d|v?\d+\.\d+(?:\.\d+)*\S*\s*(?:\(#\d+\)|\[.*\])?$)",
    re.IGNORECASE,
)
_DEPENDENCY = re.compile(
    r"\bbump\b.*\bfrom\b.*\bto\b|\bupdate dependency\b|\b(?:build|chore|fix)\(deps[^)]*\)"
    r"|^\[pre-commit\.ci|\bpre-commit (?:hooks?|autoupdate)\b|\block ?file maintenance\b"
    r"|\b(?:bump|upgrade|update)\b.{0,40}\b(?:dependenc|packages?\b|deps\b|submodule)"
    r"|\b(?:bump|upgrade|update)\b.{1,50}\bto\b\s*[`'\"]?v?\d+\.\d"
    r"|\bautomatic fixes\b|\bapply automated fixes\b"
    r"|^squashed '[^']+' (?:changes|content) from\b",
    re.IGNORECASE,
)
_VENDOR = re.compile(
    r"\b(?:update|upgrade|bump|sync|vendor|import|refresh|pull|subtree|squashed)\b", re.IGNORECASE
)
_BOT_BODY = re.compile(
    r"(?:dependabot|renovate|pre-commit-ci|github-actions|snyk)\[bot\]", re.IGNORECASE
)
_REVERTED_COMMIT = re.compile(r"^\s*this reverts commits? [0-9a-f]{7,40}", re.IGNORECASE)
_TRAILER = re.compile(r"^[A-Z][A-Za-z-]+-by: |^Change-Id: |^-{3,}$", re.MULTILINE)
_REFERENCE = re.compile(
    r"[\s,(\[]*(?:\b(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?|refs?|see|issues?)\b:?\s+)?"
    r"(?:[\w.-]+/[\w.-]+)?(?:#|\bGH-|https?://\S+/(?:issues|pull)/)\d+[)\]]*",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"|\[[A-Z ]+\]")
_CAPITALS = re.compile(r"\b[A-Z][A-Z0-9_]{1,}\b")


@dataclass(frozen=True, slots=True)
class Message:
    """A commit message taken apart."""

    prefix: str | None
    """Lower-case type before the colon where it is a known one; None otherwise."""
    kind: Kind | None
    """What the prefix means."""
    scope: str
    """Lower-case scope in parentheses; empty without one."""
    text: str
    """The claim: no prefix, references, quoted code or capitals; lower case."""
    body: str
    """First paragraph of the body likewise, empty where it is a list of squashed subjects."""
    reverts: int
    """How many times the subject says revert, from the outside in; reapply counts twice."""
    fork: bool
    """The subject that GitHub gives to a privately reviewed security fix."""
    merge: bool
    release: bool
    dependency: bool
    """A dependency update or a bot's doing."""
    vendor: bool
    """Words of a vendored update."""


def claim(text: str) -> str:
    """Lower-case words of a claim, without references, quoted code and capitals.

    >>> claim("Support RESPECT NULLS in `fix()`, fixes #12")
    'support  in '
    """
    text = _QUOTED.sub("", _REFERENCE.sub("", text))
    if not text.isupper():
        text = _CAPITALS.sub("", text)
    return text.lower()


@lru_cache(maxsize=8192)
def parse_message(subject: str, body: str) -> Message:
    """Take a message apart; deterministic and total."""
    reverts, inner = _unwrap_reverts(plain_signs(subject).strip())
    prefix, kind, scope, rest = split_prefix(inner)
    if _REVERT.match(rest) and not reverts:
        reverts = 1
    if not reverts and _REVERTED_COMMIT.match(body):
        reverts = 1
    fork = bool(_FORK.match(inner))
    text = claim(_squashed_fix(body) if fork or not rest else rest)
    return Message(
        prefix=prefix,
        kind=kind,
        scope=scope,
        text=text,
        body=_first_paragraph(body),
        reverts=reverts,
        fork=fork,
        merge=bool(_MERGE.match(inner)) and not fork,
        release=kind == "release" or bool(_RELEASE.match(inner)),
        dependency=scope.startswith("deps")
        or bool(_DEPENDENCY.search(inner))
        or bool(
            _BOT_BODY.search(body[:2000]) and re.match(r"\W*(?:bump|update|build|chore)", inner)
        ),
        # the scope of "fix(vendor): …" says where, not that a copy was updated
        vendor=bool(_VENDOR.search(rest if kind == "fix" else inner)),
    )


def split_prefix(subject: str) -> tuple[str | None, Kind | None, str, str]:
    """``(prefix, kind, scope, rest)`` of a subject; an unknown word before a colon is an area."""
    emoji = _EMOJI_FIX.match(subject)
    if emoji:
        return "fix", "fix", "", subject[emoji.end() :]
    match = _PREFIX.match(subject) or _BRACKETED.match(subject)
    if match:
        kind = KIND_OF.get(match["type"].lower())
        if kind:
            scope = match.groupdict().get("scope") or ""
            return match["type"].lower(), kind, scope.lower(), match["rest"]
    foreign = FOREIGN_PREFIX.match(subject)
    if foreign and (told := FOREIGN_KINDS.get(foreign["type"].lower())):
        return foreign["type"].lower(), told, (foreign["scope"] or "").lower(), foreign["rest"]
    area = _AREA.match(subject)
    return None, None, "", area["rest"] if area else subject


def _unwrap_reverts(subject: str) -> tuple[int, str]:
    count, inner = 0, subject
    while match := _NEXT_REVERT.match(inner):
        count += 2 if match["word"].lower() == "reapply" else 1
        inner = inner[match.end() :]
    return count, inner.strip().rstrip("\"'`") if count else inner


def _squashed_fix(body: str) -> str:
    """The first squashed subject that claims a fix, where the commit's own subject says nothing."""
    for line in body[:4000].splitlines():
        _, kind, _, rest = split_prefix(line.lstrip("*- "))
        if kind == "fix":
            return rest[:300]
    return ""


def _first_paragraph(body: str) -> str:
    text = body[:4000].strip()
    cut = _TRAILER.search(text)
    if cut:
        text = text[: cut.start()]
    paragraph = text.split("\n\n", 1)[0].strip()
    if paragraph.startswith(("* ", "- ", "#", "<!--", ">", "|")):
        return ""
    return claim(paragraph[:600])
