"""The model judge of duplicates against a real server: yes, no, unjudged, and what is not asked."""

from pathlib import Path

import pytest
from asked import model_at
from modelserver import Fault, ModelServer

from probe.errors import ModelError
from probe.models.base import Model
from probe.models.client import Client
from probe.models.prompts import Prompt, load_prompt
from probe.records import Candidate, Judgement, Location, Pair, Provenance, Report
from probe.reference.deduplicate import pair_reports
from probe.reference.deduplicate_model import (
    DuplicateAnswer,
    check_room,
    duplicate_questions,
    judge_with_model,
)
from probe.reference.merge import merge_reports

PROMPT = Path(__file__).parents[2] / "prompts" / "deduplicate.j2"
MADE = Provenance(engine="heuristic", engine_version="1", probe_version="0")
FIX = "--- a.py\n+++ a.py\n@@ -{0},1 +{0},1 @@\n-total = compute({1})\n+total = compute({1}) or default\n"


@pytest.fixture
def prompt() -> Prompt:
    return load_prompt(PROMPT)


def item(number: int, title: str, fix: str) -> tuple[Report, Candidate]:
    """A report near line ``number`` of one function, and its candidate."""
    sha = f"{number:012x}{0:028x}"
    place = Location(path="a.py", first=number, last=number)
    report = Report(
        candidate=f"{sha[:12]}-1",
        commit=sha,
        title=title,
        description=f"{title}: `total` is wrong.",
        primary=place,
        unit="totals",
        snippet="def totals(x):\n    total = compute(x)",
        severity="medium",
        suggested_fix="SECRET",
        provenance=MADE,
    )
    candidate = Candidate(
        id=report.candidate,
        commit=sha,
        title=title,
        root_cause="",
        parent_locations=(place,),
        snapshot_locations=(place,),
        anchoring="exact",
        anchored_lines=1,
        faulty_lines=1,
        suggested_fix=fix,
        provenance=MADE,
    )
    return report, candidate


ITEMS = [
    item(11, "Totals of an empty list", FIX.format(11, "x")),
    item(12, "Totals of negative rows", FIX.format(12, "y")),
    item(13, "Totals of an empty list", FIX.format(13, "z")),
    item(14, "Another name of the same", FIX.format(14, "z")),
]
REPORTS = [report for report, _ in ITEMS]
CANDIDATES = [candidate for _, candidate in ITEMS]
FIXES = [report.commit for report in REPORTS]
PAIRS = pair_reports(REPORTS, CANDIDATES)


def ask(client: Client, model: Model, prompt: Prompt, pairs: list[Pair] = PAIRS) -> list[Judgement]:
    return judge_with_model(
        pairs, REPORTS, CANDIDATES, prompt, client, model, purpose="deduplicate demo"
    )


def verdicts(judgements: list[Judgement]) -> dict[tuple[int, int], bool | None]:
    """Verdicts by the positions of the reports, counted from 1."""
    place = {report.candidate: number for number, report in enumerate(REPORTS, 1)}
    return {(place[j.left], place[j.right]): j.match for j in judgements}


def test_pairs_are_judged_by_what_the_reports_say(server, client, prompt) -> None:
    judgements = ask(client, model_at(server.openai), prompt)
    assert [(j.left, j.right) for j in judgements] == [(p.left, p.right) for p in PAIRS]
    assert verdicts(judgements) == {
        (1, 2): False, (1, 3): True, (1, 4): False, (2, 3): False, (2, 4): False, (3, 4): True,
    }  # fmt: skip
    assert server.count() == 5
    asked = [j for j in judgements if j.provenance.engine == "stub"]
    assert len(asked) == 5
    assert all(j.provenance.prompt_sha256 == prompt.sha256 for j in asked)
    assert {len(j.provenance.calls) for j in asked} == {1}
    (bug, other) = merge_reports("demo", REPORTS, judgements, FIXES).bugs
    assert bug.fix_commits == (FIXES[0], FIXES[2], FIXES[3])
    assert other.fix_commits == (FIXES[1],)


