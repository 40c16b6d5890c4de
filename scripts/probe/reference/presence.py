"""Whether the snapshot already had a defect: SZZ with recursive blame, and three counter-checks.

A candidate is kept when most of what the fix takes away goes back to the snapshot. Lines that were
rewritten on the way count only where the older line already held a word that the fix removes:
otherwise the rewriting brought the defect in. A fix that takes nothing away is judged by what
surrounds it. When in doubt, keep, with low confidence.
"""

import re
from collections.abc import Sequence

from probe.code.languages import language_of
from probe.code.units import find_units
from probe.records import Lineage
from probe.records.history import DropGround
from probe.reference.anchor import Anchored
from probe.reference.hunks import words_of
from probe.reference.insertions import Insertion
from probe.reference.lineage import squeeze
from probe.reference.mirror import split_lines
from probe.reference.places import AnchoredLine, Past
from probe.reference.trace import Place

KEEP_SHARE = 0.5
"""Weighted share of lines from the snapshot at which a candidate is kept: ties are kept."""
CLEAR_SHARE = 0.6
"""Share of old code above which additions outvote later lines."""
MAX_ADDITION = 5
"""Weight of one addition, at most: its length says little."""
UNCHANGED_WEIGHT = 0.25
"""Weight of a line of which the fix keeps every word, beside 1 for the others."""
WORD_WINDOW = 2
"""Lines around the older line in which a lost word may stand: wrapping moves words."""
RESTORED_SHARE = 0.5
"""Share of the fix's added lines that the snapshot had and its parent lost: it undoes damage."""
KNOWN_WORDS = 0.8
"""Share of an extended line's words that its unit must have had at the snapshot."""
RENAMED_SHARE = 0.2
"""Share of a name's lines from the snapshot at which it is an older thing's new name."""
MAX_UNIT_LINES = 50
"""Lines of a unit or with a name, at most, whose age tells its age."""
_ENTRY = re.compile(r"[^:=(,]*(?=[:,])")
_STRING = re.compile(r"\"[^\"]*\"|'[^']*'|`[^`]*`")
LOST_SHARE = 0.3
"""Share of a unit's lines that the window took away at which a later name in its fix tells."""
MIN_RESTORED_TEXT = 6
"""Characters without whitespace of an added line that can be told to be restored."""


def assess(anchored: Anchored, past: Past) -> Lineage:
    """Judge one anchored candidate.

    Args:
        anchored: the fix with every line looked up.
        past: the snapshot, and the files of the fix and its parent.
    """
    lineage = _assess(anchored, past)
    unknown = _unknown(anchored)
    if lineage.ground is None or not unknown or not _could_be_older(anchored, past):
        return lineage
    doubt = f"git cannot say where {unknown} of the lines come from; otherwise: {lineage.rationale}"
    return _lineage(None, 0.5, doubt)


def _assess(anchored: Anchored, past: Past) -> Lineage:
    restored = _restored_share(anchored, past)
    if restored >= RESTORED_SHARE and not _all_exact(anchored):
        return _lineage(
            "postdated_precondition",
            0.7,
            f"{restored:.0%} of the lines that the fix adds were in the snapshot and lost later",
        )
    if anchored.fix.only_adds:
        return _assess_context(anchored, past)
    return _assess_lines(anchored, past)


def _lineage(ground: DropGround | None, confidence: float, rationale: str) -> Lineage:
    return Lineage(ground=ground, confidence=round(confidence, 3), rationale=rationale)


def _assess_lines(anchored: Anchored, past: Past) -> Lineage:
    share = _snapshot_share(anchored.lines, past)
    total = len(anchored.lines)
    found = sum(line.place is not None for line in anchored.lines)
    rationale = f"{found} of {total} faulty lines go back to the snapshot (weighted {share:.2f})"
    if share < KEEP_SHARE:
        old, all_of_it = _independent_additions(anchored, past)
        if old >= CLEAR_SHARE * all_of_it:
            said = "most of the fix adds to code of the snapshot, apart from the faulty lines"
            return _lineage(None, 0.5, f"{rationale}; {said}")
    if share >= KEEP_SHARE:
        return _lineage(None, 0.5 + 0.45 * (2 * share - 1), rationale)
    return _lineage(_drop_ground(anchored, past), 0.5 + 0.45 * (1 - 2 * share), rationale)


def _independent_additions(anchored: Anchored, past: Past) -> tuple[float, float]:
    """Weight of what a fix adds to units of the snapshot, and of all that it corrects.

    A fix that also rewrites later lines can repair an omission older than these, in another unit:
    a check at a second entrance, say. An addition weighs a line for each that it adds, but
    :data:`MAX_ADDITION` at most. In units with a faulty line that came later it counts for
    nothing: there it belongs to the rewriting.
    """
    later = {(line.path, line.unit) for line in anchored.lines if not _was_faulty(line, past)}
    weights = [1.0 if line.lost else UNCHANGED_WEIGHT for line in anchored.lines]
    had = _snapshot_share(anchored.lines, past) * sum(weights)
    added = old = 0
    for place in anchored.insertions:
        if place.in_code and (place.path, place.unit) not in later:
            size = min(MAX_ADDITION, len(place.added))
            added += size
            known = [line.place is not None for line in place.neighbours]
            old += size if known and all(known) else 0
    return (had + old, sum(weights) + added) if old else (0.0, 1.0)


