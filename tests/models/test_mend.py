import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.models.mend import DuplicateKeyError, mend, parse

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip
LAYOUT = st.sampled_from([{}, {"indent": 2}, {"separators": (",", ":")}, {"ensure_ascii": False}])


@given(JSON, LAYOUT)
def test_valid_json_is_not_touched(value, layout):
    text = json.dumps(value, **layout)
    assert mend(text) == text


@given(JSON, LAYOUT)
def test_a_fence_around_valid_json_is_removed(value, layout):
    text = json.dumps(value, **layout)
    assert mend(f"```json\n{text}\n```") == text


@given(st.dictionaries(st.text(), JSON, min_size=1) | st.lists(JSON, min_size=1), st.data())
def test_a_cut_answer_is_never_completed(value, data):
    text = json.dumps(value)
    cut = text[: data.draw(st.integers(0, len(text) - 1))]
    with pytest.raises(ValueError):
        parse(mend(cut))


@given(st.text(alphabet='{}[]",:\\ \n\t`ab1'))
def test_only_commas_and_a_fence_ever_go(text):
    mended = mend(text)
    kept = iter(text)
    assert all(character in kept for character in mended)
    if "`" not in text:
        assert mended.replace(",", "") == text.replace(",", "")


@given(st.lists(st.text(), min_size=1), st.data())
def test_a_comma_too_many_is_removed_and_strings_are_kept(words, data):
    place = data.draw(st.integers(0, len(words)))
    parts = [json.dumps(word) for word in words]
    text = "[" + ",".join([*parts[:place], "", *parts[place:]]) + "]"
    assert json.loads(mend(text)) == words


@pytest.mark.parametrize(
    ("broken", "value"),
    [
        ('{"a": 1,}', {"a": 1}),
        ('{"a": 1,,}', {"a": 1}),
        ('{"a": [1, 2, ], }', {"a": [1, 2]}),
        ("[,1]", [1]),
        ('{"a": 1},', {"a": 1}),
        ('{"a": ",]"}', {"a": ",]"}),
        ('{"a": "\\",}"}', {"a": '",}'}),
        ('```\n{"a": 1}\n```', {"a": 1}),
        ('\n ```json\r\n{"a": 1}\r\n``` \n', {"a": 1}),
        ('```json\n{"a": "```\\n"}\n```', {"a": "```\n"}),
    ],
)
def test_what_is_mended(broken, value):
    assert parse(mend(broken)) == value


@pytest.mark.parametrize(
    "text",
    [
        'Here it is: {"a": 1}',
        '{"a": 1} I hope this helps.',
        'Sure!\n```json\n{"a": 1}\n```',
        '{"a": 1}{"a": 2}',
        '{"a": }',
        '{"a" 1}',
        "{'a': 1}",
        '{"a": NaN}',
        '{"a": 1',
        '{"a": "x',
        "",
        "```json\n```",
    ],
)
def test_what_is_not_mended(text):
    with pytest.raises(ValueError):
        parse(mend(text))


def test_a_key_that_occurs_twice_is_no_answer():
    with pytest.raises(DuplicateKeyError, match="the key 'is_fix' occurs twice"):
        parse('{"is_fix": true, "is_fix": false}')
