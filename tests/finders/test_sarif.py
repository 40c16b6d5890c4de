"""SARIF as tools write it, one oddity at a time."""

import json

import pytest

from probe.finders import sarif

FILES = {
    "src/a.py": "".join(f"line {n}\n" for n in range(1, 11)),
    "src/b c.py": "one\ntwo\n",
    "x.py": "x\n",
}


def result(uri="src/a.py", line=2, text="Something is wrong.", **more):
    location = {"artifactLocation": {"uri": uri}}
    if line is not None:
        location["region"] = {"startLine": line}
    return {"message": {"text": text}, "locations": [{"physicalLocation": location}]} | more


def run_of(*results, **more):
    driver = {"name": "Tool", "version": "1.0"} | more.pop("driver", {})
    return {"tool": {"driver": driver}, "results": list(results)} | more


@pytest.fixture
def read(make_context, tmp_path):
    """Read a report given as runs, or as a whole log, or as bytes."""

    def read(*runs, log=None, data=None, files=None, links=None, **settings):
        path = tmp_path / "report.sarif"
        if data is None:
            whole = log if log is not None else {"version": "2.1.0", "runs": list(runs)}
            data = json.dumps(whole).encode()
        path.write_bytes(data)
        context = make_context(files or FILES, {"path": str(path)} | settings, links=links)
        return sarif.find(context)

    return read


def places(found):
    return [(f.path, f.first, f.last) for f in found.findings]


def test_a_plain_report(read):
    rules = [
        {
            "id": "R1",
            "name": "Rule",
            "shortDescription": {"text": "Short."},
            "fullDescription": {"text": "What it means."},
            "defaultConfiguration": {"level": "error"},
        }
    ]
    found = read(run_of(result(ruleId="R1"), driver={"rules": rules}))
    finding = found.findings[0]
    assert (found.status, found.error, found.suppressed) == ("ok", None, 0)
    assert finding.id == "demo:tool:all:1"
    assert finding.title == "Something is wrong."
    assert finding.description == "Something is wrong.\n\nWhat it means."
    assert (finding.path, finding.first, finding.last) == ("src/a.py", 2, 2)
    assert (finding.snippet, finding.rule, finding.severity) == ("line 2", "R1", "high")
    assert found.provenance.engine_version == "Tool 1.0"
    assert found.files_read is None
    assert found.usage.usd is None


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("src/a.py", "src/a.py"),
        ("./src/a.py", "src/a.py"),
        ("src/b%20c.py", "src/b c.py"),
        ("src/b c.py", "src/b c.py"),
        ("src\\a.py", "src/a.py"),
        ("src/../src/a.py", "src/a.py"),
        ("{root}/src/a.py", "src/a.py"),
        ("file://{root}/src/b%20c.py", "src/b c.py"),
        ("file://localhost{root}/src/a.py", "src/a.py"),
    ],
)
def test_ways_to_write_a_path_inside(read, tmp_path, uri, path):
    root = str(tmp_path.resolve() / "snapshot")
    found = read(run_of(result(uri.replace("{root}", root))))
    assert [f.path for f in found.findings] == [path]


@pytest.mark.parametrize(
    ("uri", "reason"),
    [
        ("../../etc/passwd", "outside_snapshot"),
        ("%2e%2e/%2e%2e/etc/passwd", "outside_snapshot"),
        ("..%5c..%5cetc%5cpasswd", "outside_snapshot"),
        ("/etc/passwd", "outside_snapshot"),
        ("file:///etc/passwd", "outside_snapshot"),
        ("file:///C:/repo/src/a.py", "outside_snapshot"),
        ("C:\\repo\\src\\a.py", "outside_snapshot"),
        ("https://example.org/src/a.py", "no_such_file"),
        ("secret", "outside_snapshot"),
        ("nowhere.py", "no_such_file"),
        ("src", "no_such_file"),
        ("", "no_location"),
        ("file://[bad/a.py", "no_such_file"),
        ("a%00b", "no_location"),
    ],
)
def test_ways_to_point_elsewhere_are_rejected_and_counted(read, uri, reason):
    found = read(run_of(result(uri)), links={"secret": "/etc/hostname"})
    assert found.status == "ok"
    assert found.findings == ()
    assert [one.reason for one in found.rejected] == [reason]


