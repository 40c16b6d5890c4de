"""SARIF files that are refused, each with one clear line; and that no input breaks the reader."""

import json
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from probe.errors import FinderError
from probe.finders import sarif
from probe.finders.sarif_file import check_sarif
from probe.records import PassResult

EMPTY = {"version": "2.1.0", "runs": []}


def refuse(context_of, path, **more):
    with pytest.raises(FinderError) as refusal:
        sarif.find(context_of({"a.py": "x\n"}, {"path": str(path)} | more))
    assert "\n" not in str(refusal.value)
    return str(refusal.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b"  \n", "is empty"),
        (b"<html>", "expected a JSON object, found b'<html>'"),
        (b"[]", "expected a JSON object, found b'[]'"),
        (b'{"version": "2.0.0", "runs": []}', "says version '2.0.0'; only SARIF 2.1.0 is read"),
        (b'{"runs": [], "version": "2.0.0"}', "says version '2.0.0'"),
        (b'{"runs": []}', "says version None"),
        (b'{"version": ["2.1.0"]}', "says version ['2.1.0']"),
        (b'{"version": "2.1.0", "runs": [', "is not valid JSON: Expecting value: line 1 column 31"),
        (b'{"version": "2.1.0"} trailing', "is not valid JSON: Extra data"),
        (b'{"version": "2.1.0", "x": "\xff"}', "is not valid JSON: 'utf-8' codec"),
        (b'{"version": "2.1.0", "x": ' + b"9" * 5000 + b"}", "is not valid JSON"),
        (b'{"a":' * 100_000, "is nested too deeply"),
        (b"\xff\xfe[\x00]\x00", "expected a JSON object at the top"),
    ],
)
def test_a_file_that_is_no_sarif(make_context, tmp_path, data, message):
    path = tmp_path / "report.sarif"
    path.write_bytes(data)
    said = refuse(make_context, path)
    assert said.startswith(f"{path}: ")
    assert message in said
    with pytest.raises(FinderError) as early:
        check_sarif(path)
    assert str(early.value) == said


def test_a_file_that_is_not_there_or_no_file(make_context, tmp_path):
    assert "no such SARIF file" in refuse(make_context, tmp_path / "none.sarif")
    with pytest.raises(FinderError, match="is no regular file"):
        check_sarif(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FinderError, match="is no regular file"):
        check_sarif(tmp_path / "pipe")


def test_a_file_that_is_too_large(make_context, tmp_path):
    path = tmp_path / "report.sarif"
    path.write_text(json.dumps(EMPTY | {"padding": "x" * 3_000_000}))
    said = refuse(make_context, path, max_mb=2)
    assert said.startswith(f"{path}: has 3.0 MB, more than the 2 MB of 'max_mb'")
    with pytest.raises(FinderError, match="more than the 1 MB"):
        check_sarif(path, 1)


def test_the_early_check_lets_sound_files_pass(tmp_path):
    path = tmp_path / "report.sarif"
    for data in (
        json.dumps(EMPTY).encode(),
        b"\xef\xbb\xbf" + json.dumps(EMPTY).encode(),
        json.dumps(EMPTY).encode("utf-16"),
        json.dumps({"runs": [{"tool": {"driver": {"version": "9"}}}]} | EMPTY).encode(),
    ):
        path.write_bytes(data)
        assert check_sarif(path) is None


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"path": None}, "'path' is None; expected the path of a SARIF file"),
        ({"max_mb": 0}, "'max_mb' is 0; expected megabytes above 0"),
        ({"root": 3}, "'root' is 3; expected a folder"),
    ],
)
def test_wrong_settings_are_refused(make_context, tmp_path, wrong, message):
    with pytest.raises(FinderError, match=message):
        sarif.find(make_context({"a.py": "x\n"}, {"path": str(tmp_path)} | wrong))


def test_the_repository_is_filled_into_the_path(make_context, tmp_path):
    (tmp_path / "demo.sarif").write_text(
        json.dumps({"version": "2.1.0", "runs": [{"tool": {}, "results": []}]})
    )
    found = sarif.find(make_context({"a.py": "x\n"}, {"path": f"{tmp_path}/{{repo}}.sarif"}))
    assert (found.status, found.provenance.engine_version) == ("ok", "unnamed")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)
NUMBER = st.integers(-2, 6) | st.integers() | JSON
URI = st.sampled_from(
    ["a.py", "pkg/b.py", "../a.py", "/etc/passwd", "file:///a.py", "out", "in", "%2e%2e/a", "\ud800"]
) | st.text()  # fmt: skip


def objects(**values):
    """Objects with some of the keys, each with a fitting value or any JSON."""
    return st.fixed_dictionaries({}, optional={k: v | JSON for k, v in values.items()})


REGION = objects(startLine=NUMBER, endLine=NUMBER, endColumn=NUMBER, charOffset=NUMBER,
                 charLength=NUMBER)  # fmt: skip
ARTIFACT = objects(uri=URI, uriBaseId=st.sampled_from(["A", "B", "C"]), index=NUMBER)
PLACE = objects(physicalLocation=objects(artifactLocation=ARTIFACT, region=REGION))
MESSAGE = objects(text=st.text(), id=st.just("m"), arguments=st.lists(JSON, max_size=2))
RESULT = objects(
    message=MESSAGE,
    locations=st.lists(PLACE | JSON, max_size=2),
    ruleId=st.just("r"),
    ruleIndex=NUMBER,
    rule=objects(index=NUMBER, toolComponent=objects(index=NUMBER)),
    level=st.just("error"),
    kind=st.sampled_from(["pass", "fail"]),
    suppressions=st.lists(objects(status=st.just("accepted")), max_size=2),
)
RULE = objects(id=st.just("r"), messageStrings=objects(m=objects(text=st.just("{0}{9}{x}"))))
RUN = objects(
    tool=objects(driver=objects(name=st.text(), rules=st.lists(RULE | JSON, max_size=2))),
    results=st.lists(RESULT | JSON, max_size=3),
    artifacts=st.lists(objects(location=ARTIFACT), max_size=2),
    originalUriBaseIds=objects(A=objects(uri=URI, uriBaseId=st.just("B")), B=ARTIFACT),
    invocations=st.lists(objects(executionSuccessful=st.booleans()), max_size=1),
)


@pytest.fixture
def report(tmp_path):
    return tmp_path / "report.sarif"


@pytest.fixture
def context(make_context, report):
    """One snapshot for all examples: none of them changes it."""
    files = {"a.py": "1\n2\n3\n", "pkg/b.py": "1\n2"}
    return make_context(files, {"path": str(report)}, links={"out": "/etc/hostname", "in": "a.py"})


@given(runs=st.lists(RUN | JSON, max_size=2) | JSON)
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_report_becomes_findings_inside_the_snapshot_or_a_clear_refusal(context, report, runs):
    report.write_text(json.dumps({"version": "2.1.0", "runs": runs}))
    found = sarif.find(context)
    counts = {"a.py": 3, "pkg/b.py": 2}
    for finding in found.findings:
        assert 1 <= finding.first <= finding.last <= counts[finding.path]
    assert (found.error is None) == (found.status == "ok")
    assert PassResult.model_validate_json(found.model_dump_json()).findings == found.findings


@given(data=st.binary(max_size=200) | st.binary(max_size=60).map(lambda b: b'{"version":' + b))
@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_bytes_are_read_or_refused(context, report, data):
    report.write_bytes(data)
    try:
        found = sarif.find(context)
    except FinderError as error:
        assert str(report) in str(error)
    else:
        assert found.findings == ()
