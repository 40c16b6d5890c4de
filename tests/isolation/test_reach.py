"""The network check against a place that has one: a shell on this host stands for a broken sandbox."""

import subprocess

import pytest

from probe.errors import IsolationError
from probe.isolation.inside import list_sandbox
from probe.isolation.listing import Entry
from probe.isolation.reach import Attempt, check_reach
from probe.sandbox import Output


class Host:
    """What a sandbox would be if it isolated nothing."""

    def __init__(self, before: str = "") -> None:
        self.before = before

    def run(self, command: str, timeout_s: float = 120) -> Output:
        done = subprocess.run(
            ["bash", "-c", self.before + command], capture_output=True, text=True, timeout=timeout_s
        )
        return Output(done.returncode, done.stdout, done.stderr, False, False, 0.0)


def test_a_place_with_a_network_is_found_out(monkeypatch):
    monkeypatch.setattr("probe.isolation.reach.REGISTRIES", ())
    monkeypatch.setattr("probe.isolation.reach._ADDRESSES", ())
    monkeypatch.setattr("probe.isolation.reach._own_addresses", list)
    door = Entry("/srv/door", "socket", 0, 0.0)
    gateway = Entry("/run/gateway.sock", "socket", 0, 0.0)
    found = check_reach(Host(), [door, gateway], ["/run/gateway.sock"])
    assert {leak.where for leak in found.leaks if leak.detail == "can be connected to"}
    assert any(leak.detail == "a listener on the host was reached" for leak in found.leaks)
    assert [leak.where for leak in found.leaks if "socket" in leak.detail] == ["/srv/door"]


def test_an_own_index_and_proxy_are_tried_too(monkeypatch):
    from probe.isolation import reach

    monkeypatch.setenv(
        "PIP_EXTRA_INDEX_URL", "file:///opt/simple https://me:secret@index.example:8443/simple"
    )
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    found = reach._registries()
    assert ("index.example", 8443) in found
    assert ("proxy.example", 3128) in found
    assert not any("secret" in host or host == "file" for host, _ in found)


@pytest.mark.parametrize(
    ("before", "words"),
    [
        (
            "timeout() { echo 'no such tool' >&2; return 127; }\n",
            "cannot even be refused|ended unforeseen",
        ),
        ("exit 3\n", "0 of "),
    ],
)
def test_a_check_that_cannot_work_is_an_error(before, words):
    with pytest.raises(IsolationError, match=words):
        check_reach(Host(before), [], [])


def test_a_place_that_cannot_be_listed_is_an_error():
    with pytest.raises(IsolationError, match="GNU find"):
        list_sandbox(Host("find() { echo 'find: bad option' >&2; return 1; }\n"))


@pytest.mark.parametrize(
    ("said", "status", "resolved", "understood"),
    [
        ("bash: connect: Network is unreachable", 1, True, True),
        ("bash: x: Temporary failure in name resolution", 1, False, True),
        ("bash: x: Name or service not known", 1, False, True),
        ("", 124, False, True),
        ("", 0, True, True),
        ("bash: /dev/tcp/x/1: No such file or directory", 1, False, False),
    ],
)
def test_ends_of_attempts(said, status, resolved, understood):
    attempt = Attempt("x", 1, said, status)
    assert (attempt.resolved, attempt.understood) == (resolved, understood)
