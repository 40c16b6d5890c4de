import hashlib
import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.errors import RecordError
from probe.records import (
    Evidence,
    Location,
    Presence,
    Provenance,
    Usage,
    atomic_writer,
    content_sha256,
    iter_jsonl,
    read_json,
    read_jsonl,
    write_json,
    write_jsonl,
    write_text,
)

PROVENANCE = Provenance(engine="heuristic", engine_version="1", probe_version="0")


def test_round_trip_of_json_lines(tmp_path):
    records = [Location(path="a/b.py", first=1, last=2), Location(path="ü.py", first=3, last=3)]
    assert write_jsonl(tmp_path / "x.jsonl", records) == 2
    assert read_jsonl(tmp_path / "x.jsonl", Location) == records


@given(st.lists(st.text(), max_size=5))
def test_any_text_survives_json_lines(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("jsonl") / "x.jsonl"
    records = [
        Presence(
            candidate=text, verdict="keep", confidence=0.5, rationale=text, provenance=PROVENANCE
        )
        for text in texts
    ]
    write_jsonl(path, records)
    assert [record.rationale for record in iter_jsonl(path, Presence)] == texts


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b'{"path": "a", "first": 1, "last": 1}', ":1: the last line is cut"),
        (b'{"path": "a", "first": 1, "last": 1}\n{"path"\n', ":2: not a Location record"),
        (b'{"path": "a", "first": 1}\n', "last: Field required"),
        (b'{"path": "a", "first": 1, "last": 1, "x": 1}\n', "x: Extra inputs"),
        (b'{"path": "../a", "first": 1, "last": 1}\n', "not relative to the repository"),
        (b'{"path": "/a", "first": 1, "last": 1}\n', "not relative to the repository"),
        (b'{"path": "a", "first": 2, "last": 1}\n', "comes before first"),
        (b'{"path": "a", "first": 0, "last": 1}\n', "first"),
        (b"\xff\xfe\n", "not a Location record"),
    ],
)
def test_a_bad_line_is_named_in_one_line(tmp_path, content, expected):
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(RecordError, match=r"x\.jsonl:") as caught:
        read_jsonl(path, Location)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_file_is_one_line(tmp_path):
    with pytest.raises(RecordError, match="cannot read: No such file"):
        read_jsonl(tmp_path / "none.jsonl", Location)
    with pytest.raises(RecordError, match="cannot read: No such file"):
        read_json(tmp_path / "none.json", Location)


def test_a_failed_write_leaves_the_previous_file(tmp_path):
    path = tmp_path / "x.json"
    write_json(path, Location(path="a", first=1, last=1))
    before = path.read_bytes()
    with pytest.raises(KeyboardInterrupt), atomic_writer(path) as stream:
        stream.write(b"half")
        raise KeyboardInterrupt
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.json"]


@pytest.mark.tmpfs
def test_a_full_disk_is_one_line_and_loses_nothing(full_disk):
    path = full_disk / "x.txt"
    write_text(path, "kept\n")
    with pytest.raises(RecordError, match="No space left on device; free space"):
        write_text(path, "x" * 4_000_000)
    assert path.read_text() == "kept\n"
    assert [entry.name for entry in full_disk.iterdir()] == ["x.txt"]


def test_files_get_the_usual_permissions(tmp_path):
    code = (
        "import os; os.umask(0o027)\n"
        "from probe.records import write_text; write_text('x.txt', 'x')\n"
        "print(oct(os.stat('x.txt').st_mode & 0o777))"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert run.stdout.strip() == "0o640"


def test_content_hash_is_that_of_canonical_json():

    expected = hashlib.sha256('{"a":[1,"é"],"b":null}'.encode()).hexdigest()
    assert content_sha256({"b": None, "a": [1, "é"]}) == expected
    assert content_sha256({"a": 1}) != content_sha256({"a": "1"})


def test_a_drop_needs_a_ground_and_only_a_drop():
    common = {"candidate": "x", "confidence": 0.5, "rationale": "", "provenance": PROVENANCE}
    with pytest.raises(ValueError, match="a drop needs a ground"):
        Presence(verdict="drop", **common)
    with pytest.raises(ValueError, match="a drop needs a ground"):
        Presence(verdict="keep", ground="code_absent", **common)
    drop = {"verdict": "drop", "ground": "code_absent"}
    with pytest.raises(ValueError, match="a drop needs evidence"):
        Presence(**drop, **common)
    cited = [Evidence(command="git grep x", output="")]
    assert Presence(**drop, evidence=cited, **common).ground == "code_absent"
    assert (
        Presence(verdict="keep", overruled="uncited", claimed="code_absent", **common).ground
        is None
    )
    with pytest.raises(ValueError, match="an overruled drop is a keep"):
        Presence(**drop, evidence=cited, overruled="uncited", **common)


def test_unknown_usage_is_not_zero():
    assert json.loads(Usage().model_dump_json())["usd"] is None
