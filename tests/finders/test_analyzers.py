"""The analysers on small samples of ours: found, located, suppressed, skipped, not fooled."""

import json

import pytest

from probe.errors import FinderError
from probe.finders import oxlint, pylint, pyrefly, ruff
from probe.finders.base import get_finder

RULES = {
    "ruff": ["F821", "B006"],
    "pylint": ["undefined-variable", "dangerous-default-value"],
    "pyrefly": ["unknown-name", "unsupported-operation"],
    "oxlint": ["eslint/no-self-assign", "eslint/valid-typeof"],
}
PYTHON_TOOLS = ["ruff", "pylint", "pyrefly"]

PYTHON = '''"""A basket."""


def total(items=[]):
    """Sum of the items."""
    return sum(items) + shiping


def label(name: str) -> str:
    return name + 1
'''

SUPPRESSED = {
    "ruff": "print(shiping)  # noqa: F821\n",
    "pylint": "print(shiping)  # pylint: disable=undefined-variable\n",
    "pyrefly": "print(shiping)  # pyright: ignore\n",
    "oxlint": "let a = 1\n// eslint-disable-next-line no-self-assign\na = a\n",
}

JAVASCRIPT = """export function parse(value) {
  if (typeof value === 'strnig') {
    return value.trim()
  }
  value = value
  return value
}
"""

TYPESCRIPT = """export class Cache<K, V> {
  private held: Map<K, V> = new Map()

  get(key: K): V | undefined {
    const found = this.held.get(key)
    return typeof found === 'undefned' ? undefined : found
  }
}
"""


def settings(tool, **more):
    return {"tool": tool, "rules": RULES[tool], "ignore": [], "timeout_s": 60} | more


def run(tool, context):
    return get_finder("analyzer", tool).find(context)


def found(result):
    return [(f.path, f.first, f.rule) for f in result.findings]


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        ("ruff", [("shop/basket.py", 4, "B006"), ("shop/basket.py", 6, "F821")]),
        (
            "pylint",
            [
                ("shop/basket.py", 4, "dangerous-default-value"),
                ("shop/basket.py", 6, "undefined-variable"),
            ],
        ),
        (
            "pyrefly",
            [
                ("shop/basket.py", 6, "unknown-name"),
                ("shop/basket.py", 10, "unsupported-operation"),
            ],
        ),
    ],
)
def test_python_defects_are_found_where_they_are(make_context, tool, expected):
    files = {"shop/__init__.py": "", "shop/basket.py": PYTHON, "web/app.js": JAVASCRIPT}
    result = run(tool, make_context(files, settings(tool)))
    assert (result.status, result.error) == ("ok", None)
    assert found(result) == expected
    assert result.files_read == 2
    assert (result.files_skipped, result.rejected, result.oddities) == ((), (), {})
    last = result.findings[-1]
    assert last.snippet == PYTHON.splitlines()[last.first - 1]
    assert last.title and last.description.startswith(last.title[:10])


def test_javascript_and_typescript_defects_are_found(make_context):
    files = {"web/parse.js": JAVASCRIPT, "web/cache.ts": TYPESCRIPT, "tool.py": PYTHON}
    result = run("oxlint", make_context(files, settings("oxlint")))
    assert found(result) == [
        ("web/cache.ts", 6, "eslint(valid-typeof)"),
        ("web/parse.js", 2, "eslint(valid-typeof)"),
        ("web/parse.js", 5, "eslint(no-self-assign)"),
    ]
    assert result.files_read == 2
    assert result.findings[0].suggested_fix == 'Did you mean `"undefined"`?'
    assert result.findings[0].severity is None


@pytest.mark.parametrize("tool", RULES)
def test_what_a_comment_suppresses_is_left_out_and_counted(make_context, tool):
    name = "a.js" if tool == "oxlint" else "a.py"
    result = run(tool, make_context({name: SUPPRESSED[tool]}, settings(tool)))
    assert result.findings == ()
    assert result.suppressed == 1


