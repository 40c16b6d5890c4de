"""The finder `model` against a real server: places are checked, failures are never "found nothing"."""

import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
from modelserver import Fault, ModelServer

from probe.config import ModelEntry
from probe.errors import BudgetError, FinderError
from probe.finders.base import Asking, get_finder
from probe.finders.locate import SnapshotTree
from probe.finders.model import FindAnswer, FoundItem, find
from probe.finders.questions import pass_messages
from probe.finders.run import run_pass
from probe.models.base import Model
from probe.models.client import Client
from probe.models.prompts import load_prompt
from probe.records import Pass, write_jsonl

PROMPT = load_prompt(Path(__file__).parents[2] / "prompts" / "find.j2")
FILES = {
    "src/a.py": "def first(items):\n    return items[0]\n",
    "src/b.py": "import os\r\n\r\nX = 1",
    "tests/test_a.py": "assert True\n",
}


@pytest.fixture
def client(tmp_path):
    with Client(tmp_path / "cache", 0.0) as opened:
        yield opened


def model_at(address: str, **settings: object) -> Model:
    facts = {"litellm_id": "openai/stub-model", "api_base": address, "price": "free"}
    return Model("stub", ModelEntry.model_validate(facts | {"max_attempts": 1} | settings))


@pytest.fixture
def context(make_context, server, client):
    made = make_context(FILES, {"kind": "model", "repeat": 1}, unaudited=("tests/test_a.py",))
    return replace(made, asking=Asking(client, model_at(server.openai), PROMPT))


def item(**fields: object) -> dict[str, object]:
    whole = FoundItem(
        path="src/a.py",
        first_line=2,
        last_line=2,
        description="An empty list raises IndexError. It should give None.",
        title="Fails on an empty list",
        severity="medium",
        confidence=0.7,
        suggested_fix="",
    )
    return whole.model_dump() | fields


def answer_with(server: ModelServer, *items: dict[str, object]) -> None:
    server.answer(lambda _: {"findings": list(items)})


def test_findings_are_placed_and_say_where_they_come_from(server, context) -> None:
    result = find(context)
    assert (result.status, result.error) == ("ok", None)
    assert [(found.path, found.first) for found in result.findings] == [
        ("src/a.py", 1),
        ("src/b.py", 1),
    ]
    assert [found.id for found in result.findings] == ["demo:tool:all:1", "demo:tool:all:2"]
    assert result.files_read == 2
    assert result.usage.calls == 1
    assert result.usage.usd == 0
    assert result.usage.output_tokens
    assert result.provenance.engine == "stub"
    assert result.provenance.engine_version == "stub-model-served"
    assert result.provenance.prompt_sha256 == PROMPT.sha256
    assert len(result.provenance.calls) == 1
    assert server.count() == 1


def test_what_the_model_says_is_kept(server, context) -> None:
    answer_with(server, item(suggested_fix="return next(iter(items), None)"))
    [found] = find(context).findings
    assert found.title == "Fails on an empty list"
    assert found.description == "An empty list raises IndexError. It should give None."
    assert found.snippet == "    return items[0]"
    assert (found.severity, found.confidence) == ("medium", 0.7)
    assert found.suggested_fix == "return next(iter(items), None)"
    assert found.raw["first_line"] == 2


def test_finding_nothing_is_a_result(server, context) -> None:
    answer_with(server)
    result = find(context)
    assert (result.status, result.findings, result.files_read) == ("ok", (), 2)


def test_wrong_places_are_rejected_or_counted(server, context) -> None:
    answer_with(
        server,
        item(path="../etc/passwd"),
        item(path="/etc/passwd"),
        item(path="src/none.py"),
        item(path=""),
        item(first_line=7, last_line=9),
        item(first_line=-1),
        item(),
        item(),
        item(first_line=0, last_line=0, title="Whole file"),
        item(first_line=2, last_line=1, title="Backwards"),
        item(last_line=99, title="Too far"),
        item(path="./src/b.py", first_line=3, last_line=3, title="Dotted"),
        item(path="tests/test_a.py", first_line=1, last_line=1),
    )
    result = find(context)
    assert result.status == "ok"
    assert [(one.reason, one.detail) for one in result.rejected] == [
        ("outside_snapshot", "../etc/passwd"),
        ("outside_snapshot", "/etc/passwd"),
        ("no_such_file", "src/none.py"),
        ("no_location", "''"),
        ("no_such_line", "src/a.py:7 of 2"),
        ("no_such_line", "src/a.py:-1 of 2"),
    ]
    assert result.oddities == {
        "duplicate": 1,
        "end_before_start": 1,
        "end_beyond_file": 1,
        "file_level": 1,
        "outside_pass": 1,
    }
    assert len(result.findings) == 6
    assert result.findings[4].path == "src/b.py"


