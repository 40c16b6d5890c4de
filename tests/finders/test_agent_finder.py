"""The finder `agent` in real sandboxes and against a real server."""

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from audits import FILES, PASSES, Project, item
from modelserver import Fault, Reply
from scripted import play

from probe.agent import replay
from probe.errors import BudgetError, FinderError, ModelError, RecordError
from probe.finders.agent import HAND_IN, first_prompt_tokens, session_spread
from probe.finders.audit_prompt import NoRoomError, check_room, first_prompt_room
from probe.finders.base import get_finder
from probe.finders.locate import SnapshotTree
from probe.finders.session import AuditAnswer, session_texts
from probe.records import PassResult, Usage
from probe.records.transcript import CommandLine, HeaderLine, read_transcript

pytestmark = pytest.mark.bubblewrap


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


def commands(project: Project, part: str = "a") -> list[CommandLine]:
    path = project.results / "one" / "transcripts" / f"{part}.jsonl"
    return [line for line in read_transcript(path) if isinstance(line, CommandLine)]


def texts(snapshot, **more):
    settings = more.pop("settings", {})
    the_pass = more.pop("the_pass", PASSES[0])
    session = snapshot.session("http://127.0.0.1:1", **more)
    context = snapshot.context(session, the_pass, **settings)
    return session_texts(context, SnapshotTree(snapshot.root, snapshot.rows), HAND_IN)


@pytest.mark.parametrize("engine", ["bubblewrap", pytest.param("docker", marks=pytest.mark.docker)])
def test_a_session_runs_the_code_and_hands_in_findings(server, project, engine):
    run = "PYTHONPATH=. python3 -c 'from pkg.b import head; head(\"\")' 2>&1 | tail -n 1"
    play(server, ("ls -A", run), lambda seen: [item(description=seen.splitlines()[-1])])
    result = project.run(project.session(server.openai, engine))
    assert server.errors == []
    assert (result.status, result.error) == ("ok", None)
    [found] = result.findings
    assert found.id == "demo:one:a:1"
    assert (found.path, found.first, found.placing, found.unit) == (
        "pkg/a.py", 2, "as_reported", "first",
    )  # fmt: skip
    assert found.description == "IndexError: list index out of range"
    assert next(line.shown.splitlines()[2:] for line in commands(project)) == ["pkg", "tests"]
    assert result.sandbox is not None
    assert result.sandbox.engine == engine
    assert (result.sandbox.limits["memory_mb"], result.environment) == (500, "sources_only")
    assert (result.turns, result.usage.calls, result.usage.usd) == (2, 2, 0)
    assert result.provenance.engine == "stub"
    assert result.provenance.engine_version == "stub-model-served"
    assert len(result.provenance.calls) == 2
    passes = project.results / "one" / "passes"
    passes.mkdir()
    assert result.transcript is not None
    transcript = passes / result.transcript
    assert replay(transcript, AuditAnswer).answer.findings[0].title == found.title
    assert PassResult.model_validate_json(result.model_dump_json()) == result


def test_the_full_prompt_holds_project_sources_calls_and_code_around(project):
    shown = texts(project)
    assert "A small project about lists." in shown.user
    assert "FILE: pkg/a.py\n1|def first(items):\n2|    return items[0]\n" in shown.user
    assert "FILE: pkg/c.py\n1|def total(prices):\n" in shown.user
    assert "pkg/b.py:head (4-5) calls pkg/a.py:first, on line 5" in shown.user
    callers = shown.user.partition("CODE OF CALLERS\n")[2]
    assert "4|def head(text):\n5|    return first(text.split())" in callers
    assert "CODE OF CALLEES" not in shown.user
    assert HAND_IN in shown.system
    assert shown.left_out == ()
    assert "tests/test_a.py" not in shown.user + shown.system


def test_passes_only_is_given_paths_and_nothing_else(project):
    shown = texts(project, variant="passes-only", settings={"variant": "passes-only"})
    assert shown.user == "REPOSITORY: demo\n\nTARGET FILES\npkg/a.py\npkg/c.py\n"
    assert "return items[0]" not in shown.system
    assert "about lists" not in shown.system


