"""Scores against hand-counted tables."""

from pathlib import Path

import pytest
from classify_samples import FIXED_FILES, sample

from probe.errors import RecordError
from probe.records import Classification, Provenance
from probe.reference.score import mask_commit, read_labels, score_classification

HEADER = "repo\tsha\tis_bug_fix\tconfidence\tn_bugs\tfiles\tpresent_at_T0\treason\n"


def label(repo: str, number: int, yes: bool, confidence: str = "high") -> str:
    return f"{repo}\t{number:040x}\t{'yes' if yes else 'no'}\t{confidence}\t1\t\tyes\tbecause\n"


def answer(number: int, is_fix: bool | None) -> Classification:
    return Classification(
        commit=f"{number:040x}",
        is_fix=is_fix,
        confidence=0.8,
        rationale="a rule",
        provenance=Provenance(engine="heuristic", engine_version="1", probe_version="0"),
    )


def table(tmp_path: Path, rows: list[str]) -> Path:
    path = tmp_path / "labels.tsv"
    path.write_text(HEADER + "".join(rows), encoding="utf-8")
    return path


def test_counts_rates_and_disagreements(tmp_path: Path) -> None:
    path = table(
        tmp_path,
        [
            label("a/a", 1, True),
            label("a/a", 2, True),
            label("a/a", 3, True, "low"),
            label("a/a", 4, False),
            label("b/b", 5, False),
            label("b/b", 6, True),
            label("c/c", 7, True),
        ],
    )
    answers = [
        answer(1, True),
        answer(2, True),
        answer(3, False),
        answer(4, True),
        answer(5, False),
    ]
    scores = score_classification(path, answers)
    everything = scores.row("all")
    assert (everything.labels, everything.true_positives) == (6, 2)
    assert (everything.false_positives, everything.false_negatives) == (1, 2)
    assert everything.precision == pytest.approx(2 / 3)
    assert everything.recall == pytest.approx(1 / 2)
    assert everything.f1 == pytest.approx(4 / 7)
    assert scores.row("high").f1 == pytest.approx(2 / 3)
    assert scores.row("b/b").precision is None
    assert [wrong.label.sha[-1] for wrong in scores.wrong] == ["3", "4"]
    assert scores.unjudged == (f"{6:040x}",)
    with pytest.raises(KeyError):
        scores.row("c/c")
    text = scores.to_text()
    assert "because | engine 0.80: a rule" in text
    assert "–" in text


def test_malformed_labels_are_named(tmp_path: Path) -> None:
    bad = table(tmp_path, [label("a/a", 1, True).replace("yes\thigh", "maybe\thigh")])
    with pytest.raises(RecordError, match=r"labels\.tsv:2: is_bug_fix is 'maybe'"):
        read_labels(bad)
    bad.write_text("repo\tsha\n", encoding="utf-8")
    with pytest.raises(RecordError, match="column is_bug_fix is missing"):
        read_labels(bad)


def test_masking_hides_conventions_and_words_of_fault_only() -> None:
    commit, _ = sample(
        "Fix(parser)!: avoid wrong order in nested lists, fixes #12",
        FIXED_FILES,
        body="* fix(parser): keep order\n* address bug",
    )
    masked = mask_commit(commit)
    assert masked.subject == "avoid order in nested lists, #12"
    assert masked.body == "* keep order\n* address"
    assert masked.files == commit.files
    fork, _ = sample("Merge commit from fork", FIXED_FILES)
    assert mask_commit(fork).subject == ""
    assert mask_commit(commit, words=False).subject == ""
    assert mask_commit(commit, words=False).body == ""
