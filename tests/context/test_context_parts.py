"""Prose, metadata, comments, exports and statements of projects, part by part."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from projects import NODE, PYTHON, edges_of, snapshot

from probe.context.api import methods, says, signature, surfaces_of
from probe.context.built import source_file
from probe.context.comments import comments_of, first_sentence, head_comment
from probe.context.manual import Manual
from probe.context.markup import blocks_of, sections_of, sentences
from probe.context.metadata import Package, read_packages
from probe.context.modules import reach_of
from probe.context.parsed import Code
from probe.context.statements import DEVIATIONS, UNSUPPORTED, code_statements, manual_statements


def pieces(path, text):
    return [(block.kind, block.text) for block in blocks_of(path, text)]


def test_markdown_without_badges_links_and_html():
    text = (
        "---\ntitle: x\n---\n<h1>tool</h1>\n[![ci](a.svg)](b) ![logo](c.png)\n\n"
        "A [tool](http://x) for **bold** `<b>tags</b>` &amp; more. <!-- not\nthis -->\n\n"
        "Section\n-------\n* one [thing][1]\n  goes on\n* two\n\n```js\n<!-- stays -->\nx = `{% y %}`\n```\n"
        "| a | b |\n|---|---|\n\n[1]: http://y\n\n> [!NOTE]\n> Beware.\n"
    )
    assert pieces("a.md", text) == [
        ("heading", "tool"),
        ("text", "A tool for bold `<b>tags</b>` & more."),
        ("heading", "Section"),
        ("item", "one thing goes on"),
        ("item", "two"),
        ("code", "<!-- stays -->\nx = `{% y %}`"),
        ("text", "Beware."),
    ]


def test_code_that_opens_a_script_tag_hides_nothing():
    """jsdom's README: a `<script>` in an example took a hundred lines with it."""
    text = "Load `<script>` here.\n\n```html\n<script>\n```\n\nOut of scope: layout.\n\n</script>\n"
    assert ("text", "Out of scope: layout.") in pieces("a.md", text)


def test_restructured_text_without_roles_and_directives():
    text = (
        "=====\nTitle\n=====\n\n.. image:: x.svg\n   :alt: no\n\n|badge| ``code`` and :func:`~a.b.run`, "
        "`docs <http://x>`_.\n\nPart\n----\n\n.. note::\n\n   Only one writer.\n\n.. code-block:: python\n"
        "   :linenos:\n\n   run()\n\nFor example::\n\n    shown()\n\nSub\n~~~\n\n- item\n  more\n"
    )
    assert pieces("a.rst", text) == [
        ("heading", "Title"),
        ("text", "`code` and `a.b.run`, docs."),
        ("heading", "Part"),
        ("text", "Only one writer."),
        ("code", "run()"),
        ("text", "For example:"),
        ("code", "shown()"),
        ("heading", "Sub"),
        ("item", "item more"),
    ]
    levels = [(one.heading, one.level) for one in sections_of(blocks_of("a.rst", text))]
    assert levels == [("", 0), ("Title", 1), ("Part", 2), ("Sub", 3)]


@given(
    st.text(alphabet="ab `~#*-=_<>![](){}%|.:\n\t\"'&;1é", max_size=300),
    st.sampled_from(["a.md", "a.rst"]),
)
def test_no_text_stops_the_readers(text, path):
    blocks = blocks_of(path, text)
    lines = text.count("\n") + 1
    assert all(1 <= block.line <= lines + 1 for block in blocks)
    assert [block.line for block in blocks] == sorted(block.line for block in blocks)
    for block in blocks:
        assert "".join("".join(sentences(block.text)).split()) == "".join(block.text.split())


def test_sentences_keep_abbreviations_together():
    text = "Use it, e.g. `This`. It works (mostly). See v1.2 of it! Does it?"
    assert sentences(text) == [
        "Use it, e.g. `This`.",
        "It works (mostly).",
        "See v1.2 of it!",
        "Does it?",
    ]


