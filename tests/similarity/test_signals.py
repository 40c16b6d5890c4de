import math
import random

import numpy as np
import pytest

from probe.records import Location
from probe.similarity.items import Item
from probe.similarity.signals import iter_signals


def item(name: str, *places: tuple[str, int, int], title="", description="", snippet="") -> Item:
    locations = tuple(Location(path=path, first=first, last=last) for path, first, last in places)
    return Item(name, locations, title, description, snippet)


def only(left: Item, right: Item):
    """The signals of a single pair."""
    (block,) = iter_signals([left], [right])
    return block


def test_line_distance_is_the_gap_between_the_nearest_ranges():
    left = item("l", ("a.py", 10, 12), ("b.py", 1, 1))
    distances = {
        "overlap": ("a.py", 12, 20, 0),
        "touching": ("a.py", 13, 13, 1),
        "before": ("a.py", 1, 4, 6),
        "other location": ("b.py", 31, 40, 30),
    }
    for name, (path, first, last, expected) in distances.items():
        assert only(left, item("r", (path, first, last))).line_distance[0, 0] == expected, name
    assert math.isinf(only(left, item("r", ("c.py", 10, 12))).line_distance[0, 0])


def test_path_similarity_counts_shared_trailing_parts():
    left = item("l", ("src/pkg/a.py", 1, 1))
    for path, expected in {
        "src/pkg/a.py": 1.0,
        "pkg/a.py": 2 / 3,
        "lib/a.py": 1 / 3,
        "src/pkg/b.py": 0.0,
    }.items():
        assert only(left, item("r", (path, 1, 1))).path[0, 0] == pytest.approx(expected), path


def test_the_best_of_several_paths_counts():
    left = item("l", ("x.py", 1, 1), ("src/a.py", 1, 1))
    right = item("r", ("lib/a.py", 1, 1), ("y.py", 1, 1))
    assert only(left, right).path[0, 0] == pytest.approx(1 / 2)


def test_snippet_jaccard():
    block = only(item("l", snippet="a = b"), item("r", snippet="a = c"))
    assert block.snippet[0, 0] == pytest.approx(2 / 4)


def test_identifier_jaccard_over_title_and_description():
    left = item("l", title="`read` fails", description="see write_all")
    right = item("r", title="read_all", description="`read`")
    assert only(left, right).identifiers[0, 0] == pytest.approx(1 / 3)


def test_title_dice():
    # "ab": '  a', ' ab', 'ab ', 'b  '; "ac" shares the first
    assert only(item("l", title="ab"), item("r", title="ac")).title[0, 0] == pytest.approx(2 / 8)


def test_tf_idf_cosine_by_hand():
    """Two texts of two words sharing one: idf is 1 for the shared and ln(3/2) + 1 for the others."""
    block = only(item("l", description="alpha beta"), item("r", description="alpha gamma"))
    rare = math.log(3 / 2) + 1
    assert block.text[0, 0] == pytest.approx(1 / (1 + rare**2), rel=1e-5)


def test_equal_items_have_the_highest_signals_and_empty_ones_none():
    full = item("l", ("a.py", 1, 2), title="A title", description="`name` it", snippet="x = 1")
    block = only(full, full)
    same = [block.path, block.snippet, block.text, block.identifiers, block.title]
    assert [float(matrix[0, 0]) for matrix in same] == pytest.approx([1.0] * 5)
    nothing = only(item("l"), item("r"))
    values = [nothing.path, nothing.snippet, nothing.text, nothing.identifiers, nothing.title]
    assert [float(matrix[0, 0]) for matrix in values] == [0.0] * 5
    assert math.isinf(nothing.line_distance[0, 0])


def test_empty_sides_give_no_blocks():
    assert list(iter_signals([], [item("r")])) == []
    assert list(iter_signals([item("l")], [])) == []


def many(count: int, seed: int) -> list[Item]:
    rng = random.Random(seed)
    words = ["parse", "read_all", "`Row`", "closes", "empty", "handles", "null", "value"]
    return [
        item(
            f"{seed}-{n}",
            (rng.choice(["a.py", "p/a.py", "b.py"]), line := rng.randint(1, 50), line + 3),
            title=" ".join(rng.sample(words, 3)),
            description=" ".join(rng.choices(words, k=6)),
            snippet=" ".join(rng.sample(words, 4)),
        )
        for n in range(count)
    ]


def test_blocks_join_to_the_whole():
    left, right = many(7, 1), many(5, 2)
    (whole,) = iter_signals(left, right)
    blocks = list(iter_signals(left, right, rows=3))
    assert [block.start for block in blocks] == [0, 3, 6]
    for name in ("line_distance", "path", "snippet", "text", "identifiers", "title"):
        joined = np.vstack([getattr(block, name) for block in blocks])
        assert np.array_equal(joined, getattr(whole, name)), name


def test_the_order_of_items_changes_no_value():
    left, right = many(7, 3), many(6, 4)
    (straight,) = iter_signals(left, right)
    (shuffled,) = iter_signals(left[::-1], right[::-1])
    for name in ("line_distance", "path", "snippet", "text", "identifiers", "title"):
        turned = getattr(shuffled, name)[::-1, ::-1]
        assert np.array_equal(turned, getattr(straight, name)), name
