"""The cache in a person's hands: export and import of exactly the calls behind a result, upkeep."""

import io
import json
import os
import tarfile
from pathlib import Path

import pytest
from call_samples import NOON, sample_call

from probe.cli import main
from probe.errors import RecordError
from probe.models.bundle import export_calls, import_calls, named_calls
from probe.models.cache import CallStore, entry_bytes
from probe.models.ledger import Ledger
from probe.models.upkeep import Dropped, Kind, drop, summarise, unusable, verify
from probe.records import (
    Answer,
    Classification,
    LedgerLine,
    PassResult,
    Provenance,
    ToolCall,
    Usage,
    write_json,
    write_jsonl,
)


def provenance(*calls):
    return Provenance(
        engine="luna",
        engine_version="luna-served",
        probe_version="0",
        calls=tuple(call.key for call in calls),
    )


def classification(*calls):
    return Classification(
        commit="a" * 40, is_fix=True, confidence=1.0, rationale="r", provenance=provenance(*calls)
    )


def pass_result(*calls):
    return PassResult(
        repo="demo",
        run="luna",
        pass_id="p1",
        status="ok",
        findings=(),
        usage=Usage(calls=len(calls)),
        wall_s=1.0,
        provenance=provenance(*calls),
    )


@pytest.fixture
def calls():
    return [sample_call(f"question {number}") for number in range(5)]


@pytest.fixture
def store(tmp_path, calls):
    store = CallStore(tmp_path / "cache")
    for call in calls:
        store.put(call)
    return store


@pytest.fixture
def results(tmp_path, calls):
    """Two calls behind the reference set, one behind run luna, one behind run sol; one unused."""
    demo = tmp_path / "results" / "demo"
    lines = [classification(calls[0]), classification(calls[1], calls[0])]
    write_jsonl(demo / "reference" / "blocks" / "0000" / "classifications.jsonl", lines)
    write_json(demo / "luna" / "passes" / "p1.json", pass_result(calls[2]))
    write_json(demo / "sol" / "passes" / "p1.json", pass_result(calls[3]))
    (demo / "luna.metrics.csv").write_text("repo\n")
    (demo / "series.json").write_text("{not json, and names nothing")
    return tmp_path / "results"


def members(tar):
    with tarfile.open(tar) as archive:
        return {member.name: archive.extractfile(member).read() for member in archive}


class TestExport:
    def test_exactly_the_calls_that_records_name(self, store, results, calls, tmp_path):
        assert export_calls(store, results, tmp_path / "out.tar") == 4
        assert members(tmp_path / "out.tar") == {
            f"calls/{call.key[:2]}/{call.key}.json": entry_bytes(call) for call in calls[:4]
        }

    def test_a_cell_stands_for_its_passes_and_the_reference_set(self, store, results, calls):
        named = named_calls(results / "demo" / "luna.metrics.csv")
        assert set(named) == {call.key for call in calls[:3]}
        assert named[calls[2].key] == results / "demo" / "luna" / "passes" / "p1.json"

    def test_the_same_calls_give_the_same_bytes(self, store, results, calls, tmp_path):
        export_calls(store, results, tmp_path / "one.tar")
        other = CallStore(tmp_path / "other")
        for call in reversed(calls):
            other.put(call)
            os.utime(other.path(call.key), (0, 0))
        export_calls(other, results, tmp_path / "two.tar")
        assert (tmp_path / "one.tar").read_bytes() == (tmp_path / "two.tar").read_bytes()

    def test_members_say_nothing_of_the_machine(self, store, results, tmp_path):
        export_calls(store, results, tmp_path / "out.tar")
        with tarfile.open(tmp_path / "out.tar") as archive:
            for member in archive:
                owner = (member.uid, member.gid, member.uname, member.gname)
                assert owner == (0, 0, "", "")
                assert (member.mtime, member.mode, member.isreg()) == (0, 0o644, True)

    def test_a_missing_call_is_named_with_its_record(self, store, results, calls, tmp_path):
        store.path(calls[2].key).unlink()
        with pytest.raises(RecordError) as caught:
            export_calls(store, results, tmp_path / "out.tar")
        assert str(results / "demo" / "luna" / "passes" / "p1.json") in str(caught.value)
        assert calls[2].key[:12] in str(caught.value)
        assert "\n" not in str(caught.value)
        assert not (tmp_path / "out.tar").exists()

    def test_records_without_calls(self, store, tmp_path):
        write_jsonl(tmp_path / "r" / "x.jsonl", [classification()])
        with pytest.raises(RecordError, match="name no calls"):
            export_calls(store, tmp_path / "r", tmp_path / "out.tar")

    @pytest.mark.parametrize("path", ["nowhere", "results/demo/sol.metrics.csv", "notes.txt"])
    def test_what_is_no_result(self, store, results, tmp_path, path):
        (tmp_path / "notes.txt").write_text("")
        with pytest.raises(RecordError, match="expected a results folder or a cell"):
            export_calls(store, tmp_path / path, tmp_path / "out.tar")

    def test_a_record_that_cannot_be_read(self, store, results, tmp_path):
        broken = results / "demo" / "luna" / "passes" / "p1.json"
        broken.write_bytes(broken.read_bytes()[:-20])
        with pytest.raises(
            RecordError, match=r"p1\.json: cannot be read, so its calls are unknown"
        ):
            export_calls(store, results, tmp_path / "out.tar")