def test_metadata_of_python_in_all_its_files(tmp_path):
    ran = tmp_path / "ran"
    files = {
        "a/__init__.py": "x = 1\n",
        "setup.py": f"import pathlib\npathlib.Path({str(ran)!r}).touch()\nfrom setuptools import setup\n"
        "setup(name='a', description='From setup.py', python_requires='>=3.8', version=open('v').read(),\n"
        "      entry_points={'console_scripts': ['run-a = a:main']})\n",
        "setup.cfg": "[metadata]\nname = a\ndescription = file: README\n[options]\npython_requires = >=3.9\n",
        "pyproject.toml": "[build-system]\nrequires = ['setuptools']\n",
    }  # fmt: skip
    (package,), unread = read_packages(snapshot(tmp_path / "s", files))
    assert (package.name, package.description) == ("a", "From setup.py")
    assert (package.requires, package.commands) == (("Python >=3.9",), {"run-a": "a:main"})
    assert (unread, ran.exists()) == ([], False)


@pytest.mark.parametrize(
    ("path", "text", "reason"),
    [
        ("pyproject.toml", "[project\n", "pyproject.toml: "),
        ("setup.py", "setup(\n", "setup.py: "),
        ("setup.cfg", "name = x\n", "setup.cfg: "),
        ("package.json", "{,}", "package.json: "),
        ("setup.py", "(" * 3_000, "setup.py: "),
    ],
)
def test_broken_metadata_is_named_and_stops_nothing(tmp_path, path, text, reason):
    packages, unread = read_packages(snapshot(tmp_path, {"a.py": "x = 1\n", path: text}))
    assert packages == [] and len(unread) == 1 and unread[0].startswith(reason)


@pytest.mark.parametrize(
    "document",
    [
        "[]",
        "null",
        '{"exports": 3, "bin": [], "engines": "x", "name": {}}',
        '{"exports": {".": null}}',
    ],
)
def test_odd_package_files_are_no_fault(tmp_path, document):
    packages, unread = read_packages(
        snapshot(tmp_path, {"a.js": "x = 1\n", "package.json": document})
    )
    assert (unread, len(packages)) == ([], 1)
    assert packages[0].commands == {}


def test_metadata_of_tests_and_examples_does_not_count(tmp_path):
    inner = json.dumps({"name": "inner", "description": "no"})
    files = {**NODE, "tests/package.json": inner, "examples/a/package.json": inner}
    packages, _ = read_packages(snapshot(tmp_path, {**files, "examples/a/x.js": "x = 1\n"}))
    assert [one.name for one in packages] == ["@shelf/core"]


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("./dist/esm/index.mjs", "src/index.ts"),
        ("./lib/tool.min.js", "src/tool.ts"),
        ("dist/types/part/deep.d.ts", "src/part/deep.ts"),
        ("./dist/contrib/render.js", "contrib/render/render.js"),
        ("plain.js", "plain.js"),
        ("./dist/unknown.js", None),
    ],
)
def test_built_files_are_traced_to_their_sources(tmp_path, target, path):
    names = [
        "src/index.ts",
        "src/tool.ts",
        "src/part/deep.ts",
        "contrib/render/render.js",
        "plain.js",
    ]
    sources = snapshot(tmp_path, dict.fromkeys(names, "export const x = 1\n"))
    package = Package(source="package.json", kind="node", name="@a/b")
    assert source_file(sources, package, "./x", target) == path
    assert source_file(sources, package, ".", target) == (path or "src/index.ts")


def test_exports_of_python_are_followed_to_their_definition(tmp_path):
    sources = snapshot(tmp_path, PYTHON)
    code = Code(sources)
    root, *others = surfaces_of(sources, code, [])
    assert (root.title, root.path, root.is_root) == ("larder", "larder/__init__.py", True)
    found = {one.name: (one.path, one.unit and one.unit.name) for one in root.names}
    assert found == {
        "Larder": ("larder/store.py", "Larder"),
        "LarderError": ("larder/errors.py", "LarderError"),
        "read_list": ("larder/store.py", "load"),
    }
    assert "larder._text" not in {one.title for one in others}
    larder = next(one for one in root.names if one.name == "Larder")
    assert (signature(code, larder), says(code, larder)) == (
        "class Larder", "A stock list in memory.",
    )  # fmt: skip
    assert methods(code, larder) == ["due"]


