"""An include that leaves the template's folder."""

import tempfile
from pathlib import Path

from harness import load, verdict

template = load("template")
with tempfile.TemporaryDirectory() as folder:
    (Path(folder) / "secret.txt").write_text("secret", encoding="utf-8")
    (Path(folder) / "inner").mkdir()
    try:
        seen = template.Template("{% include ../secret.txt %}", Path(folder) / "inner").render()
    except load("errors").TemplateError:
        verdict(False, "TemplateError")
verdict(True, seen)
