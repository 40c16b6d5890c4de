"""Committed locks, read for one machine."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement

from probe.environment.python_locks import (
    Pin,
    Question,
    find_lock,
    marker_values,
    read_lock,
    read_pins,
    write_pins,
)
from probe.errors import ProbeError

A, B, C, D = ("a" * 64, "b" * 64, "c" * 64, "d" * 64)


@pytest.fixture
def question(machine):
    roots = (Requirement("alpha"), Requirement("gone; sys_platform == 'win32'"))
    return Question(frozenset({"test"}), marker_values(machine), roots)


UV = f"""
version = 1
[[package]]
name = "mine"
version = "1"
source = {{ editable = "." }}
dependencies = [
  {{ name = "alpha", extra = ["fast"] }},
  {{ name = "gone", marker = "sys_platform == 'win32'" }},
]
[package.optional-dependencies]
docs = [{{ name = "docs" }}]
[package.dev-dependencies]
test = [{{ name = "tester" }}]
[[package]]
name = "alpha"
version = "1.0"
source = {{ registry = "https://pypi.org/simple" }}
dependencies = [{{ name = "beta", version = "2.0", source = {{ registry = "x" }} }}]
sdist = {{ url = "u", hash = "sha256:{A}", size = 1 }}
[package.optional-dependencies]
fast = [{{ name = "speed" }}]
[[package]]
name = "beta"
version = "2.0"
source = {{ registry = "https://pypi.org/simple" }}
wheels = [{{ url = "u", hash = "sha256:{B}" }}, {{ url = "v", hash = "sha256:{C}" }}]
[[package]]
name = "beta"
version = "1.0"
source = {{ registry = "https://pypi.org/simple" }}
wheels = [{{ url = "u", hash = "sha256:{A}" }}]
[[package]]
name = "speed"
version = "1"
source = {{ git = "https://example.org/speed" }}
[[package]]
name = "tester"
version = "3"
source = {{ registry = "https://pypi.org/simple" }}
wheels = [{{ url = "u", hash = "sha256:{D}" }}]
[[package]]
name = "docs"
version = "3"
source = {{ registry = "https://pypi.org/simple" }}
[[package]]
name = "gone"
version = "3"
source = {{ registry = "https://pypi.org/simple" }}
"""


def test_uv_lock_follows_extras_groups_markers_and_versions(tree, question):
    lock = read_lock(tree({"uv.lock": UV}), "uv.lock", question)
    assert lock.pins == (
        Pin("alpha", "1.0", frozenset({A})),
        Pin("beta", "2.0", frozenset({B, C})),
        Pin("tester", "3", frozenset({D})),
    )
    assert any("speed" in note for note in lock.notes)


POETRY = f"""
[[package]]
name = "Alpha"
version = "1.0"
optional = false
files = [{{file = "a.whl", hash = "sha256:{A}"}}]
[package.dependencies]
beta = {{version = ">=1", markers = "python_version >= '3.8'"}}
gone = {{version = "*", markers = "sys_platform == 'win32'"}}
unasked = {{version = "*", optional = true}}
[package.extras]
more = ["unasked (>=1)"]
[[package]]
name = "beta"
version = "2.0"
files = [{{file = "b.whl", hash = "sha256:{B}"}}]
[[package]]
name = "gone"
version = "1"
files = []
[[package]]
name = "unasked"
version = "1"
files = []
[[package]]
name = "unreached"
version = "1"
files = []
"""


def test_poetry_lock_follows_what_is_asked(tree, question):
    lock = read_lock(tree({"poetry.lock": POETRY}), "poetry.lock", question)
    assert [pin.name for pin in lock.pins] == ["alpha", "beta"]


def test_pdm_and_pipfile_locks(tree, question):
    pdm = f"""
[[package]]
name = "alpha"
version = "1.0"
groups = ["default"]
files = [{{file = "a", hash = "sha256:{A}"}}]
[[package]]
name = "docs"
version = "1.0"
groups = ["docs"]
[[package]]
name = "old"
version = "1.0"
requires_python = "<3.8"
groups = ["default"]
"""
    assert [p.name for p in read_lock(tree({"pdm.lock": pdm}), "pdm.lock", question).pins] == [
        "alpha"
    ]
    pipfile = {
        "default": {
            "alpha": {"version": "==1.0", "hashes": [f"sha256:{A}"]},
            "here": {"path": "."},
        },
        "develop": {"gone": {"version": "==1", "hashes": [], "markers": "os_name == 'nt'"}},
    }
    lock = read_lock(tree({"Pipfile.lock": json.dumps(pipfile)}), "Pipfile.lock", question)
    assert lock.pins == (Pin("alpha", "1.0", frozenset({A})),)


def test_a_lock_without_hashes_is_one_line_with_the_remedy(tree, question):
    text = POETRY.replace(f'{{file = "b.whl", hash = "sha256:{B}"}}', "")
    with pytest.raises(
        ProbeError, match=r"poetry\.lock of the snapshot: no hash for beta 2\.0.*lock: false"
    ):
        read_lock(tree({"poetry.lock": text}), "poetry.lock", question)


@pytest.mark.parametrize("text", ["[[package", "package = 3", "[[package]]\nname = 1\n"])
def test_a_malformed_lock_is_one_line(tree, question, text):
    with pytest.raises(ProbeError, match=r"uv\.lock of the snapshot: cannot be read as a lock"):
        read_lock(tree({"uv.lock": text}), "uv.lock", question)


def test_a_requirement_file_is_a_lock_only_with_hashes(tree):
    assert find_lock(tree({"requirements.txt": "a==1\n"})) is None
    assert find_lock(tree({"requirements.txt": f"a==1 --hash=sha256:{A}\n"})) == "requirements.txt"
    assert (
        find_lock(tree({"requirements.txt": f"a==1 --hash=sha256:{A}\n", "uv.lock": UV}))
        == "uv.lock"
    )


def test_an_unpinned_line_in_a_lock_is_named(tree, question):
    text = f"a==1 --hash=sha256:{A}\nb>=2 --hash=sha256:{B}\n"
    with pytest.raises(ProbeError, match="'b>=2' names no exact version"):
        read_lock(tree({"requirements.txt": text}), "requirements.txt", question)


names = st.from_regex(r"[a-z][a-z0-9]{0,8}(-[a-z0-9]{1,4})?", fullmatch=True)
hashes = st.frozensets(
    st.text("0123456789abcdef", min_size=64, max_size=64), min_size=1, max_size=3
)
pins = st.lists(
    st.builds(Pin, names, st.from_regex(r"[1-9]\d{0,2}(\.\d{1,2}){0,2}", fullmatch=True).map(
        lambda text: ".".join(str(int(part)) for part in text.split("."))), hashes),
    max_size=8, unique_by=lambda pin: pin.name,
)  # fmt: skip


@given(pins)
def test_what_is_written_is_read_again(listed):
    assert sorted(read_pins(write_pins(listed), {})) == sorted(listed)