@pytest.mark.parametrize(
    ("bases", "base", "uri", "path"),
    [
        ({"ROOT": {"uri": "file:///ci/build/"}}, "ROOT", "src/a.py", "src/a.py"),
        ({}, "%SRCROOT%", "src/a.py", "src/a.py"),
        ({"ROOT": {"uri": "file:///ci/"}, "SRC": {"uri": "src/", "uriBaseId": "ROOT"}},
         "SRC", "a.py", "src/a.py"),
        ({"ROOT": {"uri": "file:///ci/"}, "SRC": {"uri": "file:///ci/src/"}},
         "SRC", "a.py", "src/a.py"),
        ({"ROOT": {"uri": "file:///ci/"}}, "", "file:///ci/src/a.py", "src/a.py"),
        ({"ROOT": {"uri": "file:///C:/work/"}}, "", "file:///C:/work/src/a.py", "src/a.py"),
        ({"LOOP": {"uri": "a/", "uriBaseId": "LOOP"}}, "LOOP", "a.py", None),
        ({"ROOT": {"description": {"text": "no uri"}}}, "ROOT", "src/a.py", "src/a.py"),
    ],
)  # fmt: skip
def test_base_ids(read, bases, base, uri, path):
    one = result(uri)
    one["locations"][0]["physicalLocation"]["artifactLocation"]["uriBaseId"] = base
    found = read(run_of(one, originalUriBaseIds=bases))
    assert [f.path for f in found.findings] == ([path] if path else [])


def test_the_runs_root_places_absolute_paths_of_another_machine(read):
    report = run_of(result("/builds/9/repo/src/a.py"), result("C:\\r\\x.py", 1))
    assert read(report, root="/builds/9/repo").findings[0].path == "src/a.py"


def test_a_windows_root_places_its_paths(read):
    found = read(run_of(result("C:\\r\\x.py", 1)), root="C:\\r")
    assert places(found) == [("x.py", 1, 1)]


def test_artifacts_are_named_by_index(read):
    one = result()
    one["locations"][0]["physicalLocation"]["artifactLocation"] = {"index": 1}
    bad = result()
    bad["locations"][0]["physicalLocation"]["artifactLocation"] = {"index": 7}
    artifacts = [{"location": {"uri": "x.py"}}, {"location": {"uri": "src/a.py"}}]
    found = read(run_of(one, bad, artifacts=artifacts))
    assert places(found) == [("src/a.py", 2, 2)]
    assert [one.reason for one in found.rejected] == ["no_location"]


@pytest.mark.parametrize(
    ("region", "lines", "oddities"),
    [
        ({"startLine": 3, "endLine": 5}, (3, 5), {}),
        ({"startLine": 3, "endLine": 5, "endColumn": 1}, (3, 4), {}),
        ({"startLine": 5, "endLine": 3}, (5, 5), {"end_before_start": 1}),
        ({"startLine": 9, "endLine": 12}, (9, 10), {"end_beyond_file": 1}),
        ({"startLine": 0}, (1, 1), {"file_level": 1}),
        ({}, (1, 1), {"file_level": 1}),
        ({"startLine": "3"}, (1, 1), {"file_level": 1}),
        ({"startLine": 3.0}, (3, 3), {}),
        ({"charOffset": 7, "charLength": 7}, (2, 2), {}),
        ({"charOffset": 7, "charLength": 9}, (2, 3), {}),
        ({"charOffset": 10_000}, (1, 1), {"file_level": 1}),
    ],
)
def test_regions(read, region, lines, oddities):
    one = result(line=None)
    one["locations"][0]["physicalLocation"]["region"] = region
    found = read(run_of(one))
    assert places(found) == [("src/a.py", *lines)]
    assert found.oddities == oddities