def write_call(tmp_path, call):
    store = CallStore(tmp_path / "cache")
    store.put(call)
    write_jsonl(tmp_path / "results" / "x.jsonl", [classification(call)])
    return store


class TestSecrets:
    @pytest.mark.parametrize("name", ["LUNA_API_KEY", "HOST_TOKEN", "APP_SECRET"])
    @pytest.mark.parametrize("place", ["question", "answer", "usage"])
    def test_a_value_of_the_environment_is_refused(self, tmp_path, monkeypatch, name, place):
        value = 'quite "plain" words'
        monkeypatch.setenv(name, value)
        said = f"so:\n{value}."
        call = sample_call(
            said if place == "question" else "hello",
            answer=Answer(content=said if place == "answer" else "hello", finish_reason="stop"),
        )
        if place == "usage":
            call = call.model_copy(update={"raw_usage": {"account": [said]}})
        store = write_call(tmp_path, call)
        with pytest.raises(RecordError, match="holds the value of a secret") as caught:
            export_calls(store, tmp_path / "results", tmp_path / "out.tar", patterns=False)
        assert value not in str(caught.value)
        assert not (tmp_path / "out.tar").exists()

    @pytest.mark.parametrize(
        "key",
        [
            "sk-" + "a1B2" * 8,
            "sk-proj-" + "x9Y8_z7-" * 6,
            "sk-ant-api03-" + "Q1w2E3r4" * 5,
            "AIza" + "S1y2D3x" * 5,
            "ghp_" + "a1b2c3" * 6,
            "hf_" + "A1b2C3d4E5" * 3,
            "AKIA" + "A1B2C3D4E5F6G7H8",
        ],
    )
    def test_what_looks_like_a_key_is_refused(self, tmp_path, key):
        store = write_call(tmp_path, sample_call(f"the key is:\n{key}\n"))
        with pytest.raises(RecordError, match="looks like a key of") as caught:
            export_calls(store, tmp_path / "results", tmp_path / "out.tar")
        assert key not in str(caught.value)
        assert export_calls(store, tmp_path / "results", tmp_path / "o.tar", patterns=False) == 1

    @pytest.mark.parametrize(
        "text",
        [
            "task-management-with-a-very-long-name",
            "sk-learn-compatible-estimators-everywhere",
            'class="sk-fading-circle sk-circle-fade-dot"',
            "sk-1234",
            "disk-a1b2c3d4e5f6a7b8c9d0e1f2",
            "AIzawa is a name",
        ],
    )
    def test_ordinary_text_is_not(self, tmp_path, text):
        store = write_call(tmp_path, sample_call(text))
        assert export_calls(store, tmp_path / "results", tmp_path / "out.tar") == 1


