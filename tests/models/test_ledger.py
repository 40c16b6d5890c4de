"""The ledger: never past the cap, nothing that was spent forgotten, whatever dies when."""

import contextlib
import json
import logging
import os
import random
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store_workers import at_once, spend

from probe.errors import BudgetError, RecordError
from probe.models.alive import LOST_AFTER, is_gone, this_process
from probe.models.booking import Group
from probe.models.ledger import Ledger, Totals, dollars
from probe.records import LedgerLine, read_jsonl

PURPOSE = "classify sqlglot/0003"


def book(ledger, usd, model="luna", purpose=PURPOSE):
    return ledger.book(model, usd, purpose=purpose, key="a" * 64)


def lines(folder):
    return read_jsonl(folder / "ledger.jsonl", LedgerLine)


class TestMoney:
    def test_a_booking_counts_until_its_settlement_replaces_it(self, tmp_path):
        ledger = Ledger(tmp_path, 1.0)
        booking = book(ledger, 0.6)
        assert ledger.totals() == Totals(0, 0, 0.6, 0, 0)
        ledger.settle(booking, 0.1, outcome="answered")
        assert ledger.totals() == Totals(0.1, 0, 0, 0, 0)
        assert ledger.totals().committed == 0.1

    def test_a_cost_that_nobody_states_stays_apart(self, tmp_path):
        ledger = Ledger(tmp_path, 1.0)
        ledger.settle(book(ledger, 0.6), 0.6, outcome="timeout", certain=False)
        ledger.settle(book(ledger, 0.3), 0.2, outcome="answered")
        assert ledger.totals() == Totals(0.2, 0.6, 0, 0, 0)

    def test_lines_are_records(self, tmp_path):
        ledger = Ledger(tmp_path, 1.0)
        ledger.settle(book(ledger, 0.5), 0.25, outcome="answered")
        booked, settled = lines(tmp_path)
        assert (booked.event, booked.usd, booked.key) == ("book", 0.5, "a" * 64)
        assert (settled.event, settled.usd, settled.outcome) == ("settle", 0.25, "answered")
        assert booked.booking == settled.booking
        assert (settled.model, settled.purpose) == ("luna", PURPOSE)
        assert booked.process == this_process()

    def test_the_cap_itself_can_be_spent_whole(self, tmp_path):
        # 0.1 + 0.1 + 0.1 > 0.3 in floating point
        ledger = Ledger(tmp_path, 0.3)
        bookings = [book(ledger, 0.1) for _ in range(3)]
        with pytest.raises(BudgetError):
            book(ledger, 1e-9)
        for booking in bookings:
            ledger.settle(booking, 0.1, outcome="answered")
        assert ledger.totals().spent == 0.3
        with pytest.raises(BudgetError):
            book(ledger, 1e-9)

    def test_what_past_builds_spent_counts(self, tmp_path):
        earlier = Ledger(tmp_path, 5.0)
        earlier.settle(book(earlier, 2.0), 1.5, outcome="answered")
        with pytest.raises(BudgetError, match=r"\$1\.50 is spent"):
            book(Ledger(tmp_path, 2.0), 1.0)

    @pytest.mark.parametrize("cap", [0.0, 0.5])
    def test_what_costs_nothing_is_never_refused(self, tmp_path, cap):
        ledger = Ledger(tmp_path, cap)
        if cap:
            book(ledger, 0.5)
        ledger.settle(book(ledger, 0.0), 0.0, outcome="answered")
        assert ledger.totals().committed == cap

    def test_a_refusal_names_figures_and_remedy_in_one_line(self, tmp_path):
        ledger = Ledger(tmp_path, 2.0)
        ledger.settle(book(ledger, 1.0), 0.99, outcome="answered")
        book(ledger, 1.0)
        with pytest.raises(BudgetError) as caught:
            book(ledger, 0.0234)
        assert str(caught.value) == (
            "classify sqlglot/0003: the next call to luna could cost $0.0234, but of budget.usd 2 "
            "already $0.9900 is spent and $1.00 booked; what was bought is kept: raise budget.usd "
            "to 2.02 or more and run the same command again"
        )
        assert len(lines(tmp_path)) == 3

    def test_the_remedy_suffices(self, tmp_path):
        book(Ledger(tmp_path, 10), 1.234)
        with pytest.raises(BudgetError, match=r"raise budget\.usd to 1\.74 or more"):
            book(Ledger(tmp_path, 1.5), 0.5)
        assert book(Ledger(tmp_path, 1.74), 0.5)

    def test_without_a_budget_the_line_says_so(self, tmp_path):
        with pytest.raises(BudgetError, match=r"of budget\.usd 0 already \$0\.00 is spent"):
            book(Ledger(tmp_path, 0.0), 0.01)
        assert not (tmp_path / "ledger.jsonl").exists()

    def test_a_booking_ends_once(self, tmp_path):
        ledger = Ledger(tmp_path, 1.0)
        booking = book(ledger, 0.5)
        ledger.settle(booking, 0.1, outcome="answered")
        with pytest.raises(RecordError, match="not open"):
            ledger.settle(booking, 0.1, outcome="answered")
        with pytest.raises(RecordError, match="not open"):
            ledger.settle("0" * 32, 0.1, outcome="answered")
        assert ledger.totals().spent == 0.1

    def test_a_bound_that_did_not_hold_is_counted_and_reported(self, tmp_path, caplog):
        ledger = Ledger(tmp_path, 1.0)
        ledger.settle(book(ledger, 0.5), 0.75, outcome="answered")
        assert ledger.totals().spent == 0.75
        assert "more than the bound $0.5000" in caplog.text

    def test_groups_are_models_and_stages(self, tmp_path):
        ledger = Ledger(tmp_path, 9.0)
        ledger.settle(book(ledger, 1.0, "sol", "finding demo/sol p1"), 0.5, outcome="answered")
        book(ledger, 2.0, "luna", "classify a/0001")
        book(ledger, 0.5, "luna", "classify b/0002")
        assert ledger.groups() == {
            Group("luna", "classify"): Totals(0, 0, 2.5, 0, 0),
            Group("sol", "finding"): Totals(0.5, 0, 0, 0, 0),
        }
        assert ledger.counts()[Group("sol", "finding")] == 1


