"""What a full session is told about its pass: sources, call graph, snippets within their budget."""

import re

from hypothesis import given
from hypothesis import strategies as st

from probe.code.tokens import count_tokens
from probe.records import Partner, Pass
from probe.snapshot.material import (
    NumberedFile,
    call_graph,
    numbered,
    partner_snippets,
    pass_material,
)
from probe.snapshot.snippets import MAX_CHARS, MAX_LINES


class Tree:
    """Texts by path."""

    def __init__(self, **texts):
        self.texts = {f"{name}.py": text for name, text in texts.items()}

    def text(self, path):
        return self.texts[path]


def partner(path, unit, first, last, *, calls=1, certainty="certain", into=("t.py:go",), sites=()):
    return Partner(
        path=path,
        unit=unit,
        first=first,
        last=last,
        calls=calls,
        certainty=certainty,
        into=into,
        sites=sites,
    )


def a_pass(files=("t.py",), callers=(), callees=(), found=None):
    return Pass(
        id="t",
        kind="individual",
        files=files,
        tokens=1,
        callers=callers,
        callees=callees,
        callers_found=found or len(callers),
        callees_found=len(callees),
        content_sha256="0" * 64,
    )


def function(name, lines):
    return [f"def {name}(x):", *[f"    x = x + {n}" for n in range(2, lines + 1)]]


SHORT = function("short", 4)
LONG = function("long", 200)
FILE = "\n".join([*SHORT, "", *LONG, "", "short(1)"])
"""short 1-4, long 6-205, a call at the top level in line 207."""


def test_the_call_graph_is_a_line_a_partner():
    callers = (
        partner(
            "a.py", "Box.run", 5, 9, calls=2, into=("t.py", "t.py:go", "t.py:stop"), sites=(6, 8)
        ),
        partner("a.py", "", 1, 99, certainty="possible", sites=(70,)),
    )
    callees = (partner("b.py", "help", 1, 3, calls=4, certainty="likely"),)
    assert call_graph(a_pass(callers=callers, callees=callees, found=7)) == (
        "Units of other files that call into these files, the 2 most important of 7:\n"
        "a.py:Box.run (5-9) calls top level, go, stop, on lines 6, 8\n"
        "a.py (top level) calls go, on line 70 (possible)\n"
        "\n"
        "Units of other files that these files call:\n"
        "b.py:help (1-3) is called by go, 4 times (likely)"
    )
    assert "calls t.py, t.py:go, t.py:stop, on" in call_graph(a_pass(("t.py", "u.py"), callers))
    assert call_graph(a_pass()) == ""


def test_long_lists_of_names_are_counted():
    many = partner("a.py", "f", 1, 90, into=tuple(f"t.py:u{n:02}" for n in range(11)),
                   sites=tuple(range(1, 41)))  # fmt: skip
    assert call_graph(a_pass(callers=(many,))).endswith(
        "calls u00, u01, u02, u03, u04, u05, u06, u07 and 3 more, "
        "on lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 28 more"
    )


def test_a_short_unit_is_whole_and_of_a_long_one_head_and_calls_are_shown():
    callers = (
        partner("a.py", "short", 1, 4, sites=(3,)),
        partner("a.py", "long", 6, 205, sites=(100, 205)),
        partner("a.py", "", 1, 207, sites=(207,)),
    )
    text, other = partner_snippets(a_pass(callers=callers), Tree(a=FILE))
    assert other == ""
    whole, cut, top = text.split("\n\n")
    assert whole == "\n".join(["a.py:short", *(f"{n}|{line}" for n, line in enumerate(SHORT, 1))])
    numbers = [int(n) for n in re.findall(r"^(\d+)\|", cut, re.MULTILINE)]
    assert numbers == [*range(6, 12), *range(96, 105), *range(201, 206)]
    assert cut.count("…") == 2
    assert top.split("\n")[1:] == [
        "203|    x = x + 198",
        "204|    x = x + 199",
        "205|    x = x + 200",
        "206|",
        "207|short(1)",
    ]


def test_a_callee_shows_its_head():
    text = partner_snippets(a_pass(callees=(partner("a.py", "long", 6, 205),)), Tree(a=FILE))[1]
    assert text.startswith("a.py:long\n6|def long(x):\n7|")
    assert text.endswith("\n29|    x = x + 24\n…")


def test_what_does_not_fit_is_cut_and_then_left_out():
    callees = tuple(partner("a.py", "long", 6, 205) for _ in range(5))
    one_pass = a_pass(callees=callees)
    least = partner_snippets(one_pass, Tree(a=FILE), 120)[1]
    assert least.count("a.py:long") == 1
    assert least.endswith("\n11|    x = x + 6\n…\n\n(4 more of them only in the call graph)")
    assert partner_snippets(one_pass, Tree(a=FILE), 0) == ("", "")
    shared = a_pass(callers=(partner("a.py", "short", 1, 4, sites=(3,)),), callees=callees)
    callers, rest = partner_snippets(shared, Tree(a=FILE), 600)
    assert callers  # callees would take all, but half is for callers
    assert rest


def test_odd_files_are_shown_as_far_as_they_go():
    texts = Tree(a="x = 1", wide="y" * 5000, odd="a\udc80b")
    callers = (
        partner("a.py", "gone", 7, 9, sites=(8,)),
        partner("wide.py", "", 1, 1, sites=(1,)),
        partner("odd.py", "f", 1, 1),
    )
    text, _ = partner_snippets(a_pass(callers=callers), texts)
    assert "a.py:gone\n1|x = 1" in text
    assert f"wide.py\n1|{'y' * MAX_CHARS}…" in text
    assert "odd.py:f\n1|a?b" in text


def test_the_material_holds_the_sources_as_the_finders_show_them():
    made = pass_material(
        a_pass(callees=(partner("a.py", "short", 1, 4),)), Tree(t="x\n\ny", a=FILE)
    )
    assert made.sources == (NumberedFile("t.py", "1|x\n2|\n3|y"),)
    assert made.call_graph.startswith("Units of other files that these files call")
    assert made.callers == ""
    assert made.callees.startswith("a.py:short\n1|def")
    assert numbered("a\nb", 9) == "9|a\n10|b"


SPANS = st.tuples(
    st.integers(1, 260), st.integers(0, 120), st.lists(st.integers(1, 260), max_size=9)
)


@given(st.lists(SPANS, max_size=8), st.lists(SPANS, max_size=8), st.integers(0, 2500))
def test_snippets_hold_the_budget_and_quote_the_file(callers, callees, budget):
    def partners(spans):
        return tuple(
            partner("a.py", f"u{first}", first, first + more,
                    sites=tuple(sorted({s for s in sites if first <= s <= first + more})))
            for first, more, sites in spans
        )  # fmt: skip

    made = partner_snippets(a_pass(callers=partners(callers), callees=partners(callees)), Tree(a=FILE),
                            budget)  # fmt: skip
    assert sum(map(count_tokens, made)) <= budget
    lines = FILE.split("\n")
    for text in made:
        for snippet in text.split("\n\n"):
            shown = re.findall(r"^(\d+)\|(.*)$", snippet, re.MULTILINE)
            assert len(shown) <= MAX_LINES
            assert all(lines[int(number) - 1] == line for number, line in shown)