def test_the_same_patch_of_two_commits_is_not_asked_about(server, client, prompt) -> None:
    (pair,) = [
        p for p in PAIRS if (p.left, p.right) == (REPORTS[2].candidate, REPORTS[3].candidate)
    ]
    (judgement,) = ask(client, model_at(server.openai), prompt, [pair])
    assert server.count() == 0
    assert (judgement.match, judgement.rationale) == (True, "the same patch")
    assert judgement.provenance.engine == "heuristic"


def test_asking_again_buys_nothing_and_says_the_same(server, client, prompt) -> None:
    first = ask(client, model_at(server.openai), prompt)
    assert ask(client, model_at(server.openai), prompt) == first
    assert server.count() == 5


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault.status(500), "server_error"),
        (Fault.refusal(), "refusal"),
        (Fault.length(), "truncated"),
        (Fault.empty(), "empty"),
    ],
)
def test_a_failure_leaves_its_pair_unjudged_and_unmerged(
    server, tmp_path, prompt, fault: Fault, kind: str
) -> None:
    with Client(tmp_path / "cache", 0.0, repair_turns=0) as client:
        server.fail(fault)
        judgements = ask(client, model_at(server.openai), prompt)
    (unjudged,) = [j for j in judgements if j.match is None]
    assert unjudged.confidence == 0
    assert unjudged.rationale.startswith(f"unjudged, {kind}: ")
    assert merge_reports("demo", REPORTS, judgements, FIXES).unjudged == 1


def test_an_answer_that_never_fits_is_unjudged_after_its_repair_turns(
    server, client, prompt
) -> None:
    server.answer(lambda body: {"x": 1})
    judgements = ask(client, model_at(server.openai), prompt)
    assert [j.match for j in judgements].count(None) == 5
    merged = merge_reports("demo", REPORTS, judgements, FIXES)
    assert [bug.fix_commits for bug in merged.bugs] == [
        (FIXES[0],), (FIXES[1],), (FIXES[2], FIXES[3]),
    ]  # fmt: skip


def test_a_server_that_is_not_there_is_an_error_and_no_result(client, prompt) -> None:
    with ModelServer() as gone:
        address = gone.openai
    with pytest.raises(ModelError, match="'stub' answered none of 5 questions: connection: "):
        ask(client, model_at(address), prompt)


def test_no_pairs_ask_nobody(server, client, prompt) -> None:
    assert ask(client, model_at(server.openai), prompt, []) == []
    assert server.count() == 0


def test_a_question_shows_the_reports_and_nothing_of_the_fixes(prompt) -> None:
    question = next(iter(duplicate_questions(PAIRS, REPORTS, prompt)))
    system, user = (str(message["content"]) for message in question.messages)
    assert user == (
        "REPORT 1\nTitle: Totals of an empty list\nPlaces:\na.py, lines 11-11, in `totals`\n"
        "Trigger: (not said)\nDescription:\nTotals of an empty list: `total` is wrong.\n"
        "Code of the snapshot at the first place:\ndef totals(x):\n    total = compute(x)\n\n"
        "REPORT 2\nTitle: Totals of negative rows\nPlaces:\na.py, lines 12-12, in `totals`\n"
        "Trigger: (not said)\nDescription:\nTotals of negative rows: `total` is wrong.\n"
        "Code of the snapshot at the first place:\ndef totals(x):\n    total = compute(x)\n\n"
    )
    for report in REPORTS:
        assert report.candidate not in system + user
    assert "SECRET" not in system + user


def test_a_window_that_is_too_small_is_said_before_any_call(server, client, prompt) -> None:
    model = model_at(server.openai, context_tokens=9_000, max_output_tokens=1_000)
    with pytest.raises(ModelError, match="one of deduplicate can have"):
        ask(client, model, prompt)
    assert server.count() == 0
    check_room(model_at("http://x/v1", context_tokens=32_000), prompt)


def test_the_model_reasons_before_it_decides() -> None:
    schema = DuplicateAnswer.model_json_schema()
    assert list(schema["properties"]) == ["rationale", "same", "confidence"]
    assert schema["required"] == list(schema["properties"])
