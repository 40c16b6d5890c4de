"""Each kind of leak is planted where it could come from, and stops the audit of a real sandbox."""

import json
import socket
import subprocess
from datetime import UTC, datetime

import pytest
from audits_of import FILES, Case

from probe.environment.make import Ground, root_folder
from probe.environment.recipe import EcosystemRecipe, Recipe
from probe.errors import IsolationError
from probe.isolation.agents import check_agents
from probe.records import Provenance, Release, write_json
from probe.sandbox import Mount

REFLOG = f"{'0' * 40} {'a' * 40} Ada <a@b.org> 1740823200 +0000\tcommit: later\n"
JANUARY = 1_735_700_000


def refused(case, *words, **more):
    with pytest.raises(IsolationError) as caught:
        case.audit(**more)
    message = str(caught.value)
    assert "\n" not in message
    for word in (*words, "Remedy:", "envs/little/environment.yaml"):
        assert word in message
    return message


@pytest.mark.bubblewrap
def test_a_clean_snapshot_is_proven_by_what_was_looked_at(case):
    report = case.audit()
    assert (report.t0, report.leaks, report.accepted) == (case.t0, (), ())
    assert report.engine == "bubblewrap"
    assert all(number > 0 for number in report.checks.values())
    assert report.checks["foreign_file"] == 2 * case.info.files
    assert {"git_objects", "git_refs", "git_reflog", "mtime", "changelog", "packages", "registry",
            "dns", "network"} < set(report.checks)  # fmt: skip


@pytest.mark.docker
def test_the_same_holds_in_docker(case, tmp_path):
    report = case.audit(engine="docker")
    assert report.engine == "docker"
    assert min(report.checks.values()) > 0
    later = tmp_path / "later"
    subprocess.run(["git", "init", "-q", "--bare", str(later)], check=True)
    subprocess.run(["chmod", "-R", "a+rX", str(tmp_path)], check=True)
    refused(case, "git_objects /srv/x ", engine="docker", mounts=[Mount(later, "/srv/x")])


def test_a_git_folder_under_another_name(case):
    case.plant({"data/x/HEAD": "ref: refs/heads/main\n", "data/x/objects/info/packs": "\n",
                "data/x/refs/heads/main": "a" * 40 + "\n"})  # fmt: skip
    refused(case, "git_objects /work/data/x ", "git_refs /work/data/x ", "not in T0's tree")


def test_a_pack_of_the_window_under_another_name(case):
    pack = case.history.git("pack-objects", "--stdout", "--revs", stdin=f"{case.t1}\n".encode())
    case.plant({"data/table.bin": pack})
    refused(case, "git_objects /work/data/table.bin", "3 commit", "of 2025-03-01 (after T0)")


def test_a_loose_object_of_the_window(case):
    path = case.history.path / "objects" / case.t1[:2] / case.t1[2:]
    if not path.exists():  # fast-import keeps small imports in packs
        case.history.git("unpack-objects", stdin=case.history.git(
            "pack-objects", "--stdout", stdin=f"{case.t1}\n".encode()))  # fmt: skip
    content = path.read_bytes() if path.exists() else None
    if content is None:
        import zlib

        raw = case.history.git("cat-file", "commit", case.t1)
        content = zlib.compress(b"commit %d\0" % len(raw) + raw)
    case.plant({"data/x": content})
    refused(case, "git_objects /work/data/x", "a loose commit", "(after T0)")


def test_packed_refs_and_reflogs(case):
    case.plant({"notes.txt": f"{case.t1} refs/heads/main\n", "log.txt": REFLOG})
    refused(case, "git_refs /work/notes.txt", "git_reflog /work/log.txt")


def test_a_dot_git_folder_is_named_before_a_sandbox_refuses_it(case):
    case.plant({".git/HEAD": "ref: refs/heads/main\n"})
    refused(case, "git_refs /work/.git ")


def test_a_file_younger_than_the_snapshot(case):
    case.plant({"sums/text.py": FILES["sums/text.py"]}, mtime=JANUARY)
    message = refused(case, "mtime /work/sums/text.py", "2025-01-01, after T0 (2024-12-20)")
    assert "foreign_file" not in message


