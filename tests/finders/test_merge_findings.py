"""Findings of one run that say the same: labelled pairs, and what holds of any list."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.finders.gather import gather_findings
from probe.finders.merge import ACROSS, WITHIN, _likeness, merge_findings, same_finding
from probe.records import Finding, PassResult, Provenance, Usage


def finding(title, description="", first=10, last=12, *, id="r:x:p:1", **more):  # noqa: A002
    fields = {
        "repo": "r",
        "run": "x",
        "pass_id": id.split(":")[2],
        "title": title,
        "description": description or title,
        "path": "src/a.py",
        "first": first,
        "last": last,
        "snippet": "",
        "raw": {},
    }
    return Finding.model_validate({"id": id, **fields, **more})


DIV = (
    "`mean` divides by zero for an empty list",
    "`mean(values)` computes `sum(values) / len(values)` without a check. For `mean([])` the length "
    "is 0 and ZeroDivisionError is raised, where the documentation promises None.",
)
SAME = [
    (DIV, DIV, (10, 12), (10, 12)),
    (
        DIV,
        (
            "`mean` raises ZeroDivisionError for an empty list of values",
            "`mean([])` divides `sum(values)` by `len(values)`, which is 0, so that ZeroDivisionError is "
            "raised. The documentation promises None for an empty list.",
        ),
        (10, 12),
        (12, 12),
    ),
    (
        (
            "`parse_date` drops the time zone",
            "`parse_date` calls `strptime` and ignores the offset, so that `2024-01-01T00:00:00+02:00` is "
            "read as a naive time two hours off.",
        ),
        (
            "Time zone offset is ignored by `parse_date`",
            "`parse_date` ignores the offset that follows the time: `2024-01-01T00:00:00+02:00` is read by "
            "`strptime` as a naive time and is two hours off.",
        ),
        (30, 34),
        (33, 33),
    ),
    (
        (
            "`Cache.get` returns expired entries",
            "`Cache.get` compares `expires` with `time.time()` by `<` only after it has returned the entry, "
            "so that expired entries are served.",
        ),
        (
            "`Cache.get` serves entries after they have expired",
            "Expired entries are returned: `Cache.get` compares `expires` with `time.time()` only after the "
            "entry has been returned.",
        ),
        (50, 58),
        (52, 60),
    ),
]
"""Same place, same root cause, as two sessions word it."""

MISSED = [
    (
        (
            "Trailing separator yields an extra empty field",
            "Splitting `a,b,` with `split_fields` gives three fields, because the loop appends the remainder even when nothing follows the last comma.",
        ),
        (
            "`split_fields` returns an additional empty item after a final comma",
            "When the input ends with a comma, the loop in `split_fields` appends the empty remainder, so that `a,b,` gives three fields instead of two.",
        ),
        (10, 14),
        (12, 13),
    ),
    (
        (
            "`Retry.sleep` overflows for many attempts",
            "The delay is `base * 2 ** attempt` without a bound, so that after 1,100 attempts `time.sleep` raises OverflowError.",
        ),
        (
            "Unbounded exponential delay in `Retry.sleep`",
            "`Retry.sleep` computes `base * 2 ** attempt`; nothing caps it, and `time.sleep` raises OverflowError once `attempt` is large.",
        ),
        (10, 14),
        (12, 13),
    ),
    (
        (
            "Wrong order of the merged headers",
            "`merge_headers` lets the defaults override what the caller passes: `{**given, **defaults}`.",
        ),
        (
            "Caller's headers are lost in `merge_headers`",
            "A header that the caller passes is replaced by the default of that name, since `{**given, **defaults}` puts the defaults last.",
        ),
        (10, 14),
        (12, 13),
    ),
    (
        (
            "`unescape` decodes twice",
            "`&amp;lt;` becomes `<`: `unescape` replaces `&amp;` first and `&lt;` afterwards.",
        ),
        (
            "Double unescaping of `&amp;lt;`",
            "The replacements of `unescape` run one after the other, `&amp;` first, so that `&amp;lt;` is turned into `<` instead of `&lt;`.",
        ),
        (10, 14),
        (12, 13),
    ),
]
"""Same place and cause in words of their own: left apart, which costs a little precision."""

DIFFERENT = [
    (
        DIV,
        (
            "`mean` accepts strings and fails late",
            "For `mean(['1', '2'])` `sum` raises TypeError with a message about int and str, although the "
            "parser hands over strings for quoted columns.",
        ),
        (10, 12),
        (11, 12),
    ),
    (
        (
            "`encode` loses surrogate pairs",
            "`encode` iterates over UTF-16 code units; an emoji becomes two replacement characters.",
        ),
        (
            "`encode` does not escape quotation marks",
            "A quotation mark in the value ends the attribute early; `encode` escapes `<` and `&` alone.",
        ),
        (20, 40),
        (25, 27),
    ),
    (
        (
            "`Pool.close` leaks the socket when `flush` raises",
            "`Pool.close` calls `self.flush()` before `self.sock.close()` without try/finally.",
        ),
        (
            "`Pool.close` can be called twice and decrements `open` below zero",
            "Nothing records that the pool is closed, so that a second call makes `open` negative.",
        ),
        (70, 80),
        (70, 80),
    ),
    (
        (
            "`slice` filter treats a negative length as zero",
            "`slice: 1, -1` gives an empty string where the reference gives an error.",
        ),
        (
            "`slice` filter counts UTF-16 units and cuts an emoji in half",
            "`'a😀b' | slice: 1, 1` gives half a surrogate pair, since `slice` counts code units.",
        ),
        (5, 9),
        (5, 9),
    ),
    (DIV, DIV, (10, 12), (13, 14)),
    (
        (
            "`add_days` ignores negative numbers of days",
            "`add_days(date, -1)` returns `date`, because the loop `range(days)` does not run for a negative `days`.",
        ),
        (
            "`add_days` skips weekends for calendar days",
            "`add_days(date, 3)` on a Friday returns Wednesday, because the loop `range(days)` passes over weekends although `business` is False.",
        ),
        (10, 14),
        (12, 13),
    ),
    (
        (
            "`resolve` follows links out of the root",
            "`resolve(root, name)` joins before it normalises, so that a link below `root` may lead to `/etc/passwd`.",
        ),
        (
            "`resolve` fails for a name with a trailing slash",
            "`resolve(root, name)` splits before it normalises, so that `name` ending in a slash has an empty last part and raises IndexError.",
        ),
        (10, 14),
        (12, 13),
    ),
    (
        (
            "`Lexer.number` reads `1e` as 1",
            "The exponent is optional in `Lexer.number`: for `1e` it returns 1 and leaves `e` as an identifier.",
        ),
        (
            "`Lexer.number` rejects `1_000`",
            "Underscores are not handled in `Lexer.number`: for `1_000` it returns 1 and leaves `_000` as an identifier.",
        ),
        (10, 14),
        (12, 13),
    ),
    (
        (
            "`Store.get` returns the default for stored None",
            "`Store.get(key, default)` tests `if value` and returns `default` when the stored value is None, 0 or empty.",
        ),
        (
            "`Store.get` raises KeyError for unhashable keys' default",
            "`Store.get(key, default)` looks `key` up before `default` is considered, so that a list raises TypeError instead of returning `default`.",
        ),
        (10, 14),
        (12, 13),
    ),
]
"""Another root cause in the same lines, or another place."""


def pair(case, passes=("p", "q")):
    (title, text), (other_title, other_text), here, there = case
    return (
        finding(title, text, *here, id=f"r:x:{passes[0]}:1"),
        finding(other_title, other_text, *there, id=f"r:x:{passes[1]}:2"),
    )


@pytest.mark.parametrize("case", SAME)
def test_pairs_that_say_the_same_are_one(case):
    assert same_finding(*pair(case))


@pytest.mark.parametrize("passes", [("p", "q"), ("p", "p")])
@pytest.mark.parametrize("case", DIFFERENT)
def test_different_defects_of_a_place_stay_apart(case, passes):
    assert not same_finding(*pair(case, passes))


def test_the_rule_takes_few_for_the_same():
    """Of eight labelled duplicates it joins four; a lower threshold would join different defects."""
    joined = [case for case in SAME + MISSED if same_finding(*pair(case))]
    assert joined == SAME
    likest = max(_likeness(*pair(case)) for case in DIFFERENT if case[2] != (10, 12))
    assert 0.5 < likest < ACROSS


def test_one_session_must_repeat_itself_more_closely():
    words = " ".join(f"word{n}" for n in range(20))
    left = finding(words, id="r:x:p:1")
    right = finding(" ".join([*words.split()[:13], *(f"other{n}" for n in range(7))]), id="r:x:q:1")
    assert ACROSS < _likeness(left, right) < WITHIN
    assert same_finding(left, right)
    assert not same_finding(left, right.model_copy(update={"pass_id": "p"}))


def test_the_same_title_in_a_unit_counts_across_passes_only():
    here = {"unit": "Stats.mean", "path": "src/stats.py"}
    left = finding("Divides by zero", "One text.", 10, 10, id="r:x:p:1", **here)
    right = finding("divides by  zero", "Quite another.", 15, 15, id="r:x:q:1", **here)
    assert same_finding(left, right)
    for changed in (
        {"unit": "Stats.median"},
        {"unit": None},
        {"path": "src/other.py"},
        {"pass_id": "p"},
        {"rule": "B006"},
    ):
        assert not same_finding(left, right.model_copy(update=changed))
    bare = {"unit": None}
    assert not same_finding(left.model_copy(update=bare), right.model_copy(update=bare))


def test_what_a_tools_rule_says_is_never_folded():
    twice = [finding(*DIV, id=f"r:x:p:{n}", rule="ZeroDivision") for n in (1, 2)]
    assert merge_findings(twice) == twice


def test_the_surest_stays_and_names_the_others():
    a, b, c = (
        finding(*DIV, id=f"r:x:{name}:1", confidence=sure)
        for name, sure in (("p", 0.5), ("q", 0.9), ("r", 0.9))
    )
    alone = finding("Other", id="r:x:s:1", first=90, last=90)
    merged = merge_findings([a, alone, b, c])
    assert [(one.id, one.merged) for one in merged] == [
        ("r:x:s:1", ()),
        ("r:x:q:1", ("r:x:p:1", "r:x:r:1")),
    ]
    [one] = merge_findings([finding(*DIV), finding(*DIV, id="r:x:q:1", confidence=0.0)])
    assert (one.id, one.merged) == ("r:x:p:1", ("r:x:q:1",))


def test_one_with_a_common_third_is_one():
    chain = [finding(*DIV, first, first + 3, id=f"r:x:{first}:1") for first in (10, 13, 16)]
    assert not same_finding(chain[0], chain[2])
    for order in permutations(chain):
        [one] = merge_findings(order)
        assert sorted((one.id, *one.merged)) == [one.id for one in chain]


FINDINGS = st.lists(
    st.builds(
        lambda title, first, length, part, sure, path: (title, first, length, part, sure, path),
        st.sampled_from(["a b c", "a b d", "a b c d", "x y"]),
        st.integers(1, 5),
        st.integers(0, 3),
        st.sampled_from("pq"),
        st.sampled_from([None, 0.2, 0.8]),
        st.sampled_from(["m.py", "n.py"]),
    ),
    max_size=10,
)


@given(FINDINGS)
def test_nothing_is_lost_and_nothing_counts_twice(rows):
    found = [
        finding(title, "", first, first + length, id=f"r:x:{part}:{n}", confidence=sure, path=path)
        for n, (title, first, length, part, sure, path) in enumerate(rows)
    ]
    merged = merge_findings(found)
    named = [name for one in merged for name in (one.id, *one.merged)]
    assert sorted(named) == sorted(one.id for one in found)
    assert [one.id for one in merged] == [
        one.id for one in found if one.id in {kept.id for kept in merged}
    ]
    by_id = {one.id: one for one in found}
    for one in merged:
        assert all(by_id[other].path == one.path for other in one.merged)
        assert all((by_id[o].confidence or 0) <= (one.confidence or 0) for o in one.merged)
    plain = [one.model_copy(update={"merged": ()}) for one in merged]
    assert [one.id for one in merge_findings(plain)] == [one.id for one in merged] or len(
        merge_findings(plain)
    ) < len(plain)


def test_a_runs_findings_are_folded_when_they_are_gathered():
    def result(part, *found):
        return PassResult(
            repo="r",
            run="x",
            pass_id=part,
            status="ok",
            findings=found,
            usage=Usage(),
            wall_s=0.0,
            provenance=Provenance(engine="m", engine_version="1", probe_version="1"),
        )

    left, right = pair(SAME[1])
    merged = gather_findings([result("p", left), result("q", right)])
    assert [(one.id, one.merged) for one in merged] == [(left.id, (right.id,))]