def _unknown(anchored: Anchored) -> int:
    near = (line for insertion in anchored.insertions for line in insertion.neighbours)
    return sum(line.origin.unknown for line in (*anchored.lines, *near))


def _could_be_older(anchored: Anchored, past: Past) -> bool:
    """Whether lines that git cannot trace would make it a keep, if the snapshot had them."""
    traced = [line for line in anchored.lines if not line.origin.unknown]
    missing = len(anchored.lines) - len(traced)
    had = _snapshot_share(traced, past) * len(traced)
    return not anchored.lines or had + missing >= KEEP_SHARE * len(anchored.lines)


def _snapshot_share(lines: Sequence[AnchoredLine], past: Past) -> float:
    """Weighted share of lines that the snapshot had in the faulty form."""
    weights = [1.0 if line.lost else UNCHANGED_WEIGHT for line in lines]
    had = sum(
        weight for line, weight in zip(lines, weights, strict=True) if _was_faulty(line, past)
    )
    return had / sum(weights) if lines else 0.0


def _was_faulty(line: AnchoredLine, past: Past) -> bool:
    if line.place is None:
        return False
    if line.how != "rewritten" or not line.lost:
        return True
    path, number = line.place
    if not past.snapshot.lines(path):  # it is there, and cannot be read
        return True
    older = past.snapshot.lines(path)[max(0, number - 1 - WORD_WINDOW) : number + WORD_WINDOW]
    return bool(line.lost & {word for text in older for word in words_of(text)})


def _assess_context(anchored: Anchored, past: Past) -> Lineage:
    """A fix that only adds: was there, at the snapshot, what it adds to?"""
    if anchored.lines:
        share = _snapshot_share(anchored.lines, past)
        if share >= KEEP_SHARE:
            return _assess_lines(anchored, past)
    later = _later_words(anchored, past)
    if later:
        return _lineage(
            "postdated_precondition", 0.6, f"adds only names that came later: {', '.join(later)}"
        )
    if _reworked(anchored, past):
        return _lineage(
            "postdated_precondition", 0.55, "calls what came later, in a unit that was rewritten"
        )
    counting = [place for place in anchored.insertions if place.in_code] or anchored.insertions
    votes = [_surrounded(insertion, anchored, past) for insertion in counting]
    share = sum(votes) / len(votes) if votes else 0.0
    rationale = f"{sum(votes)} of {len(votes)} places that the fix adds to were in the snapshot"
    if anchored.lines and share >= KEEP_SHARE and not _words_known(anchored, past):
        share, rationale = 0.0, "the extended lines name what the snapshot's unit did not have"
    if share >= KEEP_SHARE:
        return _lineage(None, 0.5 + 0.3 * (2 * share - 1), rationale)
    return _lineage(_drop_ground(anchored, past), 0.5 + 0.4 * (1 - 2 * share), rationale)


def _surrounded(insertion: Insertion, anchored: Anchored, past: Past) -> bool:
    """Whether what an insertion stands in was there: a neighbour, and the unit by line or name.

    Declarations have their neighbours by chance. There the table around counts as well, and where
    they stand in a class itself, the class.
    """
    near = [line.place is not None for line in insertion.neighbours]
    if _is_keyed_by_later(insertion, anchored, past):
        return False
    if any(near):
        return True
    if not insertion.in_code and insertion.opener is not None:
        if insertion.head is None or insertion.opener.line != insertion.head.line:
            return insertion.opener.place is not None
        return _mostly_old(insertion, anchored, past)
    if insertion.unit is None or insertion.head is None or near:
        return False
    return insertion.head.place is not None or insertion.unit in past.snapshot.by_unit


def _is_keyed_by_later(insertion: Insertion, anchored: Anchored, past: Past) -> bool:
    """Whether an entry of a table is about something that came later: a later class, say.

    A name is later where the snapshot lacks it and the parent has it in lines that are new. In
    lines of the snapshot it is a new name for something old.
    """
    opener, head = insertion.opener, insertion.head
    if insertion.in_code or opener is None or (head is not None and head.line == opener.line):
        return False
    entry = _ENTRY.match(_STRING.sub("", insertion.added[0])) if insertion.added else None
    keys = set(words_of(entry[0])) - past.snapshot.words if entry else set()
    uses = past.uses(anchored.fix.parent, keys) if keys else {}
    return any(_share_old(places, past) < RENAMED_SHARE for places in uses.values())


