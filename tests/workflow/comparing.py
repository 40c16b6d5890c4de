"""Comparing two builds: everything but what is measured or names a folder."""

import csv
import re
from pathlib import Path

_MEASURED = re.compile(r'("wall_s": ?)[0-9.e-]+')
_SKIPPED = {"history.git", "series.git", "benchmarks"}


def scrub(text: str) -> str:
    """Text without measured times."""
    return _MEASURED.sub(r"\1…", text)


def results_of(folder: Path) -> dict[str, str]:
    """Comparable content of every result, by path."""
    results = folder / "results"
    found = {}
    for path in sorted(results.rglob("*")):
        name = path.relative_to(results)
        if not path.is_file() or _SKIPPED & set(name.parts) or path.name.startswith("."):
            continue
        if path.suffix == ".tar":
            found[str(name)] = path.read_bytes().hex()
            continue
        text = scrub(path.read_text(encoding="utf-8")).replace(str(folder), "FOLDER")
        if path.name in {"usage.csv", "metrics.csv"} or path.name.endswith(".metrics.csv"):
            text = _without_column(text, "wall_s")
        found[str(name)] = text
    return found


def _without_column(text: str, column: str) -> str:
    rows = list(csv.reader(text.splitlines()))
    place = rows[0].index(column)
    return "\n".join(repr(row[:place] + row[place + 1 :]) for row in rows)
