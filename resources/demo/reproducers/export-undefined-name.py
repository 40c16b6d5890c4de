"""Exporting into a folder that cannot be made."""

import tempfile
from pathlib import Path

from harness import load, need, verdict

export = load("export")
need(export, "export_pages")
errors = load("errors")
recipe = load("recipe").parse_recipe("= Soup\n")
with tempfile.TemporaryDirectory() as folder:
    blocked = Path(folder) / "file"
    blocked.write_text("", encoding="utf-8")
    try:
        export.export_pages([recipe], blocked / "site")
    except NameError as error:
        verdict(True, error)
    except errors.ExportError:
        verdict(False, "ExportError")
verdict(True, "no error")