@pytest.mark.parametrize(
    ("usd", "shown"),
    [(0, "$0.00"), (12.345, "$12.35"), (0.5, "$0.5000"), (0.0123, "$0.0123"), (2e-6, "$2e-06")],
)
def test_dollars(usd, shown):
    assert dollars(usd) == shown


events = st.lists(
    st.tuples(
        st.sampled_from(["book", "settle", "uncertain", "write_off"]),
        st.integers(0, 2),
        st.integers(0, 10),
        st.integers(0, 10**9).map(lambda nano: nano / 1e9),
    ),
    max_size=30,
)


@settings(deadline=None)  # writes to disk
@given(events=events)
def test_totals_of_any_interleaving(tmp_path_factory, events):
    """Three ledgers on one folder, against sums in whole billionths kept by the test."""
    folder = tmp_path_factory.mktemp("ledger")
    ledgers = [Ledger(folder, 1e6) for _ in range(3)]
    bookings: list[tuple[str, int]] = []
    spent = uncertain = 0
    for event, who, which, usd in events:
        ledger, nano = ledgers[who], round(usd * 1e9)
        if event == "book":
            bookings.append((book(ledger, usd), nano))
        elif event == "write_off":
            assert ledger.write_off() == []  # this process lives
        elif bookings:
            booking, _ = bookings.pop(which % len(bookings))
            certain = event == "settle"
            ledger.settle(booking, usd, outcome="answered", certain=certain)
            spent, uncertain = spent + nano * certain, uncertain + nano * (not certain)
    booked = sum(nano for _, nano in bookings)
    expected = Totals(spent / 1e9, uncertain / 1e9, booked / 1e9, 0, 0)
    for ledger in [*ledgers, Ledger(folder, 0)]:
        assert ledger.totals() == pytest.approx(expected, abs=1e-12)