def make_tar(path: Path, *members) -> Path:
    with tarfile.open(path, "w") as tar:
        for member, data in members:
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return path


def entry(call, name=None, **attributes):
    member = tarfile.TarInfo(name or f"calls/{call.key[:2]}/{call.key}.json")
    for attribute, value in attributes.items():
        setattr(member, attribute, value)
    return member, entry_bytes(call) if member.isreg() else b""


class TestImport:
    def test_back_and_forth_twice(self, store, results, calls, tmp_path):
        export_calls(store, results, tmp_path / "out.tar")
        other = CallStore(tmp_path / "other")
        assert import_calls(other, tmp_path / "out.tar") == (4, 0)
        assert import_calls(other, tmp_path / "out.tar") == (0, 4)
        assert [other.get(call.key) for call in calls] == [*calls[:4], None]
        export_calls(other, results, tmp_path / "again.tar")
        assert (tmp_path / "again.tar").read_bytes() == (tmp_path / "out.tar").read_bytes()

    def test_what_is_there_stays(self, store, calls, tmp_path):
        theirs = calls[0].model_copy(update={"served_model": "another"})
        tar = make_tar(tmp_path / "x.tar", entry(theirs))
        assert import_calls(store, tar) == (0, 1)
        assert store.get(calls[0].key) == calls[0]

    @pytest.mark.parametrize(
        "bad",
        [
            lambda call: entry(call, f"../calls/{call.key[:2]}/{call.key}.json"),
            lambda call: entry(call, f"/calls/{call.key[:2]}/{call.key}.json"),
            lambda call: entry(call, f"calls/{call.key[:2]}/../{call.key}.json"),
            lambda call: entry(call, f"calls/00/{call.key}.json"),
            lambda call: entry(call, "calls/ab/notes.txt"),
            lambda call: entry(call, type=tarfile.SYMTYPE, linkname="/etc/passwd"),
            lambda call: entry(call, type=tarfile.LNKTYPE, linkname="calls/x"),
            lambda call: entry(call, type=tarfile.DIRTYPE),
            lambda call: entry(call, type=tarfile.FIFOTYPE),
        ],
    )
    def test_what_is_no_entry_refuses_all(self, tmp_path, bad):
        good, other = sample_call("good"), sample_call("other")
        tar = make_tar(tmp_path / "x.tar", entry(good), bad(other))
        with pytest.raises(RecordError, match="no entry of a cache") as caught:
            import_calls(CallStore(tmp_path / "cache"), tar)
        assert "\n" not in str(caught.value)
        assert not (tmp_path / "cache").exists()

    def test_an_entry_under_a_foreign_key_refuses_all(self, tmp_path):
        good, other = sample_call("good"), sample_call("other")
        member, _ = entry(other)
        for data in (entry_bytes(good), entry_bytes(other).replace(b"other", b"othxr"), b"{", b""):
            tar = make_tar(tmp_path / "x.tar", entry(good), (member, data))
            with pytest.raises(RecordError, match="nothing was imported"):
                import_calls(CallStore(tmp_path / "cache"), tar)
            assert not (tmp_path / "cache").exists()

    @pytest.mark.parametrize("data", [b"", b"no tar at all" * 100])
    def test_what_is_no_tar(self, tmp_path, data):
        (tmp_path / "x.tar").write_bytes(data)
        with pytest.raises(RecordError, match="cannot be read as a tar"):
            import_calls(CallStore(tmp_path / "cache"), tmp_path / "x.tar")

    def test_a_cut_tar(self, store, results, tmp_path):
        export_calls(store, results, tmp_path / "out.tar")
        whole = (tmp_path / "out.tar").read_bytes()
        (tmp_path / "cut.tar").write_bytes(whole[:900])
        with pytest.raises(RecordError, match=r"cut\.tar"):
            import_calls(CallStore(tmp_path / "other"), tmp_path / "cut.tar")
        assert not (tmp_path / "other").exists()


