"""The one reader of hand-made label files: tab-separated, with a header line."""

import csv
from pathlib import Path

from probe.errors import RecordError


def read_label_rows(path: str | Path, columns: tuple[str, ...]) -> list[tuple[int, dict[str, str]]]:
    """Line numbers (1-based) and cells by column, in the file's order.

    Raises:
        RecordError: the file cannot be read, or lacks one of ``columns``.
    """
    try:
        with Path(path).open(encoding="utf-8", newline="") as stream:
            reader = csv.DictReader(stream, delimiter="\t")
            missing = [name for name in columns if name not in (reader.fieldnames or ())]
            if missing:
                raise RecordError(f"{path}: column {missing[0]} is missing; see the labels' README")
            return [(reader.line_num, row) for row in reader]
    except OSError as error:
        raise RecordError(f"{path}: cannot read: {error.strerror}") from error
