from graphs import calls

from probe.code.languages import LANGUAGES, language_of
from probe.code.paths import path_role
from probe.code.streams import line_tokens
from probe.code.units import find_units

STORE = """package store

import "example.org/app/internal/disk"

type Base struct{ name string }

func (b *Base) Name() string { return b.name }

type Store struct {
	Base
	disk *disk.Disk
}

func New() *Store { return &Store{} }

func (s *Store) Save() error {
	s.check()
	return s.disk.Write()
}
"""


def test_units_of_go_carry_their_receiver():
    units = [(unit.name, unit.kind) for unit in find_units("go", STORE.encode())]
    assert units == [
        ("Base", "class"),
        ("Base.Name", "method"),
        ("Store", "class"),
        ("New", "function"),
        ("Store.Save", "method"),
    ]


def test_calls_across_packages_files_and_embedded_fields():
    found = calls(
        {
            "store/store.go": STORE,
            "store/check.go": "package store\nfunc (s *Store) check() { helper() }\nfunc helper() {}\n",
            "internal/disk/disk.go": "package disk\ntype Disk struct{}\nfunc (d *Disk) Write() error { return nil }\n",
            "main.go": (
                'package main\nimport ("fmt"; st "example.org/app/store")\n'
                "func main() {\n\ts := st.New()\n\ts.Save()\n\ts.Name()\n\tfmt.Println(s)\n}\n"
            ),
        }
    )
    assert found == {
        "main.go:main -> store/store.go:New": "certain module",
        "main.go:main -> store/store.go:Store.Save": "likely return",
        "main.go:main -> store/store.go:Base.Name": "likely return",
        "store/check.go:Store.check -> store/check.go:helper": "certain local",
        "store/store.go:Store.Save -> store/check.go:Store.check": "likely annotation",
        "store/store.go:Store.Save -> internal/disk/disk.go:Disk.Write": "likely attribute",
    }


def test_the_other_readers_know_go_by_its_plugin_alone():
    assert language_of("a/b.go") == "go"
    assert path_role("a/b_test.go") == "test"
    assert path_role("api/types.pb.go") == "generated"
    tokens = line_tokens("go", b'import "fmt"\n// why\nvar x = 1\n', [1, 2, 3])
    assert [{token.kind for token in tokens[line]} for line in (1, 2, 3)] == [
        {"import"},
        {"comment"},
        {"code"},
    ]
    assert LANGUAGES["go"].family == "go"