def test_a_line_beyond_the_file_is_rejected(read):
    found = read(run_of(result(line=11), result(line=-1)))
    assert [one.reason for one in found.rejected] == ["no_such_line", "no_such_line"]
    assert found.findings == ()


def test_a_result_without_location_is_rejected(read):
    bare = {"message": {"text": "Somewhere."}}
    logical = bare | {"locations": [{"logicalLocations": [{"name": "f"}]}]}
    found = read(run_of(bare, logical, bare | {"locations": "here"}))
    assert [one.reason for one in found.rejected] == ["no_location"] * 3


def test_the_first_physical_location_counts(read):
    one = result(line=4)
    one["locations"] = [{"logicalLocations": []}, *one["locations"], *result("x.py")["locations"]]
    found = read(run_of(one))
    assert places(found) == [("src/a.py", 4, 4)]
    assert found.oddities == {"several_locations": 1}


@pytest.mark.parametrize(
    ("suppressions", "counted"),
    [
        ([{"kind": "inSource"}], 1),
        ([{"kind": "external", "status": "accepted"}], 1),
        ([{"kind": "external", "status": "rejected"}], 0),
        ([{"kind": "inSource"}, {"kind": "external", "status": "underReview"}], 0),
        ([], 0),
        (None, 0),
    ],
)
def test_suppressions_are_respected(read, suppressions, counted):
    found = read(run_of(result(suppressions=suppressions)))
    assert found.suppressed == counted
    assert len(found.findings) == 1 - counted


def test_what_claims_no_defect_is_left_out_and_counted(read):
    kinds = ["pass", "notApplicable", "informational", "fail", "open", "review"]
    results = [result(line=n, kind=kind) for n, kind in enumerate(kinds, 1)]
    found = read(run_of(*results, result(line=9, baselineState="absent")))
    assert [f.first for f in found.findings] == [4, 5, 6]
    assert found.oddities == {
        "baseline_absent": 1, "kind_informational": 1, "kind_notApplicable": 1, "kind_pass": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("more", "severity"),
    [
        ({}, "medium"),
        ({"level": "error"}, "high"),
        ({"level": "note"}, "low"),
        ({"level": "none"}, None),
        ({"level": "strange"}, None),
        ({"ruleId": "hot"}, "critical"),
        ({"ruleId": "hot", "properties": {"security-severity": "3.9"}}, "low"),
        ({"properties": {"security-severity": 7.0}}, "high"),
        ({"properties": {"security-severity": "high"}, "level": "note"}, "low"),
        ({"properties": {"security-severity": "nan"}, "level": "note"}, "low"),
    ],
)
def test_severities(read, more, severity):
    rules = [{"id": "hot", "properties": {"security-severity": "9.8"}}]
    found = read(run_of(result(**more), driver={"rules": rules}))
    assert found.findings[0].severity == severity


RULES = [{"id": "D0", "shortDescription": {"text": "zero"}},
         {"id": "D1", "fullDescription": {"text": "one"}}]  # fmt: skip
PLUGIN = {"name": "plugin", "rules": [{"id": "P0", "fullDescription": {"text": "of the plugin"}}]}


