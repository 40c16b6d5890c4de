"""The agent of stage presence on real sandboxes, a real server and real histories."""

import pytest
from investigations import LATER, Case, about, cite, commands, drop, investigate, keep, looked, run
from modelserver import Reply

from probe.agent import replay
from probe.errors import ModelError
from probe.records.transcript import HeaderLine, read_transcript
from probe.reference.presence_answer import PresenceAnswer

SANDBOXES = [
    pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
    pytest.param("docker", marks=pytest.mark.docker),
]


@pytest.fixture(params=SANDBOXES)
def engine(request):
    return request.param


@pytest.fixture
def case(tmp_path):
    return Case(tmp_path)


def test_keep_after_running_the_snapshots_code(case, server, engine):
    code = "from pkg.a import total\nfrom types import SimpleNamespace as N\nprint(total(N(one=3, two=2)))"
    command = f"python3 - <<'END'\n{code}\nEND"
    found = looked(
        case, server, engine, "total", run(command, f"git show {case.t0}:pkg/a.py | head -n 2"),
        lambda _: keep(citations=[cite(command, "5")]),
    )  # fmt: skip
    assert (found.verdict, found.ground, found.overruled, found.failure) == (
        "keep",
        None,
        None,
        None,
    )
    assert (found.confidence, found.provenance.engine_version) == (0.9, "stub-served")
    (cited,) = found.evidence
    assert (cited.command, cited.output, cited.exit, cited.reproduced) == (command, "5", 0, None)
    ran, shown = commands(case, "total")
    assert "stdout:\n5" in ran.shown and "return x.one + x.two" in shown.shown
    path = case.folder / "transcripts" / f"{found.candidate}.jsonl"
    assert replay(path, PresenceAnswer).answer.verdict == "keep"
    assert len(found.provenance.calls) == server.count() == 2


def test_history_is_read_by_plain_git_as_nobody(case, server, engine):
    fix, parent = case.fixes["later"], case.parent("later")
    found = looked(
        case, server, engine, "later",
        run(
            f"git log --format=%s {case.t0}..{fix}",
            f"git blame -s -M -w -L12,12 {case.t0}..{parent} -- pkg/a.py",
            f"git grep -n newest {fix}",
            "git rev-parse HEAD; git for-each-ref --format='%(objectname) %(refname)'; id -u",
            f"mkdir /tmp/x && git archive {fix} | tar -x -C /tmp/x && cat /tmp/x/pkg/moved.py",
        ),
        keep(),
    )  # fmt: skip
    log, blame, grep, refs, files = commands(case, "later")
    assert log.shown.splitlines()[2:] == [
        "fix: later",
        "fix: total",
        "refactor: move",
        "feat: later",
    ]
    assert f"{case.born[:13]} 12)     return x.newest * 2" in blame.shown
    assert f"{fix}:pkg/a.py:12:    return x.newest * 3" in grep.shown
    assert f"stdout:\n{case.t0}\n{fix} refs/heads/fix\n" in refs.shown
    assert refs.shown.splitlines()[-1] not in ("0", "")
    assert "shifted = value + factor" in files.shown
    assert found.verdict == "keep"


def test_trap_the_fix_corrects_what_was_born_later(case, server, engine):
    """Ancestry decides, and the drop holds because the workflow sees the same."""
    search = f"git log --format=%H -S'def later' {case.t0}..{case.parent('later')} -- pkg/a.py"
    ancestry = f"git merge-base --is-ancestor {case.born} {case.t0}; echo $?"

    def submit(seen):
        assert seen.endswith("exit status 0\nstdout:\n1")
        return drop("postdated_precondition", cite(search, case.born), cite(ancestry, "1"))

    found = looked(case, server, engine, "later", run(search), run(ancestry), submit)
    assert (found.verdict, found.ground) == ("drop", "postdated_precondition")
    assert (found.overruled, found.claimed, found.confidence) == (None, None, 0.9)
    assert [(one.exit, one.reproduced) for one in found.evidence] == [(0, True), (0, True)]


def test_trap_absence_inferred_from_a_partial_window(case, server, engine):
    """The citation is true and reproduces, but the code stands elsewhere in the snapshot."""
    window = "sed -n 1,3p pkg/a.py; ls pkg/moved.py"
    missing = "ls: cannot access 'pkg/moved.py': No such file or directory"
    found = looked(
        case, server, engine, "scale", run(window),
        drop("code_absent", cite(window, missing, 2), names=["scale"]),
    )  # fmt: skip
    assert (found.verdict, found.ground) == ("keep", None)
    assert (found.overruled, found.claimed, found.confidence) == (
        "not reproduced", "code_absent", 0.3,
    )  # fmt: skip
    cited, searched = found.evidence
    assert cited.reproduced
    assert searched.command == f"git grep -I -n -w -F -e scale {case.t0} --"
    assert (searched.exit, searched.reproduced) == (0, False)
    assert searched.output == f"{case.t0}:pkg/old.py:1:def scale(value, factor):\n"
    assert "'scale' occurs in the snapshot" in found.rationale


