import pytest

from probe.code.languages import LANGUAGES, language_of, parser_for
from probe.code.paths import SourceScope, path_role


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("sqlglot/parser.py", "source"),
        ("src/build/parser.ts", "source"),
        ("src/commands/addJob.lua", "source"),
        ("lib/templates/mail.j2", "source"),
        ("tests/test_parser.py", "test"),
        ("src/filters/array.spec.ts", "test"),
        ("jsonschema/tests/fuzz.py", "test"),
        ("src/helper/router.test.tsx", "test"),
        ("conftest.py", "test"),
        ("docs/api.html", "docs"),
        ("README.md", "docs"),
        ("CHANGES/1234.bugfix.rst", "docs"),
        (".github/workflows/ci.yml", "ci"),
        ("Dockerfile", "ci"),
        ("package-lock.json", "packaging"),
        ("pyproject.toml", "packaging"),
        ("requirements/dev.txt", "packaging"),
        ("dist/bundle.js", "generated"),
        ("lib/api_pb2.py", "generated"),
        ("static/app.min.js", "generated"),
        ("pip/_vendor/idna/core.py", "vendored"),
        ("src/data/table.json", "data"),
        ("packages/core/src/lists.ts", "source"),
        ("packages/core/dist/lists.js", "generated"),
        ("packages/@scope/core/dist/lists.js", "generated"),
        ("packages/core/src/build/plan.ts", "source"),
        ("packages/core/scripts/release.js", "packaging"),
        ("packages/dist/lists.ts", "source"),
        ("apps/blog/migrations/0001.py", "source"),
    ],
)
def test_role_by_name(path, role):
    assert path_role(path) == role


def test_wide_globs_do_not_make_sources_of_build_output():
    scope = SourceScope(source=["packages/", "src/"])
    assert scope.role("packages/core/dist/lists.js") == "generated"
    assert scope.role("packages/core/lists.js") == "source"
    assert scope.role("src/app.min.js") == "generated"
    assert scope.role("src/build/plan.ts") == "source"
    named = SourceScope(source=["packages/*/dist/"])
    assert named.role("packages/core/dist/lists.js") == "source"


def test_the_inventory_wins_over_names():
    scope = SourceScope(source=["src/"], tests=["src/**/check_*.ts"], exclude=["src/gen/"])
    assert scope.role("src/testing/harness.ts") == "source"
    assert scope.role("src/a/check_x.ts") == "test"
    assert scope.role("src/gen/x.ts") == "generated"
    assert scope.role("src/a.test.ts") == "test"
    assert scope.role("src/notes.md") == "data"
    assert scope.is_excluded("src/gen/x.ts")
    assert not scope.in_source("lib/x.ts")


def test_a_package_that_moves_in_the_window_stays_production():
    scope = SourceScope(source=["snakemake/"], tests=["tests/"])
    assert scope.is_production("snakemake/dag.py")
    assert scope.is_production("src/snakemake/dag.py")
    assert not scope.is_production("tests/dag.py")


def test_hand_patched_vendored_code_is_production_but_data_is_not():
    scope = SourceScope()
    assert scope.is_production("pkg/_vendor/idna/core.py")
    assert not scope.is_production("pkg/data.json")


def test_languages_by_ending():
    assert language_of("a/b.PY") == "python"
    assert language_of("x.mjs") == "javascript"
    assert language_of("x.d.ts") == "typescript"
    assert language_of("x.tsx") == "tsx"
    assert language_of("Makefile") is None


@pytest.mark.parametrize("key", sorted(LANGUAGES))
def test_every_grammar_parses(key):
    tree = parser_for(key).parse(b"x = 1\n")
    assert not tree.root_node.has_error
