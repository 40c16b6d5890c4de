"""A small series with known object names, and everything that can be wrong with one."""

import hashlib
import os
from pathlib import Path

import pytest

from probe.errors import PatchError
from probe.git.process import run_git
from probe.git.series import build_series, read_patch, read_steps

DEMO = Path(__file__).parents[2] / "resources" / "demo"
HEADER = "step\taction\tname\tsource\tpatch\n"
FIRST = """\
From: Ada <ada@example.org>
Date: 2024-01-01T10:00:00+01:00
Subject: Say hello

---
diff --git a/hello.txt b/hello.txt
new file mode 100644
--- /dev/null
+++ b/hello.txt
@@ -0,0 +1 @@
+hello
"""
SECOND = """\
From: Zoë <zoe@example.org>
Date: 2024-01-02T10:00:00-03:30
Subject: Say it in Latin-1

Twice,
and with a body.
---
diff --git a/hello.txt b/salve.txt
rename from hello.txt
rename to salve.txt
--- a/hello.txt
+++ b/salve.txt
@@ -1 +1,2 @@
 hello
+gr\xfc\xdfe
"""


def write(folder: Path, rows: str, **patches: str) -> Path:
    (folder / "patches").mkdir(parents=True, exist_ok=True)
    (folder / "series.tsv").write_text(HEADER + rows, encoding="utf-8")
    for name, text in patches.items():
        head, cut, diff = text.partition("\n---\n")
        content = (head + cut).encode() + diff.encode("latin-1")
        (folder / "patches" / f"{name}.patch").write_bytes(content)
    return folder


def rows(*lines: str) -> str:
    return "".join(
        f"{number:04d}\t" + line.replace(" ", "\t") + "\n" for number, line in enumerate(lines, 1)
    )


def test_commits_branches_tags_and_merges(tmp_path: Path) -> None:
    merge = FIRST.split("---\n")[0].replace("hello", "both") + "---\n"
    folder = write(
        tmp_path / "series",
        rows(
            "commit main - a.patch",
            "tag v1 main -",
            "branch side v1 -",
            "commit side - b.patch",
            "merge main side m.patch",
        ),
        a=FIRST,
        b=SECOND,
        m=merge + SECOND.split("\n---\n")[1],
    )
    repo = tmp_path / "deep" / "repo.git"
    head = build_series(folder, repo)
    assert run_git(repo, "rev-parse", "HEAD", "main").decode().split() == [head, head]
    assert run_git(repo, "rev-parse", "main^1", "main^2").decode().split() == (
        run_git(repo, "rev-parse", "v1", "side").decode().split()
    )
    shown = run_git(repo, "log", "-1", "--format=%an|%ae|%ad|%cd|%B", "side").decode()
    zone = "Tue Jan 2 10:00:00 2024 -0330"
    assert shown == f"Zoë|zoe@example.org|{zone}|{zone}|{SECOND.splitlines()[2][9:]}" + (
        "\n\nTwice,\nand with a body.\n\n"
    )
    assert run_git(repo, "cat-file", "blob", "main:salve.txt") == "hello\ngrüße\n".encode("latin-1")
    assert sorted(path.name for path in repo.iterdir()) == ["HEAD", "config", "objects", "refs"]
    assert [path.name for path in repo.parent.iterdir()] == ["repo.git"]


def test_the_commit_is_what_git_itself_would_write(tmp_path: Path) -> None:
    """The raw object, written by hand from git's documented format."""
    folder = write(tmp_path / "series", rows("commit main - a.patch"), a=FIRST)
    head = build_series(folder, tmp_path / "repo.git")
    blob = hashlib.sha1(b"blob 6\0hello\n").digest()
    tree = hashlib.sha1(b"tree 37\x00100644 hello.txt\0" + blob).hexdigest()
    raw = run_git(tmp_path / "repo.git", "cat-file", "commit", head).decode()
    assert raw == (
        f"tree {tree}\n"
        "author Ada <ada@example.org> 1704099600 +0100\n"
        "committer Ada <ada@example.org> 1704099600 +0100\n"
        "\n"
        "Say hello\n"
    )


