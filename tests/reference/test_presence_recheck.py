"""What counts as printed again, the answer's rules, and the threads of a block."""

import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from probe.errors import BudgetError
from probe.reference.presence_answer import Citation, PresenceAnswer, PresenceClaim
from probe.reference.presence_pool import run_all
from probe.reference.presence_recheck import mismatch
from probe.sandbox import Output


def cited(output, status=0):
    return Citation(command="c", exit=status, output=output, shows="")


def printed(stdout="", stderr="", status=0):
    return Output(status, stdout, stderr, False, status is None, 0.1)


@pytest.mark.parametrize(
    ("excerpt", "stdout", "stderr"),
    [
        ("a b", "a  b\n", ""),
        ("a\nb", "  a\n\tb\n\n", ""),
        ("", "", ""),
        ("  \n", "\n", ""),
        ("fatal: no", "", "fatal: no\n"),
        ("first\n...\nlast", "first\nmiddle\nlast\n", ""),
        ("first\n…\nlast", "first\nlast\n", ""),
        ("one\n[3 lines, 20 characters cut here]\ntwo", "one\nx\ny\nz\ntwo\n", ""),
        ("command 2: exit status 0\nstdout:\nout\nstderr:\nerr", "out\n", "err\n"),
        ("command 1: exit status 0\nno output", "", ""),
        ("def f(): ...", "def f(): ...\n", ""),
        ("b\n...\nb", "b\nb\n", ""),
    ],
)
def test_what_is_reproduced(excerpt, stdout, stderr):
    assert mismatch(cited(excerpt), printed(stdout, stderr)) is None


@pytest.mark.parametrize(
    ("excerpt", "stdout", "why"),
    [
        ("0", "10\n", "did not print: 0"),
        ("a c", "a b c\n", "did not print: a c"),
        ("b\n...\na", "a b\n", "did not print: a"),
        ("b\n...\nb", "b\n", "did not print: b"),
        ("", "text\n", "printed something"),
        ("...", "text\n", "printed something"),
        ("text", "", "did not print: text"),
        ("Text", "text", "did not print: Text"),
    ],
)
def test_what_is_not_reproduced(excerpt, stdout, why):
    assert mismatch(cited(excerpt), printed(stdout)).startswith(why)


def test_exit_and_time_count_whatever_is_printed():
    assert mismatch(cited("a", 1), printed("a")) == "ended with 0 instead of 1"
    assert mismatch(cited("a"), printed("a", status=None)) == "its time ran out"


_line = st.text(st.characters(min_codepoint=33, max_codepoint=0x24F), min_size=1, max_size=8)


@given(st.lists(_line, min_size=1, max_size=12), st.data())
def test_whole_lines_of_an_output_are_reproduced_and_foreign_words_are_not(lines, data):
    first = data.draw(st.integers(0, len(lines) - 1))
    last = data.draw(st.integers(first, len(lines) - 1))
    excerpt = "\n".join(lines[first : last + 1])
    said = mismatch(cited(excerpt), printed("\n".join(lines) + "\n"))
    # lines of dots alone mark a gap, and words of the loop are no output
    assert said is None or said.startswith("printed something")
    foreign = mismatch(cited(f"{excerpt} \u4e00word"), printed("\n".join(lines)))
    assert foreign is not None and "\u4e00word" in foreign


def answer(**fields):
    base = {"rationale": "r", "verdict": "drop", "ground": "absent_capability", "confidence": 0.5}
    citation = {"command": "c", "exit": 0, "output": "o", "shows": "s"}
    return PresenceAnswer.model_validate({**base, "citations": [citation], **fields})


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"ground": None}, "a drop needs one of the four grounds"),
        ({"citations": []}, "a drop needs a citation"),
        ({"ground": "code_absent"}, "code_absent needs names"),
        ({"verdict": "keep"}, "a keep has no ground"),
        ({"names": ["two words"]}, "each name is one word"),
        ({"names": ["n"] * 13}, "at most 12 names"),
        (
            {"citations": [{"command": "c", "exit": 0, "output": "", "shows": ""}] * 13},
            "at most 12",
        ),
        ({"certainty": 1}, "Extra inputs are not permitted"),
    ],
)
def test_an_answer_that_does_not_fit_says_what_is_missing(fields, problem):
    with pytest.raises(ValidationError, match=problem):
        answer(**fields)


def test_what_a_claim_lacks():
    assert answer().lacks() is None
    assert answer(ground="code_absent", names=["n"]).lacks() is None
    assert answer(verdict="keep", ground=None, citations=[]).lacks() is None
    claim = {"rationale": "", "verdict": "drop", "confidence": 1}
    assert PresenceClaim.model_validate(claim).lacks() == "no ground"
    claim["ground"] = "code_absent"
    assert PresenceClaim.model_validate(claim).lacks() == "uncited"


def test_results_come_in_order_by_a_bounded_number_of_threads():
    lock, busy, most = threading.Lock(), set(), 0

    def work(number):
        nonlocal most
        with lock:
            busy.add(number)
            most = max(most, len(busy))
        time.sleep(0.002 * (number % 3))
        with lock:
            busy.remove(number)
        return number * number

    assert run_all(work, range(40), 3) == [number * number for number in range(40)]
    assert most <= 3
    assert run_all(work, [], 3) == []
    assert run_all(lambda item: item, [None, 0, ""], 2) == [None, 0, ""]


def test_after_an_error_nothing_else_begins():
    begun = []

    def work(number):
        begun.append(number)
        raise BudgetError("spent")

    with pytest.raises(BudgetError, match="spent"):
        run_all(work, range(50), 1)
    assert begun == [0]


def test_after_an_error_what_is_under_way_is_waited_for():
    both, ended = threading.Barrier(2), []

    def work(number):
        both.wait()
        if number == 0:
            raise BudgetError("spent")
        time.sleep(0.05)
        ended.append(number)

    with pytest.raises(BudgetError, match="spent"):
        run_all(work, range(2), 2)
    assert ended == [1]