@pytest.mark.parametrize(
    ("names", "why"),
    [
        (["unheard_of"], "'unheard_of' does not occur in the repaired code"),
        (["later"], None),
        (["later.newest"], None),
        (["later", "total"], "'total' occurs in the snapshot"),
    ],
)
@pytest.mark.bubblewrap
def test_absent_code_is_searched_for_by_name(case, server, names, why):
    command = f"git grep -n newest {case.t0}"
    found = looked(
        case, server, "bubblewrap", "later", run(command),
        drop("code_absent", cite(command, "", 1), names=names),
    )  # fmt: skip
    assert found.verdict == ("keep" if why else "drop")
    assert (why or "It was not.") in found.rationale
    if why is None:
        assert [one.exit for one in found.evidence] == [1] * len(found.evidence)
        assert len(found.evidence) == 1 + len({*names, "later"})


@pytest.mark.bubblewrap
def test_a_unit_that_the_snapshot_has_refutes_absence_whatever_is_named(case, server):
    """`newest` is in the repaired file and not in the snapshot, but says nothing about `total`."""
    command = f"git grep -n newest {case.t0}"
    found = looked(
        case, server, "bubblewrap", "total", run(command),
        drop("code_absent", cite(command, "", 1), names=["newest"]),
    )  # fmt: skip
    assert (found.verdict, found.overruled) == ("keep", "not reproduced")
    assert [one.reproduced for one in found.evidence] == [True, True, False]
    assert "'total' occurs in the snapshot" in found.rationale


def test_drops_on_what_the_snapshot_refuses_and_lacks(case, server, engine):
    refuses = "python3 -c 'from pkg.a import check; check(-1)'"
    whole = "Traceback (most recent call last):\n  ...\nValueError: negative is refused"
    found = looked(
        case, server, engine, "total", run(refuses),
        drop("deliberate_rejection", cite(refuses, whole, 1)),
    )  # fmt: skip
    assert (found.verdict, found.ground) == ("drop", "deliberate_rejection")
    lacks = "grep -rn stdin ."
    found = looked(
        case, server, engine, "later", run(lacks), drop("absent_capability", cite(lacks, "", 1))
    )
    assert (found.verdict, found.ground) == ("drop", "absent_capability")


@pytest.mark.parametrize(
    ("citation", "why"),
    [
        (cite("cat pkg/a.py", "def invented(x):"), "did not print: def invented(x):"),
        (cite("cat pkg/a.py", "def total(x):", 1), "ended with 0 instead of 1"),
        (cite("cat pkg/a.py"), "printed something, but nothing of it is cited"),
        (cite("cat /tmp/mine", "mine"), "ended with 1 instead of 0"),
        (cite("sleep 60", ""), "its time ran out"),
        (cite("cat pkg/old.py", "noted by me"), "did not print: noted by me"),
    ],
)
@pytest.mark.bubblewrap
def test_what_is_not_printed_again_overrules_the_drop(case, server, citation, why):
    true = cite("head -n 1 pkg/a.py", "def total(x):")
    found = looked(
        case, server, "bubblewrap", "total",
        run("echo mine > /tmp/mine; echo noted by me >> pkg/old.py", "cat /tmp/mine pkg/old.py"),
        drop("absent_capability", true, citation),
        limits={"command_s": 1},
    )  # fmt: skip
    assert (found.verdict, found.overruled, found.claimed) == (
        "keep", "not reproduced", "absent_capability",
    )  # fmt: skip
    assert found.confidence == 0.3
    assert [one.reproduced for one in found.evidence] == [True, False]
    assert why in found.rationale and found.rationale.startswith("overruled (not reproduced: ")


@pytest.mark.bubblewrap
def test_a_command_that_prints_the_time_does_not_reproduce(case, server):
    command = "date +%s%N"
    found = looked(
        case, server, "bubblewrap", "total", run(command),
        lambda seen: drop("absent_capability", cite(command, seen.split()[-1])),
    )  # fmt: skip
    assert found.overruled == "not reproduced"


@pytest.mark.parametrize(
    ("answer", "overruled", "claimed"),
    [
        (drop(None, cite("ls", "pkg")), "no ground", None),
        (drop("absent_capability"), "uncited", "absent_capability"),
        (drop("code_absent", cite("ls", "pkg")), "uncited", "code_absent"),
    ],
)
@pytest.mark.bubblewrap
def test_a_drop_that_stays_incomplete_is_overruled(case, server, answer, overruled, claimed):
    found = looked(case, server, "bubblewrap", "total", answer, answer, answer)
    assert (found.verdict, found.overruled, found.claimed) == ("keep", overruled, claimed)
    assert found.confidence <= 0.3 and found.failure is None
    assert server.count() == 3, "it was told twice what is missing"
    told = server.bought[-1]["messages"][-1]["content"]
    assert told.startswith("Not accepted") and ("needs" in told)