def test_the_bundled_series_gives_the_recorded_head_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the user's settings nor the umask reach the objects."""
    recorded = (DEMO / "series.tsv").read_text(encoding="utf-8").splitlines()[-1].split("\t")
    assert recorded[1:3] == ["expect", "main"]
    assert build_series(DEMO, tmp_path / "one.git") == recorded[3]
    hostile = tmp_path / "gitconfig"
    hostile.write_text(
        "[core]\nautocrlf = true\nwhitespace = trailing-space\n[apply]\nwhitespace = fix\n"
        "[user]\nname = Somebody\n[init]\ndefaultBranch = trunk\n[i18n]\ncommitEncoding = latin1\n",
        encoding="utf-8",
    )
    for name in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(hostile))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    monkeypatch.setenv("GIT_AUTHOR_DATE", "2001-01-01T00:00:00Z")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    old = os.umask(0o077)
    try:
        assert build_series(DEMO, tmp_path / "two.git") == recorded[3]
    finally:
        os.umask(old)
    listing = ("cat-file", "--batch-all-objects", "--batch-check")
    assert run_git(tmp_path / "one.git", *listing) == run_git(tmp_path / "two.git", *listing)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("nonsense\n", "series.tsv:1: the header must be step action name source patch"),
        (HEADER, "series.tsv: lists no steps"),
        (HEADER + "0001\tcommit\tmain\t-\n", "series.tsv:2: 4 columns, expected 5"),
        (HEADER + rows("commit main - a.patch") * 2, "series.tsv:3: step '0001', expected 0002"),
        (HEADER + rows("amend main - a.patch"), "series.tsv:2: unknown action 'amend'"),
        (HEADER + rows("commit -f - a.patch"), "'-f' is no name of a branch or tag"),
        (HEADER + rows("commit main - ../a.patch"), "'../a.patch' is no name of a patch"),
        (HEADER + rows("tag v1 main a.patch"), "tag takes no patch; write - instead of 'a.patch'"),
    ],
)
def test_malformed_manifest(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "series.tsv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PatchError) as caught:
        read_steps(path)
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("\n---\n", "\n", "no line '---'"),
        ("Date: ", "When: ", "expected a line 'Date: …', found 'When: 2024-01-01T10:00:00+01:00'"),
        ("Ada <ada@example.org>", "Ada", "From: 'Ada' is not of the form 'name <mail>'"),
        ("+01:00", "", "Date: '2024-01-01T10:00:00' is not ISO 8601 with an offset"),
        ("2024-01-01T", "yesterday ", "is not ISO 8601"),
        ("Say hello", "", "the subject is empty"),
    ],
)
def test_malformed_patch(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    path = tmp_path / "a.patch"
    path.write_text(FIRST.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(PatchError) as caught:
        read_patch(path)
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        (["commit main - c.patch"], "c.patch: cannot be read: No such file or directory"),
        (["commit main - b.patch"], "b.patch: does not apply to main: hello.txt: does not exist"),
        (["commit main - a.patch", "commit dev - b.patch"], "series.tsv:3: unknown branch 'dev'"),
        (
            ["commit main - a.patch", "merge main dev b.patch"],
            "unknown branch 'dev'; known here: main",
        ),
        (["commit main - a.patch", "branch x v1 -"], "series.tsv:3: unknown branch 'v1'"),
        (["commit main - a.patch", "branch main main -"], "branch 'main' exists already"),
        (["commit main - a.patch", "tag v main -", "tag v main -"], "tag 'v' exists already"),
        (["commit main - a.patch", "expect main 0000 -"], "expected 0000"),
        (["commit dev - a.patch"], "the series makes no branch 'main'"),
    ],
)
def test_a_failed_build_leaves_nothing(tmp_path: Path, lines: list[str], complaint: str) -> None:
    folder = write(tmp_path / "series", rows(*lines), a=FIRST, b=SECOND)
    target = tmp_path / "out" / "repo.git"
    with pytest.raises(PatchError) as caught:
        build_series(folder, target)
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)
    assert list(target.parent.iterdir()) == []


def test_an_existing_target_is_left_alone(tmp_path: Path) -> None:
    folder = write(tmp_path / "series", rows("commit main - a.patch"), a=FIRST)
    target = tmp_path / "repo.git"
    target.mkdir()
    with pytest.raises(PatchError, match="exists already; remove it"):
        build_series(folder, target)
    assert list(target.iterdir()) == []
