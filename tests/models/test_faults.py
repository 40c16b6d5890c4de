from datetime import UTC, datetime

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.models.faults import LONGEST_PAUSE_S, AttemptError, attempt_error, retry_after
from probe.models.retry import pause_s

NOW = datetime(2026, 12, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"Retry-After": "-3"}, 0.0),
        ({"Retry-After": "Tue, 01 Dec 2026 12:00:30 GMT"}, 30.0),
        ({"Retry-After": "Tue, 01 Dec 2026 11:00:00 GMT"}, 0.0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "7", "retry-after-ms": "6250"}, 6.25),
    ],
)
def test_retry_after(headers, seconds):
    assert retry_after(headers, NOW) == seconds


def http_error(status, headers=None, text="no"):
    request = httpx.Request("POST", "http://127.0.0.1/v1/chat/completions")
    response = httpx.Response(status, headers=headers, request=request, text=text)
    return httpx.HTTPStatusError(text, request=request, response=response)


@pytest.mark.parametrize(
    ("status", "kind", "can_pass"),
    [
        (400, "bad_request", False),
        (401, "auth", False),
        (402, "auth", False),
        (403, "auth", False),
        (404, "bad_request", False),
        (408, "server_error", True),
        (413, "bad_request", False),
        (429, "rate_limited", True),
        (500, "server_error", True),
        (503, "server_error", True),
        (529, "server_error", True),
    ],
)
def test_an_http_error_costs_nothing_and_is_named_by_its_status(status, kind, can_pass):
    error = attempt_error(http_error(status))
    assert (error.kind, error.billed, error.can_pass) == (kind, "no", can_pass)


def test_the_real_status_is_found_below_what_litellm_makes_of_it():
    try:
        try:
            raise http_error(429, {"Retry-After": "3"})
        except httpx.HTTPStatusError:
            raise RuntimeError("InternalServerError: something") from None
    except RuntimeError as outer:
        error = attempt_error(outer)
    assert (error.kind, error.retry_after) == ("rate_limited", 3.0)


def test_a_spent_account_is_not_a_pace_to_wait_for():
    error = attempt_error(http_error(429, text="insufficient_quota: check your plan"))
    assert (error.kind, error.can_pass) == ("auth", False)


@pytest.mark.parametrize(
    ("cause", "kind", "billed"),
    [
        (httpx.ConnectError("refused"), "connection", "no"),
        (httpx.ConnectTimeout("no answer"), "connection", "no"),
        (httpx.ReadTimeout("slow"), "timeout", "maybe"),
        (httpx.ReadError("dropped"), "connection", "maybe"),
        (httpx.RemoteProtocolError("half"), "connection", "maybe"),
        (ValueError("not JSON"), "malformed", "maybe"),
    ],
)
def test_only_what_was_sent_can_have_cost_money(cause, kind, billed):
    outer = RuntimeError("InternalServerError")
    outer.__cause__ = cause
    error = attempt_error(outer)
    assert (error.kind, error.billed, error.can_pass) == (kind, billed, True)


def test_a_pause_that_is_too_long_is_not_waited_for():
    assert AttemptError("rate_limited", "", retry_after=LONGEST_PAUSE_S).can_pass
    assert not AttemptError("rate_limited", "", retry_after=LONGEST_PAUSE_S + 1).can_pass


@given(
    st.sampled_from(["rate_limited", "server_error", "connection", "timeout", "malformed"]),
    st.none() | st.floats(0, LONGEST_PAUSE_S),
    st.integers(1, 50),
    st.floats(0, 1, exclude_max=True),
)
def test_pauses_are_bounded_and_never_shorter_than_asked_for(kind, asked, attempt, chance):
    pause = pause_s(AttemptError(kind, "", retry_after=asked), attempt, chance)
    assert pause >= (asked or 0)
    assert pause <= (75 if asked is None else asked + 1)


def test_six_attempts_outlast_the_minute_of_a_rate_limit():
    limited = AttemptError("rate_limited", "")
    assert [pause_s(limited, attempt, 0) for attempt in range(1, 6)] == [2, 4, 8, 16, 32]
    failed = AttemptError("server_error", "")
    assert [pause_s(failed, attempt, 0) for attempt in range(1, 6)] == [0.5, 1, 2, 4, 8]