def said(content=None, finish_reason="stop", **fields):
    return Answer(content=content, finish_reason=finish_reason, **fields)


TOOL_CALL = ToolCall(id="1", name="bash", arguments="{}")


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (said('{"is_fix": true}'), None),
        (said("plain words"), None),
        (said("plain", "length"), "truncated"),
        (said(""), "empty"),
        (said(None, reasoning="hm"), "reasoning_only"),
        (said(None, "content_filter"), "refusal"),
        (said("text", refusal="I cannot"), "refusal"),
        (said(None, "tool_calls", tool_calls=(TOOL_CALL,)), "tool_call"),
    ],
)
def test_unusable_answers_are_named(answer, kind):
    assert unusable(sample_call(answer=answer)) == kind


def test_a_tool_call_answers_a_request_that_offers_tools():
    answer = said(None, "tool_calls", tool_calls=(TOOL_CALL,))
    assert unusable(sample_call(answer=answer, tools=[{"type": "function"}])) is None


class TestUpkeep:
    def test_summary(self, tmp_path):
        store = CallStore(tmp_path)
        for number in range(3):
            store.put(sample_call(f"{number}", usd=0.5))
        store.put(sample_call("cut", answer=said("x", "length"), usd=0.25))
        settings = {"litellm_id": "openai/luna", "effort": "high"}
        store.put(sample_call("other", settings=settings, usd=None))
        groups = summarise(store)
        assert list(groups) == [Kind("openai/luna", "high"), Kind("openai/stub", "")]
        stub = groups[Kind("openai/stub", "")]
        assert (stub.calls, stub.usage.usd, stub.usage.input_tokens) == (4, 1.75, 120)
        assert dict(stub.unusable) == {"truncated": 1}
        assert (
            stub.size
            == sum(store.path(key).stat().st_size for key in store)
            - groups[Kind("openai/luna", "high")].size
        )
        assert groups[Kind("openai/luna", "high")].usage.usd is None

    def test_verify(self, store, calls):
        assert verify(store) == (5, (), 0)
        store.path(calls[0].key).write_bytes(b"{")
        text = entry_bytes(calls[1]).replace(b"question", b"answers ")
        store.path(calls[1].key).write_bytes(text)
        old = store.path(calls[2].key).parent / ".x.json.abc.tmp"
        old.write_bytes(b"half")
        os.utime(old, (0, 0))
        fresh = store.path(calls[3].key).parent / ".y.json.abc.tmp"
        fresh.write_bytes(b"half")
        bad = tuple(sorted(call.key for call in calls[:2]))
        assert verify(store) == (3, bad, 1)
        assert fresh.exists()
        assert verify(store) == (3, (), 0)
        assert len(list((store.folder / "quarantine").iterdir())) == 2

    def test_drop(self, tmp_path):
        store = CallStore(tmp_path)
        kept, cut = sample_call("kept"), sample_call("cut", answer=said("x", "length"), usd=0.75)
        store.put(kept)
        store.put(cut)
        assert drop(store, "refusal") == Dropped(0, 0.0)
        assert drop(store, "truncated") == Dropped(1, 0.75)
        assert store.get(cut.key) is None
        assert store.get(kept.key) == kept
        [moved] = (tmp_path / "quarantine").iterdir()
        assert moved.name.startswith(f"{cut.key}.dropped-truncated.")
        assert moved.read_bytes() == entry_bytes(cut)

    @pytest.mark.parametrize(
        ("kind", "message"),
        [("timeout", "is never recorded"), ("rubbish", "is no kind of failure")],
    )
    def test_drop_of_what_is_not_recorded(self, store, kind, message):
        with pytest.raises(RecordError, match=f"{message}; droppable: truncated"):
            drop(store, kind)


