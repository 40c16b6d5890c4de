"""The store of bought answers: whole or absent, verified, never the wrong one."""

import json
import logging
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from call_samples import sample_call
from hypothesis import given
from hypothesis import strategies as st
from store_workers import at_once, put_and_get

from probe.errors import RecordError
from probe.models.base import Model, Request
from probe.models.cache import CallStore, CorruptEntryError, entry_bytes, parse_entry
from probe.records import Answer, Call, ToolCall, content_sha256

HERE = Path(__file__).parent

texts = st.text(max_size=40) | st.text(st.characters(exclude_categories=()), max_size=10)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


def test_what_was_put_is_got(tmp_path):
    store, call = CallStore(tmp_path), sample_call("ü\n\u2028")
    assert store.get(call.key) is None
    store.put(call)
    assert store.get(call.key) == call
    assert CallStore(tmp_path).get(call.key) == call
    assert store.path(call.key) == tmp_path / "calls" / call.key[:2] / f"{call.key}.json"
    assert list(store) == [call.key]


def test_nothing_is_made_by_looking(tmp_path):
    assert CallStore(tmp_path / "cache").get("0" * 64) is None
    assert list(CallStore(tmp_path / "cache")) == []
    assert list(tmp_path.iterdir()) == []


@given(request=st.dictionaries(texts, values, max_size=4), content=texts, arguments=texts)
def test_any_call_survives_its_file(request, content, arguments):
    answer = Answer(
        content=content,
        tool_calls=(ToolCall(id="1", name="bash", arguments=arguments),),
        finish_reason="stop",
    )
    call = sample_call(answer=answer, extra=request)
    data = entry_bytes(call)
    assert parse_entry(data, call.key) == call
    assert entry_bytes(parse_entry(data, call.key)) == data


@given(st.data())
def test_a_changed_byte_of_the_request_is_never_served(data):
    entry = entry_bytes(sample_call("the question"))
    start = entry.index(b'"request"')
    place = data.draw(st.integers(start, entry.index(b'"answer"') - 3))
    byte = data.draw(st.integers(0, 255).filter(lambda value: value != entry[place]))
    changed = entry[:place] + bytes([byte]) + entry[place + 1 :]
    key = sample_call("the question").key
    try:
        call = parse_entry(changed, key)
    except CorruptEntryError:
        return
    # what hashes to the same key is the same request: only blanks between values may differ
    assert call.request == sample_call("the question").request


def test_the_key_of_a_request_is_the_name_of_its_file(tmp_path):
    from probe.config import ModelEntry

    entry = ModelEntry(litellm_id="openai/stub", price="free", temperature=0.0)
    request = Request(Model("stub", entry), [{"role": "user", "content": "é"}], sample=3)
    call = sample_call().model_copy(update={"key": request.key, "request": request.identity})
    CallStore(tmp_path).put(call)
    assert CallStore(tmp_path).get(request.key) == call


