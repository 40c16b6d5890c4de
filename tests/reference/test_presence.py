"""Small histories: which defects the snapshot already had."""

from pathlib import Path

import pytest
from builders import HistoryBuilder

from probe.code.paths import SourceScope
from probe.errors import RecordError
from probe.git.log import iter_window
from probe.records import Candidate, Evidence, Presence, Provenance
from probe.reference.candidates import build_candidates
from probe.reference.presences import judge_presences
from probe.reference.score_presence import (
    Tally,
    labels_of_dated_fixes,
    read_presence_labels,
    score_duplicates,
    score_presence,
)

SUM = "def f(x):\n    total = x.one + x.two\n    return total\n"


@pytest.fixture
def history(tmp_path: Path) -> HistoryBuilder:
    return HistoryBuilder(tmp_path / "repo")


def presence(history: HistoryBuilder, t0: str, fix: str) -> Presence:
    t1 = history.tip("main")
    fixes = [commit for commit in iter_window(history.path, t0, t1) if commit.sha == fix]
    candidates, _ = build_candidates(history.path, t0, t1, fixes, SourceScope())
    (found,) = judge_presences(history.path, t0, candidates)
    return found


def verdict(history: HistoryBuilder, t0: str, fix: str) -> str | None:
    return presence(history, t0, fix).verdict


def test_an_untouched_faulty_line_is_kept_with_high_confidence(history):
    t0 = history.commit({"a.py": SUM})
    fix = history.commit({"a.py": SUM.replace("+", "-")})
    found = presence(history, t0, fix)
    assert (found.verdict, found.ground, found.evidence) == ("keep", None, ())
    assert found.confidence == 0.95
    assert found.rationale == "1 of 1 faulty lines go back to the snapshot (weighted 1.00)"


def test_a_line_born_in_the_window_is_dropped_with_its_blame(history):
    t0 = history.commit({"a.py": SUM})
    history.commit({"a.py": SUM + "\n\ndef g(x):\n    return x.later * 2\n"})
    fix = history.commit({"a.py": SUM + "\n\ndef g(x):\n    return x.later * 3\n"})
    found = presence(history, t0, fix)
    assert (found.verdict, found.ground) == ("drop", "code_absent")
    (cited,) = found.evidence
    assert cited.command == f"git blame -s -M -w -L7,7 '{t0}..{fix}^1' -- a.py"
    assert cited.output.endswith("7)     return x.later * 2\n")


def test_code_absent_needs_the_name_to_be_absent(history):
    t0 = history.commit({"a.py": SUM, "b.py": "g = None\n"})
    history.commit({"a.py": SUM + "\n\ndef g(x):\n    return x.later * 2\n"})
    fix = history.commit({"a.py": SUM + "\n\ndef g(x):\n    return x.later * 3\n"})
    assert presence(history, t0, fix).ground == "postdated_precondition"


def test_a_reformatted_defect_is_as_old_as_before(history):
    t0 = history.commit({"a.py": SUM})
    wrapped = "def f(x):\n    total = (\n        x.one\n        + x.two\n    )\n    return total\n"
    history.commit({"a.py": wrapped}, "style: wrap")
    fix = history.commit({"a.py": wrapped.replace("+ x.two", "- x.two")})
    assert verdict(history, t0, fix) == "keep"


def test_a_moved_defect_is_as_old_as_before(history):
    body = "".join(f"    step_{n} = x.part_{n}\n" for n in range(6))
    t0 = history.commit(
        {"a.py": f"def f(x):\n{body}    return step_0 + step_1\n", "b.py": "y = 1\n"}
    )
    moved = f"y = 1\n\n\nclass F:\n    def run(self, x):\n{body}    return step_0 + step_1\n"
    history.commit({"a.py": "", "b.py": moved}, "refactor: move")
    fix = history.commit({"b.py": moved.replace("step_0 + step_1", "step_0 - step_1")})
    assert verdict(history, t0, fix) == "keep"


def test_a_rewriting_that_brought_the_faulty_word_in_is_the_birth(history):
    t0 = history.commit({"a.py": "def f(c):\n    return c.table in c.selected_sources\n"})
    history.commit({"a.py": "def f(c):\n    return c.table in c.sources\n"}, "refactor")
    fix = history.commit({"a.py": "def f(c):\n    return c.table in c.local_names\n"})
    found = presence(history, t0, fix)
    assert (found.verdict, found.ground) == ("drop", "postdated_precondition")
    assert "weighted 0.00" in found.rationale


