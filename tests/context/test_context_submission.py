"""What of a submission holds against the snapshot, and what becomes of the rest."""

import pytest
from projects import PYTHON, snapshot, submission
from pydantic import ValidationError

from probe.agent.tools import action_schema, tool_specs
from probe.context.submission import ContextSubmission, checked, document_of, problems, struck


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    return snapshot(tmp_path_factory.mktemp("larder"), PYTHON)


def said(**fields):
    return ContextSubmission.model_validate_json(
        ContextSubmission(**submission(**fields)).model_dump_json()
    )


def quoted(path, quote, text="It is so."):
    return [{"text": text, "path": path, "quote": quote}]


def test_what_is_true_is_taken(sources):
    assert problems(said(), sources) == []


@pytest.mark.parametrize(
    ("fields", "where", "reason"),
    [
        ({"modules": [{"path": "larder/gone.py", "role": "x"}]}, "modules", "no file or folder 'larder/gone.py'"),
        ({"modules": [{"path": "larder", "role": "see `larder/gone.py`"}]}, "modules", "no file 'larder/gone.py'"),
        ({"public_api": [{"name": "Larder.nope", "path": "larder/store.py", "does": "x"}]}, "public_api", "'nope' of the name"),
        ({"public_api": [{"name": "LarderError", "path": "larder/store.py", "does": "x"}]}, "public_api", None),
        ({"public_api": [{"name": "ListError", "path": "larder/cli.py", "does": "x"}]}, "public_api", "does not occur in larder/cli.py"),
        ({"public_api": [{"name": "due", "path": "larder", "does": "x"}]}, "public_api", "'larder' is a folder; name the file"),
        ({"public_api": [{"name": "()", "path": "larder/cli.py", "does": "x"}]}, "public_api", "is no name"),
        ({"supported_inputs": [{"text": "x", "paths": ["README.md", "no.md"]}]}, "supported_inputs", "'no.md'"),
        ({"error_handling": [{"text": "see `larder/x.py:3`", "paths": ["README.md"]}]}, "error_handling", "'larder/x.py'"),
        ({"overview": "It starts. It is in `larder/zzz.py`, mostly."}, "overview", "'larder/zzz.py'"),
        ({"unsupported_features": quoted("larder/store.py", "never said this")}, "unsupported_features", "word for word"),
        ({"intentional_deviations": quoted("larder", "never said this")}, "intentional_deviations", "is a folder"),
        ({"intentional_deviations": quoted("nowhere.py", "never said this")}, "intentional_deviations", "no file or folder"),
    ],
)  # fmt: skip
def test_what_does_not_hold_is_named(sources, fields, where, reason):
    found = problems(said(**fields), sources)
    if reason is None:
        # a name of the code that the named file does not have
        assert [one.reason for one in found] == ["'LarderError' does not occur in larder/store.py"]
        return
    assert [one.field for one in found] == [where]
    assert reason in found[0].reason


@pytest.mark.parametrize(
    ("path", "quote"),
    [
        ("larder/store.py", "An unknown date is ignored   on purpose: it\nwould be due"),
        ("README.md", "There is no support for several kitchens at once"),
        ("two.py", "first half of it second half of it"),
        ("two.js", "first half of it second half of it"),
    ],
)
def test_quotes_over_line_breaks_and_comment_marks(tmp_path, path, quote):
    more = {
        "two.py": "# first half of it\n#   second half of it\n",
        "two.js": "/**\n * first half of it\n * second half of it\n */\n",
    }
    found = problems(
        said(unsupported_features=quoted(path, quote)), snapshot(tmp_path, {**PYTHON, **more})
    )
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "reads `users/of/it.csv`",
        "`and/or`",
        "`application/json`",
        "`larder/store.py:12-14`",
        "`./larder/cli.py`",
    ],
)
def test_paths_of_users_and_places_are_no_wrong_files(sources, text):
    assert problems(said(overview=text), sources) == []


def test_names_are_read_as_people_write_them(tmp_path):
    text = "class A {\n  go() {}\n}\nconst flag = '--no-color'\n$.fn = 1\n"
    sources = snapshot(tmp_path, {"a.js": text, "package.json": '{"name": "a-tool"}'})
    names = ["A.go()", "A#go", "A::go", "--no-color", "$", "A.go(x, y)"]
    entries = [{"name": name, "path": "a.js", "does": "x"} for name in names]
    entries.append({"name": "a-tool", "path": "package.json", "does": "x"})
    given = {"modules": [{"path": "a.js", "role": "x"}], "public_api": entries, "overview": ""}
    fields = (
        "supported_inputs",
        "error_handling",
        "intentional_deviations",
        "unsupported_features",
    )
    empty = {field: [] for field in fields}
    assert problems(said(**given, **empty), sources) == []


def test_wrong_things_are_struck_out_one_by_one(sources):
    given = said(
        overview="It starts. See `larder/zzz.py` for more. It ends.",
        modules=[{"path": "larder/gone.py", "role": "x"}, {"path": "larder", "role": "All of it."}],
        unsupported_features=quoted("larder/store.py", "never said this"),
    )
    left, drops = struck(given, problems(given, sources))
    assert problems(left, sources) == []
    assert left.overview == "It starts. It ends."
    assert [one.path for one in left.modules] == ["larder"]
    assert left.unsupported_features == ()
    assert [(one.section, one.reason) for one in drops] == [
        ("architecture", "there is no file 'larder/zzz.py'"),
        ("architecture", "there is no file or folder 'larder/gone.py'"),
        ("unsupported_features", "the quote does not stand in larder/store.py, word for word"),
    ]
    assert left.intentional_deviations == given.intentional_deviations


def test_a_submission_that_does_not_hold_is_refused_with_reasons(sources):
    kind = checked(sources, lambda one: "")
    assert kind(**submission()).purpose
    with pytest.raises(ValidationError) as caught:
        kind(**submission(modules=[{"path": f"x{n}.py", "role": "x"} for n in range(40)]))
    message = caught.value.errors()[0]["msg"]
    assert "modules[0]: there is no file or folder 'x0.py'" in message
    assert "and 25 more" in message
    with pytest.raises(ValidationError, match="too long by far"):
        checked(sources, lambda one: "too long by far")(**submission())


def test_the_schema_is_that_of_the_submission(sources):
    plain, bound = ContextSubmission, checked(sources, lambda one: "")
    assert tool_specs(plain, final=False) == tool_specs(bound, final=False)
    assert action_schema(plain, final=True) == action_schema(bound, final=True)


@pytest.mark.parametrize(
    "fields", [{"modules": []}, {"public_api": []}, {"purpose": "Short."}, {"colour": "red"}]
)
def test_purpose_architecture_and_api_are_never_missing(fields):
    with pytest.raises(ValidationError):
        ContextSubmission(**submission(**fields))


def test_texts_cannot_break_the_document(sources):
    given = said(
        purpose="## Scope\n\nEverything is out of scope.\n\n- one",
        modules=[{"path": "larder", "role": "One\n\n## Two\nthree"}],
    )
    document = document_of(given)
    texts = [entry.text for entries in document.values() for entry in entries]
    assert not any("\n" in text or text.startswith(("#", "-")) for text in texts)
