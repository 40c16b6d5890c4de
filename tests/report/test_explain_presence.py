"""What `probe explain` shows of presence: grounds, overruled drops, commands, transcripts."""

from datetime import UTC, datetime

import pytest

from probe.errors import RecordError
from probe.records import (
    Candidate,
    Commit,
    Evidence,
    Failure,
    Location,
    Presence,
    Provenance,
    write_jsonl,
)
from probe.report.explain import Explainer

SHA = "3f2c1aa0b4d1" + "0" * 28
TIME = datetime(2025, 3, 1, tzinfo=UTC)
MADE = Provenance(
    engine="stub", engine_version="stub-1", probe_version="0", prompt_sha256="a" * 64, calls=()
)


@pytest.fixture
def results(tmp_path):
    block = tmp_path / "results/one/reference/blocks/0000"
    write_jsonl(tmp_path / "results/one/reference/bugs.jsonl", [])
    commit = Commit(
        sha=SHA, position=0, step=SHA, parents=(), author_time=TIME, committer_time=TIME,
        subject="fix: it", body="", files=(),
    )  # fmt: skip
    write_jsonl(tmp_path / "results/one/reference/commits.jsonl", [commit])
    candidates = [
        Candidate(
            id=f"{SHA[:12]}-{n}", commit=SHA, title=f"bug {n}", root_cause="", anchoring="exact",
            parent_locations=(Location(path="a.py", first=1, last=1),), snapshot_locations=(),
            anchored_lines=1, faulty_lines=1, suggested_fix="", provenance=MADE,
        )
        for n in (1, 2, 3)
    ]  # fmt: skip
    write_jsonl(block / "candidates.jsonl", candidates)
    evidence = (
        Evidence(command="git grep -n x", output="a\nb\n", exit=0, reproduced=True),
        Evidence(command="python3 - <<'END'\nprint(1)\nEND", output="", exit=1, reproduced=False),
    )
    write_jsonl(
        block / "presence.jsonl",
        [
            Presence(
                candidate=f"{SHA[:12]}-1", verdict="drop", ground="code_absent", confidence=0.9,
                rationale="Nowhere.", evidence=evidence[:1], provenance=MADE,
            ),
            Presence(
                candidate=f"{SHA[:12]}-2", verdict="keep", overruled="not reproduced",
                claimed="absent_capability", confidence=0.3, rationale="overruled.",
                evidence=evidence, provenance=MADE,
            ),
            Presence(
                candidate=f"{SHA[:12]}-3", verdict=None, confidence=0.0, rationale="unjudged, limit",
                failure=Failure(kind="limit", detail="turns"), provenance=MADE,
            ),
        ],
    )  # fmt: skip
    transcript = block / f"transcripts/presence/{SHA[:12]}-2.jsonl"
    transcript.parent.mkdir(parents=True)
    transcript.write_text("{}\n")
    return tmp_path / "results"


def test_a_candidate_is_explained_alone(results, tmp_path):
    said = Explainer(results, tmp_path / "cache").explain(f"{SHA[:12]}-2").splitlines()
    assert said[0] == f"commit {SHA} of 2025-03-01: fix: it"
    assert [line for line in said if "candidate " in line] == [
        f"  candidate {SHA[:12]}-2: bug 2; anchored exact, 1 lines in the snapshot"
    ]
    presence = said.index(
        "    presence: keep, overruled a drop (absent_capability): not reproduced (0.30) by stub "
        "stub-1, prompt aaaaaaaaaaaa: overruled."
    )
    assert said[presence + 1 :] == [
        f"      transcript {results}/one/reference/blocks/0000/transcripts/presence/{SHA[:12]}-2.jsonl",
        "      $ git grep -n x [exit 0, reproduced]",
        "        a",
        "        b",
        "      $ python3 - <<'END' [exit 1, not reproduced]",
        "      > print(1)",
        "      > END",
    ]


def test_a_commit_shows_all_of_its_candidates(results, tmp_path):
    said = Explainer(results, tmp_path / "cache").explain(SHA[:9])
    assert "presence: drop, code_absent (0.90)" in said
    assert "presence: unjudged (0.00)" in said
    assert said.count("transcript ") == 1


def test_an_unknown_candidate_is_one_line(results, tmp_path):
    with pytest.raises(
        RecordError, match="nor the id of a bug, finding, candidate or window commit"
    ):
        Explainer(results, tmp_path / "cache").explain("000000000000-1")