def test_a_fix_that_restores_what_the_snapshot_had_is_no_bug_of_it(history):
    guarded = "def f(x):\n    if x is None:\n        return None\n    return x.value\n"
    t0 = history.commit({"a.py": guarded})
    history.commit({"a.py": "def f(x):\n    return x.value\n"}, "perf: no guard")
    fix = history.commit({"a.py": guarded}, "fix: guard again")
    found = presence(history, t0, fix)
    assert (found.verdict, found.ground) == ("drop", "postdated_precondition")
    assert (
        found.rationale == "100% of the lines that the fix adds were in the snapshot and lost later"
    )


def test_an_omission_in_old_code_is_kept(history):
    t0 = history.commit({"a.py": "def f(x):\n    y = x.value\n    return y\n"})
    fix = history.commit({"a.py": "def f(x):\n    y = x.value\n    check(y)\n    return y\n"})
    found = presence(history, t0, fix)
    assert found.verdict == "keep"
    assert found.rationale == "1 of 1 places that the fix adds to were in the snapshot"


def test_an_omission_in_later_code_is_dropped(history):
    t0 = history.commit({"a.py": "x = 1\n"})
    history.commit({"a.py": "x = 1\n\n\ndef later(x):\n    y = x.value\n    return y\n"})
    fix = history.commit(
        {"a.py": "x = 1\n\n\ndef later(x):\n    y = x.value\n    check(y)\n    return y\n"}
    )
    assert verdict(history, t0, fix) == "drop"


def test_guards_count_and_declarations_beside_them_do_not(history):
    old = "def f(x):\n    data = x.read()\n    return parse(data)\n"
    t0 = history.commit({"a.py": old})
    history.commit({"a.py": old + "\n\nclass Later:\n    one = 1\n    two = 2\n"})
    fix = history.commit(
        {
            "a.py": "LIMIT = 5\n\n"
            + old.replace("    return", "    check(data)\n    return")
            + "\n\nclass Later:\n    one = 1\n    more = 3\n    two = 2\n"
        }
    )
    assert verdict(history, t0, fix) == "keep"


def test_an_export_of_a_name_that_came_later_is_dropped(history):
    t0 = history.commit({"index.ts": "export type {\n  Alpha,\n  Beta,\n} from './types'\n"})
    history.commit({"types.ts": "export type Gamma = string\n"}, "feat: gamma")
    fix = history.commit(
        {"index.ts": "export type {\n  Alpha,\n  Beta,\n  Gamma,\n} from './types'\n"}
    )
    found = presence(history, t0, fix)
    assert (found.verdict, found.ground) == ("drop", "postdated_precondition")
    assert found.rationale == "adds only names that came later: Gamma"


def test_a_name_that_the_fix_itself_makes_is_an_omission(history):
    t0 = history.commit({"a.py": "OPTIONS = {\n    'alpha': 1,\n    'beta': 2,\n}\n"})
    fix = history.commit(
        {"a.py": "OPTIONS = {\n    'alpha': 1,\n    'beta': 2,\n    'gamma': 3,\n}\n"}
    )
    assert verdict(history, t0, fix) == "keep"


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ("    IDS = BASE.IDS - {ASC, DESC}\n", "keep"),
        ("    LATE = OTHER.NAMES - {ASC, DESC}\n", "drop"),
    ],
    ids=["of words that the snapshot had", "of words that came later"],
)
def test_a_declaration_that_a_fix_extends(history, declared, expected):
    old = "class P:\n    first = BASE.IDS\n    second = {ASC, DESC}\n"
    t0 = history.commit({"a.py": old})
    history.commit({"a.py": old + declared})
    fix = history.commit({"a.py": old + declared.replace("DESC}", "DESC, GRANT}")})
    assert verdict(history, t0, fix) == expected


def test_a_line_that_a_revert_brought_back_is_the_snapshot_s(history):
    old = "def f(x):\n    a = 1\n    return whole_part + x.fraction\n"
    t0 = history.commit({"a.py": old})
    history.commit({"a.py": "def f(x):\n    a = 1\n"}, "fix: first try")
    history.commit({"a.py": old}, "Revert it")
    fix = history.commit({"a.py": old.replace("whole_part", "-whole_part")}, "fix: second try")
    assert verdict(history, t0, fix) == "keep"


def test_an_omission_in_a_rewritten_unit_that_calls_what_came_later_is_dropped(history):
    old = (
        "class C:\n    def get(self, key):\n        value, stored = self.entries[key]\n"
        "        if self.clock() - stored > self.ttl:\n            return None\n        return value\n"
    )
    new = (
        "class C:\n    def get(self, key):\n        return self.entries[key][0]\n\n"
        "    def expire(self, now):\n        drop_older_than(now)\n"
    )
    t0 = history.commit({"a.py": old})
    history.commit({"a.py": new}, "perf: expire on writing")
    fix = history.commit(
        {
            "a.py": new.replace(
                "        return self", "        self.expire(self.clock())\n        return self"
            )
        }
    )
    found = presence(history, t0, fix)
    assert (found.verdict, found.ground) == ("drop", "postdated_precondition")
    assert found.rationale == "calls what came later, in a unit that was rewritten"