@pytest.mark.parametrize(
    ("more", "rule", "meaning"),
    [
        ({"ruleId": "D1"}, "D1", "one"),
        ({"ruleIndex": 1}, "D1", "one"),
        ({"ruleId": "D0/part"}, "D0/part", "zero"),
        ({"rule": {"id": "P0"}}, "P0", "of the plugin"),
        ({"rule": {"index": 0, "toolComponent": {"index": 0}}}, "P0", "of the plugin"),
        ({"rule": {"index": 0, "toolComponent": {"name": "plugin"}}}, "P0", "of the plugin"),
        ({"ruleIndex": 99}, None, ""),
        ({"ruleIndex": -1}, None, ""),
        ({"ruleId": "unknown"}, "unknown", ""),
        ({"rule": {"index": 0, "toolComponent": {"index": 5}}}, None, ""),
    ],
)
def test_rules_are_looked_up(read, more, rule, meaning):
    report = run_of(result(**more))
    report["tool"] = {"driver": {"name": "T", "rules": RULES}, "extensions": [PLUGIN]}
    finding = read(report).findings[0]
    assert finding.rule == rule
    assert finding.description == "\n\n".join(["Something is wrong.", *([meaning] * bool(meaning))])


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"id": "default", "arguments": ["x", 3]}, "x is 3, {not} a place"),
        ({"id": "wide"}, "From the driver"),
        ({"markdown": "**bold**"}, "**bold**"),
        ({"text": "See [the loop](0) and [docs](https://example.org)."}, "See the loop and docs."),
        ({"text": "a[i](b) {0}"}, "a[i](b) {0}"),
        ({"text": "{0} of {7}", "arguments": ["x"]}, "x of {7}"),
        ({}, "Rule name"),
        ({"text": 5}, "Rule name"),
    ],
)
def test_messages(read, message, text):
    rules = [{"id": "R", "name": "Rule name",
              "messageStrings": {"default": {"text": "{0} is {1}, {{not}} a place"}}}]  # fmt: skip
    strings = {"wide": {"text": "From the driver"}}
    one = result(ruleId="R") | {"message": message}
    found = read(run_of(one, driver={"rules": rules, "globalMessageStrings": strings}))
    assert found.findings[0].title == text


def test_several_runs_and_duplicates(read):
    second = run_of(result(line=3), driver={"name": "Other", "semanticVersion": "2.0.0"})
    found = read(run_of(result(), result()), second)
    assert [f.first for f in found.findings] == [2, 3]
    assert found.oddities == {"duplicate": 1}
    assert found.provenance.engine_version == "Tool 1.0, Other 2.0.0"


def test_a_suggested_fix_is_kept(read):
    found = read(run_of(result(fixes=[{"description": {"text": "Use a copy."}}])))
    assert found.findings[0].suggested_fix == "Use a copy."


@pytest.mark.parametrize("bad", [None, 3, "text", [1], [[[]]], True])
def test_a_result_that_is_no_object_is_malformed(read, bad):
    found = read(run_of(bad, result()))
    assert [one.reason for one in found.rejected] == ["malformed"]
    assert len(found.findings) == 1


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (run_of() | {"results": None}, "has no array of results but None"),
        ({"tool": {"driver": {"name": "Tool"}}}, "has no array of results but None"),
        (run_of() | {"results": {"a": 1}}, "has no array of results but {'a': 1}"),
        (run_of() | {"results": None,
                     "externalPropertyFileReferences": {"results": [{"guid": "g"}]}},
         "are in other files; export them inline"),
        (run_of(invocations=[{"executionSuccessful": False, "exitCodeDescription": "out\nof memory"}]),
         "says that Tool 1.0 did not succeed: out of memory"),
        ("no run", "a run of the report is no object"),
    ],
)  # fmt: skip
def test_a_report_of_a_failed_scan_is_a_failed_pass(read, run, message):
    found = read(run)
    assert found.status == "failed"
    assert message in found.error
    assert "\n" not in found.error


def test_a_report_without_runs_is_a_failed_pass(read):
    found = read()
    assert (found.status, found.error) == ("failed", "the report holds no run")


def test_an_empty_scan_is_a_success(read):
    found = read(run_of(invocations=[{"executionSuccessful": True}]))
    assert (found.status, found.findings) == ("ok", ())


def test_files_that_the_tool_could_not_read_are_named(read):
    notice = {
        "level": "error",
        "message": {"text": "Syntax error"},
        "locations": result("src/a.py")["locations"] + result("/etc/passwd")["locations"],
    }
    found = read(run_of(invocations=[{"toolExecutionNotifications": [notice, 5]}]))
    assert found.files_skipped == ("src/a.py",)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_encodings(read, encoding):
    log = {"version": "2.1.0", "runs": [run_of(result(text="Größe falsch"))]}
    data = json.dumps(log, ensure_ascii=False).encode(encoding)
    assert read(data=data).findings[0].title == "Größe falsch"