class TestCommands:
    def run(self, capsys, *words):
        status = main([str(word) for word in words])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    def test_cache(self, store, results, calls, tmp_path, capsys):
        folder = ("--folder", store.folder)
        status, out, _ = self.run(capsys, "cache", "stats", *folder)
        assert status == 0
        assert out.splitlines()[-1].split() == [
            "openai/stub",
            "5",
            "0.0",
            "150",
            "–",
            "60",
            "1.2500",
        ]
        tar, cell = tmp_path / "x.tar", results / "demo" / "luna.metrics.csv"
        assert self.run(capsys, "cache", "export", cell, tar, *folder) == (
            0,
            f"{tar}: 3 calls\n",
            "",
        )
        other = tmp_path / "other"
        assert self.run(capsys, "cache", "import", tar, "--folder", other)[1] == (
            f"{other}: 3 calls added, 0 there already\n"
        )
        assert self.run(capsys, "cache", "verify", *folder) == (0, "5 entries are whole\n", "")
        store.path(calls[0].key).write_bytes(b"")
        status, out, err = self.run(capsys, "cache", "verify", *folder)
        assert (status, out) == (1, "4 entries are whole\n")
        assert "1 corrupt entries moved to" in err
        assert err.count("\n") == 1
        status, out, _ = self.run(capsys, "cache", "drop", "empty", *folder)
        assert (status, out.split()[:3]) == (0, ["0", "empty", "answers"])

    def test_an_empty_cache(self, tmp_path, capsys):
        assert self.run(capsys, "cache", "stats", "--folder", tmp_path / "none") == (
            0,
            f"{tmp_path / 'none'}: no calls are recorded\n",
            "",
        )

    def test_budget(self, tmp_path, capsys):
        status, out, _ = self.run(capsys, "budget", "--folder", tmp_path)
        assert (status, out) == (0, f"{tmp_path}: nothing was booked\n")
        ledger = Ledger(tmp_path, 10)
        booking = ledger.book("luna", 1.0, purpose="classify demo/0001")
        ledger.settle(booking, 0.5, outcome="answered")
        gone = LedgerLine(
            event="book",
            booking="gone",
            time=NOON.replace(year=2020),
            usd=2.0,
            model="sol",
            purpose="finding demo/sol p1",
            process="elsewhere:1:x",
        )
        with (tmp_path / "ledger.jsonl").open("a") as stream:
            stream.write(gone.model_dump_json() + "\n")
        out = self.run(capsys, "budget", "--folder", tmp_path)[1].splitlines()
        rows = [line.split() for line in out]
        assert rows[2] == ["luna", "classify", "1", "0.5000", *["0.0000"] * 4]
        assert rows[3] == ["sol", "finding", "0", *["0.0000"] * 3, "2.0000", "0.0000"]
        assert rows[4][:3] == ["all", "1", "0.5000"]
        assert out[6] == "$2.50 counts against budget.usd"
        assert "probe budget --write-off --usd" in out[7]
        words = ("budget", "--write-off", "--usd", "0.25", "--folder", tmp_path)
        out = self.run(capsys, *words)[1].splitlines()
        assert out[0] == "1 lost bookings written off at $0.2500"
        assert out[-1] == "$0.7500 counts against budget.usd"
        status, _, err = self.run(capsys, "budget", "--usd", "1", "--folder", tmp_path)
        assert (status, err.count("\n")) == (1, 1)
        assert "only together with --write-off" in err

    def test_every_call_named_is_a_key(self, results):
        data = json.loads((results / "demo" / "luna" / "passes" / "p1.json").read_text())
        assert data["usage"]["calls"] == 1  # a number of the same name is passed over
