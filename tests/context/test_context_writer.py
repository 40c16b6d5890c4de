"""The agent of stage context on real sandboxes and a real server."""

from dataclasses import replace

import pytest
from modelserver import Reply
from projects import NODE, PROMPT, PYTHON, snapshot, submission, writing
from scripted import play

from probe.agent import replay
from probe.context.make import agent_context
from probe.context.room import check_context_room
from probe.context.writer import submission_type, write_context
from probe.errors import BudgetError, ModelError
from probe.models.client import Client
from probe.models.prompts import load_prompt
from probe.records.transcript import CommandLine, HeaderLine, read_transcript

SANDBOXES = [
    pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
    pytest.param("docker", marks=pytest.mark.docker),
]
WRONG = [{"path": "larder/gone.py", "role": "Is not there."}, {"path": "larder", "role": "Is."}]


@pytest.fixture
def sources(tmp_path):
    return snapshot(tmp_path, PYTHON)


@pytest.fixture
def client(tmp_path):
    with Client(tmp_path / "cache", 0.0) as opened:
        yield opened


def write(sources, server, client, *steps, engine="bubblewrap", **more):
    play(server, *steps)
    transcript = sources.archive.parent / "transcripts/context.jsonl"
    about = writing(sources, server.openai, engine, transcript, **more)
    written = write_context(about, client)
    assert server.errors == []
    return about, written


@pytest.mark.parametrize("engine", SANDBOXES)
def test_both_documents_come_of_one_submission(sources, server, client, engine):
    play(
        server,
        ("ls; cat larder/store.py", "python3 -c 'import larder; print(larder.__all__)'"),
        submission(),
    )
    transcript = sources.archive.parent / "transcripts/context.jsonl"
    about = writing(sources, server.openai, engine, transcript)
    context = agent_context(about, "transcripts/context.jsonl", client)
    looked, ran = [one for one in read_transcript(transcript) if isinstance(one, CommandLine)]
    assert "README.md" in looked.shown and "class Larder" in looked.shown
    assert "['Larder', 'LarderError', 'read_list']" in ran.shown
    for text in (context.document, context.panel):
        assert text.count("Written by an agent that explored the sources of this snapshot.") == 1
        assert (
            "- `Larder.due`" not in text
            and "- `Larder.due()`: Takes days, gives rows. (larder/store.py)" in text
        )
        assert (
            "Unknown dates are never due. “An unknown date is ignored on purpose” (larder/store.py)"
            in text
        )
        assert "- `larder/store.py`: Owns the lists. Reached: Through `load`." in text
    assert context.document.index("## Architecture") < context.document.index("## Public API")
    assert context.panel.index("## Public entry points") < context.panel.index(
        "## Modules, and how"
    )
    assert "found by their wording" not in context.panel
    info = context.info
    assert (info.provenance.engine, info.provenance.engine_version) == ("stub", "stub-model-served")
    assert info.provenance.prompt_sha256 == load_prompt(PROMPT).sha256
    assert (info.transcript, info.turns, len(info.provenance.calls)) == (
        "transcripts/context.jsonl",
        2,
        2,
    )
    assert info.usage is not None and info.usage.input_tokens > 0
    assert (info.omitted, info.dropped, info.unread) == ((), (), ())
    again = replay(transcript, submission_type(sources, about.tokens))
    assert again.answer is not None and again.answer.purpose == submission()["purpose"]


@pytest.mark.bubblewrap
def test_what_does_not_hold_is_sent_back_and_corrected(sources, server, client):
    seen = []

    def corrected(message):
        seen.append(message)
        return submission()

    _, written = write(sources, server, client, submission(modules=WRONG), corrected)
    assert "modules[0]: there is no file or folder 'larder/gone.py'" in seen[0]
    assert (written.dropped, written.result.turns) == ((), 2)


@pytest.mark.bubblewrap
def test_what_stays_wrong_is_struck_out_and_recorded(sources, server, client):
    stubborn = submission(modules=WRONG)
    about, written = write(sources, server, client, *[stubborn] * 3)
    (drop,) = written.dropped
    assert (drop.section, drop.reason) == (
        "architecture",
        "there is no file or folder 'larder/gone.py'",
    )
    texts = [entry.text for entry in written.document["architecture"]]
    assert not any("gone.py" in text for text in texts) and any(
        "`larder`" in text for text in texts
    )
    asked = server.count()
    context = agent_context(about, "x", client)
    assert context.info.dropped == (drop,) and server.count() == asked


@pytest.mark.bubblewrap
def test_a_limit_ends_with_the_last_submission_as_far_as_it_holds(sources, server, client):
    steps = [submission(modules=WRONG)] * 2
    _, written = write(sources, server, client, *steps, limits={"turns": 2, "final_turns": 2})
    assert (written.result.status, written.result.reason) == ("limit", "turns")
    assert len(written.dropped) == 1


