"""Files that break readers: each is reported, none stops the graph or its neighbours."""

import random

import pytest
from graphs import calls
from hypothesis import given, settings
from hypothesis import strategies as st

from probe.code.graph import LARGEST, Source, build_callgraph, sources_of
from probe.code.languages import LANGUAGES
from probe.code.units import find_units

GOOD = b"def f(): g()\ndef g(): pass\n"


def statuses(files: dict[str, bytes]) -> dict[str, tuple[str, str | None]]:
    graph = build_callgraph(sources_of({"good.py": GOOD, **files}))
    assert [edge.callee.unit for edge in graph.edges if edge.caller.path == "good.py"] == ["g"]
    return {row.path: (row.status, row.reason) for row in graph.parsing if row.path != "good.py"}


def test_what_cannot_be_read_is_said():
    told = statuses(
        {
            "broken.py": b"def ok(): return 1\nclass (:\n",
            "huge.py": b"x = 1\n" * (LARGEST // 6 + 1),
            "min.js": b"function f(){return g()};" * 400,
            "binary.js": b"\0\1\2" * 50,
            "tokens.py": b"+ =\n" * 20_000,
            "open.js": b"{\n" * 200_000,
            "notes.xyz": b"text",
            "latin.py": "# Küche\ndef f():\n    return 'é'\n".encode("latin-1"),
            "utf16.py": "def f():\n    g()\ndef g(): pass\n".encode("utf-16"),
            "bom.py": b"\xef\xbb\xbfdef f(): pass\n",
            "empty.py": b"",
        }
    )
    assert told["broken.py"] == ("partial", "syntax that the grammar does not know, line 2")
    assert told["huge.py"][0] == "text"
    assert told["min.js"] == ("text", "minified: lines of more than 300 bytes on average")
    assert told["binary.js"] == ("text", "binary")
    assert told["tokens.py"] == ("text", "the parser gives up: hardly any python in it")
    assert told["open.js"] == ("text", "200000 brackets nested or left open, more than 6000")
    assert told["notes.xyz"] == ("text", "no grammar")
    assert {told[name] for name in ("latin.py", "utf16.py", "bom.py", "empty.py")} == {
        ("parsed", None)
    }


def test_a_file_in_another_encoding_has_its_calls():
    graph = build_callgraph(
        [Source("a.py", "def f():\n    g()\ndef g(): pass\n".encode("utf-16"), "python")]
    )
    assert [(edge.caller.unit, edge.callee.unit, edge.lines) for edge in graph.edges] == [
        ("f", "g", (2,))
    ]


def test_broken_code_keeps_the_calls_that_can_be_read():
    found = calls({"a.py": "def f():\n    g()\n\ndef g(): pass\n\ndef h(:\n    x = [1,\n"})
    assert "a.py:f -> a.py:g" in found


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("parens.py", "x = " + "(" * 2_900 + "f()" + ")" * 2_900 + "\ndef f(): pass\n"),
        ("many.py", "x = " + "(" * 20_000 + "f()" + ")" * 20_000 + "\ndef f(): pass\n"),
        ("calls.py", "def f(): pass\nx = " + "f(" * 3_000 + ")" * 3_000 + "\n"),
        ("chain.js", "function f() {}\nx" + "\n.f()" * 20_000 + "\n"),
        ("functions.js", "function f(){\n" * 2_000 + "}" * 2_000),
        ("arrays.ts", "const x = " + "[\n" * 2_900 + "]\n" * 2_900),
        ("elif.py", "def f(): pass\nif 1: pass\n" + "elif f(): pass\n" * 5_000),
        ("types.ts", "let x: " + "Promise<\n" * 3_000 + "A" + ">\n" * 3_000),
        ("dots.py", "x = a" + ".\\\nb" * 20_000 + "()\n"),
    ],
)
def test_deep_and_long_code_does_not_stop_it(name, text):
    graph = build_callgraph(sources_of({name: text.encode(), "good.py": GOOD}))
    assert [row.path for row in graph.parsing] == sorted([name, "good.py"])
    assert ("f", "g") in {(edge.caller.unit, edge.callee.unit) for edge in graph.edges}


def test_hopeless_text_has_no_units_and_does_not_hold_up_the_next():
    assert find_units("python", b"+ =\n" * 20_000) == []
    assert [unit.name for unit in find_units("python", GOOD)] == ["f", "g"]


def test_names_and_classes_that_go_round_in_circles_end():
    files = {
        "a.py": (
            "from b import *\nfrom b import B\nclass A(B): pass\nx = y\ny = x\nx.go()\n"
            "def f(): return g()\ndef g(): return f()\nf().go()\n"
            "class S(S): pass\nS().go()\n"
        ),
        "b.py": "from a import *\nfrom a import A\nclass B(A):\n    def go(self): self.go2()\n",
        **{f"c{n}.py": f"from c{n + 1} import f\n" for n in range(400)},
        "c400.py": "def f(): pass\n",
        "d.py": "from c0 import f\nf()\n",
    }
    assert build_callgraph(sources_of({p: t.encode() for p, t in files.items()})).parsing


def test_the_order_of_the_files_changes_nothing(tmp_path):
    files = {
        "a.py": "from b import B\nfrom c import make\nclass A(B):\n    def run(self): make().run()\n",
        "b.py": "class B:\n    def run(self): self.stop()\n    def stop(self): pass\n",
        "c.py": "import a, b\ndef make(): return a.A() if x else b.B()\n",
        "d.js": "import { e } from './e'\ne()\n",
        "e.js": "export const e = () => e()\n",
    }
    texts = [(path, text.encode()) for path, text in files.items()]
    first = build_callgraph(sources_of(dict(texts)))
    for seed in range(5):
        random.Random(seed).shuffle(texts)
        assert build_callgraph(sources_of(dict(texts))) == first


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(sorted(LANGUAGES)),
    st.binary(max_size=300) | st.text(max_size=300).map(str.encode),
)
def test_any_bytes_give_a_row_and_edges_inside_the_file(language, text):
    ending = LANGUAGES[language].endings[0]
    graph = build_callgraph(sources_of({"a" + ending: text}))
    (row,) = graph.parsing
    last = text.count(b"\n") + 1
    if row.status != "text" and text[:2] not in {b"\xff\xfe", b"\xfe\xff"}:
        assert row.units == len(find_units(language, text))
        for edge in graph.edges:
            assert edge.lines and 1 <= edge.lines[0] <= edge.lines[-1] <= last
    assert row.resolved <= row.calls