def test_a_changelog_entry_younger_than_the_snapshot(case):
    case.plant({"CHANGELOG.md": "## 1.1 - 2025-02-01\n\n- Fix mean\n\n" + FILES["CHANGELOG.md"]})
    refused(
        case,
        "changelog /work/CHANGELOG.md",
        "## 1.1 - 2025-02-01",
        "foreign_file /work/CHANGELOG.md",
    )


@pytest.mark.bubblewrap
def test_a_planned_date_is_accepted_by_a_person_with_a_reason(tmp_path):
    case = Case(tmp_path, {"CHANGELOG.md": "## 2.0 (planned for 2025-02-01)\n"})
    refused(case, "changelog /work/CHANGELOG.md")
    report = case.audit({"leaks": {"CHANGELOG.md": "a plan, not a release"}})
    (leak,) = report.accepted
    assert leak.detail.endswith("accepted: a plan, not a release")


@pytest.mark.bubblewrap
def test_a_fixture_of_the_project_is_no_leak_but_one_with_the_future_is(tmp_path):
    made = Case(tmp_path / "made")
    old, new = (
        made.history.git("pack-objects", "--stdout", "--revs", stdin=f"{sha}\n".encode())
        for sha in (made.t0, made.t1)
    )
    (tmp_path / "fine").mkdir()
    (tmp_path / "bad").mkdir()
    report = Case(tmp_path / "fine", {"tests/data/x.pack": old}).audit()
    assert [leak.where for leak in report.accepted] == ["/work/tests/data/x.pack"]
    refused(Case(tmp_path / "bad", {"tests/data/x.pack": new}), "(after T0)")


def test_a_changed_archive_is_another_archive(case):
    case.plant({"sums/core.py": "def mean(values):\n    return 0\n"})
    refused(case, "foreign_file /work/sums/core.py (another content than in T0's tree)")


@pytest.mark.bubblewrap
def test_an_archive_without_its_signature(case):
    signed = case.info
    case.plant({})
    case.info = signed
    with case.archive.open("ab") as stream:
        stream.write(b"\0" * 512)
    with pytest.raises(
        IsolationError, match=r"not the archive that commit\.json beside it describes"
    ):
        case.audit()


@pytest.mark.bubblewrap
def test_what_is_mounted_is_looked_at(case, tmp_path):
    later = tmp_path / "later"
    (later / "node_modules/little-sums").mkdir(parents=True)
    (later / "node_modules/little-sums/package.json").write_text('{"name": "little-sums"}')
    (later / "copy/sums").mkdir(parents=True)
    (later / "copy/sums/core.py").write_text("def mean(values):\n    return 1\n")
    (later / "copy/sums/__init__.py").write_text(FILES["sums/__init__.py"])
    (later / "copy/sums/text.py").write_text(FILES["sums/text.py"])
    pack = case.history.git("pack-objects", "--stdout", "--revs", stdin=f"{case.t1}\n".encode())
    (later / "odd name\n.bin").write_bytes(pack)
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(later / "door"))
        subprocess.run(["chmod", "-R", "a+rX", str(tmp_path)], check=True)
        mounts = [Mount(later, "/srv/later")]
        refused(
            case,
            "packages /srv/later/copy/sums (another version of the project's package 'sums'",
            "packages /srv/later/node_modules/little-sums/package.json (little-sums: the audited project",
            "network /srv/later/door (a socket",
            "git_objects /srv/later/odd name",
            mounts=mounts,
        )


@pytest.mark.bubblewrap
def test_an_older_copy_is_known_from_the_history(case, tmp_path):
    old = tmp_path / "old/sums"
    old.mkdir(parents=True)
    (old / "core.py").write_text("def mean(values):\n    pass\n")  # the first commit's
    (old / "__init__.py").write_text(FILES["sums/__init__.py"])
    (old / "text.py").write_text(FILES["sums/text.py"])
    subprocess.run(["chmod", "-R", "a+rX", str(tmp_path)], check=True)
    assert case.audit(mounts=[Mount(tmp_path / "old", "/srv/old")]).leaks == ()


def test_agents_that_carry_the_project(case, tmp_path):
    folder = tmp_path / "agents/node_modules"
    (folder / "other").mkdir(parents=True)
    (folder / "other/package.json").write_text("{}")
    check_agents(tmp_path / "agents", case.archive)
    (folder / "tool/node_modules/little-sums").mkdir(parents=True)
    (folder / "tool/node_modules/little-sums/package.json").write_text("{}")
    with pytest.raises(IsolationError, match="little-sums: the agents carry the audited project"):
        check_agents(tmp_path / "agents", case.archive)


