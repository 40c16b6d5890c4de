"""Variants: one row of the inventory at several snapshots (``sqlglot@2025-07``), kept apart.

A variant is a repository of its own to everything else: it has a folder, bugs and cells under its
own name. Only the row's other columns are shared, and the cache of bought answers.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Annotated

from pydantic import BeforeValidator, TypeAdapter, ValidationError, field_validator

from probe.config.base import Section, first_problem
from probe.config.inventory import Repository, commit_or_day, runs_backwards
from probe.config.names import VARIANT_MARK, SnapshotName, suggestion

_DATED = re.compile(r"\d{4}-\d{2}(-\d{2})?")
_NAMES: TypeAdapter[str] = TypeAdapter(SnapshotName)


def _as_text(value: object) -> object:
    # YAML reads an unquoted day as a date
    return value.isoformat() if isinstance(value, date) else value


End = Annotated[str | None, BeforeValidator(_as_text)]
"""An end of a window; None where something else says it."""


class Window(Section):
    """The snapshot of a variant, and where its window ends."""

    t0: End = None
    """The snapshot, as in `repositories.tsv`; needed unless the label is a month or a day, which
    then is T0 itself (a month: its first day)."""
    t1: End = None
    """The end of the window, as in `repositories.tsv`; that of the inventory's row where it is
    missing."""

    @field_validator("t0", "t1")
    @classmethod
    def _ends_are_known(cls, text: str | None) -> str | None:
        return None if text is None else commit_or_day(text)


class Inventory(Mapping[str, Repository]):
    """Repositories by name, variants among them: rows, declared variants, and any dated one.

    Iteration lists the rows, then the declared variants; a dated variant that nothing declares is
    found by its name.
    """

    def __init__(
        self, rows: Mapping[str, Repository], windows: Mapping[str, Window], defined_in: str
    ) -> None:
        """Take the rows and the declared windows; ask :meth:`why_not` whether these are sound.

        Args:
            rows: the inventory, in its order.
            windows: declared windows by the variant's name.
            defined_in: how messages name the inventory.
        """
        self.rows = rows
        self._windows = windows
        self._defined_in = defined_in

    def __getitem__(self, name: str) -> Repository:
        if name in self.rows:
            return self.rows[name]
        try:
            return self._variant(name)
        except ValueError as error:
            raise KeyError(name) from error

    def __iter__(self) -> Iterator[str]:
        yield from self.rows
        yield from self._windows

    def __len__(self) -> int:
        return len(self.rows) + len(self._windows)

    def why_not(self, name: str) -> str | None:
        """What is wrong with a name, and what to do, in a line; None for a sound one."""
        if name in self.rows:
            return None
        try:
            self._variant(name)
        except ValueError as error:
            return str(error)
        return None

    def _variant(self, name: str) -> Repository:
        """The row of a variant with its own window.

        Raises:
            ValueError: there is none, in words.
        """
        base, _, label = name.partition(VARIANT_MARK)
        if base not in self.rows:
            raise ValueError(self._unknown(name, base))
        try:
            _NAMES.validate_python(name)
        except ValidationError as error:
            raise ValueError(first_problem(error)[1]) from error
        row = self.rows[base]
        window = self._windows.get(name, Window())
        t0 = window.t0 or self._day(name, label)
        t1 = window.t1 or row.t1
        if runs_backwards(t0, t1) or t0 == t1:
            raise ValueError(
                f"t1 ({t1}) must come after t0 ({t0}); choose an earlier label, or give the "
                f"variant a later t1 under windows"
            )
        truth = row.truth if (t0, t1) == (row.t0, row.t1) else None
        return row.model_copy(update={"name": name, "t0": t0, "t1": t1, "truth": truth})

    def _day(self, name: str, label: str) -> str:
        """The day that a label means."""
        if not _DATED.fullmatch(label):
            hint = suggestion(name, [one for one in self._windows if one != name])
            near = hint if "did you mean" in hint else ""
            raise ValueError(
                f"variant {name!r} has no snapshot: its label is no month or day, and no t0 is "
                f"given under windows{near} (to give one: windows: {{{name}: {{t0: COMMIT or DAY}}}})"
            )
        day = label if len(label) == len("2025-07-01") else f"{label}-01"
        try:
            date.fromisoformat(day)
        except ValueError as error:
            raise ValueError(
                f"variant {name!r}: {label!r} is no month or day of the calendar"
            ) from error
        return day

    def _unknown(self, name: str, base: str) -> str:
        hint = suggestion(base, self.rows)
        of = "" if base == name else f" of variant {name!r}"
        return (
            f"unknown repository {base!r}{of}{hint} (repositories are defined in "
            f"{self._defined_in})"
        )
