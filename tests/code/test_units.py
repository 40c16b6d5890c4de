from hypothesis import given
from hypothesis import strategies as st

from probe.code.languages import LANGUAGES
from probe.code.units import Unit, enclosing_unit, find_units

PYTHON = b'''import os

@register
class Reader(Base):
    """Reads."""

    table = {}

    @property
    async def rows(
        self,
        limit=lambda n: n,
    ):
        def inner():
            return 1
        return inner()


def free(): pass
'''


def names(language: str, text: bytes) -> list[tuple[str, str, int, int]]:
    return [(unit.name, unit.kind, unit.first, unit.last) for unit in find_units(language, text)]


def test_python_units_are_qualified_and_start_at_their_decorators():
    assert names("python", PYTHON) == [
        ("Reader", "class", 3, 16),
        ("Reader.rows", "method", 9, 16),
        ("Reader.rows.inner", "function", 14, 15),
        ("free", "function", 19, 19),
    ]


def test_the_head_of_a_unit_is_its_signature():
    reader, rows, _, free = find_units("python", PYTHON)
    assert (reader.head_first, reader.head_last) == (4, 4)
    assert (rows.head_first, rows.head_last) == (10, 13)
    assert (free.head_first, free.head_last) == (19, 19)


def test_javascript_functions_get_their_names_from_what_holds_them():
    text = b"""
export class A extends B {
  #secret = () => 1
  constructor(a) { this.a = a }
  get size() { return 1 }
}
export default function () {}
const f = async (c) => {
  function inner() {}
}
const table = { plain() {}, arrow: (x) => x, nested: { deep: function () {} } }
A.prototype.late = function () {}
module.exports.run = function () {}
"""
    assert [name for name, *_ in names("javascript", text)] == [
        "A",
        "A.#secret",
        "A.constructor",
        "A.size",
        "default",
        "f",
        "f.inner",
        "table.arrow",
        "table.nested.deep",
        "table.plain",
        "A.late",
        "module.exports.run",
    ]


def test_typescript_types_and_namespaces():
    text = b"""
namespace N {
  export function q(): void {}
}
interface I { a(): void }
type Pair<T> = [T, T]
enum E { A }
abstract class Q { abstract z(): void }
"""
    assert [(name, kind) for name, kind, *_ in names("typescript", text)] == [
        ("N.q", "function"),
        ("I", "type"),
        ("Pair", "type"),
        ("E", "type"),
        ("Q", "class"),
        ("Q.z", "method"),
    ]


def test_tsx_components():
    text = b"export const View = () => {\n  return <div onClick={() => go()} />\n}\n"
    assert names("tsx", text) == [("View", "function", 1, 3)]


def test_only_units_that_hold_wanted_lines_are_looked_for():
    assert [unit.name for unit in find_units("python", PYTHON, [15])] == [
        "Reader",
        "Reader.rows",
        "Reader.rows.inner",
    ]
    assert find_units("python", PYTHON, []) == []


def test_broken_code_still_has_its_units():
    assert [name for name, *_ in names("python", b"def ok():\n    return 1\n\ndef broken(:\n")][
        :1
    ] == ["ok"]
    assert find_units("javascript", b"") == []


def test_the_innermost_unit_encloses():
    units = [Unit("a", "class", 1, 10, 1, 1), Unit("a.b", "method", 3, 6, 3, 3)]
    assert enclosing_unit(units, 4) == units[1]
    assert enclosing_unit(units, 7) == units[0]
    assert enclosing_unit(units, 11) is None


def test_deeply_nested_code_does_not_exhaust_the_stack():
    text = b"x = " + b"(" * 3000 + b"1" + b")" * 3000 + b"\ndef f(): pass\n"
    assert isinstance(find_units("python", text), list)


@given(
    st.sampled_from(sorted(LANGUAGES)),
    st.binary(max_size=200) | st.text(max_size=200).map(str.encode),
)
def test_any_bytes_give_ordered_units_inside_the_text(language, text):
    last_line = text.count(b"\n") + 1
    units = find_units(language, text)
    assert all(1 <= u.first <= u.head_first <= u.last <= last_line for u in units)
    assert [u.first for u in units] == sorted(u.first for u in units)