def test_vanilla_is_given_instructions_alone(project):
    shown = texts(project, variant="vanilla", settings={"variant": "vanilla"})
    assert "pkg/" not in shown.user + shown.system
    assert "Read each" not in shown.system
    assert HAND_IN in shown.system


def test_all_variants_are_told_the_same_of_what_to_report(project):
    variants = ("full", "passes-only", "vanilla")
    systems = [texts(project, variant=v, settings={"variant": v}).system for v in variants]
    shared = {system.partition("What to report\n")[2] for system in systems}
    assert len(shared) == 1
    [rules] = shared
    for field in AuditAnswer.model_json_schema()["$defs"]["AuditItem"]["required"]:
        assert field in rules, field
    for word in ("Style", "does not support", "empty", "confidence", "material"):
        assert word in rules


def test_what_does_not_fit_is_left_out_in_order_and_given_by_path(tmp_path):
    long = "".join(f"x{n} = {n}\n" for n in range(3_000))
    project = Project(tmp_path, FILES | {"pkg/a.py": FILES["pkg/a.py"] + long})
    roomy = texts(project, entry={"context_tokens": 200_000, "max_output_tokens": 1_000})
    assert roomy.left_out == ()
    tight = texts(project, entry={"context_tokens": 30_000, "max_output_tokens": 1_000})
    assert tight.left_out == ("pkg/a.py",)
    assert "FILE: pkg/a.py\n(not shown here, for its length: read it in /work)\n" in tight.user
    assert "FILE: pkg/c.py\n1|def total" in tight.user
    assert "calls pkg/a.py:first" in tight.user
    entry = {"context_tokens": 14_000, "max_output_tokens": 1_000}
    document = "Words of the project. " * 1_000
    least = texts(project, entry=entry, project=document)
    assert least.left_out == ("pkg/a.py", "pkg/c.py", "call_graph", "project")
    assert "CODE OF CALLERS" in least.user
    with pytest.raises(NoRoomError, match="the instructions alone have"):
        texts(project, entry={"context_tokens": 10_000, "max_output_tokens": 1_000})


def test_instructions_without_room_are_a_limit_and_nothing_is_sent(server, project):
    session = project.session(
        server.openai, entry={"context_tokens": 10_000, "max_output_tokens": 1_000}
    )
    result = project.run(session)
    assert result.status == "limit"
    assert result.error is not None
    assert "model 'stub' may have" in result.error
    assert "\n" not in result.error
    assert server.count() == 0
    assert (result.sandbox, result.environment, result.transcript) == (None, None, None)
    assert result.usage == Usage(calls=0, attempts=0, usd=0.0)


@pytest.mark.parametrize("variant", ["full", "passes-only", "vanilla"])
def test_a_window_that_holds_no_session_is_said_early(project, variant):
    session = project.session("http://127.0.0.1:1", variant=variant)
    check_room(session.prompt, variant, room=14_000, model="stub")
    with pytest.raises(NoRoomError, match=r"model .tiny.*larger window"):
        check_room(session.prompt, variant, room=9_000, model="tiny")


def test_an_estimate_starts_from_the_first_request(server, project):
    play(server, [])
    session = project.session(server.openai)
    context = project.context(session)
    shown = session_texts(context, SnapshotTree(project.root, project.rows), HAND_IN)
    project.run(session)
    tokens = first_prompt_tokens(shown)
    served = len(str(server.bought[0]["messages"])) / 4
    assert 0.6 * served < tokens < 1.6 * served
    assert tokens < first_prompt_room(session.model.entry.prompt_room)
    assert session_spread({"calls": 5}, "full").turns == (3, 5, 5)


def test_vanilla_audits_the_whole_snapshot_in_one_session(server, project):
    play(server, ("ls",), [item(), item(path="pkg/b.py", first_line=5, last_line=5, snippet="")])
    session = project.session(server.openai, variant="vanilla")
    result = project.run(session, "all", variant="vanilla")
    assert [found.id for found in result.findings] == ["demo:one:all:1", "demo:one:all:2"]
    assert result.oddities == {}
    with pytest.raises(FinderError, match="has one pass, 'all', not 'a'"):
        project.run(session, "a", variant="vanilla")


