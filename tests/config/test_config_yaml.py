"""YAML files: what PyYAML would accept in silence is named."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.config.strict_yaml import read_yaml
from probe.errors import ConfigError


def read(tmp_path, text: str | bytes):
    path = tmp_path / "file.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_yaml(path, "file.yaml")


def test_lines_of_keys_and_items(tmp_path):
    file = read(tmp_path, "a: 1\nb:\n  - x\n  - c: 2\n    d: 3\n")
    assert file.data == {"a": 1, "b": ["x", {"c": 2, "d": 3}]}
    assert file.where(("a",)) == "file.yaml:1"
    assert file.where(("b", 1)) == "file.yaml:4"
    assert file.where(("b", 1, "d")) == "file.yaml:5"
    assert file.where(("b", 1, "missing")) == "file.yaml:4"
    assert file.where(("missing",)) == "file.yaml"


@pytest.mark.parametrize("text", ["", "# only a comment\n", "\n\n", b"\xef\xbb\xbf"])
def test_a_file_without_content_is_an_empty_mapping(tmp_path, text):
    assert read(tmp_path, text).data == {}


def test_byte_order_mark_and_windows_line_ends(tmp_path):
    assert read(tmp_path, b"\xef\xbb\xbfa: 1\r\nb: 2\r\n").data == {"a": 1, "b": 2}


def test_anchors_and_merge_keys_still_work(tmp_path):
    file = read(tmp_path, "base: &base {a: 1, b: 2}\none:\n  <<: *base\n  b: 3\n")
    assert file.data["one"] == {"a": 1, "b": 3}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\nb: 2\na: 3\n", "file.yaml:3: a: given twice (first in line 1)"),
        ("x:\n  - {a: 1, a: 2}\n", "file.yaml:2: x[0].a: given twice (first in line 2)"),
        ("1: a\n", "file.yaml:1: 1: a key must be text"),
        ("yes: a\n", "file.yaml:1: yes: a key must be text"),
        ("2025-01-01: a\n", "file.yaml:1: 2025-01-01: a key must be text"),
        ("a: [1\n", "file.yaml:2: not valid YAML: expected ',' or ']'"),
        ("a:\n\t- b\n", "file.yaml:2: not valid YAML: found character '\\t'"),
        ("- a\n- b\n", "file.yaml: expected a mapping of keys at the top level"),
        ("just words\n", "file.yaml: expected a mapping of keys at the top level"),
        ("a: 1\n---\nb: 2\n", "file.yaml:2: not valid YAML: but found another document"),
        ("a: !!python/object:os.system {}\n", "file.yaml:1: not valid YAML: could not determine"),
        ("a: &x [*x]\n", "file.yaml: not valid YAML: maximum recursion depth exceeded"),
        ("a: 2025-02-30\n", "file.yaml: not valid YAML: day "),
        (b"a: \xe9\n", "file.yaml:1: is not UTF-8; save the file as UTF-8"),
        (b"a: \x00\n", "file.yaml: not valid YAML: unacceptable character"),
    ],
)
def test_one_line_says_what_is_wrong(tmp_path, text, expected):
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(expected)
    assert "\n" not in str(caught.value)


def test_missing_file(tmp_path):
    with pytest.raises(ConfigError, match=r"^gone\.yaml: cannot read: No such file or directory$"):
        read_yaml(tmp_path / "gone.yaml", "gone.yaml")


def test_folder_instead_of_a_file(tmp_path):
    with pytest.raises(ConfigError, match="cannot read: Is a directory"):
        read_yaml(tmp_path, "folder")


@given(st.binary(max_size=200))
def test_any_bytes_give_a_mapping_or_one_line(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("yaml") / "any.yaml"
    path.write_bytes(data)
    try:
        file = read_yaml(path, "any.yaml")
    except ConfigError as error:
        assert str(error).startswith("any.yaml")
        assert "\n" not in str(error)
    else:
        assert isinstance(file.data, dict)
