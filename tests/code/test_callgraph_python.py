from graphs import calls


def test_imports_aliases_and_reexports_lead_to_the_definition():
    found = calls(
        {
            "pkg/__init__.py": "from .core import build as make\nfrom .more import *\n",
            "pkg/core.py": "def build(): helper()\ndef helper(): pass\n",
            "pkg/more.py": "def extra(): pass\n_private = 1\n",
            "pkg/sub/__init__.py": "",
            "pkg/sub/deep.py": "from ..core import helper as h\ndef run():\n    h()\n",
            "app.py": (
                "import pkg\nimport pkg.core as c\nfrom pkg import make, extra\nimport pkg.sub.deep\n"
                "def main():\n    make()\n    extra()\n    c.helper()\n    pkg.make()\n"
                "    pkg.sub.deep.run()\n"
            ),
        }
    )
    assert found == {
        "app.py:main -> pkg/core.py:build": "certain import",
        "app.py:main -> pkg/core.py:helper": "certain module",
        "app.py:main -> pkg/more.py:extra": "certain import",
        "app.py:main -> pkg/sub/deep.py:run": "certain module",
        "pkg/core.py:build -> pkg/core.py:helper": "certain local",
        "pkg/sub/deep.py:run -> pkg/core.py:helper": "certain import",
    }


def test_packages_are_found_below_src_and_in_folders_without_init():
    found = calls(
        {
            "src/app/__init__.py": "",
            "src/app/run.py": "from app.tools import go\nfrom plain.mod import f\ngo()\nf()\n",
            "src/app/tools.py": "def go(): pass\n",
            "src/plain/mod.py": "def f(): pass\n",
        }
    )
    assert set(found) == {
        "src/app/run.py: -> src/app/tools.py:go",
        "src/app/run.py: -> src/plain/mod.py:f",
    }


def test_a_module_of_the_standard_library_is_not_a_file_of_the_same_name():
    files = {
        "pkg/__init__.py": "",
        "pkg/types.py": "def coroutine(f): pass\n",
        "pkg/a.py": "import types\nfrom json import loads\ntypes.coroutine(1)\nloads('')\n",
    }
    assert calls(files) == {}


CLASSES = """
class Base:
    def __init__(self): self.setup()
    def setup(self): pass
    def run(self): self.step()
    def step(self): pass
    @classmethod
    def make(cls): return cls()
    @property
    def table(self) -> "Table": return Table()

class Table:
    def find(self): pass

class Child(Base):
    def step(self):
        super().step()
        self.table.find()
    def other(self): self.absent()

def use(table: Table, many: "Table | None" = None):
    child = Child()
    child.run()
    table.find()
    many.find()
    Base.make().run()
    Child.setup(child)
"""


def test_methods_by_receiver_and_hierarchy():
    found = {edge.replace("m.py:", ""): how for edge, how in calls({"m.py": CLASSES}).items()}
    assert found == {
        "Base.__init__ -> Base.setup": "certain self",
        "Base.run -> Base.step": "likely self",
        "Base.run -> Child.step": "likely override",
        "Base.make -> Base.__init__": "likely self",
        "Base.table -> Table": "certain local",
        "Child.step -> Base.step": "certain super",
        "Child.step -> Table.find": "likely return",
        "use -> Child": "certain local",
        "use -> Base.run": "likely constructor",
        "use -> Table.find": "likely annotation",
        "use -> Base.make": "certain class",
        "use -> Base.setup": "certain class",
    }


def test_attributes_have_the_types_that_are_assigned_anywhere():
    found = calls(
        {
            "a.py": (
                "from b import Engine, start\n"
                "class Car:\n"
                "    engine: Engine\n"
                "    def __init__(self, spare: Engine):\n"
                "        self.spare = spare\n"
                "        self.third = start()\n"
                "    def go(self):\n"
                "        self.engine.run()\n"
                "        self.spare.stop()\n"
                "        self.third.check()\n"
            ),
            "b.py": (
                "class Engine:\n    def run(self): pass\n    def stop(self): pass\n"
                "    def check(self): pass\n"
                "def start():\n    made = Engine()\n    return made\n"
            ),
        },
    )
    assert found["a.py:Car.go -> b.py:Engine.run"] == "likely attribute"
    assert found["a.py:Car.go -> b.py:Engine.stop"] == "likely attribute"
    assert found["a.py:Car.go -> b.py:Engine.check"] == "likely attribute"


def test_decorators_run_where_the_function_is_defined():
    found = calls(
        {
            "a.py": (
                "from b import plain, factory\n"
                "@plain\ndef f(): pass\n"
                "class C:\n    @factory(1)\n    def g(self): pass\n"
            ),
            "b.py": "def plain(f): return f\ndef factory(n):\n    def wrap(f): return f\n    return wrap\n",
        }
    )
    assert found == {
        "a.py: -> b.py:plain": "certain decorator",
        "a.py:C -> b.py:factory": "certain import",
        "a.py:C -> b.py:factory.wrap": "certain decorator",
    }


def test_a_local_name_hides_the_function_of_the_module():
    found = calls(
        {
            "a.py": (
                "def go(): pass\n"
                "def f(go):\n    go()\n"
                "def g():\n    for go in []:\n        go()\n"
                "def h():\n    def go(): pass\n    go()\n"
                "def i(): go()\n"
            )
        }
    )
    assert found == {
        "a.py:h -> a.py:h.go": "certain local",
        "a.py:i -> a.py:go": "certain local",
    }


def test_a_rare_name_is_possible_and_a_common_or_frequent_one_is_not():
    files = {
        "a.py": "class A:\n    def rarely_named(self): pass\n    def append(self): pass\n    def often(self): pass\n",
        "b.py": "class B:\n    def often(self): pass\nclass C:\n    def often(self): pass\n",
        "c.py": "def f(x):\n    x.rarely_named()\n    x.append()\n    x.often()\n    'a'.rarely_named()\n",
    }
    assert calls(files) == {"c.py:f -> a.py:A.rarely_named": "possible name"}


def test_functions_handed_on_are_possible():
    files = {
        "a.py": "def key(x): pass\nTABLE = {'k': key}\ndef f(rows):\n    return sorted(rows, key=key)\n"
    }
    assert calls(files) == {
        "a.py: -> a.py:key": "possible callback",
        "a.py:f -> a.py:key": "possible callback",
    }


def test_overloads_and_setters_do_not_hide_the_function():
    files = {
        "a.py": (
            "from typing import overload\n"
            "@overload\ndef f(x: int) -> int: ...\n"
            "@overload\ndef f(x: str) -> str: ...\n"
            "def f(x): pass\n"
            "f(1)\n"
        )
    }
    from probe.code.graph import build_callgraph, sources_of

    (edge,) = build_callgraph(sources_of({p: t.encode() for p, t in files.items()})).edges
    assert edge.callee.first == 6
    assert edge.lines == (7,)


def test_names_beyond_ascii_keep_their_spelling():
    found = calls({"a.py": "class Größe:\n    def maß(self): pass\ndef f():\n    Größe().maß()\n"})
    assert set(found) == {"a.py:f -> a.py:Größe", "a.py:f -> a.py:Größe.maß"}