@pytest.mark.parametrize(
    ("fault", "status", "kind"),
    [
        (Fault.status(500), "failed", "server_error"),
        (Fault.refusal(), "failed", "refusal"),
        (Fault.length(), "failed", "truncated"),
        (Fault.empty(), "failed", "empty"),
        (Fault.tool_call(), "failed", "tool_call"),
        (Fault.half_answer(), "failed", "connection"),
        (Fault.wrong_json(), "failed", "invalid"),
        (Fault.hang(), "timeout", "timeout"),
        (
            Fault.status(400, message="This model's maximum context length is 8192 tokens."),
            "limit",
            "context_length",
        ),
    ],
)
def test_a_failure_is_never_found_nothing(
    server, context, tmp_path, fault: Fault, status: str, kind: str
) -> None:
    server.fail(fault)
    model = model_at(server.openai, timeout_s=1.0)
    with Client(tmp_path / "other", 0.0, repair_turns=0) as client:
        result = find(replace(context, asking=Asking(client, model, PROMPT)))
    assert result.status == status
    assert result.error is not None
    assert result.error.startswith(f"{kind}: ")
    assert "\n" not in result.error
    assert (result.findings, result.files_read) == ((), 0)


def test_a_prompt_beyond_the_window_is_a_limit_and_is_not_sent(server, client, context) -> None:
    small = model_at(server.openai, context_tokens=1_024, max_output_tokens=512)
    result = find(replace(context, asking=Asking(client, small, PROMPT)))
    assert result.status == "limit"
    assert result.error is not None
    assert "model 'stub' has room for 512" in result.error
    assert server.count() == 0
    assert result.usage.calls == 0


def test_money_that_is_missing_makes_no_result(server, client, context) -> None:
    price = {"input": 1.0, "output": 1.0, "as_of": "2026-12-01"}
    paid = model_at(server.openai, price=price)
    with pytest.raises(BudgetError):
        find(replace(context, asking=Asking(client, paid, PROMPT)))
    assert server.count() == 0


def test_a_repeat_is_another_call_and_the_same_one_is_none(server, context) -> None:
    first = find(context)
    again = find(context)
    assert server.count() == 1
    assert again.model_copy(update={"wall_s": first.wall_s}) == first
    second = find(replace(context, settings={"kind": "model", "repeat": 2}))
    assert server.count() == 2
    assert second.provenance.calls != first.provenance.calls


def test_the_prompt_numbers_every_line(context) -> None:
    tree = SnapshotTree(context.snapshot_root, context.files)
    system, user = pass_messages(context.repo, context.the_pass, tree, PROMPT)
    assert user["content"] == (
        "REPOSITORY: demo\n\n"
        "FILE: src/a.py\n1|def first(items):\n2|    return items[0]\n\n"
        "FILE: src/b.py\n1|import os\n2|\n3|X = 1\n\n"
    )
    assert "src/a.py" not in str(system["content"])


def test_the_kind_is_registered_and_needs_a_model(context) -> None:
    finder = get_finder("model")
    with pytest.raises(FinderError, match="was given no model"):
        finder.find(replace(context, asking=None))
    with pytest.raises(FinderError, match="'repeat' is 0"):
        finder.find(replace(context, settings={"repeat": 0}))


def test_a_pass_of_the_plan_is_run_from_the_archive(server, client, context, tmp_path) -> None:
    archive, files, passes = (tmp_path / name for name in ("source.tar", "files.jsonl", "p.jsonl"))
    with tarfile.open(archive, "w") as tar:
        for path in FILES:
            tar.add(context.snapshot_root / path, path)
    write_jsonl(files, context.files)
    plan = [
        Pass(id=name, kind="batch", files=(f"src/{name}.py",), tokens=5, content_sha256="0" * 64)
        for name in ("a", "b")
    ]
    write_jsonl(passes, plan)

    def run(part: str):
        return run_pass(
            "demo",
            "one",
            {"kind": "model", "repeat": 1},
            part,
            archive=archive,
            files=files,
            passes=passes,
            prompt=PROMPT,
            asker=client,
            model=model_at(server.openai),
        )

    result = run("b")
    assert [(found.id, found.path) for found in result.findings] == [("demo:one:b:1", "src/b.py")]
    assert "src/a.py" not in str(server.requests[0].body)
    with pytest.raises(FinderError, match=r"p\.jsonl: the plan has no pass 'c'"):
        run("c")


def test_every_field_is_required_of_the_model() -> None:
    schema = FindAnswer.model_json_schema()["$defs"]["FoundItem"]
    assert schema["required"] == list(schema["properties"])
    assert list(schema["properties"])[:4] == ["path", "first_line", "last_line", "description"]
