"""What the later reference stages would cost: counted where files tell, assumed elsewhere, by hand."""

from pathlib import Path

import pytest
import yaml

from probe.config import Benchmark, load_files
from probe.models.estimate import EstimateRow, PlannedCalls, Spread, estimate
from probe.models.prompts import load_prompt
from probe.records import (
    Candidate,
    Classification,
    Dropped,
    Judgement,
    Location,
    Pair,
    Presence,
    Provenance,
    Report,
    write_jsonl,
)
from probe.report.estimate_reference import reference_stages

ROOT = Path(__file__).parents[2]
STAGES = ("classify", "extract", "presence", "synthesize", "deduplicate")
MINE = Provenance(engine="paid", engine_version="m", probe_version="0")
OTHER = Provenance.of_heuristic("1")
BLOCKS = {"0000": 100, "0001": 60}
PLACE = Location(path="a.py", first=1, last=1)


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    reference = tmp_path / "results/demo/reference"
    reference.mkdir(parents=True)
    rows = "".join(f"{block}\t{'0' * 64}\t{size}\n" for block, size in BLOCKS.items())
    (reference / "blocks.tsv").write_text(f"block\tcontent_sha256\tcommits\n{rows}")
    return reference


def benchmark(folder: Path, *stages: str, **presence: object) -> Benchmark:
    """The listed stages are decided by a paid model, at 1 dollar a million tokens in and 10 out."""
    price = {"input": 1, "output": 10, "as_of": "2026-12-02"}
    model = {"litellm_id": "openai/paid", "price": price, "context_tokens": 200_000}
    (folder / "models.yaml").write_text(yaml.safe_dump({"paid": model}))
    run = {"kind": "analyzer", "tool": "ruff", "languages": ["python"], "rules": ["B"]}
    (folder / "runs.yaml").write_text(yaml.safe_dump({"ruff": run}))
    reference: dict[str, dict[str, object]] = {name: {"engine": "paid"} for name in stages}
    if presence:
        reference["presence"] |= presence
    values = {
        "repositories": ["demo"],
        "runs": ["ruff"],
        "models_file": str(folder / "models.yaml"),
        "runs_file": str(folder / "runs.yaml"),
        "reference": reference,
    }
    path = folder / "test.yaml"
    path.write_text(yaml.safe_dump(values))
    return load_files([path], ROOT)


def planned(folder: Path, *stages: str, **presence: object) -> dict[str, PlannedCalls]:
    prompts = {"extract": load_prompt(ROOT / "prompts/extract.j2")}

    def never(questions: object) -> PlannedCalls:
        raise AssertionError("nothing is known to the token here")

    rows = reference_stages(benchmark(folder, *stages, **presence), "demo", prompts, never)
    return {row.stage: row for row in rows}


def one(row: PlannedCalls) -> EstimateRow:
    [made] = estimate([row])
    return made


def sha(number: int) -> str:
    return f"{number:040x}"


def classified(folder: Path, block: str, fixes: int, made_by: Provenance = MINE) -> None:
    verdicts = [
        Classification(
            commit=sha(n), is_fix=n < fixes, confidence=1, rationale="", provenance=made_by
        )
        for n in range(BLOCKS[block])
    ]
    write_jsonl(folder / "blocks" / block / "classifications.jsonl", verdicts)


def extracted(folder: Path, block: str, number: int, made_by: Provenance = MINE) -> None:
    found = [
        Candidate(
            id=f"{sha(n)[-12:]}-1", commit=sha(n), title="t", root_cause="r",
            parent_locations=(PLACE,), snapshot_locations=(PLACE,), anchoring="exact",
            anchored_lines=1, faulty_lines=1, suggested_fix="", provenance=made_by,
        )
        for n in range(number)
    ]  # fmt: skip
    write_jsonl(folder / "blocks" / block / "candidates.jsonl", found)
    left = [Dropped(commit=sha(99), stage="extract", reason="x", provenance=None)]
    write_jsonl(folder / "blocks" / block / "left_out.jsonl", left)


def judged(folder: Path, block: str, keep: int, number: int, made_by: Provenance = MINE) -> None:
    verdicts = [
        Presence(
            candidate=f"{sha(n)[-12:]}-1", verdict="keep" if n < keep else None, confidence=1,
            rationale="", provenance=made_by,
        )
        for n in range(number)
    ]  # fmt: skip
    write_jsonl(folder / "blocks" / block / "presence.jsonl", verdicts)


def written(folder: Path, block: str, number: int, made_by: Provenance = MINE) -> None:
    reports = [
        Report(
            candidate=f"{sha(n)[-12:]}-1", commit=sha(n), title="t", description="d",
            primary=PLACE, unit=None, snippet="", severity="low", suggested_fix="",
            provenance=made_by,
        )
        for n in range(number)
    ]  # fmt: skip
    write_jsonl(folder / "blocks" / block / "reports.jsonl", reports)
    write_jsonl(folder / "blocks" / block / "unwritten.jsonl", [])


def test_without_a_model_nothing_is_planned(folder) -> None:
    assert planned(folder) == {}


