"""Test scripts come down to their runners."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.environment.node_tests import find_suite, plan_tests
from probe.environment.override import TestOverride

PATH = 'export CI=true PATH="/work/node_modules/.bin:$PATH"; '


@pytest.mark.parametrize(
    ("scripts", "command"),
    [
        ({"test": "jest"}, "jest --ci --coverage=false"),
        ({"test": "jest --coverage --watchAll"}, "jest --ci --coverage=false"),
        ({"test": "nyc --reporter=lcov mocha 'test/**/*.js'"}, "mocha 'test/**/*.js' --reporter dot"),
        ({"test": "cross-env NODE_ENV=test mocha -R spec"}, "NODE_ENV=test mocha -R spec"),
        ({"test": "vitest"}, "vitest --run --coverage.enabled=false"),
        ({"test": "vitest run --coverage"}, "vitest run --coverage.enabled=false"),
        ({"test": "ava"}, "ava --tap"),
        ({"test": "node --test test/"}, "node --test test/"),
        (
            {"test": "npm run lint && npm run test:unit", "lint": "eslint .", "test:unit": "mocha"},
            "mocha --reporter dot",
        ),
        (
            {"test": "yarn test:lint && yarn test:flow && yarn test:jest", "test:lint": "eslint .",
             "test:flow": "flow", "test:jest": "jest"},
            "jest --ci --coverage=false",
        ),
        (
            {"test": "npm run build && npm run a && npm run b && tsd", "build": "rollup -c",
             "a": "node --test a.js", "b": "node --test b.js"},
            "npm run build && (failed=0; node --test a.js || failed=1; node --test b.js || failed=1; exit $failed)",
        ),
        ({"test": "tsc -p test && mocha dist && node check.js"}, "tsc -p test && mocha dist --reporter dot"),
        ({"test": "run-s lint unit", "lint": "xo", "unit": "ava"}, "ava --tap"),
        ({"pretest": "node make.js", "test": "mocha"}, "npm run pretest && mocha --reporter dot"),
        ({"test": "npm run test", "test:unit": "mocha"}, "mocha --reporter dot"),
        ({"test": "echo \"no && test\" && exit 1"}, None),
        ({"test": "karma start"}, None),
        ({"build": "tsc"}, None),
        ("jest", None),
    ],
)  # fmt: skip
def test_scripts(scripts, command):
    assert find_suite({"scripts": scripts}).command == command


def test_a_runner_without_a_script_is_run_as_it_is():
    suite = find_suite({"devDependencies": {"vitest": "^1"}})
    assert suite.command == "vitest --run --coverage.enabled=false"
    assert suite.notes == ["no script runs tests: vitest is run as it is"]


def test_what_is_left_out_is_noted():
    notes = find_suite({"scripts": {"test": "eslint . && karma start && jest"}}).notes
    assert notes == [
        "left out, no test of behaviour: eslint .",
        "left out, needs another place to run: karma start",
    ]


def test_a_tenth_where_every_runner_can_take_a_share():
    assert (
        find_suite({"scripts": {"test": "jest"}}).subset
        == "jest --ci --coverage=false --shard=1/10"
    )
    assert find_suite({"scripts": {"test": "jest && mocha"}}).subset is None


def test_tests_of_built_files_build_them_first(tree):
    manifest = {"main": "dist/a.js", "scripts": {"build": "rollup -c", "test": "jest"}}
    files = {"src/a.ts": "", "test/a.spec.ts": "import x from '../../dist/a.js'"}
    plan = plan_tests(tree(files), manifest, TestOverride())
    built = "{ npm run build || echo 'PROBE: npm run build fails'; } && jest --ci --coverage=false"
    assert plan.full == PATH + built
    assert plan.notes == ("the tests import dist/, so that npm run build goes first",)
    assert plan_tests(
        tree({"test/a.spec.ts": "import '../src'"}), manifest, TestOverride()
    ).full == (f"{PATH}jest --ci --coverage=false")


def test_the_override_goes_first(tree):
    said = TestOverride(
        full="make test", subset="make some", skipped={"test/net.js": "needs a network"}
    )
    plan = plan_tests(tree({"a.js": ""}), {"scripts": {"test": "jest"}}, said)
    assert (plan.full, plan.subset) == (f"{PATH}make test", f"{PATH}make some")
    assert plan.notes == ("test/net.js: needs a network",) and plan.totals == "node"
    assert plan_tests(tree({"a.js": ""}), {}, TestOverride()) is None


@pytest.mark.parametrize(
    ("runner", "command"),
    [
        ("mocha", "mocha --reporter dot --ignore=test/net.js"),
        ("vitest", "vitest --run --coverage.enabled=false --exclude=test/net.js"),
        (
            "jest",
            "jest --ci --coverage=false --runTestsByPath "
            "$(jest --ci --coverage=false --listTests | grep -vF -e test/net.js)",
        ),
    ],
)
def test_skipped_files_are_given_to_the_runner(tree, runner, command):
    said = TestOverride(skipped={"test/net.js": "needs a network"})
    plan = plan_tests(tree({"a.js": ""}), {"scripts": {"test": runner}}, said)
    assert plan.full == PATH + command


@given(st.dictionaries(st.sampled_from(["test", "a", "b", "prea"]), st.text(max_size=40)))
def test_any_script_is_read(scripts):
    find_suite({"scripts": scripts})


@given(
    st.lists(
        st.sampled_from(["npm run test", "npm run a", "jest", "&&", "'", ";", "x=1"]), max_size=8
    )
)
def test_scripts_that_call_each_other_end(words):
    find_suite({"scripts": {"test": " ".join(words), "a": "npm test && npm run a"}})
