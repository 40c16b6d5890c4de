import pytest
from test_signals import item, many

from probe.similarity.filter import Thresholds, similar_pairs, similar_within

OFF = Thresholds(None, None, None, None, None, None)


def ids(pairs):
    return [(pair.left, pair.right) for pair in pairs]


def test_any_signal_alone_keeps_a_pair():
    left = item("l", ("a/x.py", 1, 2), title="abc", description="`run` now", snippet="a b")
    right = item("r", ("b/x.py", 1, 2), title="abd", description="`run` then", snippet="a c")
    for name, limit in {
        "path": 0.5,
        "snippet": 1 / 3,
        "text": 0.1,
        "identifiers": 1.0,
        "title": 0.3,
    }.items():
        kept = similar_pairs([left], [right], Thresholds(**{**_off(), name: limit}))
        assert ids(kept) == [("l", "r")], name
    assert similar_pairs([left], [right], OFF) == []


def _off():
    return dict.fromkeys(("line_distance", "path", "snippet", "text", "identifiers", "title"))


def test_line_distance_is_at_most_its_threshold():
    left, right = item("l", ("a.py", 1, 1)), item("r", ("a.py", 11, 11))
    assert ids(similar_pairs([left], [right], Thresholds(**{**_off(), "line_distance": 10})))
    assert not similar_pairs([left], [right], Thresholds(**{**_off(), "line_distance": 9}))


def test_a_threshold_read_from_a_pair_keeps_that_pair():
    everything = Thresholds(**{**_off(), "path": 0.0})
    for pair in similar_pairs(many(5, 1), many(5, 2), everything):
        limit = Thresholds(**{**_off(), "text": pair.text_similarity})
        assert (pair.left, pair.right) in ids(similar_pairs(many(5, 1), many(5, 2), limit))


def test_pairs_are_sorted_and_do_not_depend_on_the_order_of_items():
    left, right = many(8, 1), many(6, 2)
    straight = similar_pairs(left, right, Thresholds())
    assert straight == similar_pairs(left[::-1], right[::-1], Thresholds())
    assert ids(straight) == sorted(ids(straight))
    assert straight


def test_pairs_across_files_have_no_line_distance():
    (pair,) = similar_pairs(
        [item("l", ("a.py", 1, 1))],
        [item("r", ("b.py", 1, 1))],
        Thresholds(**{**_off(), "path": 0}),
    )
    assert pair.line_distance is None


def test_within_a_list_each_unordered_pair_comes_once_earlier_item_first():
    items = [item(name, ("a.py", 1, 1)) for name in ("z", "y", "x")]
    assert ids(similar_within(items, Thresholds())) == [("z", "y"), ("z", "x"), ("y", "x")]


def test_pairs_that_are_asked_for_are_kept_whatever_their_signals():
    items = [item("a", ("a.py", 1, 1)), item("b", ("b.py", 1, 1)), item("c", ("c.py", 1, 1))]
    kept = similar_within(items, OFF, also=[("a", "c"), ("a", "unknown")])
    assert ids(kept) == [("a", "c")]


def test_an_id_that_occurs_twice_is_refused():
    with pytest.raises(ValueError, match="item a occurs twice"):
        similar_within([item("a"), item("a")], OFF)
    with pytest.raises(ValueError, match="item a occurs twice"):
        similar_pairs([item("a"), item("a")], [item("b")], OFF)


def test_empty_sides_give_no_pairs():
    assert similar_pairs([], [item("b")], Thresholds()) == []
    assert similar_within([], Thresholds()) == []
