"""What a person does with the recorded calls: look over them, check them, drop what failed."""

import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, get_args

from pydantic import RootModel

from probe.errors import RecordError
from probe.models.cache import CallStore
from probe.models.structured import judge
from probe.records import Call, FailureKind, Usage

DROPPABLE = ("truncated", "empty", "reasoning_only", "tool_call", "refusal")
"""Kinds of recorded answers that nobody can use, and that may turn out differently when asked again;
whether an answer fits its schema is not known here."""

_STALE_S = 3600.0
"""Age in seconds from which a temporary file has lost its writer."""


class _AnyJson(RootModel[object]):
    """Accepts whatever is JSON."""


class Kind(NamedTuple):
    """What recorded calls are grouped by."""

    model: str
    """litellm's name of the model."""
    effort: str
    """Reasoning effort; empty for the provider's default."""


@dataclass
class Group:
    """Recorded calls of one kind."""

    calls: int = 0
    size: int = 0
    """Bytes of their files."""
    usage: Usage = field(default_factory=Usage)
    """Sum over them."""
    unusable: Counter[str] = field(default_factory=Counter)
    """Answers that nobody can use, by kind."""


class Checked(NamedTuple):
    """What a check of all entries found."""

    good: int
    """Entries that are whole and belong to their name."""
    corrupt: tuple[str, ...]
    """Keys of entries that were moved to the quarantine."""
    removed: int
    """Temporary files of writers that were killed, removed."""


class Dropped(NamedTuple):
    """What was taken out of the cache, to be asked again."""

    calls: int
    usd: float
    """What they had cost, as far as it is known."""


def unusable(call: Call) -> FailureKind | None:
    """Why nobody can use a recorded answer; None for one that may be used.

    Tool calls are an answer where the request offered tools.
    """
    _, problem = judge(call.answer, _AnyJson)
    if problem is None or problem.kind == "invalid":
        return None
    if problem.kind == "tool_call" and call.request.get("tools"):
        return None
    return problem.kind


def summarise(store: CallStore) -> dict[Kind, Group]:
    """All entries by model and effort, sorted; corrupt ones are quarantined and left out."""
    groups: defaultdict[Kind, Group] = defaultdict(Group)
    for call in _calls(store):
        group = groups[_kind(call)]
        group.calls += 1
        group.size += store.path(call.key).stat().st_size
        group.usage += call.usage
        problem = unusable(call)
        if problem is not None:
            group.unusable[problem] += 1
    return dict(sorted(groups.items()))


def verify(store: CallStore) -> Checked:
    """Read and hash every entry; move corrupt ones to the quarantine."""
    corrupt, good = [], 0
    for key in store:
        if store.get(key) is None:
            corrupt.append(key)
        else:
            good += 1
    return Checked(good, tuple(corrupt), _remove_stale(store.folder / "calls"))


def drop(store: CallStore, kind: str) -> Dropped:
    """Move all entries of a kind of unusable answers to the quarantine.

    Raises:
        RecordError: answers of this kind are not recorded, or not dropped.
    """
    if kind not in DROPPABLE:
        known = "is never recorded" if kind in get_args(FailureKind) else "is no kind of failure"
        raise RecordError(f"{kind!r} {known}; droppable: {', '.join(DROPPABLE)}")
    dropped, usd = 0, 0.0
    for call in _calls(store):
        if unusable(call) == kind and store.quarantine(call.key, f"dropped-{kind}") is not None:
            dropped += 1
            usd += call.usage.usd or 0.0
    return Dropped(dropped, usd)


def _calls(store: CallStore) -> Iterator[Call]:
    for key in store:
        call = store.get(key)
        if call is not None:
            yield call


def _kind(call: Call) -> Kind:
    settings = call.request.get("settings")
    if not isinstance(settings, dict):
        return Kind(call.served_model or "unknown", "")
    return Kind(str(settings.get("litellm_id", "unknown")), str(settings.get("effort", "")))


def _remove_stale(calls: Path) -> int:
    removed = 0
    for file in calls.glob("*/.*.tmp"):
        if time.time() - file.stat().st_mtime > _STALE_S:
            file.unlink(missing_ok=True)
            removed += 1
    return removed
