"""A pantry file under a locale that is not UTF-8."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from harness import load, verdict

load("stock")
SCRIPT = "import sys; from larder.stock import load_stock; print(ascii(load_stock(sys.argv[1]).entries[0].name))"
environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONPATH": "src"}
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "pantry.csv"
    path.write_text("name,amount,unit,expires,tags\ncr\u00e8me,1,l,,\n", encoding="utf-8")
    command = [sys.executable, "-S", "-B", "-W", "ignore", "-c", SCRIPT, str(path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
if done.returncode and "UnicodeDecodeError" not in done.stderr:
    raise SystemExit(done.stderr)
verdict(done.stdout.strip() != "'cr\\xe8me'", done.stdout or "UnicodeDecodeError")