def test_a_new_file_alone_has_no_place_and_is_dropped(history):
    t0 = history.commit({"a.py": "x = 1\n"})
    fix = history.commit({"b.py": "y = 1\n"})
    found = presence(history, t0, fix)
    assert found.verdict == "drop"
    assert found.evidence[0].command == f"git diff-tree -r --name-status '{fix}^1' {fix}"
    assert found.evidence[0].output == "A\tb.py\n"


def test_a_candidate_without_lineage_is_unjudged(history):
    t0 = history.commit({"a.py": SUM})
    fix = history.commit({"a.py": SUM.replace("+", "-")})
    fixes = list(iter_window(history.path, t0, fix))
    (candidate,), _ = build_candidates(history.path, t0, fix, fixes, SourceScope())
    (found,) = judge_presences(history.path, t0, [candidate.model_copy(update={"lineage": None})])
    assert (found.verdict, found.confidence) == (None, 0.0)


LABELS = """expected\trepo\tsha\tsha_b\tfiles\tconfidence\tintroduced_or_touched_by\tdifficulty\treason
KEEP\to/r\t{a}\t\ta.py\thigh\t\teasy\twas there
DROP\to/r\t{b}\t\ta.py\tlow\t\teasy\tborn later
MERGE\to/r\t{a}\t{b}\ta.py\thigh\t\t\ttwice
"""
A, B = "a" * 40, "b" * 40


def labels(tmp_path: Path, text: str = LABELS):
    path = tmp_path / "presence.tsv"
    path.write_text(text.format(a=A, b=B))
    return read_presence_labels(path)


def scored(tmp_path, *verdicts: tuple[str, str | None]) -> Tally:
    made = Provenance(engine="heuristic", engine_version="1", probe_version="0")
    candidates = [
        Candidate(
            id=f"{sha[:12]}-1",
            commit=sha,
            title="",
            root_cause="",
            parent_locations=(),
            snapshot_locations=(),
            anchoring="lost",
            anchored_lines=0,
            faulty_lines=0,
            suggested_fix="",
            provenance=made,
        )
        for sha, _ in verdicts
    ]
    presences = [
        Presence(
            candidate=f"{sha[:12]}-1",
            verdict=said,
            ground="code_absent" if said == "drop" else None,
            confidence=1,
            rationale="",
            evidence=[Evidence(command="git log", output="")] if said == "drop" else [],
            provenance=made,
        )
        for sha, said in verdicts
    ]
    return score_presence(labels(tmp_path), candidates, presences)


def test_verdicts_are_scored_against_labels(tmp_path):
    assert scored(tmp_path, (A, "keep"), (B, "drop")) == Tally(2, 2, ())
    assert scored(tmp_path, (A, None), (B, "keep")) == Tally(
        0, 2, (f"KEEP {A[:12]}: unjudged: was there", f"DROP {B[:12]}: KEEP: born later")
    )


def test_a_fix_without_a_candidate_counts_as_dropped(tmp_path):
    assert scored(tmp_path) == Tally(1, 2, (f"KEEP {A[:12]}: DROP: was there",))


def test_duplicates_without_records_are_no_false_separation(tmp_path):
    assert score_duplicates(labels(tmp_path), []) == Tally(1, 1, ())


def test_dated_fixes_give_labels_where_the_date_is_clear():
    row = {"repo": "o/r", "sha": A, "confidence": "high", "reason": "x", "is_bug_fix": "yes"}
    rows = [row | {"present_at_T0": said} for said in ("yes", "no", "unclear")]
    assert [label.expected for label in labels_of_dated_fixes(rows)] == ["KEEP", "DROP"]
    assert labels_of_dated_fixes([row | {"is_bug_fix": "no", "present_at_T0": ""}]) == []


def test_malformed_labels_are_named(tmp_path):
    with pytest.raises(RecordError, match=r"presence\.tsv:2: expected is 'HOLD'"):
        labels(tmp_path, LABELS.replace("KEEP", "HOLD"))
    with pytest.raises(RecordError, match="column sha_b is missing"):
        labels(tmp_path, LABELS.replace("sha_b", "other"))
    with pytest.raises(RecordError, match="cannot read"):
        read_presence_labels(tmp_path / "none.tsv")
