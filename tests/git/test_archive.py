import hashlib
import tarfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from builders import HistoryBuilder, executable, link, submodule

from probe.errors import GitError, RecordError
from probe.git.archive import build_archive, export_ignored
from probe.git.process import run_git
from probe.records import SnapshotInfo

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 9\n"


@pytest.fixture
def history(tmp_path: Path) -> HistoryBuilder:
    return HistoryBuilder(tmp_path / "repo")


def archived(
    history: HistoryBuilder, target: Path
) -> tuple[SnapshotInfo, dict[str, tarfile.TarInfo]]:
    info = build_archive(history.path, history.tip(), target, repo="demo")
    with tarfile.open(target) as tar:
        return info, {member.name: member for member in tar.getmembers()}


def test_the_tree_and_nothing_else(history: HistoryBuilder, tmp_path: Path) -> None:
    sha = history.commit(
        {"a.py": "x = 1\n", "bin/run": executable("#!\n"), "bin/deep/b": b"\0\xff"},
        date="2024-12-31T23:00:00",
    )
    target = tmp_path / "source.tar"
    info, members = archived(history, target)
    assert list(members) == ["bin", "bin/deep", "a.py", "bin/deep/b", "bin/run"]
    assert [member.mode for member in members.values()] == [0o755, 0o755, 0o644, 0o644, 0o755]
    seconds = datetime(2024, 12, 31, 23, tzinfo=UTC).timestamp()
    assert {(m.mtime, m.uid, m.gid, m.uname) for m in members.values()} == {(seconds, 0, 0, "")}
    assert info.model_dump() == {
        "repo": "demo",
        "sha": sha,
        "tree": history.git("rev-parse", f"{sha}^{{tree}}").decode().strip(),
        "committer_time": datetime(2024, 12, 31, 23, tzinfo=UTC),
        "files": 3,
        "symlinks": (),
        "escaping_symlinks": (),
        "submodules": (),
        "lfs_pointers": (),
        "export_ignored": (),
        "missing_blobs": (),
        "archive_sha256": hashlib.sha256(target.read_bytes()).hexdigest(),
    }
    with tarfile.open(target) as tar:
        assert (tar.extractfile("bin/deep/b") or tar).read() == b"\0\xff"  # type: ignore[union-attr]


def test_the_same_commit_gives_the_same_bytes(history: HistoryBuilder, tmp_path: Path) -> None:
    sha = history.commit({"ä/long" * 40: "1\n", "b": link("ä")}, date="1969-01-01")
    first = build_archive(history.path, sha, tmp_path / "1.tar", repo="demo")
    history.commit({"later": "1\n"})
    history.git("repack", "-adq")
    second = build_archive(history.path, sha, tmp_path / "2.tar", repo="demo")
    assert first == second
    assert (tmp_path / "1.tar").read_bytes() == (tmp_path / "2.tar").read_bytes()


def test_attributes_neither_remove_nor_rewrite(history: HistoryBuilder, tmp_path: Path) -> None:
    attributes = (
        "docs export-ignore\n*.cfg export-ignore\nversion.py export-subst\n* text eol=crlf\n"
    )
    history.commit(
        {
            ".gitattributes": attributes,
            "version.py": "v = '$Format:%H$'\n",
            "docs/a.md": "1\n",
            "docs/x.cfg": "1\n",
            "sub/.gitattributes": "tests/** export-ignore\n",
            "sub/tests/t.py": "1\n",
            "top.cfg": "1\n",
        }
    )
    info, members = archived(history, tmp_path / "source.tar")
    assert info.export_ignored == ("docs/", "sub/tests/t.py", "top.cfg")
    assert {"docs/a.md", "docs/x.cfg", "sub/tests/t.py", "top.cfg"} <= set(members)
    with tarfile.open(tmp_path / "source.tar") as tar:
        version = tar.extractfile("version.py")
        assert version is not None
        assert version.read() == b"v = '$Format:%H$'\n"
    printed = run_git(history.path, "archive", "--format=tar", history.tip())
    (tmp_path / "git.tar").write_bytes(printed)
    with tarfile.open(tmp_path / "git.tar") as tar:
        left_out = {m.name for m in members.values() if m.isfile()} - set(tar.getnames())
    assert left_out == {"docs/a.md", "docs/x.cfg", "sub/tests/t.py", "top.cfg"}


def test_export_ignore_of_odd_names(history: HistoryBuilder) -> None:
    history.commit({".gitattributes": "*.x export-ignore\n", b"caf\xe9 \n.x": "1\n", "y": "1\n"})
    assert export_ignored(history.path, history.tip()) == ["caf\\xe9 \n.x"]


