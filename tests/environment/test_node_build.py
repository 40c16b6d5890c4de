"""A Node environment built for real: the real Node, two real packages from npm, each engine."""

import json
from contextlib import closing

import pytest
from environment_snapshots import CUTOFF, INFO, tree_of
from test_build import ENGINES, LIMITS, build

from probe.environment.fetch import Place, fetch_environment
from probe.environment.override import Override
from probe.environment.use import open_environment
from probe.records.store import file_sha256

LOCK = {
    "name": "mine", "version": "1.0.0", "lockfileVersion": 3, "requires": True,
    "packages": {
        "": {"name": "mine", "version": "1.0.0", "dependencies": {"is-odd": "3.0.1", "semver": "7.6.3"}},
        "node_modules/is-odd": {
            "version": "3.0.1",
            "resolved": "https://registry.npmjs.org/is-odd/-/is-odd-3.0.1.tgz",
            "integrity": "sha512-CQpnWPrDwmP1+SMHXZhtLtJv90yiyVfluGsX5iNCVkrhQtU3TQHsUWPG9wkdk9Lgd5yNpAg9jQEo90CBaXgWMA==",
        },
        "node_modules/is-number": {
            "version": "6.0.0",
            "resolved": "https://registry.npmjs.org/is-number/-/is-number-6.0.0.tgz",
            "integrity": "sha512-Wu1VHeILBK8KAWJUAiSZQX94GmOE45Rg6/538fKwiloUu21KncEkYGPqob2oSZ5mUT73vLGrHQjKw3KMPwfDzg==",
        },
        "node_modules/semver": {
            "version": "7.6.3",
            "resolved": "https://registry.npmjs.org/semver/-/semver-7.6.3.tgz",
            "integrity": "sha512-oVekP1cKtI+CTDvHWYFUcMtsK/00wmAEfyqKfNdARm8u1wNVhSgaX7A8d4UuIlUI5e84iEwOhs7ZPYRmzU9U6A==",
            "bin": {"semver": "bin/semver.js"},
        },
    },
}  # fmt: skip
FILES = {
    "package.json": json.dumps(
        {"name": "mine", "version": "1.0.0", "main": "dist/index.js",
         "scripts": {"build": "node build.js", "test": "npm run build && node --test test/"},
         "dependencies": {"is-odd": "3.0.1", "semver": "7.6.3"}}
    ),
    "package-lock.json": json.dumps(LOCK),
    ".nvmrc": "20.18.1\n",
    "build.js": "const fs = require('fs'); fs.mkdirSync('dist', {recursive: true});"
                "fs.writeFileSync('dist/index.js', 'module.exports = require(\"is-odd\");');",
    "test/odd.test.js": "const {test} = require('node:test'); const odd = require('../dist/index.js');\n"
                        "test('three', () => { if (!odd(3)) throw Error(); });\n"
                        "test('four', () => { if (odd(4)) throw Error(); });\n"
                        "test('wrong', () => { if (odd(3)) throw Error(); });\n"
                        "test('later', {skip: true}, () => {});\n",
}  # fmt: skip


@pytest.fixture(scope="session", params=ENGINES)
def odd(tmp_path_factory, request):
    """The project's environment on an engine; Node is downloaded once."""
    if request.param == "docker":
        request.getfixturevalue("docker_daemon")
    folder = tmp_path_factory.mktemp(f"node-{request.param}")
    archive = tree_of(FILES, folder).archive
    info = INFO.model_copy(update={"archive_sha256": file_sha256(archive)})
    cache = tmp_path_factory.getbasetemp() / "node-cache"
    place = Place(folder / "environment/artifacts", cache, request.param, None)
    recipe = fetch_environment(info, archive, ("typescript",), Override(), place)
    return build(recipe, folder, archive, request.param)


@pytest.mark.npm
def test_the_projects_own_tests_run_inside(odd):
    assert odd.environment.status == "built", odd.environment.reason
    assert odd.environment.runtimes["node"] == "20.18.1"
    assert odd.environment.tests.line == "TOTAL passed=2 failed=1 skipped=1"
    assert odd.environment.tests.exit == 1
    assert odd.environment.newest <= CUTOFF


@pytest.mark.npm
def test_a_sandbox_has_node_and_the_locks_packages(odd):
    said = odd.run(
        "node --version; npm --version >/dev/null && npx --no-install semver 1.2.3 -i minor;"
        'node -e \'console.log(require("is-odd")(5), require("is-number/package.json").version)\';'
        "touch node_modules/.cache && mkdir node_modules/.vite && echo writable;"
        "touch node_modules/is-odd/x 2>/dev/null || echo read-only; ls dist 2>/dev/null"
    )
    assert said.stdout.split("\n") == [
        "v20.18.1",
        "1.3.0",
        "true 6.0.0",
        "writable",
        "read-only",
        "",
    ], said


@pytest.mark.npm
def test_nothing_inside_is_younger_than_the_snapshot(odd):
    late = int(CUTOFF.timestamp()) + 1
    said = odd.run(
        f"find /opt/probe-env -newermt @{late} | head; find / -name .git -not -path '/proc/*'"
    )
    assert said.stdout == ""


@pytest.mark.npm
def test_it_is_there_again_for_the_next_session(odd):
    box = open_environment(
        odd.environment, odd.folder, archive=odd.archive, engine=odd.engine, limits=LIMITS
    )
    with closing(box):
        assert box.run("node test/../build.js && node -p 'require(\".\")(1)'").stdout == "true\n"