def spoil(data: bytes) -> dict[str, bytes]:
    other = sample_call("another question")
    fields = json.loads(data)
    return {
        "not-json": data[: len(data) // 2],
        "not-json ": b"",
        "not-json  ": b"\0" * len(data),
        "not-json   ": b"\xff\xfe",
        "not-a-call": b"[]",
        "not-a-call ": b'{"key": "x"}',
        "not-a-call  ": json.dumps({**fields, "new_field": 1}).encode(),
        "other-key": entry_bytes(other),
        "other-request": json.dumps(
            {**fields, "request": {**fields["request"], "sample": 2}}
        ).encode(),
    }


@pytest.mark.parametrize("kind", list(spoil(entry_bytes(sample_call()))))
def test_a_corrupt_entry_is_set_aside_and_reported(tmp_path, caplog, kind):
    store, call = CallStore(tmp_path), sample_call()
    store.put(call)
    spoilt = spoil(entry_bytes(call))[kind]
    store.path(call.key).write_bytes(spoilt)
    with caplog.at_level(logging.WARNING):
        assert store.get(call.key) is None
    [record] = caplog.records
    assert "moved to quarantine" in record.message
    assert "\n" not in record.message
    [moved] = (tmp_path / "quarantine").iterdir()
    assert moved.name.startswith(f"{call.key}.{kind.strip()}.")
    assert moved.read_bytes() == spoilt
    assert not store.path(call.key).exists()
    store.put(call)
    assert store.get(call.key) == call


def test_a_good_entry_that_replaced_a_corrupt_one_is_not_lost(tmp_path, caplog):
    # between reading the corrupt entry and moving it, another process may have bought it anew
    store, call = CallStore(tmp_path), sample_call()
    store.put(call)
    assert store._set_aside(call.key, "not-json") == call
    assert store.get(call.key) == call
    assert list((tmp_path / "quarantine").iterdir()) == []


@pytest.mark.parametrize("key", ["", "../../x", "A" * 64, "0" * 63, "0" * 64 + "\n"])
def test_what_is_no_key_reaches_no_file(tmp_path, key):
    with pytest.raises(RecordError, match="is no key of the cache"):
        CallStore(tmp_path).get(key)


def test_a_call_under_a_foreign_key_is_refused(tmp_path):
    call = sample_call().model_copy(update={"key": "0" * 64})
    with pytest.raises(CorruptEntryError, match="does not hash"):
        CallStore(tmp_path).put(call)
    assert not (tmp_path / "calls").exists()


def test_an_unreadable_entry_is_no_miss(tmp_path):
    # a miss would be bought again
    store, call = CallStore(tmp_path), sample_call()
    store.path(call.key).mkdir(parents=True)
    with pytest.raises(RecordError, match="cannot read"):
        store.get(call.key)


def test_foreign_and_temporary_files_are_no_entries(tmp_path):
    store, call = CallStore(tmp_path), sample_call()
    store.put(call)
    folder = store.path(call.key).parent
    (folder / f".{call.key}.json.abc.tmp").write_bytes(b"half")
    (folder / "notes.txt").write_text("mine")
    shutil.copy(store.path(call.key), folder / ("f" * 64 + ".json"))
    assert list(store) == [call.key]


@pytest.mark.tmpfs
def test_a_full_disk_leaves_whole_entries_only(full_disk):
    store, kept = CallStore(full_disk), []
    with pytest.raises(RecordError, match="free space"):
        for number in range(1000):
            call = sample_call(f"{number} " + "x" * 20_000)
            store.put(call)
            kept.append(call)
    assert kept
    assert [store.get(call.key) for call in kept] == kept
    assert sorted(store) == sorted(call.key for call in kept)
    store.path(kept[0].key).unlink()
    store.put(kept[0])
    assert store.get(kept[0].key) == kept[0]


WRITER = """
import sys
from pathlib import Path
from call_samples import sample_call
from probe.models.cache import CallStore
store = CallStore(Path(sys.argv[1]))
for number in range(int(sys.argv[2]), 100000):
    call = sample_call(f"{number} " + "x" * 200_000)
    store.put(call)
    print(number, call.key, flush=True)
"""


def test_kill_9_of_a_writer_leaves_whole_entries_only(tmp_path):
    pauses = random.Random(4)
    reported: dict[str, int] = {}
    first = 0
    for _ in range(6):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path / "cache"), str(first)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(HERE)},
        )
        assert writer.stdout is not None
        number, key = writer.stdout.readline().split()
        time.sleep(pauses.uniform(0, 0.05))
        writer.send_signal(signal.SIGKILL)
        lines = [f"{number} {key}", *writer.stdout.read().splitlines()]
        writer.stdout.close()
        writer.wait()
        whole = [line.split() for line in lines if len(line.split()) == 2]
        reported |= {key: int(number) for number, key in whole if len(key) == 64}
        first = max(reported.values()) + 1
    store = CallStore(tmp_path / "cache")
    found = {key: store.get(key) for key in store}
    assert all(isinstance(call, Call) for call in found.values())
    assert set(reported) <= set(found)
    assert not (tmp_path / "cache" / "quarantine").exists()


def test_eight_processes_share_a_store(tmp_path):
    at_once(put_and_get, *[(tmp_path, seed) for seed in range(8)])
    store = CallStore(tmp_path)
    assert len(list(store)) == 60
    assert not (tmp_path / "quarantine").exists()
    for key in store:
        call = store.get(key)
        assert call is not None
        assert content_sha256(call.request) == key


def test_two_processes_find_the_same_corrupt_entry(tmp_path):
    store, call = CallStore(tmp_path), sample_call()
    store.put(call)
    store.path(call.key).write_bytes(b"{")
    assert store.quarantine(call.key, "not-json") is not None
    assert store.quarantine(call.key, "not-json") is None
    assert store._set_aside(call.key, "not-json") is None