@pytest.mark.parametrize(
    ("steps", "limits", "why"),
    [
        (["I wonder.", "Well.", "Hm."], {}, r"no_action: .*; name another model for context\.engine, or delete "),
        ([Reply(refusal="No.")], {}, r"refusal: the model refused: No\."),
        ([("ls",)] * 8, {"turns": 4}, r"turns: .*; raise context\.turns"),
        ([{"purpose": "x"}] * 3, {}, r"invalid_submission: "),
        (
            [submission(modules=WRONG[:1], overview="")] * 3, {},
            r"invalid_submission: .*nothing that could stand was left of it",
        ),
    ],
)  # fmt: skip
@pytest.mark.bubblewrap
def test_without_a_document_the_job_fails_in_one_line(sources, server, client, steps, limits, why):
    with pytest.raises(ModelError, match=why) as caught:
        write(sources, server, client, *steps, limits=limits)
    assert "\n" not in str(caught.value)


@pytest.mark.bubblewrap
def test_a_document_that_is_too_long_is_sent_back(sources, server, client):
    long = submission(overview="The lists go in and out of it, again and again. " * 80)
    seen = []

    def shorter(message):
        seen.append(message)
        return submission()

    write(sources, server, client, long, shorter, tokens=900)
    assert "more than it may; shorten it" in seen[0]
    other = sources.archive.parent / "other.jsonl"
    play(server, *[long] * 3)
    about = writing(sources, server.openai, "bubblewrap", other, tokens=901)
    context = agent_context(about, "x", client)
    assert context.info.document_tokens <= 901 and context.info.panel_tokens <= 901
    assert context.info.sections[1].left_out == 1, "the overview had no room"


@pytest.mark.bubblewrap
def test_a_killed_pass_goes_on_and_pays_nothing_twice(sources, server, client):
    about, first = write(sources, server, client, ("ls",), submission())
    lines = about.transcript.read_bytes().splitlines(keepends=True)
    about.transcript.write_bytes(b"".join(lines[:4]))
    asked = server.count()
    second = write_context(about, client)
    assert server.count() == asked
    assert second.document == first.document


@pytest.mark.bubblewrap
def test_the_question_depends_on_the_snapshot_alone(sources, server, client, tmp_path):
    about, _ = write(sources, server, client, submission())
    asked = server.count()
    elsewhere = replace(about, transcript=tmp_path / "b/c.jsonl", purpose="context other")
    write_context(elsewhere, client)
    assert server.count() == asked
    header = read_transcript(about.transcript)[0]
    assert isinstance(header, HeaderLine)
    assert "larder/store.py: 26 lines, called from 1 other file\n" in header.user
    assert "has room for 4000 tokens" in header.system
    assert str(tmp_path) not in header.system + header.user


@pytest.mark.bubblewrap
def test_a_server_that_is_gone_and_a_spent_budget(sources, server, client, tmp_path):
    gone = writing(sources, "http://127.0.0.1:9/v1", "bubblewrap", tmp_path / "t.jsonl")
    with pytest.raises(ModelError, match=r"connection: .*; check api_base, key and network"):
        write_context(gone, client)
    price = {"input": 1.0, "output": 2.0, "as_of": "2026-12-01"}
    paid = writing(
        sources, server.openai, "bubblewrap", tmp_path / "u.jsonl", entry={"price": price}
    )
    with pytest.raises(BudgetError):
        write_context(paid, client)
    assert server.count() == 0


def test_a_window_without_room_is_refused_before_anything(sources, server, client, tmp_path):
    small = {"context_tokens": 16_000, "max_output_tokens": 4_000}
    about = writing(sources, server.openai, "no engine", tmp_path / "t.jsonl", entry=small)
    with pytest.raises(
        ModelError, match=r"agent of stage context needs \d+; name a model with a larger"
    ):
        write_context(about, client)
    assert server.count() == 0
    large = {"context_tokens": 64_000, "max_output_tokens": 8_000}
    enough = writing(sources, server.openai, "no engine", tmp_path / "t.jsonl", entry=large)
    check_context_room(enough.model, enough.prompt, 8_000)


@pytest.mark.parametrize("tools", [True, False])
@pytest.mark.parametrize("files", [PYTHON, NODE])
@pytest.mark.bubblewrap
def test_the_servers_own_writer_plays_the_stage(tmp_path, server, client, tools, files):
    sources = snapshot(tmp_path / "s", files)
    server.answer(None)
    entry = {"supports": {"tools": tools}}
    about = writing(sources, server.openai, "bubblewrap", tmp_path / "t.jsonl", entry=entry)
    context = agent_context(about, "x", client)
    assert server.errors == []
    assert context.info.dropped == () and context.info.turns == 5
    if files is PYTHON:
        assert "“" in context.document.split("## Unsupported features")[1]
        assert "`Larder`" in context.document
    else:
        assert "`Shelf`" in context.document