def built(case, *releases, files=None, mtime=None):
    """A built environment of the Python releases that are named, with further files in its folder."""
    recipe = Recipe(
        repo="little", archive_sha256=case.info.archive_sha256, cutoff=case.info.committer_time,
        ecosystems=(EcosystemRecipe(
            ecosystem="python", runtimes={"python": "3.11"}, lock="", lock_source="resolved",
            releases=releases, artifacts=(), install="true",
        ),),
        provenance=Provenance.of_heuristic("1"),
    )  # fmt: skip
    about = case.folder / "environment"
    write_json(about / "recipe.json", recipe)
    write_json(about / "ground.json", Ground(base_image=None, dockerfile="", memory_mb=100))
    root = case.folder / root_folder(recipe)
    seconds = int(case.info.committer_time.timestamp()) if mtime is None else mtime
    site = "python/lib/python3.11/site-packages"
    listed = {f"{site}/{one.name}-{one.version}.dist-info/METADATA":
              f"Name: {one.name}\nVersion: {one.version}\n" for one in releases}  # fmt: skip
    for name, text in {**listed, **(files or {})}.items():
        place = root / name.replace("SITE", site)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    root.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        ["find", str(root), "-exec", "touch", f"--date=@{seconds}", "{}", "+"], check=True
    )
    subprocess.run(["chmod", "-R", "a+rX", str(case.folder.parent.parent)], check=True)
    case.environment = case.environment.model_copy(
        update={
            "status": "built",
            "reason": None,
            "sha256": recipe.sha256,
            "releases": len(releases),
        }
    )


def release(version, day="2024-12-01"):
    return Release(
        ecosystem="python", name="numbers", version=version,
        uploaded=datetime.fromisoformat(f"{day}T00:00:00").replace(tzinfo=UTC),
    )  # fmt: skip


@pytest.mark.bubblewrap
def test_packages_of_an_environment_are_held_against_its_dated_releases(case):
    built(case, release("1.0"))
    assert case.audit().leaks == ()


@pytest.mark.bubblewrap
def test_packages_and_files_after_the_snapshot_in_an_environment(case):
    built(
        case,
        release("2.0", "2025-01-10"),
        files={
            "SITE/sneaked-3.1.dist-info/METADATA": "Name: sneaked\nVersion: 3.1\n",
            "SITE/numbers/CHANGELOG.md": "## 2.0 (2025-01-10)\n",
            "node/tree/node_modules/little-sums/package.json": json.dumps(
                {"name": "little-sums", "version": "1.1"}
            ),
        },
        mtime=JANUARY,
    )
    refused(case, "mtime /opt/probe-env/", "changelog /opt/probe-env/", "; and 3 more")
    site = "/opt/probe-env/python/lib/python3.11/site-packages"
    seen = {"*/METADATA": "seen", "*/package.json": "seen", "/opt/probe-env/*.md": "seen"}
    found = {(leak.kind, leak.where) for leak in case.audit({"leaks": seen}).accepted}
    assert {where for kind, where in found if kind == "packages"} == {
        f"{site}/numbers-2.0.dist-info/METADATA",
        f"{site}/sneaked-3.1.dist-info/METADATA",
        "/opt/probe-env/node/tree/node_modules/little-sums/package.json",
    }
    assert sorted(kind for kind, _ in found) == ["changelog", *["mtime"] * 4, *["packages"] * 3]


@pytest.mark.bubblewrap
def test_a_later_release_that_a_person_accepted(case):
    built(case, release("2.0", "2025-01-10"))
    refused(case, "packages", "numbers 2.0: uploaded 2025-01-10, after T0")
    assert case.audit({"late": {"numbers==2.0": "the only one with wheels"}}).leaks == ()


@pytest.mark.bubblewrap
def test_an_environment_that_holds_nothing_proves_nothing(case):
    built(case, release("1.0"))
    root = next((case.folder / "environment/roots").iterdir())
    subprocess.run(["rm", "-r", str(root / "python")], check=True)
    with pytest.raises(
        IsolationError, match="1 releases by its recipe, but below /opt/probe-env none"
    ):
        case.audit()
