"""Whether some part of a commit corrects wrong behaviour of the project's own production code.

The heuristic engine: gates first (merges, reverts, nothing but tests, prose, formatting, a version,
a submodule pointer, a dependency's or a bot's update), then a sum of log-odds over what the message
claims, weighed by the project's own habits, and what the diff shows by itself.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from probe.code.paths import SourceScope
from probe.errors import GitError
from probe.git.diff import CommitDiff
from probe.records import Classification, Commit, Provenance
from probe.reference.classify_changes import ONLY_IMPORTS, Changes, read_changes
from probe.reference.classify_message import Message, parse_message
from probe.reference.classify_weights import (
    BODY_FAULT,
    CLAIMS,
    FORK_WEIGHT,
    PAIRS,
    PREFIX_WEIGHT,
    PRIOR,
    RELEASE_WEIGHT,
    SHAPES,
    SIDELINE_SCOPE,
    SIDELINE_WEIGHT,
    SIGNALS,
    TYPING,
    TYPING_CLAIM,
    UNCHANGED,
)
from probe.reference.habits import Habits

_TIDYING = re.compile(
    r"\b(?:unused|sort\w*|order\w*|isort|lint\w*|style|format\w*|typ(?:e|es|ing))\b"
)

_CHECKER = re.compile(
    r"^(?:fix(?:e[sd])?|satisfy|appease|silence|please)?\s*"
    r"(?:mypy|pyright|(?:the )?type[- ]?checkers?)\b"
)

RULES_VERSION = "3"
"""Version of the rules and their weights; raise it with every change of either."""

_GATED = 0.97
_SUREST = 0.98
"""No sum of hand-set weights is worth more: on ties it errs at any value."""
_SHOWN = 6
_CHANCE_LINES = 40
"""Above so many changed code lines a shape may occur by chance."""


@dataclass(slots=True)
class _Seen:
    """Diffs of the window so far, to recognise the inverse of one by its content.

    What such a commit restores the snapshot had, so it corrects nothing that was wrong there.
    """

    keys: dict[tuple[int, int], tuple[frozenset[str], bool]] = field(default_factory=dict)
    """Key of a diff to its paths, and to whether that commit was itself a revert."""

    def undoes(self, commit: Commit, changes: Changes) -> bool | None:
        """None: no inverse seen; otherwise whether the commit it undoes was a revert."""
        found = self.keys.get((changes.key[1], changes.key[0])) if changes.key else None
        if found is None:
            return None
        # a line or two are equal by chance, but hardly in the same files
        paths, revert = found
        by_chance = changes.added + changes.removed < 3 and paths.isdisjoint(_paths(commit))
        return None if by_chance else revert

    def add(self, commit: Commit, changes: Changes, revert: bool) -> None:
        if changes.key is not None:
            self.keys[changes.key] = _paths(commit), revert


def classify(
    commit: Commit, diff: CommitDiff | None, scope: SourceScope, habits: Habits
) -> Classification:
    """Classify one commit alone.

    Args:
        commit: with its changed paths and line counts.
        diff: its hunks against the first parent; None where they cannot be read: the message and
            the paths then decide.
        scope: which paths are production code.
        habits: of the whole window, from :meth:`Habits.learn`.
    """
    return _classify(commit, diff, scope, habits, _Seen())


def classify_window(
    commits: Sequence[Commit],
    diffs: Iterable[CommitDiff],
    scope: SourceScope,
    habits: Habits | None = None,
) -> Iterator[Classification]:
    """Classify a window in its order, streaming its diffs.

    Commits whose diff is the exact inverse of an earlier one are recognised as reverts whatever
    their subject says.

    Args:
        commits: all of the window, in window order.
        diffs: diffs of some or all of them, in the same order; merges need none.
        scope: which paths are production code.
        habits: learnt from ``commits`` where None.

    Raises:
        GitError: a diff is out of order, or belongs to none of the commits.
    """
    habits = habits or Habits.learn(commits, scope)
    seen = _Seen()
    stream = iter(diffs)
    ahead = next(stream, None)
    for commit in commits:
        diff = None
        if ahead is not None and ahead.sha == commit.sha:
            diff, ahead = ahead, next(stream, None)
        yield _classify(commit, diff, scope, habits, seen)
    if ahead is not None:
        raise GitError(f"diff of {ahead.sha} is out of window order or of no window commit")


def _classify(
    commit: Commit, diff: CommitDiff | None, scope: SourceScope, habits: Habits, seen: _Seen
) -> Classification:
    message = parse_message(commit.subject, commit.body)
    if len(commit.parents) > 1:
        return _answer(commit, False, _GATED, "a merge commit is no fix by itself")
    changes = read_changes(commit, diff, scope)
    undone = seen.undoes(commit, changes)
    revert = bool(message.reverts % 2) or (undone is False and not message.reverts)
    seen.add(commit, changes, revert)
    reason = _gate(commit, message, changes, revert, scope)
    if reason:
        return _answer(commit, False, _GATED, reason)
    total, fired = _weigh(message, changes, habits)
    probability = 1 / (1 + math.exp(-total))
    fired.sort(key=lambda item: (-abs(item[1]), item[0]))
    rationale = "; ".join(f"{name} {weight:+.1f}" for name, weight in fired[:_SHOWN])
    is_fix = total > 0
    confidence = min(_SUREST, probability if is_fix else 1 - probability)
    return _answer(commit, is_fix, confidence, rationale)


def _paths(commit: Commit) -> frozenset[str]:
    return frozenset(change.path for change in commit.files)


def _gate(
    commit: Commit, message: Message, changes: Changes, revert: bool, scope: SourceScope
) -> str:
    """Why a commit can be no fix whatever else it says; empty where it can."""
    if not commit.parents:
        return "a root commit corrects nothing"
    if changes.inert and not (changes.inert == ONLY_IMPORTS and _tells_missing_import(message)):
        return changes.inert
    if revert:
        return "reverts an earlier commit"
    if message.merge:
        return "a merge commit is no fix by itself"
    if message.dependency:
        return "a dependency update or a bot's change"
    if _is_vendored_update(commit, message, scope):
        return "an update of vendored code"
    if "annotations only" in changes.signals and _CHECKER.match(message.text):
        return "annotations for a type checker"
    return ""


def _tells_missing_import(message: Message) -> bool:
    """A fix may be nothing but a forgotten import; tidied imports are called fixes as well."""
    claims = message.kind == "fix" or message.text.startswith(("fix ", "fixes ", "fixed "))
    return claims and not _TIDYING.search(message.text)


def _is_vendored_update(commit: Commit, message: Message, scope: SourceScope) -> bool:
    production = [c for c in commit.files if scope.is_production(c.path)]
    if any(scope.role(change.path) != "vendored" for change in production):
        return False
    lines = sum((change.added or 0) + (change.deleted or 0) for change in production)
    return message.vendor or len(production) > 4 or lines > 300


def _weigh(
    message: Message, changes: Changes, habits: Habits
) -> tuple[float, list[tuple[str, float]]]:
    fired: list[tuple[str, float]] = []
    if message.fork:
        fired.append(("merged from a private fork", FORK_WEIGHT))
    if message.release and message.kind != "release":
        fired.append(("release", RELEASE_WEIGHT))
    if message.kind is not None:
        constant, strict = PREFIX_WEIGHT[message.kind]
        fired.append((f"prefix {message.prefix}", constant + strict * habits.strictness))
        if message.kind == "fix" and SIDELINE_SCOPE.match(message.scope):
            fired.append((f"scope {message.scope}", SIDELINE_WEIGHT))
    for claim in CLAIMS:
        if claim.pattern.search(message.text):
            fired.append((claim.name, claim.weight))
    if BODY_FAULT.pattern.search(message.body):
        fired.append((BODY_FAULT.name, BODY_FAULT.weight))
    named = {name for name, _ in fired}
    fired.extend(_weigh_signals(changes))
    fired.extend(
        (f"{claim}, {signal}", weight)
        for (claim, signal), weight in PAIRS.items()
        if claim in named and signal in changes.signals
    )
    if message.kind == "fix" and TYPING_CLAIM.search(f"{message.scope} {message.text}"):
        fired = [item for item in fired if item[0] not in TYPING]
    return round(PRIOR + sum(weight for _, weight in fired), 6), fired


def _weigh_signals(changes: Changes) -> Iterator[tuple[str, float]]:
    chance = changes.added + changes.removed > _CHANCE_LINES or "untested" in changes.signals
    shown = changes.signals - SHAPES if changes.signals & UNCHANGED else changes.signals
    for name in sorted(shown & SIGNALS.keys()):
        yield name, SIGNALS[name] * (0.5 if chance and name in SHAPES else 1.0)


def _answer(commit: Commit, is_fix: bool, confidence: float, rationale: str) -> Classification:
    return Classification(
        commit=commit.sha,
        is_fix=is_fix,
        confidence=round(confidence, 3),
        rationale=rationale,
        provenance=Provenance.of_heuristic(RULES_VERSION),
    )