@pytest.mark.parametrize("tool", RULES)
def test_a_file_with_a_syntax_error_is_skipped_and_named(make_context, tool):
    good = {"b.js": JAVASCRIPT} if tool == "oxlint" else {"b.py": PYTHON}
    bad = {"bad.ts": "const = ;\n"} if tool == "oxlint" else {"bad.py": "def (:\n"}
    result = run(tool, make_context(good | bad, settings(tool)))
    assert result.status == "ok"
    assert result.files_read == 1
    assert result.files_skipped == tuple(bad)
    assert {f.path for f in result.findings} == set(good)


@pytest.mark.parametrize("tool", PYTHON_TOOLS)
def test_a_file_that_is_not_utf8_is_skipped_or_read(make_context, tool):
    latin = '# -*- coding: latin-1 -*-\nname = "é"\n'.encode("latin-1")
    result = run(tool, make_context({"latin.py": latin, "ok.py": "x = 1\n"}, settings(tool)))
    assert result.status == "ok"
    assert result.files_skipped == (() if tool == "pylint" else ("latin.py",))


@pytest.mark.parametrize("tool", RULES)
def test_when_no_file_can_be_read_the_pass_has_failed(make_context, tool):
    bad = {"bad.ts": "const = ;\n"} if tool == "oxlint" else {"bad.py": "def (:\n"}
    result = run(tool, make_context(bad, settings(tool)))
    assert result.status == "failed"
    assert f"{tool} could read none of 1 files; bad." in result.error
    assert "\n" not in result.error


@pytest.mark.parametrize("tool", RULES)
def test_without_files_of_its_language_there_is_nothing_to_do(make_context, tool):
    other = {"a.py": PYTHON} if tool == "oxlint" else {"a.js": JAVASCRIPT}
    result = run(tool, make_context(other, settings(tool)))
    assert (result.status, result.files_read, result.findings) == ("ok", 0, ())


@pytest.mark.parametrize("tool", RULES)
def test_an_unknown_rule_fails_the_pass_in_one_line(make_context, tool):
    name = "a.js" if tool == "oxlint" else "a.py"
    rule = "eslint/no-such-rule" if tool == "oxlint" else "no-such-rule"
    result = run(tool, make_context({name: "\n"}, settings(tool, rules=[rule])))
    assert result.status == "failed"
    assert "no-such-rule" in result.error
    assert "\n" not in result.error
    assert result.files_read == 0


@pytest.mark.parametrize("tool", RULES)
def test_a_tool_that_never_ends_is_a_timeout(make_context, tool, tmp_path, monkeypatch):
    sleeper = tmp_path / "sleeper"
    sleeper.write_text("#!/bin/sh\nsleep 60\n")
    sleeper.chmod(0o755)
    module = {"ruff": ruff, "pylint": pylint, "pyrefly": pyrefly, "oxlint": oxlint}[tool]
    if tool == "pylint":
        monkeypatch.setattr(pylint.sys, "executable", str(sleeper))
    else:
        monkeypatch.setattr(module, "tool_path", lambda _: sleeper)
    name = "a.js" if tool == "oxlint" else "a.py"
    result = run(tool, make_context({name: "\n"}, settings(tool, timeout_s=0.1)))
    assert result.status == "timeout"
    assert result.files_timed_out == (name,)
    assert result.error == f"{tool} ran out of time on 1 files and read none"


@pytest.mark.parametrize("tool", RULES)
def test_two_runs_differ_in_their_time_only_wherever_the_snapshot_lies(make_context, tool):
    files = {"a.py": PYTHON, "b.js": JAVASCRIPT, "c.ts": TYPESCRIPT}
    texts = []
    for name in ("one", "elsewhere"):
        result = run(tool, make_context(files, settings(tool), name=name))
        texts.append(result.model_copy(update={"wall_s": 0.0}).model_dump_json())
        assert "/tmp" not in texts[-1]
    assert texts[0] == texts[1]
    assert result.provenance.engine == tool
    assert result.provenance.engine_version[0].isdigit()


HOSTILE = {
    "ruff": {"ruff.toml": 'lint.select = ["D"]\nexclude = ["*"]\n', ".gitignore": "*\n"},
    "pylint": {
        ".pylintrc": "[MAIN]\ninit-hook=open('pwned','w')\nload-plugins=evil\ndisable=all\n",
        "evil.py": "open('pwned', 'w')\n",
    },
    "pyrefly": {"pyrefly.toml": 'project-excludes = ["**/*"]\n[errors]\nunknown-name = false\n'},
    "oxlint": {
        ".oxlintrc.json": json.dumps({"rules": {"no-self-assign": "off", "valid-typeof": "off"}}),
        ".eslintignore": "*\n",
        ".gitignore": "*\n",
    },
}


