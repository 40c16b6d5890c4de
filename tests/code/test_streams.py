from hypothesis import given
from hypothesis import strategies as st

from probe.code.streams import line_tokens


def code(language: str, text: str) -> list[list[str]]:
    """The code tokens of every line."""
    found = line_tokens(language, text.encode(), range(1, text.count("\n") + 2))
    return [[token.text for token in found[n] if token.kind == "code"] for n in sorted(found)]


def kinds(language: str, text: str, line: int) -> set[str]:
    return {token.kind for token in line_tokens(language, text.encode(), [line])[line]}


def test_comments_docstrings_and_imports_are_told_from_code():
    text = 'import os\n\n\ndef f():\n    """Doc\n    more"""\n    # why\n    return "x"\n'
    assert kinds("python", text, 1) == {"import"}
    assert kinds("python", text, 5) == {"comment"}
    assert kinds("python", text, 6) == {"comment"}
    assert kinds("python", text, 7) == {"comment"}
    assert kinds("python", text, 8) == {"code"}


def test_a_string_that_is_a_value_is_code_on_each_of_its_lines():
    text = 'query = """select\n  1"""\n'
    assert code("python", text) == [["query", "=", '"""', "select"], ["1", '"""'], []]


def test_python_annotations_are_no_code_and_typescript_ones_are():
    assert code("python", "def f(a: int) -> str: pass") == [
        ["def", "f", "(", "a", ")", ":", "pass"]
    ]
    assert "number" in code("typescript", "function f(a: number) {}")[0]


def test_formatting_does_not_change_the_stream():
    short = [t for line in code("python", "f(a, 'b')\n") for t in line]
    wrapped = [t for line in code("python", 'f(\n    a,\n    "b",\n)\n') for t in line]
    assert short == wrapped
    assert code("javascript", "go();")[0] == code("javascript", "go()")[0]


def test_indentation_shows_as_depth():
    text = b"def f():\n    for x in y:\n        go()\n    return 1\n"
    found = line_tokens("python", text, [3, 4])
    assert {token.depth for token in found[3]} == {2}
    assert {token.depth for token in found[4]} == {1}


@given(st.binary(max_size=200), st.sets(st.integers(1, 20), max_size=5))
def test_any_bytes_give_an_entry_for_each_wanted_line(text, wanted):
    assert set(line_tokens("python", text, wanted)) == wanted
