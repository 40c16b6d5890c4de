import re
from pathlib import Path

import pytest

from probe import paths, results
from probe.cli import main
from probe.config import SarifRun, load_files
from probe.errors import ConfigError, RecordError
from probe.records import (
    Classification,
    Failure,
    PassResult,
    Provenance,
    Usage,
    write_json,
    write_jsonl,
)
from probe.reference.blocks import blocks_table

ROOT = Path(__file__).resolve().parents[1]


def test_alternatives_match_names_and_nothing_else():
    pattern = re.compile(paths.alternatives(["luna", "luna-3", "a.b"]))
    assert pattern.fullmatch("luna-3")
    assert not pattern.fullmatch("axb")
    assert not re.fullmatch(paths.alternatives([]), "")


def test_relative_sarif_paths_start_at_the_root(tmp_path):
    run = SarifRun(kind="sarif", path="imports/{repo}/x.sarif")
    assert paths.sarif_file(run, "demo", tmp_path) == tmp_path / "imports/demo/x.sarif"


def test_blocks_are_read_as_they_were_written(tmp_path):
    table = tmp_path / "blocks.tsv"
    table.write_text(blocks_table([], 10))
    assert paths.read_blocks(table) == {}
    with pytest.raises(ConfigError, match="no block of the window; it has none"):
        paths.block_sha256({}, "demo", "0000")


def test_a_results_folder_is_marked_once_and_another_layout_is_refused(tmp_path):
    folder = tmp_path / "results"
    results.check(folder)
    results.mark(folder)
    results.check(folder)
    mark = folder / "LAYOUT"
    before = mark.read_bytes()
    results.mark(folder)
    assert mark.read_bytes() == before
    for content in ("", "99 (later)\n"):
        mark.write_text(content)
        with pytest.raises(RecordError, match="LAYOUT: written by a version of PROBE with layout"):
            results.check(folder)


def test_a_file_in_place_of_the_results_folder_is_refused(tmp_path):
    (tmp_path / "results").write_text("")
    with pytest.raises(RecordError, match="is a file, but results go there"):
        results.check(tmp_path / "results")


def test_what_failed_is_listed(tmp_path, capsys):
    made = Provenance(engine="stub", engine_version="1", probe_version="0")
    passes = {"a": ("failed", "connection: refused"), "b": ("ok", None), "c": ("limit", "context")}
    for name, (status, error) in passes.items():
        result = PassResult(
            repo="demo", run="luna", pass_id=name, status=status, error=error, findings=(),
            usage=Usage(), wall_s=0, provenance=made,
        )  # fmt: skip
        write_json(tmp_path / f"demo/luna/passes/{name}.json", result)
    block = tmp_path / "demo/reference/blocks/0000/classifications.jsonl"
    verdicts = [
        Classification(
            commit="a" * 40, is_fix=None, confidence=0, rationale="", provenance=made,
            failure=Failure(kind="timeout", detail="600 s"),
        ),
        Classification(
            commit="b" * 40, is_fix=True, confidence=1, rationale="", provenance=made
        ),
    ]  # fmt: skip
    write_jsonl(block, verdicts)
    assert main(["failed", "--results", str(tmp_path)]) == 0
    said = capsys.readouterr()
    assert said.out.splitlines() == [
        str(tmp_path / "demo/luna/passes/a.json"),
        str(tmp_path / "demo/luna/passes/c.json"),
        str(block),
    ]
    assert f"{block}: 1 timeout\n" in said.err
    assert "passes/c.json: 1 limit\n" in said.err


@pytest.mark.parametrize(
    ("arguments", "asks"),
    [
        ([], True),
        (["--cores", "2"], True),
        (["prepare"], False),
        (["-n", "results/estimate.csv"], False),
        (["prepare", "reference"], True),
        (["results/demo/snapshot/passes.jsonl"], False),
        (["./results/demo/history.json", "results/demo/reference/commits.jsonl"], False),
        (["results/demo/reference/bugs.jsonl"], True),
        (["results/demo/snapshot/files.jsonl", "results/demo/ruff.metrics.csv"], True),
    ],
)
def test_what_asks_no_model_needs_neither_key_nor_money(arguments, asks):
    benchmark = load_files([ROOT / "config/demo.yaml"], ROOT)
    request = paths.read_request(arguments, benchmark)
    assert request.asks is asks
    assert request.repositories == ["demo"]
    assert asks or not request.cells