def test_finding_nothing_is_a_result(server, project):
    play(server, [])
    result = project.run(project.session(server.openai))
    assert (result.status, result.findings, result.turns) == ("ok", (), 1)


@pytest.mark.parametrize(
    ("steps", "settings", "status", "error"),
    [
        ([("true",)] * 9, {"calls": 3}, "limit", "turns: "),
        ([("true",), ("sleep 3",), ("true",)], {"working_s": 2.0}, "timeout", "time: "),
        (["I looked and found nothing."] * 9, {}, "failed", "no_action: "),
        ([[{"path": "pkg/a.py"}]] * 9, {}, "failed", "invalid_submission: "),
        ([Reply(refusal="I will not audit this.")], {}, "failed", "refusal: "),
    ],
)
def test_a_session_without_an_answer_is_never_found_nothing(
    server, project, steps, settings, status, error
):
    play(server, *steps)
    result = project.run(project.session(server.openai), **settings)
    assert result.status == status
    assert result.error is not None
    assert result.error.startswith(error)
    assert "\n" not in result.error
    assert result.findings == ()
    assert result.turns == len(server.bought)
    assert result.sandbox is not None


def test_an_answer_at_the_last_chance_counts_and_says_so(server, project):
    play(server, ("true",), [item()])
    result = project.run(project.session(server.openai), calls=3)
    assert (result.status, len(result.findings)) == ("ok", 1)
    assert result.oddities == {"last_chance_turns": 1}


def test_a_server_that_is_gone_fails_the_job_and_the_pass_goes_on(server, project):
    session = project.session(server.openai, entry={"max_attempts": 1})
    play(server, ("date +%N",), [item()])
    server.fail(Fault.status(401))
    with pytest.raises(ModelError, match="model 'stub' does not answer: auth: "):
        project.run(session)
    result = project.run(session)
    assert (result.status, result.turns) == ("ok", 2)
    gone = project.session("http://127.0.0.1:9/v1", entry={"max_attempts": 1})
    with pytest.raises(ModelError, match=r"does not answer: connection: .*what was bought is kept"):
        project.run(gone, "b")


def test_a_server_error_is_a_failed_pass(server, project):
    server.fail(Fault.status(500))
    result = project.run(project.session(server.openai, entry={"max_attempts": 1}))
    assert (result.status, result.turns, result.usage.calls) == ("failed", 0, 0)
    assert result.error is not None
    assert result.error.startswith("server_error: ")


def test_money_that_is_missing_makes_no_result_and_loses_nothing(server, project):
    price = {"input": 1.0, "output": 1.0, "as_of": "2026-12-01"}
    session = project.session(server.openai, entry={"price": price})
    play(server, ("date +%N",), [item()])
    with pytest.raises(BudgetError, match=r"budget\.usd"):
        project.run(session, budget=0.0)
    assert server.count() == 0
    assert project.run(session, budget=5.0).status == "ok"
    assert len(server.bought) == 2


def _children() -> set[int]:
    tasks = Path("/proc/self/task")
    return {int(pid) for task in tasks.iterdir() for pid in (task / "children").read_text().split()}


def _kill_since(before: set[int]) -> None:
    for pid in _children() - before:
        os.kill(pid, signal.SIGKILL)


def test_a_sandbox_that_dies_is_replaced_once(server, project):
    before = _children()
    play(server, ("ls",), lambda seen: _kill_since(before) or ("ls pkg",), [item()])
    result = project.run(project.session(server.openai))
    assert (result.status, len(result.findings)) == ("ok", 1)
    assert len(server.bought) == 3


def test_a_sandbox_that_dies_twice_is_a_failed_pass(server, project):
    before = _children()
    deadly = [lambda seen: _kill_since(before) or ("ls pkg",)] * 9
    play(server, ("ls",), *deadly)
    result = project.run(project.session(server.openai))
    assert (result.status, result.findings) == ("failed", ())
    assert result.error is not None
    assert result.error.startswith("dead_sandbox: ")


