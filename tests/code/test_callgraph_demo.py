"""The demo's graph against edges that a person read off its sources (``demo_edges.tsv``)."""

import csv
from pathlib import Path

import pytest

from probe.code.graph import CallGraph
from probe.code.paths import SourceScope
from probe.git.archive import build_archive
from probe.git.process import run_git
from probe.git.series import build_series
from probe.snapshot.calls import snapshot_callgraph
from probe.snapshot.files import FileLimits, list_files

DEMO = Path(__file__).resolve().parents[2] / "resources/demo"
SCOPE = SourceScope(
    ["src/larder/**", "web/*.js"], ["tests/**", "web/test/**"], ["src/larder/_generated/**"]
)
Edge = tuple[str, str, str, str]


def labels(said: str) -> set[Edge]:
    with Path(__file__).with_name("demo_edges.tsv").open(encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {
            (row["caller_path"], row["caller"], row["callee_path"], row["callee"])
            for row in rows
            if row["calls"] == said
        }


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> CallGraph:
    folder = tmp_path_factory.mktemp("demo")
    build_series(DEMO, folder / "history.git")
    before = ("--first-parent", "-1", "--before=2025-01-06", "main")
    t0 = run_git(folder / "history.git", "rev-list", *before).decode().strip()
    info = build_archive(folder / "history.git", t0, folder / "source.tar", repo="demo")
    languages = frozenset({"python", "javascript"})
    files = list_files(folder / "source.tar", info, SCOPE, languages, FileLimits())
    return snapshot_callgraph(folder / "source.tar", reversed(files))


def found(graph: CallGraph, *certainties: str) -> set[Edge]:
    return {
        (edge.caller.path, edge.caller.unit, edge.callee.path, edge.callee.unit)
        for edge in graph.edges
        if edge.certainty in certainties
    }


def test_every_hand_checked_edge_but_one_is_found_and_no_other(graph: CallGraph) -> None:
    real = labels("yes")
    missed = ("src/larder/reminders.py", "run_due", "src/larder/reminders.py", "build_reminders")
    assert len(real) == 167
    assert found(graph, "certain", "likely", "possible") == real - {missed}


def test_by_certainty(graph: CallGraph) -> None:
    counts = [len(found(graph, one)) for one in ("certain", "likely", "possible")]
    assert counts == [145, 17, 4]


def test_no_edge_that_a_hasty_reader_would_draw(graph: CallGraph) -> None:
    assert len(labels("no")) == 24
    assert not found(graph, "certain", "likely", "possible") & labels("no")


def test_tests_and_tools_are_not_read_and_vendored_and_generated_code_is(graph: CallGraph) -> None:
    rows = {row.path: row for row in graph.parsing}
    assert not any(path.startswith(("tests/", "web/test/", "tools/", "docs/")) for path in rows)
    assert rows["src/larder/_vendor/tinyslug.py"].status == "parsed"
    assert rows["src/larder/_generated/units.py"].status == "parsed"
    assert rows["src/larder/importers/legacy.py"].status == "parsed"  # Latin-1
    lines = next(e.lines for e in graph.edges if e.callee.unit == "today")
    assert lines == (56,)