def test_submodules_pointers_and_missing_blobs(history: HistoryBuilder, tmp_path: Path) -> None:
    history.commit(
        {
            "vendor/sub": submodule("a" * 40),
            "model.bin": POINTER,
            "about.md": "see " + POINTER,
            "lost": "gone\n",
        }
    )
    history.lose_blob("main", "lost")
    info, members = archived(history, tmp_path / "source.tar")
    assert members["vendor/sub"].isdir()
    assert info.submodules == ("vendor/sub",)
    assert info.lfs_pointers == ("model.bin",)
    assert info.missing_blobs == ("lost",)
    assert info.files == 2
    assert "lost" not in members


def test_links_stay_inside(history: HistoryBuilder, tmp_path: Path) -> None:
    history.commit(
        {
            "a": "1\n",
            "d/e/up": link("../.."),
            "d/inside": link("../a"),
            "dangling": link("nowhere"),
            "out": link("../a"),
            "absolute": link("/etc/passwd"),
            "sneaky": link("d/e/up/../a"),
            "round": link("round"),
            "dir": link("d/./e/"),
            "ugly": link("d/../../repo/a"),
        }
    )
    info, members = archived(history, tmp_path / "source.tar")
    escaping = {"absolute", "out", "round", "sneaky", "ugly"}
    assert set(info.escaping_symlinks) == escaping
    assert set(info.symlinks) == escaping | {"d/e/up", "d/inside", "dangling", "dir"}
    assert not escaping & set(members)
    assert members["d/inside"].linkname == "../a"
    with tarfile.open(tmp_path / "source.tar") as tar:
        tar.extractall(tmp_path / "out", filter="data")
    assert (tmp_path / "out" / "d" / "inside").read_text() == "1\n"


def test_names_that_are_not_utf8_are_shown_as_records_show_them(
    history: HistoryBuilder, tmp_path: Path
) -> None:
    history.commit({b"caf\xe9.py": "1\n"})
    _, members = archived(history, tmp_path / "source.tar")
    assert list(members) == ["caf\\xe9.py"]


@pytest.mark.parametrize("name", [".git", ".GIT", "..", "git~1"])
def test_paths_that_must_not_be_unpacked(
    history: HistoryBuilder, tmp_path: Path, name: str
) -> None:
    blob = history.git("hash-object", "-w", "--stdin", stdin=b"1\n").decode().strip()
    inner = history.git("mktree", stdin=f"100644 blob {blob}\thook\n".encode()).decode().strip()
    tree = history.git("mktree", stdin=f"040000 tree {inner}\t{name}\n".encode()).decode().strip()
    made = ["-c", "user.name=a", "-c", "user.email=a@example.org", "commit-tree", "-m", "x", tree]
    sha = history.git(*made).decode().strip()
    with pytest.raises(GitError, match="cannot be unpacked safely"):
        build_archive(history.path, sha, tmp_path / "source.tar", repo="demo")
    assert not (tmp_path / "source.tar").exists()


def test_a_file_and_a_folder_of_one_name(history: HistoryBuilder, tmp_path: Path) -> None:
    blob = history.git("hash-object", "-w", "--stdin", stdin=b"/etc\n").decode().strip()
    inner = history.git("mktree", stdin=f"100644 blob {blob}\tf\n".encode()).decode().strip()
    entries = f"120000 blob {blob}\tx\n040000 tree {inner}\tx\n"
    tree = history.git("mktree", stdin=entries.encode()).decode().strip()
    made = ["-c", "user.name=a", "-c", "user.email=a@example.org", "commit-tree", "-m", "x", tree]
    sha = history.git(*made).decode().strip()
    with pytest.raises(GitError, match="cannot be unpacked safely"):
        build_archive(history.path, sha, tmp_path / "source.tar", repo="demo")


def test_an_empty_tree(history: HistoryBuilder, tmp_path: Path) -> None:
    history.commit()
    info, members = archived(history, tmp_path / "source.tar")
    assert (info.files, members) == (0, {})


def test_errors_leave_no_file(history: HistoryBuilder, tmp_path: Path) -> None:
    history.commit({"a": "1\n"})
    with pytest.raises(GitError):
        build_archive(history.path, "0" * 40, tmp_path / "source.tar", repo="demo")
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordError, match="cannot write"):
        build_archive(history.path, history.tip(), tmp_path / "file" / "source.tar", repo="demo")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "repo"]
