"""The inventory of repositories (``repositories.tsv``): one row each, tab-separated, with a header."""

import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Self

from pathspec import PathSpec
from pydantic import Field, ValidationError, field_validator, model_validator

from probe.config.base import Section, Texts, dotted, first_problem
from probe.config.names import RepositoryName
from probe.config.runs import Languages
from probe.config.tables import read_table
from probe.errors import ConfigError

SERIES_PREFIX = "series:"
"""Prefix of a URL that names a bundled patch series instead of a repository."""

LISTS = frozenset({"languages", "source", "tests", "exclude"})
"""Columns whose cells hold several values, separated by commas."""

_URL = re.compile(r"^(https?|ssh|git|file)://(?P<authority>[^/]*)(/|$)")
_OTHER_SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*:(//|:)")
_SCP = re.compile(r"^[\w.-]+@[\w.-]+:[^/].*|^[\w.-]+@[\w.-]+:/.*")
_DAY = re.compile(r"^\d{4}-\d{2}-\d{2}$")
_COMMIT = re.compile(r"^[0-9a-f]{7,64}$")


def commit_or_day(text: str) -> str:
    """Check an end of a window, and return it in lower case.

    Raises:
        ValueError: it is neither a commit nor a day of the calendar.
    """
    if _DAY.match(text):
        try:
            date.fromisoformat(text)
        except ValueError as error:
            raise ValueError(f"{text!r} is no day of the calendar") from error
        return text
    if not _COMMIT.match(text.lower()):
        raise ValueError(
            f"found {text!r}, expected a commit (7 to 64 hexadecimal digits) or a date (YYYY-MM-DD)"
        )
    return text.lower()


def runs_backwards(t0: str, t1: str) -> bool:
    """Whether both ends are days, and the second is not after the first; commits only git knows."""
    return bool(_DAY.match(t0) and _DAY.match(t1)) and t1 <= t0


class Repository(Section):
    """A repository, its window, and which of its files count."""

    name: RepositoryName
    """Key of the repository; a folder under `results/`."""
    url: str = Field(min_length=1)
    """Where its history is: an https, ssh, git or file URL, a local path (relative to the
    workflow's root, `~` is your home), or `series:` and the folder of a bundled patch series."""
    branch: str | None = None
    """Branch whose first-parent line carries T0 and T1; empty for the default branch."""
    languages: Languages = Field(min_length=1)
    """Languages that are audited: `python`, `javascript`, `typescript`."""
    t0: str
    """The snapshot: a commit (at least 7 digits), or a date that means the last first-parent
    commit of the branch before that day, UTC."""
    t1: str
    """The end of the window, in the same form."""
    source: Texts = ()
    """Globs (as in .gitignore) of production files; empty for all code that is nothing else by its
    name."""
    tests: Texts = ()
    """Globs of tests, which win over `source`."""
    exclude: Texts = ()
    """Globs of generated and vendored files, which win over both."""
    licence: str | None = None
    """SPDX expression of the licence at T0."""
    truth: str | None = None
    """Folder of `truth.tsv` and `truth_bugs.tsv`, where somebody labelled the history; a path
    relative to the workflow's root."""
    notes: str | None = None
    """What a reader should know; not used by the workflow."""

    @field_validator("url")
    @classmethod
    def _safe_url(cls, url: str) -> str:
        known = _URL.match(url)
        if known and known["authority"].rpartition("@")[0] and not url.startswith("ssh://"):
            raise ValueError(
                "the URL holds a user name or password, which would end in logs and results; "
                "use an ssh URL or the path of a local clone"
            )
        if known or _SCP.match(url) or url.startswith(SERIES_PREFIX):
            return url
        # git runs a command for ext:: and the like, and reads a leading dash as an option
        if _OTHER_SCHEME.match(url) or url.startswith("-"):
            raise ValueError(
                f"found {url!r}, expected an https, ssh, git or file URL, a local path, "
                f"or {SERIES_PREFIX}FOLDER"
            )
        return url

    @field_validator("branch")
    @classmethod
    def _plain_branch(cls, branch: str | None) -> str | None:
        if branch is not None and (branch.startswith("-") or re.search(r"[\s~^:?*\[\\]", branch)):
            raise ValueError(f"{branch!r} is no branch name")
        return branch

    _ends_are_known = field_validator("t0", "t1")(commit_or_day)

    @field_validator("source", "tests", "exclude")
    @classmethod
    def _plain_globs(cls, globs: tuple[str, ...]) -> tuple[str, ...]:
        for glob in globs:
            _check_glob(glob)
        return globs

    @model_validator(mode="after")
    def _window_runs_forward(self) -> Self:
        if runs_backwards(self.t0, self.t1):
            raise ValueError(f"t1 ({self.t1}) must come after t0 ({self.t0})")
        return self


def read_inventory(path: Path, shown: str) -> dict[str, Repository]:
    """All repositories of the inventory by name, in the file's order.

    Args:
        path: the file; see :func:`probe.config.tables.read_table`.
        shown: how messages name it.

    Raises:
        ConfigError: the table cannot be read, or a row has a bad value or a name that another row
            has.
    """
    repositories: dict[str, Repository] = {}
    lines: dict[str, int] = {}
    for number, cells in read_table(path, shown, Repository):
        row = _row(cells, f"{shown}:{number}")
        if row.name in lines:
            raise ConfigError(
                f"{shown}:{number}: name: {row.name!r} is already in line {lines[row.name]}; "
                "give one of the two another name"
            )
        repositories[row.name] = row
        lines[row.name] = number
    return repositories


def _row(cells: Mapping[str, str], where: str) -> Repository:
    values = {column: _split(cell) if column in LISTS else cell for column, cell in cells.items()}
    try:
        return Repository.model_validate(values)
    except ValidationError as error:
        path, problem = first_problem(error)
        raise ConfigError(f"{where}: {dotted(path[:1]) or 'row'}: {problem}") from error


def _split(cell: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in cell.split(",") if part.strip())


def _check_glob(glob: str) -> None:
    if glob.startswith(("!", "#")) or ".." in glob.split("/") or re.search(r"[{}\\\0]", glob):
        raise ValueError(
            f"{glob!r} is no glob that PROBE takes; expected a pattern inside the repository such "
            "as src/** or *.min.js, without ! # .. \\ or braces"
        )
    try:
        PathSpec.from_lines("gitignore", [glob])
    except ValueError as error:
        raise ValueError(f"{glob!r} is no valid glob: {error}") from error