def test_star_imports_and_lists_that_grow(tmp_path):
    files = {
        "src/p/__init__.py": "from p.a import *\nfrom .b import two as second\nfrom os import path\n",
        "src/p/a.py": "__all__ = ['one']\n__all__ += ['more']\n\ndef one(): pass\ndef more(): pass\ndef hidden(): pass\n",
        "src/p/b.py": "def two(): pass\n",
    }  # fmt: skip
    sources = snapshot(tmp_path, files)
    root = surfaces_of(sources, Code(sources), [])[0]
    assert {one.name for one in root.names} == {"one", "more", "second"}


def test_exports_of_node_packages_are_followed(tmp_path):
    sources = snapshot(tmp_path, NODE)
    code = Code(sources)
    packages, _ = read_packages(sources)
    root, labels = surfaces_of(sources, code, packages)
    assert (root.title, root.path) == ("@shelf/core", "src/index.ts")
    found = {one.name: (one.path, one.unit and one.unit.kind) for one in root.names}
    assert found == {
        "default": ("src/shelf.ts", "class"),
        "Shelf": ("src/shelf.ts", "class"),
        "turn": ("src/util.ts", "function"),
        "Size": ("src/shelf.ts", "type"),
    }
    assert (labels.title, {one.name for one in labels.names}) == (
        "@shelf/core/labels", {"rotate", "LabelError"},
    )  # fmt: skip
    shelf = next(one for one in root.names if one.name == "Shelf")
    assert (says(code, shelf), methods(code, shelf)) == ("A board on a wall.", ["put"])


def test_members_of_a_default_object_are_names_of_their_own(tmp_path):
    """KaTeX gives its functions away as the members of one object."""
    text = "const go = function(x) {};\nexport default {\n    /** Say it. */\n    go,\n    stop: go,\n};\n"
    files = {"package.json": '{"name": "k", "main": "index.js"}', "index.js": text}
    sources = snapshot(tmp_path, files)
    (root,) = surfaces_of(sources, Code(sources), read_packages(sources)[0])
    assert {"go", "stop"} <= {one.name for one in root.names}


def test_exports_that_go_round_in_circles_end(tmp_path):
    files = {
        "package.json": '{"name": "c", "main": "a.js"}',
        "a.js": "export * from './b'\nexport { x } from './b'\n",
        "b.js": "export * from './a'\nexport { x } from './a'\n",
    }
    sources = snapshot(tmp_path, files)
    surfaces_of(sources, Code(sources), read_packages(sources)[0])


def test_comments_are_joined_and_cleaned():
    text = "# one\n# two\nx = 1  # beside\n\n\ndef f():\n    '''Doc.\n\n    More.\n    '''\n"
    found = [(one.text, one.line, one.last, one.is_string) for one in comments_of("python", text)]
    assert found == [
        ("one\ntwo", 1, 2, False),
        ("beside", 3, 3, False),
        ("Doc.\n\n    More.", 7, 10, True),
    ]
    script = "// a\n// b\n/** c\n * d */\nconst x = 'no // comment'\n"
    assert [one.text for one in comments_of("javascript", script)] == ["a\nb", "c\nd"]


@pytest.mark.parametrize(
    ("language", "text", "said"),
    [
        ("python", '#!/usr/bin/env python\n# Copyright X\n"""Reads lists."""\n', "Reads lists."),
        ("python", "# About `f`.\ndef f(): pass\n", ""),
        ("python", "import os\n'''late'''\n", ""),
        (
            "javascript",
            "'use strict'\n/**\n * @module\n * Shelves.\n */\nimport a from 'a'\n",
            "Shelves.",
        ),
        ("javascript", "/* eslint-disable */\n\n// Turns.\n\nconst x = 1\n", "Turns."),
    ],
)
def test_what_a_file_says_at_its_top(language, text, said):
    assert first_sentence(head_comment(text, comments_of(language, text))) == said