@pytest.mark.parametrize("tool", RULES)
def test_the_snapshots_own_configuration_changes_nothing(make_context, tool):
    name, text = ("a.js", JAVASCRIPT) if tool == "oxlint" else ("a.py", PYTHON)
    context = make_context({name: text} | HOSTILE[tool], settings(tool))
    result = run(tool, context)
    assert [f.first for f in result.findings if f.path == name] == {
        "ruff": [4, 6], "pylint": [4, 6], "pyrefly": [6, 10], "oxlint": [2, 5],
    }[tool]  # fmt: skip
    assert not list(context.snapshot_root.rglob("pwned"))


@pytest.mark.parametrize("tool", RULES)
def test_nothing_is_written_into_the_snapshot(make_context, tool):
    context = make_context({"a.py": PYTHON, "b.js": JAVASCRIPT}, settings(tool))
    run(tool, context)
    assert sorted(p.name for p in context.snapshot_root.rglob("*")) == ["a.py", "b.js"]


def test_file_names_that_look_like_options_or_patterns_are_files(make_context):
    files = {"--help.py": PYTHON, "a[b]*.py": PYTHON, "with space.py": PYTHON, "é.py": PYTHON}
    for tool in PYTHON_TOOLS:
        result = run(tool, make_context(files, settings(tool), name=tool))
        assert {f.path for f in result.findings} == set(files)
    pages = {
        "--fix.js": JAVASCRIPT,
        "[id].js": JAVASCRIPT,
        "{a,b}.js": JAVASCRIPT,
        "é 1.js": JAVASCRIPT,
    }
    result = run("oxlint", make_context(pages, settings("oxlint"), name="pages"))
    assert {f.path for f in result.findings} == set(pages)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"rules": []}, "run 'tool': 'rules' is empty"),
        ({"rules": "F"}, "run 'tool': 'rules' is 'F'; expected a list"),
        ({"ignore": [1]}, r"'ignore' is \[1\]; expected a list"),
        ({"timeout_s": 0}, "'timeout_s' is 0; expected seconds above 0"),
        ({"timeout_s": None}, "'timeout_s' is None"),
    ],
)
def test_wrong_settings_are_refused(make_context, wrong, message):
    with pytest.raises(FinderError, match=message):
        run("ruff", make_context({"a.py": ""}, settings("ruff", **wrong)))


def test_a_category_of_oxlint_stands_for_its_rules(make_context):
    chosen = settings("oxlint", rules=["correctness"], ignore=["eslint/no-unused-vars"])
    result = run("oxlint", make_context({"a.js": JAVASCRIPT}, chosen))
    assert [f.rule for f in result.findings] == ["eslint(valid-typeof)", "eslint(no-self-assign)"]


def test_a_span_of_oxlint_over_several_lines_keeps_its_end(make_context):
    code = "export function* f() {\n  const é = 'ä'\n  return é\n}\n"
    chosen = settings("oxlint", rules=["eslint/require-yield"])
    result = run("oxlint", make_context({"a.js": code}, chosen))
    assert len(result.findings) == 1
    assert result.findings[0].first == 1
    assert result.findings[0].last in {1, 4}


def test_ignored_rules_are_left_out(make_context):
    for tool, rule in (("ruff", "F821"), ("pylint", "undefined-variable"),
                       ("pyrefly", "unknown-name")):  # fmt: skip
        context = make_context({"a.py": PYTHON}, settings(tool, ignore=[rule]), name=tool)
        assert rule not in {f.rule for f in run(tool, context).findings}


def test_pyrefly_resolves_imports_of_the_snapshot(make_context):
    files = {
        "src/shop/__init__.py": "",
        "src/shop/basket.py": "def total() -> str:\n    return ''\n",
        "src/shop/till.py": "from shop.basket import total\n\nx = total() - 1\n",
    }
    result = run("pyrefly", make_context(files, settings("pyrefly")))
    assert found(result) == [("src/shop/till.py", 3, "unsupported-operation")]
