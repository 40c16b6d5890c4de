"""What nobody can know at T0: names of the window's commits, lines of its fixes, numbers of later issues.

All of it is learnt from the mirror and from the candidates, and what the snapshot itself holds is taken
out: a text that a reader of the snapshot can find tells nothing.
"""

import re
import tarfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median_low
from typing import NamedTuple

from probe.errors import IsolationError
from probe.git.process import run_git
from probe.records import Candidate, History

HEX = re.compile(r"(?<![0-9A-Za-z_+=-])(?<!\w\.)[0-9a-fA-F]{7,40}(?![0-9A-Za-z_+=-])(?!\.\w)")
"""Words that can be a commit's name; parts of identifiers, of base64 and of UUIDs are none."""
SURE_DIGITS = 10
"""From so many digits on an abbreviation is no chance: one in 10^12 for each commit."""
_NUMBER = re.compile(
    r"(?<![&\w])\#(?P<bare>\d{1,6})(?!\w|[.-]\w)"
    r"|(?<![\w-])(?:issues|pull|pulls|discussions)/(?P<url>\d{1,6})(?!\w)"
    r"|(?<!\w)GH-(?P<gh>\d{1,6})(?!\w)"
    r"|(?<=[\w-])\#(?P<qualified>\d{1,6})(?!\w|[.-]\w)"
)
_SLUG_BEFORE = re.compile(r"(?:^|[^\w./-]|github\.com/|gitlab\.com/)([\w.-]+/[\w.-]+)/?$")
_BEFORE = 100
"""Characters before a number that say whose it is."""

_NUMBER_AT_END = re.compile(r"\(#(\d{1,6})\)\s*$|^Merge (?:pull request|branch .*) #(\d{1,6})\b")
_WORD = re.compile(r"\w{3,}")
_SPACE = re.compile(r"\s+")
_BORING = re.compile(
    r"(?:from\s+\S+\s+)?import\b|export\s+(?:\*|\{|type\s*\{)|(?:const|let|var)\s+[\w{}, ]+=\s*require\(|#include\b"
)
_LATEST, _SLACK = 15, 200
_MIN_CHARS, _MIN_WORDS = 32, 4
_MOST_FIXES = 2
"""A line that more fixes add is boilerplate."""


class Reference(NamedTuple):
    """A reference to an issue or a pull request."""

    number: int
    """Its number."""
    slug: str | None
    """The project that it names, ``owner/name`` in lower case; None where it names none."""
    words: str
    """As it stands."""


def references(text: str) -> Iterator[Reference]:
    """References to issues and pull requests of a code host, in the order of the text."""
    for match in _NUMBER.finditer(text):
        before = text[max(0, match.start() - _BEFORE) : match.start()]
        named = _SLUG_BEFORE.search(before) if not match["gh"] else None
        if match["qualified"] and not named:
            continue
        number = int(match["bare"] or match["url"] or match["gh"] or match["qualified"])
        yield Reference(number, named[1].lower() if named else None, match[0])


class Needle(NamedTuple):
    """A line of a fix."""

    text: str
    """Without any white space."""
    commit: str
    """The fix."""
    shown: str
    """As the fix has it."""


@dataclass(frozen=True)
class Unknown:
    """What a session at T0 cannot have read."""

    commits: Mapping[str, tuple[str, ...]]
    """Full names of the window's commits by their first seven digits."""
    old: frozenset[str]
    """First seven digits of all commits up to T0."""
    last: int | None
    """Highest number of an issue or pull request that commits up to T0 name; None for a project that
    does not number."""
    newest: int
    """Likewise up to T1: higher numbers are no numbers of issues."""
    needles: Mapping[str, tuple[Needle, ...]]
    """Lines of fixes by one rare word of each."""
    slug: str
    """``owner/name`` on its code host, in lower case; ``/name`` where nobody says the owner."""
    seen: "Seen" = field(repr=False)
    """What the snapshot holds of all this."""


@dataclass(frozen=True)
class Seen:
    """Words and numbers that stand in the snapshot's own files."""

    hexes: frozenset[str] = frozenset()
    """Lower case."""
    numbers: frozenset[int] = frozenset()
    """Of issues."""


def find_needles(line: str, needles: Mapping[str, tuple[Needle, ...]]) -> Iterator[Needle]:
    """Lines of fixes that a line of text contains, whatever stands around them."""
    packed = None
    for word in set(_WORD.findall(line)):
        for needle in needles.get(word, ()):
            packed = _SPACE.sub("", line) if packed is None else packed
            if needle.text in packed:
                yield needle


