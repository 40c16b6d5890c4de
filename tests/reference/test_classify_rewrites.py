"""Tidying that looks like a repair: campaigns, respellings, wording, grammar; and what is none."""

import pytest
from classify_samples import LOOSE, SCOPE, TEST, Sides, sample, verdict
from test_classify_parts import edit_of

from probe.reference.classify_changes import Changes, read_changes
from probe.reference.classify_rewrites import only_wording, same_code, same_rewrite

SMALL: Sides = (["    return a[0]"], ["    return a[0] if a else None"])
TOUCHED: dict[str, list[Sides]] = {"lib/first.py": [SMALL], "tests/test_first.py": [TEST]}


def observe(*sides: Sides, path: str = "lib/first.py") -> Changes:
    commit, diff = sample("any", {path: list(sides)})
    return read_changes(commit, diff, SCOPE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("for key in table.keys():", "for key in table:"),
        ("found = tuple([f(x) for x in xs])", "found = tuple(f(x) for x in xs)"),
        ("found = list(f(x) for x in xs)", "found = [f(x) for x in xs]"),
        ("if type(a) == int:", "if type(a) is int:"),
        ("if ne(a, b):", "if a != b:"),
        ("hit = search(pattern, text)", "hit = re.search(pattern, text)"),
        ('text = " ".join([first, last])', 'text = f"{first} {last}"'),
        ('text = "{} of {}".format(part, whole)', 'text = f"{part} of {whole}"'),
        ("class Reader(object):", "class Reader:"),
    ],
)
def test_the_same_code_in_other_words(old: str, new: str) -> None:
    assert same_code([edit_of([old], [new])])
    assert not same_code([edit_of([old], [new]), edit_of(["a = 1"], ["a = 2"])])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return self.lock.locked", "return self.lock.locked()"),
        ("return reset()", "return self.reset()"),
        ("for key in table.keys():", "for key in table.values():"),
        ("found = [f(x) for x in xs]", "found = [f(x) for x in xs if x]"),
        ("if type(a) == int:", "if type(a) is bool:"),
        ("if ne(a, b):", "if a == b:"),
        ('text = "{} of {}".format(part, whole)', 'text = f"{part} of {rest}"'),
        ("if (a or b) and c:", "if a or (b and c):"),
    ],
)
def test_other_code_in_like_words_is_other_code(old: str, new: str) -> None:
    assert not same_code([edit_of([old], [new])])


def test_javascript_is_respelled_too() -> None:
    assert same_code([edit_of(["var a = f(b);"], ["const a = f(b);"], "slash")])
    assert same_code([edit_of(["let s = 'id ' + name;"], ["let s = `id ${name}`;"], "slash")])
    assert not same_code([edit_of(["const a = f(b);"], ["const a = f(c);"], "slash")])


def test_only_sentences_in_strings_are_wording() -> None:
    old, new = 'raise E("this did fail")', 'raise E("the reader could not open this file")'
    assert only_wording([edit_of([old], [new])])
    assert not only_wording([edit_of([old], [new.replace("E(", "F(")])])
    assert not only_wording([edit_of(['mode = "left"'], ['mode = "right"'])])


def test_one_swap_again_and_again_is_a_campaign_but_two_are_a_repair() -> None:
    edits = [edit_of([f"a{n} = dt.now()"], [f"a{n} = datetime.now()"]) for n in range(4)]
    assert same_rewrite(edits)
    assert not same_rewrite(edits[:2])
    assert not same_rewrite([*edits, edit_of(["b = 1"], ["b = 1", "c = 2"])])
    cased = [
        edit_of([f'h["{word}"]'], [f'h["{word.title()}"]']) for word in ("age", "etag", "via", "te")
    ]
    assert same_rewrite(cased)


def test_shapes_of_a_mere_respelling_count_nothing() -> None:
    same: Sides = (["if type(a) == int:"], ["if type(a) is int:"])
    assert "same code in other words" in observe(same).signals
    answer = verdict("Compare types", {"lib/first.py": [same], "tests/test_first.py": [TEST]})
    assert answer.is_fix is False
    assert "condition changed" not in answer.rationale


@pytest.mark.parametrize(
    "subject",
    [
        "Enforce ruff/flynt rules (FLY)",
        "More Pylint issues",
        "Correct many grammatical issues",
        "Finish eager_groups deprecation",
        "Finalize change in behavior of decode",
        "More f-strings, less format()",
        "Fix upstream tests",
        "Fix doctests",
        "Improve error message when the list is missing",
        "Lazily initialize the table",
        "Reduce memory of the table",
    ],
)
def test_campaigns_are_no_fixes_where_prefixes_are_not_used(subject: str) -> None:
    assert verdict(subject, {"lib/first.py": [SMALL]}, habits=LOOSE).is_fix is False


@pytest.mark.parametrize(
    "subject",
    [
        "Fix style cache invalidation",
        "fix trailing whitespace in the header",
        "Fix layout engine that loses the last line",
        "Do not rely on the order when the list is empty",
        "Enforce the size limit",
        "Allow lists without items",
        "Improve format to handle empty lists",
        "fix: limit memory of the table",
    ],
)
def test_repairs_with_words_of_a_campaign_stay_fixes(subject: str) -> None:
    assert verdict(subject, TOUCHED, habits=LOOSE).is_fix is True


def test_a_feature_that_brings_nothing_new_may_be_a_repair() -> None:
    plain: Sides = (["    return parse(a)"], ["    return parse(a.strip())"])
    tested: dict[str, list[Sides]] = {"lib/first.py": [plain], "tests/test_first.py": [TEST]}
    answer = verdict("Support spaces around values", tested, habits=LOOSE)
    assert "opens with a feature, nothing new +0.7" in answer.rationale
    more: Sides = ([], ["def parse_all(items):", "    return [parse(a) for a in items]"])
    tested["lib/first.py"] = [plain, more]
    answer = verdict("Support spaces around values", tested, habits=LOOSE)
    assert answer.is_fix is False
    assert "nothing new" not in answer.rationale


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("indexes : py:class:`Indexes` or mapping, optional", "indexes : Indexes or mapping"),
        ("given some lists, returns a iterator over", "given some lists, returns an iterator over"),
        ("Converts values to the type of `a`", "Converts the values to the type of `a`"),
    ],
)
def test_docstring_lines_without_their_quotes_are_prose(old: str, new: str) -> None:
    assert observe(([f"    {old}"], [f"    {new}"])).inert


def test_annotated_assignments_and_slices_are_no_docstring() -> None:
    assert not observe((["    size : int = 3"], ["    size : int = 4"])).inert
    assert not observe((["    a[low : high]"], ["    a[low : top]"])).inert
