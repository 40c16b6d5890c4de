import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.git.names import decode_path, encode_candidates, unquote


@pytest.mark.parametrize(
    ("quoted", "name"),
    [
        (b"plain.py", b"plain.py"),
        (b'"\\303\\244.py"', "ä.py".encode()),
        (b'"a\\tb\\nc\\"d\\\\e"', b'a\tb\nc"d\\e'),
        (b'"\\a\\b\\f\\r\\v"', b"\a\b\f\r\v"),
        (b'"', b'"'),
    ],
)
def test_unquote(quoted: bytes, name: bytes) -> None:
    assert unquote(quoted) == name


def test_undecodable_paths_are_shown_and_found_again() -> None:
    assert decode_path(b"caf\xe9.py") == "caf\\xe9.py"
    assert encode_candidates("caf\\xe9.py") == [b"caf\\xe9.py", b"caf\xe9.py"]
    assert encode_candidates("plain.py") == [b"plain.py"]


@given(st.binary(min_size=1, max_size=20))
def test_a_shown_path_always_leads_back(name: bytes) -> None:
    if b"\\x" not in name:
        assert name in encode_candidates(decode_path(name))
    assert decode_path(name).encode()