def test_first_sentences_are_prose():
    assert first_sentence("## Heading\n\n.. include:: x\n\nReal :class:`a.B` words. More.") == (
        "Real `a.B` words."
    )
    assert first_sentence("https://example.com/spec#x") == ""
    assert first_sentence("word " * 100).endswith(" …")


def test_statements_of_the_manual_with_their_lists(tmp_path):
    manual = Manual(snapshot(tmp_path, PYTHON))
    missing = [(one.text, one.line) for one in manual_statements(manual, UNSUPPORTED)]
    assert missing[0] == (
        "There is no support for several kitchens at once: · two processes that write one list at the "
        "same time · amounts in imperial units",
        20,
    )
    told = [one.text for one in manual_statements(manual, DEVIATIONS)]
    assert told == [
        "Quantities are rounded down by design, so that a recipe is never promised too much."
    ]
    everything = " ".join([*told, *(text for text, _ in missing)])
    assert "phone" not in everything, "what contributors are told is not about the program"
    assert "moon" not in everything, "nor is the change log"


def test_statements_beside_the_code_with_their_units(tmp_path):
    sources = snapshot(tmp_path, PYTHON)
    code = Code(sources)
    (purpose,) = code_statements(sources, code, DEVIATIONS)
    assert purpose.text == "An unknown date is ignored on purpose: it would be due for ever."
    assert (purpose.path, purpose.line, purpose.unit) == ("larder/store.py", 12, "Larder.due")
    said = [(one.text, one.unit) for one in code_statements(sources, code, UNSUPPORTED)]
    assert said == [
        ("Compressed lists are not supported.", "load"),
        ("raises `ListError`: compressed lists are not supported", "load"),
    ]


@pytest.mark.parametrize(
    ("text", "wording"),
    [
        ("The median absolute deviation is the median of all deviations.", DEVIATIONS),
        ("Install it with pip install larder, which only supports wheels.", UNSUPPORTED),
        ("Is it possible that this is not supported by anybody here?", UNSUPPORTED),
    ],
)
def test_words_that_only_look_like_a_statement(tmp_path, text, wording):
    manual = Manual(snapshot(tmp_path, {"README.md": f"# x\n\n{text}\n", "a.py": "x = 1\n"}))
    assert manual_statements(manual, wording) == []


def test_translations_and_change_logs_are_no_manual(tmp_path):
    files = {
        "docs/guide.md": "# x\n\nWords.\n",
        "docs/zh-cn/guide.md": "# x\n",
        "docs/changelog.md": "# x\n",
        "docs/jp.md": "これは日本語の文書です。" * 20,
        "docs/img/x.md": "# x\n",
        "a.py": "x = 1\n",
    }
    manual = Manual(snapshot(tmp_path, files))
    assert [page.path for page in manual.pages] == ["docs/guide.md"]


def test_reach_follows_calls_from_public_names(tmp_path):
    sources = snapshot(tmp_path, PYTHON)
    code = Code(sources)
    reach = reach_of(edges_of(sources), surfaces_of(sources, code, []), Manual(sources))
    assert reach.words("larder/_text.py") == "reached from `Larder`"
    assert reach.words("larder/__init__.py") == "an entry point itself"
    assert reach.words("larder/spare.py") == "no call path from an entry point is seen"
    silent = reach_of([], surfaces_of(sources, code, []), Manual(sources))
    assert silent.words("larder/spare.py") == "", "without a call graph nothing is said"


@pytest.mark.parametrize(
    ("path", "piece"), [("a.md", "<!-- "), ("a.md", "[a]("), ("a.rst", ".. x::\n\n")]
)
def test_marks_that_never_end_do_not_hold_the_readers_up(path, piece):
    """Looking for each missing end to the end of the page would take minutes."""
    assert len(blocks_of(path, piece * (300_000 // len(piece)))) <= 1


def test_lists_that_never_end_do_not_hold_exports_up(tmp_path):
    sources = snapshot(tmp_path, {"a.py": "__all__ = [\n" * 40_000 + "def f(): pass\n"})
    surfaces_of(sources, Code(sources), [])
