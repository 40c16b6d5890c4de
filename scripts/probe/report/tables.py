"""Tables as CSV: one tidy row a record, empty fields for what is unknown."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar, get_args

from pydantic import BaseModel, ValidationError

from probe.errors import RecordError
from probe.records import write_text

R = TypeVar("R", bound=BaseModel)

_DIGITS = 6
"""Decimal places of rates in tables: enough for any count below a million."""


def write_csv(
    path: str | Path, columns: Sequence[str], rows: Iterable[Mapping[str, object]]
) -> None:
    """Write rows as CSV (RFC 4180 quoting, line feeds), atomically.

    None is an empty field; floats are rounded to six places; line breaks inside texts stay.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_field(row[column]) for column in columns])
    write_text(path, buffer.getvalue())


def write_records_csv(
    path: str | Path, model: type[BaseModel], records: Iterable[BaseModel]
) -> None:
    """Write flat records with the model's fields as columns; see :func:`write_csv`."""
    columns = list(model.model_fields)
    write_csv(path, columns, (record.model_dump() for record in records))


def read_records_csv(path: str | Path, model: type[R]) -> list[R]:
    """Read flat records that :func:`write_records_csv` wrote.

    Raises:
        RecordError: the file is missing, or a row is not such a record.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise RecordError(f"{path}: cannot read: {error.strerror}") from error
    optional = {
        name
        for name, field in model.model_fields.items()
        if type(None) in get_args(field.annotation)
    }
    records = []
    for number, row in enumerate(csv.DictReader(io.StringIO(text)), 2):
        values = {
            key: None if value == "" and key in optional else value for key, value in row.items()
        }
        try:
            records.append(model.model_validate(values))
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]
            where = ".".join(map(str, problem["loc"]))
            raise RecordError(f"{path}:{number}: {where}: {problem['msg']}") from error
    return records


def concatenate_csv(path: str | Path, parts: Sequence[str | Path]) -> None:
    """Write the rows of several CSV files with the same columns as one file, as they stand.

    Raises:
        RecordError: there are no files, one is empty, or their columns differ.
    """
    import pandas as pd

    frames = []
    for part in parts:
        try:
            frames.append(pd.read_csv(part, dtype=str, keep_default_na=False))
        except (OSError, ValueError) as error:
            raise RecordError(f"{part}: cannot read: {error}; delete it and run again") from error
        if list(frames[-1].columns) != list(frames[0].columns):
            raise RecordError(
                f"{part}: its columns differ from those of {parts[0]}; build it again"
            )
    if not frames:
        raise RecordError(
            f"{path}: the configuration has no cells: no run reads a repository's languages"
        )
    write_text(path, pd.concat(frames).to_csv(index=False, lineterminator="\n"))


def text_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns padded to their widest cell; numbers to the right, texts to the left."""
    cells = [list(columns), *[list(row) for row in rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    numeric = [all(_is_number(row[i]) for row in rows) for i in range(len(columns))]
    lines = []
    for row in cells:
        padded = [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric, strict=True)
        ]
        lines.append("  ".join(padded).rstrip())
    lines.insert(1, "  ".join("─" * width for width in widths))
    return "\n".join(lines)


def _field(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.{_DIGITS}f}".rstrip("0").rstrip(".")
    return value


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).replace("%", "").strip().isdigit() or text in {"", "–"}