@settings(deadline=None)
@given(st.data())
def test_a_last_line_cut_anywhere(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("ledger")
    ledger = Ledger(folder, 10)
    ledger.settle(book(ledger, 1.0), 0.5, outcome="answered")
    first = book(ledger, 2.0)
    file = folder / "ledger.jsonl"
    whole = file.read_bytes()
    last = whole.rindex(b"\n", 0, -1) + 1
    cut = data.draw(st.integers(last, len(whole)))
    file.write_bytes(whole[:cut])
    complete = cut >= len(whole) - 1
    reader = Ledger(folder, 10)
    assert reader.totals().spent == 0.5
    assert reader.totals().open == (2.0 if cut == len(whole) else 0)
    second = book(reader, 0.25)
    assert reader.totals().open == (2.25 if complete else 0.25)
    names = [line.booking for line in lines(folder)]
    assert names[2:] == ([first, second] if complete else [second])


def test_a_removed_line_is_reported(tmp_path, caplog):
    book(Ledger(tmp_path, 1), 0.5)
    with (tmp_path / "ledger.jsonl").open("ab") as stream:
        stream.write(b'{"event":"book","boo')
    with caplog.at_level(logging.WARNING):
        book(Ledger(tmp_path, 1), 0.25)
    assert "ledger.jsonl:2: the last line was cut while it was written; removed" in caplog.text


def test_a_line_that_is_none_is_named(tmp_path):
    ledger = Ledger(tmp_path, 1)
    book(ledger, 0.5)
    with (tmp_path / "ledger.jsonl").open("ab") as stream:
        stream.write(b"rubbish\n")
    with pytest.raises(RecordError, match=r"ledger\.jsonl:2: not a line of a ledger; correct it"):
        book(ledger, 0.25)


def test_a_ledger_larger_than_what_is_read_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr("probe.models.tail._CHUNK", 64)
    ledger = Ledger(tmp_path, 100)
    for _ in range(5):
        ledger.settle(book(ledger, 1.0, purpose="classify " + "x" * 500), 0.5, outcome="answered")
    assert Ledger(tmp_path, 100).totals().spent == 2.5


def test_a_ledger_that_a_person_replaced_is_read_anew(tmp_path, caplog):
    ledger = Ledger(tmp_path, 10)
    ledger.settle(book(ledger, 1.0), 1.0, outcome="answered")
    (tmp_path / "ledger.jsonl").unlink()
    assert ledger.totals().committed == 0
    booking = book(ledger, 10.0)
    assert "read anew" in caplog.text
    ledger.settle(booking, 9.0, outcome="answered")
    assert Ledger(tmp_path, 10).totals().spent == 9.0


def test_looking_makes_nothing(tmp_path):
    ledger = Ledger(tmp_path / "cache", 1.0)
    assert ledger.totals() == Totals(0, 0, 0, 0, 0)
    assert ledger.lost() == []
    assert not (tmp_path / "cache").exists()


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(RecordError, match=r"ledger\.lock: cannot open"):
        book(Ledger(tmp_path / "cache", 1.0), 0.5)


@pytest.mark.tmpfs
def test_a_full_disk_breaks_no_line(full_disk):
    ledger = Ledger(full_disk, 100)
    booking = book(ledger, 1.0)
    (full_disk / "filler").write_bytes(b"")
    with (full_disk / "filler").open("ab", buffering=0) as filler, pytest.raises(OSError):
        while True:
            filler.write(b"x" * 4096)
    done = 0
    with pytest.raises(RecordError, match="free space"):
        for _ in range(1000):  # the last page of the file still has room for some
            ledger.settle(book(ledger, 0.01), 0.01, outcome="answered")
            done += 1
    assert lines(full_disk)
    (full_disk / "filler").unlink()
    ledger.settle(booking, 0.5, outcome="answered")
    settled = [line for line in lines(full_disk) if line.event == "settle"]
    assert len(settled) == done + 1
    assert Ledger(full_disk, 100).totals().spent == pytest.approx(0.5 + done * 0.01)


def test_eight_processes_never_pass_the_cap_together(tmp_path):
    # each real cost equals its bound, so that exactly 37 of 400 calls fit
    got = at_once(spend, *[(tmp_path, 3.7, 0.1, 0.1, 50)] * 8)
    assert sum(got) == 37
    assert Ledger(tmp_path, 3.7).totals() == Totals(3.7, 0, 0, 0, 0)
    assert len(lines(tmp_path)) == 74


def test_eight_processes_lose_no_line(tmp_path):
    got = at_once(spend, *[(tmp_path, 1e6, 0.25, 0.125, 100)] * 8)
    assert got == [100] * 8
    assert Ledger(tmp_path, 0).totals() == Totals(100.0, 0, 0, 0, 0)


def test_threads_and_ledgers_of_one_process_never_pass_the_cap(tmp_path):
    shared, got = Ledger(tmp_path, 2.0), []
    together = threading.Barrier(8)

    def spend_both() -> None:
        together.wait()
        for _ in range(5):
            got.append(spend(str(tmp_path), "2.0", "0.1", "0.1", "1"))
            with contextlib.suppress(BudgetError):
                shared.settle(book(shared, 0.1), 0.1, outcome="answered")
                got.append(1)

    threads = [threading.Thread(target=spend_both) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(got) == 20
    assert shared.totals() == Totals(2.0, 0, 0, 0, 0)


BOOKER = """
import sys, time
from pathlib import Path
from probe.models.ledger import Ledger
ledger = Ledger(Path(sys.argv[1]), 100)
for usd in sys.argv[2:]:
    ledger.book("luna", float(usd), purpose="classify demo/0000")
print("booked", flush=True)
time.sleep(600)
"""


@pytest.fixture
def gone(tmp_path):
    """A ledger with bookings of 1 and 3 dollars by a process that kill -9 ended."""
    process = subprocess.Popen(
        [sys.executable, "-c", BOOKER, str(tmp_path), "1", "3"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "booked\n"
    assert Ledger(tmp_path, 100).totals() == Totals(0, 0, 4.0, 0, 0)
    process.send_signal(signal.SIGKILL)
    process.stdout.close()
    process.wait()
    return tmp_path


SPENDER = """
import sys
from pathlib import Path
from probe.models.ledger import Ledger
ledger = Ledger(Path(sys.argv[1]), 1e6)
for number in range(100000):
    booking = ledger.book("luna", 1.0, purpose="classify demo/0000")
    print("booked", flush=True)
    ledger.settle(booking, 0.5, outcome="answered")
    print("settled", flush=True)
"""


def test_kill_9_at_any_point_forgets_no_money(tmp_path):
    pauses = random.Random(7)
    said = {"booked": 0, "settled": 0}
    for number in range(1, 7):
        spender = subprocess.Popen(
            [sys.executable, "-c", SPENDER, str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        assert spender.stdout is not None
        first = spender.stdout.readline()
        time.sleep(pauses.uniform(0, 0.05))
        spender.send_signal(signal.SIGKILL)
        words = (first + spender.stdout.read()).split()
        spender.stdout.close()
        spender.wait()
        for word in said:
            said[word] += words.count(word)
        totals = Ledger(tmp_path, 0).totals()
        assert totals.open == 0
        # what a process said it had done is there; it may have done one step more
        assert said["settled"] <= totals.spent / 0.5 <= said["settled"] + number
        assert said["booked"] <= totals.spent / 0.5 + totals.lost <= said["booked"] + number
        assert totals.lost <= number


class TestLost:
    def test_bookings_of_a_killed_process_count_at_their_bound(self, gone):
        assert Ledger(gone, 100).totals() == Totals(0, 0, 0, 4.0, 0)
        with pytest.raises(BudgetError, match=r"of it \$4\.00 by processes that are gone"):
            book(Ledger(gone, 5), 1.5)

    def test_a_person_writes_them_off(self, gone):
        ledger = Ledger(gone, 5)
        mine = book(ledger, 0.5)
        assert [booking.pico / 1e12 for booking in ledger.write_off()] == [1, 3]
        assert ledger.totals() == Totals(0, 0, 0.5, 0, 0)
        assert ledger.write_off() == []
        ledger.settle(mine, 0.5, outcome="answered")
        assert Ledger(gone, 5).totals() == Totals(0.5, 0, 0, 0, 0)

    def test_a_known_bill_is_shared_out(self, gone):
        ledger = Ledger(gone, 5)
        ledger.write_off(0.1)
        assert ledger.totals() == Totals(0, 0, 0, 0, 0.1)
        assert [line.usd for line in lines(gone) if line.event == "write_off"] == [0.025, 0.075]

    @pytest.mark.parametrize("usd", [-1.0, float("nan"), float("inf")])
    def test_a_bill_is_an_amount_of_money(self, gone, usd):
        with pytest.raises(BudgetError, match="--usd"):
            Ledger(gone, 5).write_off(usd)

    def test_a_bill_needs_something_lost(self, gone):
        Ledger(gone, 5).write_off()
        with pytest.raises(BudgetError, match="no booking is lost"):
            Ledger(gone, 5).write_off(0.5)

    def test_a_late_settlement_replaces_the_write_off(self, gone):
        ledger = Ledger(gone, 5)
        one, _ = ledger.write_off(2.0)
        assert ledger.totals().written_off == 2.0
        ledger.settle(one.id, 0.75, outcome="answered")
        assert ledger.totals() == Totals(0.75, 0, 0, 0, 1.5)
        assert Ledger(gone, 5).totals() == Totals(0.75, 0, 0, 0, 1.5)
        with pytest.raises(BudgetError):
            book(Ledger(gone, 2.5), 0.2501)
        assert book(Ledger(gone, 2.5), 0.25)

    def test_a_write_off_of_what_was_settled_changes_nothing(self, tmp_path):
        ledger = Ledger(tmp_path, 5)
        booking = book(ledger, 1.0)
        ledger.settle(booking, 0.5, outcome="answered")
        line = lines(tmp_path)[-1].model_copy(update={"event": "write_off", "usd": 3.0})
        with (tmp_path / "ledger.jsonl").open("ab") as stream:
            stream.write(line.model_dump_json().encode() + b"\n")
        assert ledger.totals() == Totals(0.5, 0, 0, 0, 0)
        assert book(ledger, 4.5)


class TestAlive:
    def test_this_process_lives(self):
        assert not is_gone(this_process(), datetime(2000, 1, 1, tzinfo=UTC))

    def test_a_number_that_is_used_again_is_another_process(self):
        host, pid, _ = this_process().split(":")
        assert is_gone(f"{host}:{pid}:0a0a0a0a-17", datetime.now(UTC))

    def test_a_process_of_another_host_is_gone_after_hours(self):
        now = datetime.now(UTC)
        assert not is_gone("elsewhere:17:x-1", now)
        assert not is_gone("elsewhere:17:x-1", now - LOST_AFTER + timedelta(minutes=1))
        assert is_gone("elsewhere:17:x-1", now - LOST_AFTER - timedelta(minutes=1))

    @pytest.mark.parametrize("process", ["", "x", "host:", "a:b:c", "::"])
    def test_a_process_in_another_form_is_one_of_another_host(self, process):
        assert not is_gone(process, datetime.now(UTC))

    def test_a_zombie_has_ended(self):
        process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        host = this_process().split(":")[0]
        start = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[19]
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()[:8]
        name = f"{host}:{process.pid}:{boot}-{start}"
        assert not is_gone(name, datetime.now(UTC))
        process.send_signal(signal.SIGKILL)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert is_gone(name, datetime.now(UTC))
        assert process.stdin is not None
        process.stdin.close()
        process.wait()


def test_a_ledger_line_is_json_on_one_line(tmp_path):
    ledger = Ledger(tmp_path, 1)
    ledger.book("luna", 0.5, purpose="classify a\nb \u2028")
    [text] = (tmp_path / "ledger.jsonl").read_bytes().splitlines()
    assert json.loads(text)["purpose"].startswith("classify a\nb")
