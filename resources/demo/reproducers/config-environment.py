"""The environment wins over the file."""

import tempfile
from pathlib import Path

from harness import load, verdict

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "larder.ini"
    path.write_text("[larder]\nwidth = 60\n", encoding="utf-8")
    seen = load("config").Config(path, {"LARDER_WIDTH": "80"}).text("width")
verdict(seen != "80", seen)
