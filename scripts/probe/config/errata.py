"""Errata (``errata.tsv``): reference bugs that a person withdrew or corrected, a row each.

They are data of the benchmark, not settings: read once with the configuration, checked to the cell,
and handed to the one rule that applies them, for each repository only its own rows.
"""

import datetime
import re
from pathlib import Path
from typing import Annotated, Literal, Self, get_args

from pydantic import Field, ValidationError, field_validator, model_validator

from probe.config.base import Section, dotted, first_problem
from probe.config.tables import read_table
from probe.config.windows import Inventory
from probe.errors import ConfigError
from probe.records import Location, Severity

_BUG = re.compile(r"(?P<repo>[^:\s]+):[0-9a-f]{12}-[1-9][0-9]*")
_PLACE = re.compile(r"(?P<path>.+):(?P<first>[0-9]+)-(?P<last>[0-9]+)")
_ESCAPE = re.compile(r"\\(.?)")
_ESCAPED = {"n": "\n", "t": "\t", "\\": "\\"}
_SEVERITIES: tuple[str, ...] = get_args(Severity)


class Erratum(Section):
    """A reference bug that is no defect of the snapshot, or of which something is wrong."""

    bug: str
    """Id of the bug: the first column of `bugs.csv`."""
    action: Literal["withdraw", "correct"]
    """`withdraw` takes the bug out, `correct` gives one of its fields another value."""
    field: (
        Literal["title", "description", "severity", "trigger", "primary", "suggested_fix"] | None
    ) = None
    """What is corrected; empty for `withdraw`."""
    value: str | None = None
    r"""The right value: text in which `\n` is a line break, `\t` a tab and `\\` a backslash; `low`,
    `medium`, `high` or `critical`; for `primary` a place in the snapshot, `path:first-last`. Empty
    for `withdraw`."""
    reason: str
    """Why, for readers of the benchmark."""
    date: Annotated[datetime.date, Field(strict=False)]
    """When it was decided, `2026-12-02`."""

    @property
    def repo(self) -> str:
        """Key of the repository, or of the variant, whose bug it is."""
        return self.bug.partition(":")[0]

    @property
    def place(self) -> Location:
        """The place that a correction of `primary` names.

        Raises:
            ValueError: the value names none.
        """
        return _place(self.value or "")

    @field_validator("bug")
    @classmethod
    def _names_a_bug(cls, bug: str) -> str:
        if not _BUG.fullmatch(bug):
            raise ValueError(
                f"found {bug!r}, expected the id of a bug, REPOSITORY:COMMIT-NUMBER, as in the "
                "first column of bugs.csv"
            )
        return bug

    @model_validator(mode="after")
    def _says_what_to_correct(self) -> Self:
        if self.action == "withdraw":
            if self.field is not None or self.value is not None:
                raise ValueError("a withdrawn bug has no field and no value; leave both empty")
            return self
        if self.field is None or self.value is None:
            raise ValueError("a correction needs a field and its value; fill both cells")
        if self.field == "severity" and self.value not in _SEVERITIES:
            raise ValueError(f"found severity {self.value!r}, expected {', '.join(_SEVERITIES)}")
        if self.field == "primary":
            _place(self.value)
        return self


def read_errata(path: Path, shown: str, repositories: Inventory) -> tuple[Erratum, ...]:
    """All errata, in the file's order; the later of two corrections of one field wins.

    Whether the bugs exist is known only when they have been built: the job says it.

    Args:
        path: the file; see :func:`probe.config.tables.read_table`.
        shown: how messages name it.
        repositories: the inventory with its variants.

    Raises:
        ConfigError: the table cannot be read; a cell has a bad value; a repository is unknown; a
            row is there twice, or is about a bug that an earlier one withdrew.
    """
    errata: dict[Erratum, int] = {}
    withdrawn: dict[str, int] = {}
    for number, cells in read_table(path, shown, Erratum):
        where = f"{shown}:{number}"
        erratum = _erratum(cells, where)
        problem = repositories.why_not(erratum.repo)
        if problem is not None:
            raise ConfigError(f"{where}: bug: {problem}")
        if erratum.bug in withdrawn:
            raise ConfigError(
                f"{where}: bug: {erratum.bug!r} is already withdrawn in line "
                f"{withdrawn[erratum.bug]}; remove one of the two rows"
            )
        if (first := errata.setdefault(erratum, number)) != number:
            raise ConfigError(f"{where}: the same row as line {first}; remove one of the two")
        if erratum.action == "withdraw":
            withdrawn[erratum.bug] = number
    return tuple(errata)


def _erratum(cells: dict[str, str], where: str) -> Erratum:
    try:
        if "value" in cells:
            cells["value"] = _ESCAPE.sub(_unescaped, cells["value"])
        return Erratum.model_validate(cells)
    except ValidationError as error:
        path, problem = first_problem(error)
        raise ConfigError(f"{where}: {dotted(path[:1]) or 'row'}: {problem}") from error
    except ValueError as error:
        raise ConfigError(f"{where}: value: {error}") from error


def _unescaped(match: re.Match[str]) -> str:
    if match[1] not in _ESCAPED:
        raise ValueError(
            f"found {match[0]!r}; write a backslash as \\\\, a line break as \\n, a tab as \\t"
        )
    return _ESCAPED[match[1]]


def _place(text: str) -> Location:
    found = _PLACE.fullmatch(text)
    if found is None:
        raise ValueError(f"found place {text!r}, expected path:first-last, such as src/a.py:10-12")
    try:
        return Location(path=found["path"], first=int(found["first"]), last=int(found["last"]))
    except ValidationError as error:
        raise ValueError(f"found place {text!r}: {first_problem(error)[1]}") from error
