"""Generated documentation: what is on disk is what the models say."""

import difflib
import json
from pathlib import Path

import jsonschema
import pytest

from probe import records
from probe.config import config_markdown, generate, schemas_by_name
from probe.config.document import DIALECT
from probe.config.runs import RUN_KINDS
from probe.config.settings import Settings

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("path", [p.relative_to(ROOT) for p in generate(ROOT)], ids=str)
def test_no_drift(path):
    expected = generate(ROOT)[ROOT / path]
    found = (ROOT / path).read_text(encoding="utf-8") if (ROOT / path).exists() else ""
    diff = "\n".join(
        difflib.unified_diff(
            found.splitlines(), expected.splitlines(), str(path), "generated", lineterm=""
        )
    )
    assert not diff, f"run `make docs` and commit the result:\n{diff}"


def test_no_schema_is_left_over():
    on_disk = {path.stem for path in (ROOT / "docs/schemas").glob("*.json")}
    assert on_disk == set(schemas_by_name())


def test_every_record_has_a_schema():
    assert {"commit", "bug", "finding", "pass_result", "usage", "cell_metrics"} <= set(
        schemas_by_name()
    )


@pytest.mark.parametrize("name", sorted(schemas_by_name()))
def test_schemas_are_valid_and_closed(name):
    schema = schemas_by_name()[name]
    assert schema["$schema"] == DIALECT
    jsonschema.Draft202012Validator.check_schema(schema)
    for part in [schema, *schema.get("$defs", {}).values()]:
        if "properties" in part:
            assert part["additionalProperties"] is False


@pytest.mark.parametrize(
    ("schema", "value", "valid"),
    [
        ("config", {"repositories": ["a"], "runs": ["b"]}, True),
        ("config", {"repositories": ["a"], "runs": ["b"], "x": 1}, False),
        ("config", {"repositories": ["a"], "runs": []}, False),
        ("config", {"repositories": ["a"], "runs": ["B"]}, False),
        ("runs", {"one": {"kind": "sarif", "path": "a"}}, True),
        ("runs", {"one": {"kind": "sarif", "tool": "a"}}, False),
        ("runs", {"One": {"kind": "sarif", "path": "a"}}, False),
        ("models", {}, True),
    ],
)
def test_schemas_accept_what_the_models_accept(schema, value, valid):
    validator = jsonschema.Draft202012Validator(schemas_by_name()[schema])
    assert validator.is_valid(value) is valid


def test_every_key_is_documented_with_a_meaning():
    rows = [line for line in config_markdown().splitlines() if line.startswith("| `")]
    assert all(line.split(" | ")[3].strip(" |") for line in rows)
    text = "\n".join(rows)
    for key in ("plan.token_budget", "reference.deduplicate.thresholds.title", "matching.engine"):
        assert f"| `{key}` |" in text


def test_every_attribute_has_a_docstring():
    models = [Settings, *RUN_KINDS.values()]
    models += [getattr(records, name) for name in ("Bug", "Finding", "PassResult", "Commit")]
    for model in models:
        undocumented = [k for k, field in model.model_fields.items() if not field.description]
        assert undocumented == [], model.__name__


def test_schemas_are_json_with_a_final_newline():
    for path, text in generate(ROOT).items():
        assert text.endswith("\n") and not text.endswith("\n\n")
        if path.suffix == ".json":
            assert json.loads(text)