def _share_old(places: Sequence[Place], past: Past) -> float:
    chosen = places[:: 1 + len(places) // MAX_UNIT_LINES]
    origins = past.tracer.trace(chosen)
    return sum(origins[place].place is not None for place in chosen) / len(chosen)


def _mostly_old(insertion: Insertion, anchored: Anchored, past: Past) -> bool:
    """Whether most lines of the unit go back to the snapshot, whatever it was called there."""
    parent, path = anchored.fix.parent, insertion.path
    content, language = past.read(parent, path) or b"", language_of(path)
    lines = split_lines(content)
    units = find_units(language, content, [max(1, insertion.line)]) if language else []
    spans = [range(u.first, min(u.last, len(lines)) + 1) for u in units if u.name == insertion.unit]
    saying = [n for span in spans for n in span if len(squeeze(lines[n - 1])) >= MIN_RESTORED_TEXT]
    places = [Place(parent, path, line) for line in saying]
    return bool(places) and _share_old(places, past) >= KEEP_SHARE


def _words_known(anchored: Anchored, past: Past) -> bool:
    """Whether the snapshot's unit, or for declarations the snapshot, had the extended lines' words."""
    words = {
        word
        for file in anchored.fix.files
        for change in file.changes
        for token in change.removed_tokens
        for word in words_of(token)
    }
    known: set[str] = set()
    if not any(insertion.in_code for insertion in anchored.insertions):
        known.update(past.snapshot.words)
    for path, name in anchored.units:
        same_name = past.snapshot.by_unit.get(name, [])
        for where, unit in same_name:
            if where == path or len(same_name) == 1:
                lines = past.snapshot.lines(where)[unit.first - 1 : unit.last]
                known.update(word for line in lines for word in words_of(line))
    return bool(words) and len(words & known) >= KNOWN_WORDS * len(words)


def _later_words(anchored: Anchored, past: Past) -> list[str]:
    """The fix's new names, where the snapshot has none of them and the fix's parent has them all."""
    new = _new_words(anchored)
    if any(word in past.snapshot.words for word in new):
        return []
    return new if new and past.uses(anchored.fix.parent, new).keys() >= set(new) else []


def _new_words(anchored: Anchored) -> list[str]:
    changes = [change for file in anchored.fix.files for change in file.changes]
    before = {
        word for change in changes for token in change.removed_tokens for word in words_of(token)
    }
    added = {
        word for change in changes for token in change.added_tokens for word in words_of(token)
    }
    return sorted(word for word in added - before if not word.isdigit())


def _reworked(anchored: Anchored, past: Past) -> bool:
    """Whether the fix leans on a later name of its file, in units of which much was taken away."""
    places = [place for place in anchored.insertions if place.in_code]
    new = set(_new_words(anchored))
    return bool(places) and all(
        new & _later_in_file(place.path, anchored, past) and _lost_much(place, anchored, past)
        for place in places
    )


def _later_in_file(path: str, anchored: Anchored, past: Past) -> set[str]:
    """Words of a file of the fix's parent that the snapshot's file did not have."""
    parent = split_lines(past.read(anchored.fix.parent, path) or b"")
    now = {word for line in parent for word in words_of(line)}
    return now - {word for line in past.snapshot.lines(path) for word in words_of(line)}


def _lost_much(place: Insertion, anchored: Anchored, past: Past) -> bool:
    """Whether the snapshot's unit of that name has lost :data:`LOST_SHARE` of its lines since."""
    parent = past.read(anchored.fix.parent, place.path) or b""
    kept = {squeeze(line) for line in split_lines(parent)}
    lines = [
        squeeze(line)
        for where, unit in past.snapshot.by_unit.get(place.unit or "", [])
        if where == place.path
        for line in past.snapshot.lines(where)[unit.first - 1 : unit.last]
    ]
    saying = [line for line in lines if len(line) >= MIN_RESTORED_TEXT]
    return sum(line not in kept for line in saying) > LOST_SHARE * len(saying)


def _restored_share(anchored: Anchored, past: Past) -> float:
    """Share of added lines that stood in the snapshot's file and not in the fix's parent."""
    added = restored = 0
    for file in anchored.fix.files:
        texts = [squeeze(line) for change in file.changes for line in change.added]
        saying = [t for t in texts if len(t) >= MIN_RESTORED_TEXT and any(map(str.isalnum, t))]
        added += len(saying)
        had = [text for text in saying if text in past.snapshot.squeezed(file.path)]
        if had:
            content = past.read(anchored.fix.parent, file.path) or b""
            parent = {squeeze(line) for line in split_lines(content)}
            restored += sum(text not in parent for text in had)
    return restored / added if added else 0.0


def _all_exact(anchored: Anchored) -> bool:
    return bool(anchored.lines) and all(line.how == "exact" for line in anchored.lines)


def _drop_ground(anchored: Anchored, past: Past) -> DropGround:
    """``code_absent`` only where no load-bearing name of the code occurs in the snapshot."""
    names = {name.rsplit(".", 1)[-1] for _, name in anchored.units}
    return "code_absent" if names and not names & past.snapshot.words else "postdated_precondition"
