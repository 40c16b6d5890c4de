"""Downloads: checked, kept once, tried again where it may help, and never half there."""

import hashlib

import pytest

from probe.environment.downloads import (
    Download,
    cache_path,
    get,
    get_artifacts,
    missing_artifacts,
    without_secrets,
)
from probe.errors import ProbeError

DAY = "2024-01-01T00:00:00Z"


@pytest.fixture
def wanted(index):
    """A file on the index, as a download."""
    sha256 = index.add("a-1.whl", b"content", DAY)
    return Download("a-1.whl", f"{index.url.removesuffix('/simple')}/files/a-1.whl", sha256)


@pytest.fixture
def quick(monkeypatch):
    """Tries follow each other at once."""
    monkeypatch.setattr("probe.environment.downloads.time.sleep", lambda _: None)


def test_kept_by_hash_and_never_asked_for_again(index, wanted, tmp_path):
    made = get_artifacts([wanted], tmp_path / "one", tmp_path / "cache")
    assert (tmp_path / "one/a-1.whl").read_bytes() == b"content"
    assert (made[0].sha256, made[0].size) == (hashlib.sha256(b"content").hexdigest(), 7)
    asked = len(index.asked)
    get_artifacts([wanted], tmp_path / "two", tmp_path / "cache")
    get_artifacts([wanted], tmp_path / "one", tmp_path / "gone")
    assert len(index.asked) == asked


def test_an_altered_file_is_fetched_again(wanted, tmp_path):
    made = get_artifacts([wanted], tmp_path / "one", tmp_path / "cache")
    (tmp_path / "one/a-1.whl").unlink()
    (tmp_path / "one/a-1.whl").write_bytes(b"altered")
    cache_path(tmp_path / "cache", wanted.sha256).write_bytes(b"altered too")
    assert missing_artifacts(made, tmp_path / "one", tmp_path / "cache") == made
    get_artifacts([wanted], tmp_path / "one", tmp_path / "cache")
    assert (tmp_path / "one/a-1.whl").read_bytes() == b"content"
    (tmp_path / "one/a-1.whl").unlink()
    assert missing_artifacts(made, tmp_path / "one", tmp_path / "cache") == []
    assert (tmp_path / "one/a-1.whl").read_bytes() == b"content"


def test_other_bytes_are_refused_and_not_kept(wanted, tmp_path):
    other = Download(wanted.file, wanted.url, "0" * 64)
    with pytest.raises(ProbeError, match=r"its sha256 is ed7002b4.*, the lock says 0000"):
        get_artifacts([other], tmp_path / "one", tmp_path / "cache")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_server_in_trouble_is_asked_again(index, wanted, tmp_path, quick):
    index.failures = 2
    get_artifacts([wanted], tmp_path / "one", tmp_path / "cache")
    index.failures = 9
    with pytest.raises(ProbeError, match=r"HTTP 503; check the network"):
        get(wanted.url)


def test_a_file_that_is_listed_but_gone(wanted, tmp_path):
    gone = Download("b.whl", wanted.url.replace("a-1", "b"), wanted.sha256)
    with pytest.raises(ProbeError, match=r"b\.whl: the index lists this file but does not have it"):
        get_artifacts([wanted, gone], tmp_path / "one", tmp_path / "cache")


def test_no_network_is_one_line(tmp_path):
    gone = Download("b.whl", "http://127.0.0.1:9/b.whl", "0" * 64)
    with pytest.raises(ProbeError, match=r"127\.0\.0\.1:9/b\.whl: .*refused; check the network"):
        get_artifacts([gone], tmp_path / "one", tmp_path / "cache")


def test_a_password_goes_into_a_header_and_into_no_message(index, wanted):
    secret = wanted.url.replace("http://", "http://me:s%40cret@")
    assert get(secret) == b"content"
    assert index.headers[-1]["Authorization"] == "Basic bWU6c0BjcmV0"
    assert without_secrets(secret) == wanted.url
    with pytest.raises(ProbeError) as caught:
        get(secret.replace("a-1.whl", "none"))
    assert "cret" not in str(caught.value)


@pytest.mark.tmpfs
def test_a_full_disk_is_one_line_and_leaves_nothing(index, wanted, full_disk):
    sha256 = index.add("big-1.whl", b"x" * 3_000_000, DAY)
    big = Download("big-1.whl", wanted.url.replace("a-1", "big-1"), sha256)
    with pytest.raises(ProbeError, match="free space, then run the same command again"):
        get_artifacts([big], full_disk / "one", full_disk / "cache")
    assert not [path for path in full_disk.rglob("*") if path.is_file()]
