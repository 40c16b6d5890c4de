"""The finder `model` and a window smaller than the pass: parts, joined; `limit` only where none fits."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from modelserver import Fault

from probe.config import ModelEntry
from probe.finders.base import Asking
from probe.finders.locate import SnapshotTree
from probe.finders.model import find, find_parts
from probe.models.base import Model
from probe.models.client import Client
from probe.models.prompts import load_prompt

PROMPT = load_prompt(Path(__file__).parents[2] / "prompts" / "find.j2")
LONG = "\n".join(
    line
    for n in range(30)
    for line in (f"def step_{n}(total):", *["    total = total + 1 * 2 - 3 / 4"] * 18, "")
)
"""600 lines, some 9,000 tokens with their numbers."""
SHORT = "def first(items):\n    return items[0]\n"


@pytest.fixture
def client(tmp_path):
    with Client(tmp_path / "cache", 0.0) as opened:
        yield opened


@pytest.fixture
def context(make_context, server, client):
    made = make_context({"long.py": LONG, "short.py": SHORT}, {"kind": "model", "repeat": 1})
    return replace(made, asking=Asking(client, model_at(server.openai), PROMPT))


def model_at(address: str, room: int = 6_000) -> Model:
    facts = {"litellm_id": "openai/stub-model", "api_base": address, "price": "free"}
    window = {"context_tokens": room + 512, "max_output_tokens": 512, "max_attempts": 1}
    return Model("stub", ModelEntry.model_validate(facts | window))


def report(path: str, first: int, last: int, title: str) -> dict[str, object]:
    return {
        "path": path,
        "first_line": first,
        "last_line": last,
        "description": f"{title}, as a caller would see.",
        "title": title,
        "severity": "low",
        "confidence": 0.5,
        "suggested_fix": "",
    }


def sent(asked) -> str:
    return asked["messages"][-1]["content"]


def pieces_of(context):
    tree = SnapshotTree(context.snapshot_root, context.files)
    model = context.asking.model
    return [part.pieces for part in find_parts("demo", context.the_pass, tree, PROMPT, model)]


def test_a_pass_beyond_the_window_is_asked_in_parts(server, context) -> None:
    shown = pieces_of(context)
    assert [len(pieces) for pieces in shown] == [1, 1, 1, 1]
    assert [pieces[0].path for pieces in shown] == ["long.py"] * 3 + ["short.py"]
    first, second = shown[0][0], shown[1][0]
    again = second.first + 2
    assert first.last - second.first > 10

    def answer(asked):
        text = sent(asked)
        found = (
            [report("short.py", 2, 2, "Fails on an empty list")] if "FILE: short" in text else []
        )
        if "\n1|def step_0" in text:
            found += [
                report("long.py", 5, 5, "The first part alone shows this"),
                report("long.py", again, again, "Same lines in other words"),
                report("long.py", again + 4, again + 6, "Adds one too much to the total"),
                report("long.py", again + 8, again + 9, "Divides by four"),
            ]
        elif f"(lines 1 to {second.first - 1} are not shown)" in text:
            found += [
                report("long.py", again, again, "A repeated line is reported again"),
                report("./long.py", again + 5, again + 5, "Adds one too much to the total here"),
                report("long.py", again + 9, again + 9, "Overflows for infinite numbers"),
                report("long.py", second.last, second.last, "Adds one too much to the total"),
            ]
        return {"findings": found}

    server.answer(answer)
    result = find(context)
    assert (result.status, result.error) == ("ok", None)
    assert [(found.path, found.first, found.title) for found in result.findings] == [
        ("long.py", 5, "The first part alone shows this"),
        ("long.py", again, "Same lines in other words"),
        ("long.py", again + 4, "Adds one too much to the total"),
        ("long.py", again + 8, "Divides by four"),
        ("long.py", again + 9, "Overflows for infinite numbers"),
        ("long.py", second.last, "Adds one too much to the total"),
        ("short.py", 2, "Fails on an empty list"),
    ]
    assert result.oddities == {"repeated_part": 2}
    assert (result.files_read, result.usage.calls, server.count()) == (2, 4, 4)
    assert len(set(result.provenance.calls)) == 4
    assert [found.id for found in result.findings][-1] == "demo:tool:all:7"


def test_a_part_without_an_answer_is_a_failed_pass_that_keeps_the_others(server, context) -> None:
    def answer(asked):
        shown = re.findall(r"^(\d+)\|", sent(asked), re.MULTILINE)
        path = "short.py" if "FILE: short" in sent(asked) else "long.py"
        return {"findings": [report(path, int(shown[-1]), int(shown[-1]), "Ends too early")]}

    server.answer(answer)
    server.fail(Fault.status(500))  # whichever part comes first
    result = find(context)
    assert result.status == "failed"
    assert result.error is not None
    assert re.match(
        r"part [1-4] of 4 \((long\.py:\d+-\d+|short\.py)\): server_error: ", result.error
    )
    assert len(result.findings) == 3
    assert result.files_read == 1
    again = find(context)
    assert (again.status, len(again.findings), again.files_read) == ("ok", 4, 2)
    assert server.count() == 5


def test_several_files_that_do_not_fit_together_are_parts_of_whole_files(
    server, make_context, client
):
    files = {f"{name}.py": LONG[: len(LONG) // 6 * 2] for name in "abc"}
    made = make_context(files, {"kind": "model", "repeat": 1})
    context = replace(made, asking=Asking(client, model_at(server.openai, 6_000), PROMPT))
    shown = pieces_of(context)
    assert all(piece.whole for pieces in shown for piece in pieces)
    assert len(shown) == 3
    assert find(context).status == "ok"
    assert not any("not shown" in sent(request.body) for request in server.requests)


def test_a_pass_that_fits_is_one_question_as_before(server, context) -> None:
    asking = replace(context.asking, model=model_at(server.openai, 50_000))
    find(replace(context, asking=asking))
    [request] = server.requests
    numbers = "\n".join(f"{n}|{line}" for n, line in enumerate(LONG.split("\n")[:-1], 1))
    assert f"REPOSITORY: demo\n\nFILE: long.py\n{numbers}\n\nFILE: short.py\n1|def" in sent(
        request.body
    )


def test_a_line_that_no_part_holds_is_a_limit_and_nothing_is_sent(server, make_context, client):
    files = {"a.py": "x = 1\ny = '" + "word " * 9000 + "'\n"}
    made = make_context(files, {"kind": "model", "repeat": 1})
    context = replace(made, asking=Asking(client, model_at(server.openai), PROMPT))
    result = find(context)
    assert result.status == "limit"
    assert result.error is not None
    assert "model 'stub' has room for 6000" in result.error
    assert "a.py:2 alone has" in result.error
    assert (result.usage.calls, result.files_read, server.count()) == (0, 0, 0)
