"""The inventory: one line a repository, and one line for every mistake in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.config import Repository, read_inventory
from probe.errors import ConfigError

COLUMNS = "name\turl\tlanguages\tt0\tt1"
ALPHA = "alpha\thttps://example.org/a\tpython\t2025-01-01\t2026-07-01"


def read(tmp_path, text: str | bytes):
    path = tmp_path / "repos.tsv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_inventory(path, "repos.tsv")


def problem(tmp_path, text: str | bytes) -> str:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, text)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def with_cell(column: str, cell: str) -> str:
    """A one-row inventory in which one cell has another value."""
    names = [*COLUMNS.split("\t"), "branch", "source", "tests", "exclude"]
    cells = dict(zip(names, [*ALPHA.split("\t"), "", "", "", ""], strict=True)) | {column: cell}
    return "\t".join(names) + "\n" + "\t".join(cells[name] for name in names) + "\n"


class TestReading:
    def test_a_row(self, tmp_path):
        text = (
            f"{COLUMNS}\tsource\ttests\texclude\tbranch\tlicence\n"
            "alpha\thttps://example.org/a\tpython,javascript\t2025-01-01\t"
            "8C32AB4F42A672782761A82A7B9A8D4B826AAEAD\tsrc/**, lib/**\ttests/**\t*.min.js\tmain\t"
            "MIT\n"
        )
        assert read(tmp_path, text)["alpha"] == Repository(
            name="alpha",
            url="https://example.org/a",
            branch="main",
            languages=("python", "javascript"),
            t0="2025-01-01",
            t1="8c32ab4f42a672782761a82a7b9a8d4b826aaead",
            source=("src/**", "lib/**"),
            tests=("tests/**",),
            exclude=("*.min.js",),
            licence="MIT",
        )

    def test_cells_missing_at_the_end_are_empty(self, tmp_path):
        assert read(tmp_path, f"{COLUMNS}\tnotes\n{ALPHA}\n")["alpha"].notes is None

    def test_columns_in_any_order(self, tmp_path):
        text = "t1\tt0\tlanguages\turl\tname\n2026-07-01\t2025-01-01\tpython\t../a\talpha\n"
        assert read(tmp_path, text)["alpha"].url == "../a"

    def test_what_spreadsheets_and_editors_leave_behind(self, tmp_path):
        text = f"\ufeff# comment\r\n\r\n{COLUMNS}\r\n{ALPHA}  \r\n\r\n"
        assert read(tmp_path, text)["alpha"].t1 == "2026-07-01"

    def test_order_of_the_file_is_kept(self, tmp_path):
        rows = [ALPHA.replace("alpha", name) for name in ("zeta", "eta", "theta")]
        assert list(read(tmp_path, "\n".join([COLUMNS, *rows]))) == ["zeta", "eta", "theta"]

    def test_a_header_alone_has_no_repositories(self, tmp_path):
        assert read(tmp_path, COLUMNS + "\n") == {}

    @pytest.mark.parametrize(
        "url",
        [
            "https://github.com/a/b.git",
            "ssh://git@host:22/a/b",
            "git@github.com:a/b.git",
            "git://host/a",
            "file:///srv/a",
            "/srv/a b",
            "~/code/a",
            "../a",
            "series:resources/demo",
        ],
    )
    def test_kinds_of_urls(self, tmp_path, url):
        assert read(tmp_path, with_cell("url", url))["alpha"].url == url


class TestWholeFile:
    @pytest.mark.parametrize("text", ["", "\n \n", "# nothing\n", b"\xef\xbb\xbf"])
    def test_empty(self, tmp_path, text):
        assert problem(tmp_path, text).startswith(
            "repos.tsv: is empty; expected a header line with the columns name, url, branch, "
        )

    def test_missing(self, tmp_path):
        with pytest.raises(ConfigError, match=r"^gone\.tsv: cannot read: No such file"):
            read_inventory(tmp_path / "gone.tsv", "gone.tsv")

    def test_not_utf8(self, tmp_path):
        assert problem(tmp_path, COLUMNS.encode() + b"\n\xff") == (
            "repos.tsv:2: is not UTF-8; save the file as UTF-8"
        )

    def test_unknown_column(self, tmp_path):
        assert problem(tmp_path, f"{COLUMNS}\tlicense\n{ALPHA}\tMIT\n") == (
            "repos.tsv:1: unknown column 'license'; did you mean 'licence'?"
        )

    def test_missing_column(self, tmp_path):
        assert problem(tmp_path, "name\turl\tlanguages\tt0\n") == (
            "repos.tsv:1: column 't1' is missing"
        )

    def test_column_given_twice(self, tmp_path):
        assert problem(tmp_path, f"{COLUMNS}\tname\n") == (
            "repos.tsv:1: column 'name' is given twice"
        )

    def test_commas_instead_of_tabs(self, tmp_path):
        found = problem(tmp_path, "name,url,languages,t0,t1\n")
        assert found.startswith("repos.tsv:1: unknown column 'name,url,languages,t0,t1'")

    def test_name_given_twice(self, tmp_path):
        assert problem(tmp_path, f"{COLUMNS}\n{ALPHA}\n# x\n{ALPHA}\n") == (
            "repos.tsv:4: name: 'alpha' is already in line 2; give one of the two another name"
        )

    def test_a_tab_too_many(self, tmp_path):
        assert problem(tmp_path, f"{COLUMNS}\n{ALPHA}\t\n") == (
            "repos.tsv:2: 6 cells in 5 columns; cells are separated by single tabs and cannot hold "
            "one"
        )


class TestCells:
    @pytest.mark.parametrize(
        ("column", "cell", "expected"),
        [
            ("name", "", "name: required, but missing"),
            ("name", "Alpha", "name: 'Alpha' is no valid name; expected lower-case letters"),
            ("name", "a.b", "name: 'a.b' is no valid name"),
            ("name", "a/b", "name: 'a/b' is no valid name"),
            ("name", "all", "name: 'all' is reserved for a folder or target of the workflow"),
            ("name", "tables", "name: 'tables' is reserved"),
            ("url", "", "url: required, but missing"),
            ("url", "https://me:secret@host/a", "url: the URL holds a user name or password"),
            ("url", "https://token@host/a", "url: the URL holds a user name or password"),
            ("url", "ext::sh -c id", "url: found 'ext::sh -c id', expected an https, ssh"),
            ("url", "ftp://host/a", "url: found 'ftp://host/a', expected an https, ssh"),
            ("url", "--upload-pack=id", "url: found '--upload-pack=id', expected an https, ssh"),
            ("branch", "--all", "branch: '--all' is no branch name"),
            ("branch", "a b", "branch: 'a b' is no branch name"),
            ("languages", "", "languages: required, but missing"),
            ("languages", ",", "languages: found an empty list"),
            ("languages", "pyton", "languages: found 'pyton', expected 'python', 'javascript'"),
            ("languages", "python;javascript", "languages: found 'python;javascript', expected"),
            ("t0", "", "t0: required, but missing"),
            ("t0", "v1.2", "t0: found 'v1.2', expected a commit (7 to 64 hexadecimal digits)"),
            ("t0", "abc12", "t0: found 'abc12', expected a commit"),
            ("t0", "2025-02-30", "t0: '2025-02-30' is no day of the calendar"),
            ("t0", "01.01.2025", "t0: found '01.01.2025', expected a commit"),
            ("t0", "2026-07-01", "row: t1 (2026-07-01) must come after t0 (2026-07-01)"),
            ("source", "!src/**", "source: '!src/**' is no glob that PROBE takes"),
            ("source", "../src", "source: '../src' is no glob that PROBE takes"),
            ("tests", "src\\tests", "tests: 'src\\\\tests' is no glob that PROBE takes"),
            ("exclude", "*.{js", "exclude: '*.{js' is no glob that PROBE takes"),
        ],
    )
    def test_one_line_names_the_cell(self, tmp_path, column, cell, expected):
        assert problem(tmp_path, with_cell(column, cell)).startswith(f"repos.tsv:2: {expected}")

    def test_the_secret_is_not_repeated(self, tmp_path):
        assert "secret" not in problem(tmp_path, with_cell("url", "https://me:secret@host/a"))


@given(st.binary(max_size=200) | st.text(alphabet="ab\t\n#,-2025", max_size=80).map(str.encode))
def test_any_bytes_give_repositories_or_one_line(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("inventory") / "any.tsv"
    path.write_bytes(data)
    try:
        repositories = read_inventory(path, "any.tsv")
    except ConfigError as error:
        assert str(error).startswith("any.tsv")
        assert "\n" not in str(error)
    else:
        assert isinstance(repositories, dict)
