"""The whole reference set by models: every stage of config/stub.yaml, the agent in a real sandbox."""

import csv
from collections import Counter

import pytest
import yaml

from probe.records import Bug, Candidate, Judgement, Presence, Report, read_all, read_jsonl

pytestmark = [pytest.mark.workflow, pytest.mark.bubblewrap]

REFERENCE = "results/demo/reference"


@pytest.fixture
def demo(workflow, server):
    """The bundled repository with the stub configuration as it ships, but for address and sandbox."""
    models = yaml.safe_load((workflow.folder / "config/models.yaml").read_text())
    models["stub"] |= {"api_base": server.openai}
    (workflow.folder / "config/test-models.yaml").write_text(yaml.safe_dump(models))
    settings = yaml.safe_load((workflow.folder / "config/stub.yaml").read_text())
    settings |= {"models_file": "config/test-models.yaml", "sandbox": {"engine": "bubblewrap"}}
    (workflow.folder / "config/test.yaml").write_text(yaml.safe_dump(settings))
    return workflow


def records(workflow, name, record):
    return read_all(sorted((workflow.folder / REFERENCE).glob(f"blocks/*/{name}.jsonl")), record)


def test_every_stage_of_the_demo_is_asked_of_a_model_once(demo, server):
    demo.run("reference")
    candidates = records(demo, "candidates", Candidate)
    presences = records(demo, "presence", Presence)
    reports = records(demo, "reports", Report)
    bugs = read_jsonl(demo.folder / REFERENCE / "bugs.jsonl", Bug)
    engines = {r.provenance.engine for r in (*candidates, *presences, *reports, *bugs)}
    assert engines == {"stub"}
    pairs = read_jsonl(demo.folder / REFERENCE / "duplicates.jsonl", Judgement)
    assert {pair.provenance.engine for pair in pairs} <= {"stub", "heuristic"}

    assert {one.candidate for one in presences} == {one.id for one in candidates}
    drops = [one for one in presences if one.verdict == "drop"]
    assert drops, "the stub's agent finds lines that were born after the snapshot"
    assert all(cited.reproduced for one in drops for cited in one.evidence)
    agents = sorted((demo.folder / REFERENCE).glob("blocks/*/transcripts/presence/*.jsonl"))
    assert {path.stem for path in agents} == {one.id for one in candidates}
    assert all('"kind":"command"' in path.read_text().replace(" ", "") for path in agents)

    with (demo.folder / REFERENCE / "funnel.csv").open(newline="") as stream:
        stayed = Counter()
        for row in csv.DictReader(stream):
            if row["outcome"] == "stayed":
                stayed[row["stage"]] += int(row["count"])
    assert stayed["candidates"] == len(candidates)
    assert stayed["present"] == len(presences) - len(drops)
    assert stayed["written"] == sum(not report.leaks for report in reports)
    assert stayed["reference"] == len(bugs) > 0

    bought = len(server.bought)
    assert demo.jobs("reference") == []
    demo.run("reference", "--forcerun", "ask_candidates", "ask_presence", "ask_reports")
    assert len(server.bought) == bought