@pytest.mark.bubblewrap
def test_an_incomplete_drop_can_be_corrected(case, server):
    whole = drop("absent_capability", cite("ls", "pkg"))
    found = looked(
        case, server, "bubblewrap", "total", drop(None), drop("absent_capability"), whole
    )
    assert (found.verdict, found.ground) == ("drop", "absent_capability")


@pytest.mark.parametrize(
    ("steps", "kind", "detail"),
    [
        (["I wonder.", "Well.", "Hm."], "empty", "no_action: 3 answers in a row"),
        ([Reply(refusal="No.")], "refusal", "the model refused: No."),
        ([run("ls")] * 8, "limit", "turns: "),
        ([{"verdict": "maybe"}] * 3, "invalid", "invalid_submission: 3 submissions"),
        ([keep(ground="code_absent")] * 3, "invalid", "invalid_submission: 3 submissions"),
    ],
)
@pytest.mark.bubblewrap
def test_what_ends_without_an_answer_is_unjudged(case, server, steps, kind, detail):
    found = looked(case, server, "bubblewrap", "total", *steps, limits={"turns": 4})
    assert (found.verdict, found.confidence, found.overruled) == (None, 0.0, None)
    assert found.failure.kind == kind
    assert found.failure.detail.startswith(detail)
    assert found.rationale.startswith(f"unjudged, {kind}: ")


@pytest.mark.bubblewrap
def test_the_question_depends_on_the_candidate_alone(case, server, tmp_path):
    """Another folder, key and block, and a window that goes on: nothing is asked anew."""
    steps = (
        run("git log --all --oneline; git rev-list --all --count"),
        run("git log --oneline -S newest HEAD..fix"),
        keep(),
    )
    first = looked(case, server, "bubblewrap", "total", *steps)
    asked = server.count()
    for number in range(300):
        case.history.commit({"README.md": f"# pkg\n\n{number}\n"}, f"docs: {number}")
    other = tmp_path / "elsewhere" / "other.git"
    other.parent.mkdir()
    case.history.path.rename(other)
    second = looked(
        case, server, "bubblewrap", "total", *steps,
        mirror=other, transcripts=tmp_path / "elsewhere/0007", purpose="presence other/0007",
    )  # fmt: skip
    assert server.count() == asked
    assert second == first


@pytest.mark.bubblewrap
def test_the_prompt_names_the_commits_and_what_is_known(case, server):
    looked(case, server, "bubblewrap", "later", keep())
    path = case.folder / "transcripts" / f"{case.candidates['later'].id}.jsonl"
    header = read_transcript(path)[0]
    assert isinstance(header, HeaderLine)
    for text in (
        f"Snapshot commit: {case.t0}\n",
        f"Fix commit: {case.fixes['later']}\n",
        f"Parent of the fix: {case.parent('later')}\n",
        "in the parent of the fix:\n- pkg/a.py:12-12\n",
        "Clue, from following the lines back by blame (no ground): speaks against presence",
        f"-{LATER.splitlines()[-1]}",
    ):
        assert text in header.user, text
    for ground in ("postdated_precondition", "deliberate_rejection", "absent_capability"):
        assert f"- {ground}: " in header.system
    assert str(case.folder) not in header.system + header.user


def test_a_window_without_room_for_the_work_is_refused_before_anything(case, server):
    small = {"context_tokens": 12_000, "max_output_tokens": 4_000}
    with pytest.raises(ModelError, match=r"agent of stage presence needs .* a larger window"):
        investigate(case, about(case, server.openai, "no engine", entry=small), "total")
    assert server.count() == 0
    assert investigate(case, about(case, server.openai, "no engine")) == []


@pytest.mark.bubblewrap
def test_the_servers_own_investigator_decides_by_blame(case, server):
    server.answer(None)
    block = about(case, server.openai, "bubblewrap")
    total, later, scale = investigate(case, block, "total", "later", "scale")
    assert (total.verdict, scale.verdict) == ("keep", "keep")
    assert (later.verdict, later.ground) == ("drop", "postdated_precondition")
    assert [one.reproduced for one in later.evidence] == [True]
    kinds = [line.command.split()[0:2] for line in commands(case, "total")]
    assert kinds == [["git", "blame"], ["git", "grep"], ["python3", "-"]]
    by_schema = about(
        case, server.openai, "bubblewrap",
        entry={"supports": {"tools": False}}, transcripts=case.folder / "schema",
    )  # fmt: skip
    assert [one.verdict for one in investigate(case, by_schema, "total", "later")] == [
        "keep",
        "drop",
    ]
