"""Tab-separated configuration tables with a header: the inventory and the errata.

Read by hand rather than by a CSV parser: cells are never quoted, and every mistake must be named
with its line.
"""

from pathlib import Path

from probe.config.base import Section
from probe.config.names import suggestion
from probe.config.strict_yaml import read_utf8
from probe.errors import ConfigError

Row = tuple[int, dict[str, str]]
"""The 1-based line of a row, and its cells by column; empty ones are left out."""


def read_table(path: Path, shown: str, model: type[Section]) -> list[Row]:
    """All rows of a table whose columns are the fields of a model, in the file's order.

    Empty lines and lines that start with ``#`` are skipped; cells are stripped; cells missing at
    the end of a row are empty. A byte-order mark and Windows line ends do no harm.

    Args:
        path: the file.
        shown: how messages name it.
        model: what a row is; a column of a required field must be there.

    Raises:
        ConfigError: the file is missing, empty or not UTF-8; a column is unknown, missing or given
            twice; a row has too many cells.
    """
    lines = [
        (number, [cell.strip() for cell in line.split("\t")])
        for number, line in enumerate(read_utf8(path, shown).split("\n"), 1)
        if line.strip() and not line.startswith("#")
    ]
    if not lines:
        raise ConfigError(
            f"{shown}: is empty; expected a header line with the columns "
            f"{', '.join(model.model_fields)}"
        )
    (number, header), *rows = lines
    _check_header(header, f"{shown}:{number}", model)
    return [(line, _cells(header, cells, f"{shown}:{line}")) for line, cells in rows]


def _check_header(columns: list[str], where: str, model: type[Section]) -> None:
    known = model.model_fields
    for place, column in enumerate(columns):
        if column not in known:
            raise ConfigError(f"{where}: unknown column {column!r}{suggestion(column, known)}")
        if column in columns[:place]:
            raise ConfigError(f"{where}: column {column!r} is given twice")
    for column, field in known.items():
        if field.is_required() and column not in columns:
            raise ConfigError(f"{where}: column {column!r} is missing")


def _cells(header: list[str], cells: list[str], where: str) -> dict[str, str]:
    if len(cells) > len(header):
        raise ConfigError(
            f"{where}: {len(cells)} cells in {len(header)} columns; cells are separated by single "
            "tabs and cannot hold one"
        )
    return {column: cell for column, cell in zip(header, cells, strict=False) if cell}
