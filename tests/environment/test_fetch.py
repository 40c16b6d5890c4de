"""From a snapshot to a recipe, against an index of our own: what was there at T0 and nothing else."""

import pytest
from environment_snapshots import CUTOFF, INFO
from packageindex import make_sdist

from probe.environment import fetch as module
from probe.environment.fetch import Place, fetch_environment, package_table
from probe.environment.override import Override
from probe.errors import ProbeError

pytestmark = pytest.mark.registry

BEFORE, AFTER = "2024-06-01T00:00:00Z", "2025-06-01T00:00:00Z"
PROJECT = '[project]\nname="mine"\nversion="1"\ndependencies=["alpha"]\n[build-system]\nrequires=["flit_core"]\nbuild-backend="flit_core.buildapi"\n'


@pytest.fixture
def fetch(tree, tmp_path, machine, monkeypatch):
    """Fetches the environment of a project of these files, for a machine that needs no sandbox."""
    monkeypatch.setattr(module, "describe_machine", lambda engine, image: machine)
    place = Place(tmp_path / "artifacts", tmp_path / "cache/artifacts", "bubblewrap", None)

    def run(files, override=None, languages=("python",)):
        archive = tree(files).archive
        return fetch_environment(INFO, archive, languages, override or Override(), place)

    return run


def versions(recipe):
    return {one.name: one.version for one in recipe.ecosystems[0].releases}


def test_the_newest_release_of_then_and_not_of_now(index, fetch, tmp_path):
    index.wheel("alpha", "1.0", BEFORE, "beta")
    index.wheel("alpha", "2.0", AFTER)
    index.wheel("beta", "1.5", BEFORE)
    recipe = fetch({"pyproject.toml": PROJECT})
    found = versions(recipe)
    assert (found["alpha"], found["beta"]) == ("1.0", "1.5")
    assert {"pip", "flit-core", "pytest"} <= set(found)
    one = recipe.ecosystems[0]
    assert all(release.uploaded <= CUTOFF for release in one.releases)
    assert (tmp_path / "artifacts/alpha-1.0-py3-none-any.whl").exists()
    assert one.lock_source == "resolved" and "alpha==1.0" in one.lock and "sha256:" in one.lock
    assert fetch({"pyproject.toml": PROJECT}).sha256 == recipe.sha256
    assert "alpha\t1.0\t2024-06-01T00:00:00+00:00" in package_table(recipe)


def lock_of(index, uploaded, hashes=True):
    sha256 = index.wheel("alpha", "2.0", uploaded)
    mark = (
        f'files = [{{file = "alpha-2.0-py3-none-any.whl", hash = "sha256:{sha256}"}}]'
        if hashes
        else ""
    )
    return {
        "pyproject.toml": PROJECT,
        "poetry.lock": f'[[package]]\nname="alpha"\nversion="2.0"\n{mark}\n',
    }


def test_a_committed_lock_is_frozen_and_an_offender_in_it_fails(index, fetch):
    files = lock_of(index, AFTER)
    index.wheel("alpha", "1.0", BEFORE)
    with pytest.raises(
        ProbeError,
        match=r"younger than the snapshot.*alpha==2\.0 \(uploaded 2025-06-01.*envs/mine/",
    ):
        fetch(files)
    accepted = Override(late={"alpha==2.0": "re-uploaded, same code"})
    recipe = fetch(files, accepted)
    assert versions(recipe)["alpha"] == "2.0"
    assert recipe.ecosystems[0].lock_source == "poetry.lock"
    assert any("pytest" in note for note in recipe.ecosystems[0].notes)
    assert "alpha\t2.0\t2025-06-01T00:00:00+00:00\tyes" in package_table(recipe, accepted.late)
    resolved = fetch(files, Override.model_validate({"python": {"lock": False}}))
    assert versions(resolved)["alpha"] == "1.0"


def test_a_lock_without_hashes_stops_with_the_remedy(index, fetch):
    with pytest.raises(
        ProbeError, match=r"poetry\.lock of the snapshot: no hash for alpha 2\.0.*envs/mine/"
    ):
        fetch(lock_of(index, BEFORE, hashes=False))


def test_what_exists_as_source_only_is_read_and_built_later(index, fetch):
    sdist = {
        "PKG-INFO": "Metadata-Version: 1.0\nName: alpha\nVersion: 1.0\n",
        "setup.py": "raise SystemExit('executed')\n",
        "alpha.egg-info/requires.txt": "beta>=1\n\n[extra]\nnever\n",
    }
    index.add("alpha-1.0.tar.gz", make_sdist("alpha", "1.0", sdist), BEFORE)
    index.wheel("beta", "1.5", BEFORE)
    recipe = fetch({"pyproject.toml": PROJECT})
    found = versions(recipe)
    assert (found["alpha"], found["beta"]) == ("1.0", "1.5")
    assert {"setuptools", "wheel"} <= set(found)
    assert recipe.ecosystems[0].groups["sources"] == ("alpha-1.0.tar.gz",)


def test_an_impossible_cutoff_is_a_reason(index, fetch):
    index.wheel("alpha", "2.0", AFTER)
    recipe = fetch({"pyproject.toml": PROJECT})
    assert recipe.ecosystems == ()
    assert "nothing uploaded by 2024-12-31 00:00 UTC fulfils the requirements" in recipe.reason
    assert "\n" not in recipe.reason


def test_an_interpreter_that_the_project_excludes_is_a_reason(index, fetch):
    text = PROJECT.replace("[build", 'requires-python=">=3.99"\n[build')
    assert "wants Python >=3.99, the image has 3.11.2" in fetch({"pyproject.toml": text}).reason


@pytest.mark.parametrize("as_json", [True, False])
def test_an_index_without_dates_is_refused(index, fetch, as_json):
    index.dates, index.json = False, as_json
    index.wheel("alpha", "1.0", BEFORE)
    index.wheel("pip", "24.0", BEFORE)
    with pytest.raises(ProbeError, match=r"gives no upload dates.*UV_DEFAULT_INDEX"):
        fetch({"pyproject.toml": PROJECT})


def test_no_index_is_an_error_and_no_reason(fetch, monkeypatch):
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://me:secret@127.0.0.1:9/simple")
    with pytest.raises(ProbeError, match=r"refused; check the network") as caught:
        fetch({"pyproject.toml": PROJECT})
    assert "secret" not in str(caught.value)


def test_requirements_that_conflict_lose_the_tests_versions(index, fetch):
    for version in ("1.0", "2.0"):
        index.wheel("alpha", version, BEFORE)
    files = {"pyproject.toml": PROJECT, "requirements/tests.txt": "alpha==9\n"}
    recipe = fetch(files)
    assert versions(recipe)["alpha"] == "2.0"
    assert any("does not fit together" in note for note in recipe.ecosystems[0].notes)


def test_switched_off_or_nothing_to_build(fetch):
    assert "because of a licence" in fetch({}, Override(disable="because of a licence")).reason
    assert "nothing in the snapshot says what it needs" in fetch({"README.md": ""}).reason
    assert "(go)" in fetch({"pyproject.toml": PROJECT}, languages=("go",)).reason
