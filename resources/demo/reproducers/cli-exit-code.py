"""The exit code of a command that fails."""

import contextlib
import io
import tempfile
from pathlib import Path

from harness import load, verdict

with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
    path = Path(folder) / "bad.recipe"
    path.write_text("what is this", encoding="utf-8")
    seen = load("cli").main(["--config", str(Path(folder) / "none.ini"), "show", str(path)])
verdict(seen == 0, seen)
