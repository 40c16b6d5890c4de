import shutil
import subprocess
import tarfile
import zipfile
from datetime import UTC, datetime

import pytest
from audits_of import LATER, Case
from hypothesis import given
from hypothesis import strategies as st

from probe.isolation.gitdata import find_git, git_folders, recognise
from probe.isolation.listing import list_archive

CUTOFF = datetime(2024, 12, 20, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A work tree of git's own making, with everything that git leaves in its folder."""
    folder = tmp_path_factory.mktemp("repository")

    def git(*words):
        subprocess.run(
            ["git", "-C", str(folder), "-c", "user.name=A", "-c", "user.email=a@b", *words],
            check=True, capture_output=True, env={"PATH": "/usr/bin:/bin", "HOME": str(folder),
            "GIT_AUTHOR_DATE": LATER, "GIT_COMMITTER_DATE": LATER},
        )  # fmt: skip

    git("init", "-q", "-b", "main", ".")
    for number in range(3):
        (folder / "a.txt").write_text(f"{number}\n" * 50)
        git("add", "a.txt")
        git("commit", "-q", "-m", f"Change {number}")
    git("bundle", "create", "all.bundle", "main")
    (folder / "loose").mkdir()
    for place in (folder / ".git/objects").glob("??/*"):
        shutil.copy(place, folder / "loose" / place.name)
    git("repack", "-a", "-d", "-q", "--write-bitmap-index")
    git("commit-graph", "write", "--reachable")
    git("multi-pack-index", "write")
    git("pack-refs", "--all")
    git("worktree", "add", "-q", "../linked", "HEAD")
    yield folder
    git("worktree", "remove", "--force", "../linked")


def the_only(files, pattern):
    found = list(files.glob(pattern))
    assert found, pattern
    return found[0]


@pytest.mark.parametrize(
    ("pattern", "kind"),
    [
        (".git/objects/pack/*.pack", "git_objects"),
        (".git/objects/pack/*.idx", "git_objects"),
        (".git/objects/pack/*.bitmap", "git_objects"),
        (".git/objects/pack/multi-pack-index", "git_objects"),
        (".git/objects/info/commit-graph", "git_objects"),
        (".git/index", "git_objects"),
        ("all.bundle", "git_objects"),
        ("loose/*", "git_objects"),
        (".git/HEAD", "git_refs"),
        (".git/packed-refs", "git_refs"),
        ("../linked/.git", "git_refs"),
        (".git/logs/HEAD", "git_reflog"),
        (".git/logs/refs/heads/main", "git_reflog"),
    ],
)
def test_what_git_writes_is_known_by_its_content(repository, pattern, kind):
    if pattern.startswith("../"):
        head = (repository / pattern).read_bytes()
    else:
        head = the_only(repository, pattern).read_bytes()
    mark = recognise(head[:512])
    assert mark is not None
    assert mark.kind == kind


@pytest.mark.parametrize(
    "head",
    [
        b"", b"x", b"PACKAGE\n", b"PACK of wolves\n", b"# v2 of the plan\n", b"MIDX is short for",
        b"ref: see below\n", b"gitdir is a word\n", b"DIRC", b"x\x9c" + b"\0" * 50,
        b"da39a3ee5e6b4b0d3255bfef95601890afd80709  empty.txt\n", b"commit 12\0", b"ref: refs/heads/x\nmore\n",
    ],
)  # fmt: skip
def test_what_only_looks_like_it_is_not(head):
    assert recognise(head) is None


@given(st.binary(max_size=600))
def test_no_content_breaks_it(head):
    recognise(head)


@given(
    st.sampled_from(["blob", "tree", "commit", "tag"]), st.binary(max_size=400), st.integers(0, 9)
)
def test_every_loose_object_is_known_however_it_was_packed(kind, body, level):
    import zlib

    packed = zlib.compress(b"%s %d\0" % (kind.encode(), len(body)) + body, level)
    mark = recognise(packed[:512])
    assert mark is not None
    assert mark.what == f"a loose {kind}"


def test_a_repository_is_known_by_its_layout_under_any_name():
    paths = ["/work/data/HEAD", "/work/data/objects/ab/cd", "/work/data/refs/heads/x", "/work/HEAD"]
    assert git_folders(paths) == {"/work/data"}
    assert git_folders(["/opt/.GIT/config", "/opt/sub/.git"]) == {"/opt/.GIT", "/opt/sub/.git"}
    assert git_folders(["/usr/share/git-core/templates/hooks/x"]) == set()


def test_what_a_repository_holds_is_told(repository, tmp_path):
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as tar:
        tar.add(repository / ".git", "fixtures/data")
    found = {one.leak.kind: one for one in find_git(list_archive(path), CUTOFF)}
    assert set(found) == {"git_objects", "git_refs", "git_reflog"}
    assert {one.leak.where for one in found.values()} == {"/work/fixtures/data"}
    objects = found["git_objects"]
    assert "3 blob, 3 commit, 3 tree, the newest of 2025-03-01 (after T0)" in objects.leak.detail
    assert objects.late


@pytest.mark.parametrize("name", ["inner.zip", "inner.tar.gz"])
def test_an_archive_inside_is_looked_through(repository, tmp_path, name):
    inner, path = tmp_path / name, tmp_path / "a.tar"
    bundle = repository / "all.bundle"
    if name.endswith(".zip"):
        with zipfile.ZipFile(inner, "w") as archive:
            archive.write(bundle, "b.bin")
    else:
        with tarfile.open(inner, "w:gz") as archive:
            archive.add(bundle, "b.bin")
    with tarfile.open(path, "w") as tar:
        tar.add(inner, name)
    (found,) = find_git(list_archive(path), CUTOFF)
    assert found.leak.where == f"/work/{name}!/b.bin"
    assert "3 commit" in found.leak.detail


def test_a_damaged_archive_inside_is_a_file_like_others(tmp_path):
    path = tmp_path / "a.tar"
    broken = tmp_path / "x.zip"
    broken.write_bytes(b"PK\x03\x04 broken")
    with tarfile.open(path, "w") as tar:
        tar.add(broken, "x.zip")
        tar.add(broken, "x.tar.gz")
    assert [entry.path for entry in list_archive(path).entries] == ["/work/x.zip", "/work/x.tar.gz"]


def test_a_damaged_pack_is_still_a_pack(tmp_path):
    path, pack = tmp_path / "a.tar", tmp_path / "x.bin"
    pack.write_bytes(b"PACK\0\0\0\2\0\0\0\1 cut")
    with tarfile.open(path, "w") as tar:
        tar.add(pack, "x.bin")
    (found,) = find_git(list_archive(path), CUTOFF)
    assert found.leak.detail == "a pack (1 path)"


def test_a_clean_tree_has_none(tmp_path):
    assert find_git(list_archive(Case(tmp_path).archive), CUTOFF) == []