def test_killed_and_run_again_no_answer_is_bought_twice(server, project, tmp_path):
    # outputs change from run to run, so that only the transcript can save the calls
    play(server, *[("date +%N; echo $RANDOM",)] * 6, [item(path="pkg/b.py", snippet="")])
    server.latency = 0.05
    worker = Path(__file__).with_name("audit_worker.py")
    command = [sys.executable, str(worker), str(tmp_path), server.openai]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent)}
    with subprocess.Popen(command, env=environment) as process:
        while len(server.bought) < 3 and process.poll() is None:
            pass
        process.kill()
    assert process.returncode == -signal.SIGKILL
    result = project.run(project.session(server.openai), "b")
    assert (result.status, len(result.findings), result.turns) == ("ok", 1, 7)
    bought = Counter(str(body["messages"]) for body in server.bought)
    assert len(bought) == 7
    assert sum(bought.values()) <= 8, "only the call in flight may be bought again"
    again = project.run(project.session(server.openai), "b")
    assert (again.status, len(server.bought)) == ("ok", sum(bought.values()))


def test_a_pass_that_another_process_works_on_is_left_alone(server, project):
    from probe.agent.journal import Journal

    path = project.results / "one" / "transcripts" / "a.jsonl"
    with Journal(path, live=True), pytest.raises(RecordError, match="another process"):
        project.run(project.session(server.openai))


def test_a_repeat_asks_anew_and_the_same_run_asks_nothing(server, project):
    play(server, ("ls",), [item()])
    first = project.run(project.session(server.openai))
    again = project.run(project.session(server.openai))
    assert again.model_copy(update={"wall_s": first.wall_s}) == first
    assert len(server.bought) == 2
    other = project.session(server.openai, transcripts=project.results / "two" / "transcripts")
    second = project.run(other, repeat=2)
    assert len(server.bought) == 4
    assert set(second.provenance.calls).isdisjoint(first.provenance.calls)


def test_what_the_session_is_about_is_in_its_transcript(server, project):
    play(server, [])
    session = project.session(server.openai, content_sha256="d" * 64)
    project.run(session, repeat=3, calls=7, command_s=9.0, usd=2.5)
    [header] = [
        line
        for line in read_transcript(session.transcripts / "a.jsonl")
        if isinstance(line, HeaderLine)
    ]
    assert (header.content_sha256, header.sample) == ("d" * 64, 3)
    assert header.purpose == "audit demo/one/a"
    assert {name: header.limits[name] for name in ("turns", "command_s", "usd", "working_s")} == {
        "turns": 7, "command_s": 9.0, "usd": 2.5, "working_s": 600.0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"calls": 0}, "'calls' is 0; expected a number above 0"),
        ({"working_s": None}, "'working_s' is None"),
        ({"repeat": 0}, "'repeat' is 0"),
        ({"variant": "some"}, "'variant' is 'some'; known: full, passes-only, vanilla"),
    ],
)
def test_wrong_settings_are_one_line(server, project, settings, problem):
    with pytest.raises(FinderError, match=problem):
        project.run(project.session(server.openai), **settings)
    assert server.count() == 0


def test_the_kind_is_registered_and_needs_a_session(server, project):
    finder = get_finder("agent")
    session = project.session(server.openai)
    with pytest.raises(FinderError, match="was given no client"):
        finder.find(project.context(session))
    with pytest.raises(FinderError, match="was given none"):
        finder.find(project.context(None))
    with pytest.raises(FinderError, match=r"passes\.jsonl: the plan has no pass 'zz'"):
        project.run(session, "zz")


@pytest.mark.parametrize("variant", ["full", "passes-only", "vanilla"])
@pytest.mark.parametrize("supports", [{}, {"tools": False}, {"tools": False, "json_schema": False}])
def test_the_servers_own_auditor_plays_every_variant(server, project, variant, supports):
    session = project.session(server.openai, variant=variant, entry={"supports": supports})
    part = "all" if variant == "vanilla" else "a"
    result = project.run(session, part, variant=variant)
    assert (result.status, result.error) == ("ok", None)
    titles = {found.title for found in result.findings}
    assert {"`items[0]` fails on an empty sequence", "Mean over `xs` divides by zero"} <= titles
    assert result.rejected == ()
    assert len(commands(project, part)) in (2, 4)
    assert all(found.snippet in project.files[found.path] for found in result.findings)