def test_what_is_not_there_follows_from_shares(folder) -> None:
    rows = planned(folder, *STAGES)
    assert list(rows) == ["extract", "presence", "synthesize", "deduplicate"]
    # 160 commits; of them 5, 25 or 40 in a hundred are fixes
    assert rows["extract"].items == pytest.approx((8, 40, 64))
    # 0.8, 1 or 1.3 bugs a fix
    assert rows["presence"].items == pytest.approx((6.4, 40, 83.2))
    # 65, 80 or 95 in a hundred are kept
    kept = (4.16, 32, 79.04)
    assert rows["synthesize"].items == pytest.approx(kept)
    # a tenth, fifth or three tenths of all pairs
    pairs = [share * n * (n - 1) / 2 for share, n in zip((0.1, 0.2, 0.3), kept, strict=True)]
    assert rows["deduplicate"].items == pytest.approx(pairs)
    assert all(row.recorded == 0 for row in rows.values())


def test_a_row_says_what_it_assumes_and_sums_up_by_hand(folder) -> None:
    row = one(planned(folder, "classify", "extract")["extract"])
    assert row.basis == (
        "assumed 8/40/64 items (fixes among window commits); assumed prompts of 2000/4400/9000 "
        "tokens; assumed answers of 150/400/3000 tokens"
    )
    assert row.calls == 40
    assert row.usd_low == pytest.approx(8 * (2_000 + 10 * 150) / 1e6)
    assert row.usd == pytest.approx(40 * (4_400 + 10 * 400) / 1e6)
    assert row.usd_high == pytest.approx(64 * (9_000 + 10 * 3_000) / 1e6)


def test_what_is_there_is_counted(folder) -> None:
    for block, fixes in {"0000": 10, "0001": 5}.items():
        classified(folder, block, fixes, OTHER)
        extracted(folder, block, fixes, OTHER)
    rows = planned(folder, "presence", "synthesize")
    assert rows["presence"].items is None
    assert rows["presence"].calls == 15
    assert rows["presence"].recorded == 0
    assert "items" not in one(rows["presence"]).basis
    assert rows["synthesize"].items == pytest.approx((9.75, 12, 14.25))


def test_a_block_that_is_there_is_counted_beside_one_that_is_not(folder) -> None:
    classified(folder, "0000", 10)
    extracted(folder, "0000", 12)
    judged(folder, "0000", 9, 12)
    rows = planned(folder, "classify", "presence", "synthesize")
    # the extractor is the heuristic here, and the model's candidates are not its own
    assert rows["presence"].items == pytest.approx((10 * 0.8 + 2.4, 10 + 15, 13 + 31.2))


def test_an_agent_is_counted_in_turns_that_its_setting_bounds(folder) -> None:
    assert planned(folder, "presence")["presence"].turns == Spread(4, 10, 25)
    assert planned(folder, "presence", turns=8)["presence"].turns == Spread(4, 8, 8)
    row = one(planned(folder, "presence")["presence"])
    assert row.calls == 40 * 10
    assert "assumed 4/10/25 turns" in row.basis


def test_a_file_of_another_engine_tells_nothing(folder) -> None:
    classified(folder, "0000", 10, OTHER)
    assert planned(folder, "classify", "extract")["extract"].items == pytest.approx((8, 40, 64))


def test_what_the_model_has_answered_is_paid(folder) -> None:
    for block, number in {"0000": 10, "0001": 5}.items():
        classified(folder, block, number, OTHER)
        extracted(folder, block, number, OTHER)
        judged(folder, block, number - 1, number)
        written(folder, block, number - 1)
    rows = planned(folder, "presence", "synthesize", "deduplicate")
    assert (rows["presence"].calls, rows["presence"].recorded) == (0, 15)
    assert (rows["synthesize"].calls, rows["synthesize"].recorded) == (0, 13)
    assert one(rows["presence"]).basis == "all recorded"
    # 13 reports: 78 pairs of all
    assert rows["deduplicate"].items == pytest.approx((7.8, 15.6, 23.4))


def test_pairs_are_counted_once_they_are_there_and_paid_once_they_are_judged(folder) -> None:
    for block in BLOCKS:
        classified(folder, block, 3, OTHER)
        extracted(folder, block, 3, OTHER)
        judged(folder, block, 3, 3, OTHER)
        written(folder, block, 3, OTHER)
    pairs = [
        Pair(
            left="a", right=f"b{n}", line_distance=None, line_overlap=0, path_similarity=0,
            snippet_similarity=0, text_similarity=0, identifier_similarity=0, title_similarity=0,
        )
        for n in range(7)
    ]  # fmt: skip
    write_jsonl(folder / "pairs.jsonl", pairs)
    row = planned(folder, "deduplicate")["deduplicate"]
    assert (row.items, row.calls, row.recorded) == (None, 7, 0)
    verdicts = [
        Judgement(
            left=p.left, right=p.right, match=False, confidence=1, rationale="", provenance=MINE
        )
        for p in pairs
    ]
    write_jsonl(folder / "duplicates.jsonl", verdicts)
    row = planned(folder, "deduplicate")["deduplicate"]
    assert (row.items, row.calls, row.recorded) == (None, 0, 7)
