import io
import logging
import sys

from asking import Verdict, client, questions, stub
from modelserver import Fault, ModelServer

from probe.models import progress as module
from probe.models.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def ask(folder, server, number, *, progress=True):
    with client(folder, progress=progress, repair_turns=0) as made:
        made.ask(stub(server), questions(number), Verdict, purpose="classify x")


def test_a_bar_on_a_terminal(tmp_path, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with ModelServer() as server:
        ask(tmp_path, server, 3)
        server.fail(Fault.wrong_json)
        ask(tmp_path, server, 6)
    bars = terminal.getvalue()
    assert "classify x: 100%" in bars
    assert "3 cached, 1 failed, 0.0000 USD" in bars


def test_lines_in_a_log_elsewhere(tmp_path, monkeypatch, caplog):
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(module, "LOG_EVERY_S", 0.0)
    with ModelServer() as server:
        ask(tmp_path, server, 4)
    lines = [record.message for record in caplog.records if record.name == module.__name__]
    assert lines[0].startswith("classify x: 1 of 4 done, 0 cached, 0 failed, 0.0000 USD, about ")
    assert lines[-1] == "classify x: 4 of 4 done, 0 cached, 0 failed, 0.0000 USD"


def test_nothing_for_one_item_or_when_nobody_asked(tmp_path, caplog, capsys):
    caplog.set_level(logging.INFO)
    with ModelServer() as server:
        ask(tmp_path / "a", server, 1)
        ask(tmp_path / "b", server, 3, progress=False)
    assert not [record for record in caplog.records if record.name == module.__name__]
    assert capsys.readouterr().err == ""


def test_the_time_left_counts_what_was_bought_only(monkeypatch):
    times = iter([100.0, 110.0, 110.0])
    monkeypatch.setattr(module.time, "monotonic", lambda: next(times))
    shown = Progress("p", 30, 10, shown=False)
    shown._done = 12
    assert (
        shown.line() == "p: 12 of 30 done, 10 cached, 0 failed, 0.0000 USD, about 1 min 30 s left"
    )