def learn(
    mirror: Path, history: History, candidates: Iterable[Candidate], archive: Path
) -> Unknown:
    """Everything that is to be looked for in the sessions of a repository.

    Args:
        mirror: a git directory with the window.
        history: its pins.
        candidates: of all blocks; their fixes are looked for.
        archive: ``source.tar``: what it holds is not looked for.

    Raises:
        GitError: a commit is unknown.
        IsolationError: the archive cannot be read.
    """
    t0, t1 = history.t0, history.t1
    window = run_git(mirror, "rev-list", t1, f"^{t0}", "--").decode().split()
    old = run_git(mirror, "rev-list", t0, "--").decode().split()
    commits: defaultdict[str, list[str]] = defaultdict(list)
    for sha in window:
        commits[sha[:7]].append(sha)
    last, newest = _highest(mirror, t0), _highest(mirror, t1)
    unsorted = _index(_fix_lines(candidates))
    hexes, numbers, known = set[str](), set[int](), set[str]()
    slugs: Counter[str] = Counter()
    for line in _lines(archive):
        known.update(needle.text for needle in find_needles(line, unsorted))
        hexes.update(word.lower() for word in HEX.findall(line) if word[:7].lower() in commits)
        for found in references(line):
            numbers.add(found.number)
            if found.slug:
                slugs[found.slug] += 1
    left = [n for found in unsorted.values() for n in found if n.text not in known]
    return Unknown(
        commits={key: tuple(found) for key, found in commits.items()},
        old=frozenset(sha[:7] for sha in old),
        last=last,
        newest=max(newest or 0, last or 0),
        needles=_index(left),
        slug=_slug(history.url) or _likely(slugs, f"/{history.repo.partition('@')[0].lower()}"),
        seen=Seen(frozenset(hexes), frozenset(numbers)),
    )


def _highest(mirror: Path, rev: str) -> int | None:
    """The highest number that ends a subject or names a merged pull request.

    Bodies are not read: they name issues of other projects.
    """
    subjects = run_git(mirror, "log", "--format=%s", rev, "--").decode("utf-8", errors="replace")
    found = (_NUMBER_AT_END.search(line) for line in subjects.splitlines())
    numbers = [int(match[1] or match[2]) for match in found if match]
    if not numbers:
        return None
    # numbers grow with time: one far above the latest ones is of another project or tracker
    usual = median_low(numbers[:_LATEST])
    return max(number for number in numbers if number <= 1.5 * usual + _SLACK)


def _fix_lines(candidates: Iterable[Candidate]) -> list[Needle]:
    """Lines that fixes add and that are long enough to be nobody else's."""
    fixes: defaultdict[str, set[str]] = defaultdict(set)
    shown: dict[str, tuple[str, str]] = {}
    for candidate in candidates:
        for line in candidate.suggested_fix.splitlines():
            text = line[1:].strip()
            packed = _SPACE.sub("", text)
            if not line.startswith("+") or line.startswith("+++") or len(packed) < _MIN_CHARS:
                continue
            if len(_WORD.findall(text)) < _MIN_WORDS or _BORING.match(text):
                continue
            fixes[packed].add(candidate.commit)
            shown.setdefault(packed, (candidate.commit, text))
    return [
        Needle(packed, *shown[packed])
        for packed, commits in sorted(fixes.items())
        if len(commits) <= _MOST_FIXES
    ]


def _index(needles: Iterable[Needle]) -> dict[str, tuple[Needle, ...]]:
    """Each needle under its rarest word, the longest of those."""
    listed = list(needles)
    counts = Counter(word for needle in listed for word in set(_WORD.findall(needle.shown)))
    index: defaultdict[str, list[Needle]] = defaultdict(list)
    for needle in listed:
        words = sorted(set(_WORD.findall(needle.shown)))
        index[min(words, key=lambda word: (counts[word], -len(word), word))].append(needle)
    return {word: tuple(found) for word, found in index.items()}


def _lines(archive: Path) -> Iterator[str]:
    """Every line of text in the archive, the paths of its members too."""
    try:
        with tarfile.open(archive, "r:") as tar:
            for member in tar:
                yield member.name
                stream = tar.extractfile(member) if member.isreg() else None
                content = stream.read() if stream else b""
                if b"\0" not in content[:8_000]:
                    yield from content.decode("utf-8", errors="replace").splitlines()
    except (OSError, tarfile.TarError) as error:
        raise IsolationError(f"{archive}: not a readable tar archive: {error}") from error


def _slug(url: str) -> str | None:
    match = re.search(r"(?:://|@)[^/:]+[/:]([\w.-]+/[\w.-]+?)(?:\.git)?/?$", url)
    return match[1].lower() if match else None


def _likely(slugs: Counter[str], name: str) -> str:
    """The project's address by what its own files link to, where the source is a local path."""
    return next((slug for slug, _ in slugs.most_common() if slug.endswith(name)), name)
