"""Small projects as snapshots, and the agent of stage context with a script that a test writes."""

import hashlib
import io
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from asked import model_at

from probe.agent import AgentLimits
from probe.code.paths import SourceScope
from probe.context.listing import listing
from probe.context.sources import Sources
from probe.context.writer import Writing
from probe.models.prompts import load_prompt
from probe.records import CallEdge, SnapshotInfo
from probe.snapshot.calls import snapshot_callgraph
from probe.snapshot.files import FileLimits, list_files

ROOT = Path(__file__).parents[2]
PROMPT = ROOT / "prompts/context.j2"
LANGUAGES = frozenset({"python", "javascript", "typescript"})

PYTHON: dict[str, str] = {
    "README.md": """# larder [![build](https://img.example/x.svg)](https://ci.example)

<p align="center"><img src="logo.png"></p>

Larder keeps track of [what is in the kitchen](https://larder.example) and warns before it spoils.

## Features

- Reads stock lists in CSV, with a header line, in UTF-8.

## Usage

```python
from larder import Larder
Larder.load("stock.csv").due(days=3)
```

## Limitations

There is no support for several kitchens at once:

- two processes that write one list at the same time
- amounts in imperial units

Quantities are rounded down by design, so that a recipe is never promised too much.

## Contributing

Pull requests are not supported by phone.
""",
    "pyproject.toml": """[project]
name = "larder"
description = "Keeps track of the kitchen"
requires-python = ">=3.9"
classifiers = ["Operating System :: POSIX"]

[project.scripts]
larder = "larder.cli:main"
""",
    "larder/__init__.py": '''"""Stock lists and what to do about them."""

from larder.errors import LarderError
from larder.store import Larder, load as read_list

__all__ = ["Larder", "LarderError", "read_list"]
''',
    "larder/store.py": '''"""Stock lists: reading, writing, asking what is due."""

from larder._text import clean
from larder.errors import ListError


class Larder:
    """A stock list in memory."""

    def due(self, days: int = 3) -> list:
        """What spoils within some days."""
        # An unknown date is ignored on purpose: it would be due for ever.
        return [clean(one) for one in self.rows if one]

    def _secret(self):
        return None


def load(path):
    """Read a list.

    Compressed lists are not supported.
    """
    if path.endswith(".gz"):
        raise ListError("compressed lists are not supported")
    return Larder()
''',
    "larder/_text.py": "def clean(text):\n    return text.strip()\n",
    "larder/errors.py": '''class LarderError(Exception):
    """Anything that goes wrong here."""


class ListError(LarderError, ValueError):
    """A list cannot be read."""
''',
    "larder/cli.py": "from larder.store import load\n\n\ndef main():\n    print(load('x').due())\n",
    "larder/spare.py": "# Nothing here is called.\n\n\ndef orphan():\n    return 1\n",
    "tests/test_store.py": "# Testing is not supported here, on purpose and by design.\n",
    "CHANGELOG.md": "## 2.0\n\nKitchens on the moon are no longer supported, on purpose.\n",
}  # fmt: skip

NODE: dict[str, str] = {
    "package.json": json.dumps({
        "name": "@shelf/core",
        "description": "Shelves for things",
        "engines": {"node": ">=18"},
        "bin": {"shelf": "./dist/cli.js"},
        "exports": {
            ".": {"types": "./dist/index.d.ts", "import": "./dist/index.mjs"},
            "./labels": "./dist/labels/index.js",
            "./package.json": "./package.json",
        },
    }),
    "src/index.ts": "export { Shelf as default, Shelf } from './shelf.js'\nexport * from './util'\nexport type { Size } from './shelf'\n",
    "src/shelf.ts": "export interface Size { width: number }\n\n/** A board on a wall. */\nexport class Shelf {\n  put(thing: string): void {\n    check(thing)\n  }\n  private wobble() {}\n}\nfunction check(thing: string) { throw new TypeError('glass is not supported yet') }\n",
    "src/util.ts": "/** Turn it round. */\nexport const turn = (x: number) => -x\nexport default 3\n",
    "src/labels/index.ts": "import { turn } from '../util'\nexport { turn as rotate }\nexport class LabelError extends Error {}\n",
    "src/cli.ts": "import { Shelf } from './index'\nnew Shelf().put('x')\n",
    "README.rst": "shelf\n=====\n\nShelves for things of any size, and ``labels`` for them.\n",
}  # fmt: skip


def snapshot(folder: Path, files: Mapping[str, str | bytes], *, backwards: bool = False) -> Sources:
    """A snapshot of these files, as the workflow describes it."""
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / "source.tar"
    with tarfile.open(archive, "w") as tar:
        for path in sorted(files, reverse=backwards):
            text = files[path]
            data = text if isinstance(text, bytes) else text.encode()
            member = tarfile.TarInfo(path)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    info = SnapshotInfo(
        repo="larder",
        sha="1" * 40,
        tree="2" * 40,
        committer_time="2024-12-31T00:00:00Z",
        files=len(files),
        symlinks=(),
        escaping_symlinks=(),
        submodules=(),
        lfs_pointers=(),
        export_ignored=(),
        missing_blobs=(),
        archive_sha256=hashlib.sha256(archive.read_bytes()).hexdigest(),
    )
    described = list_files(archive, info, SourceScope(), LANGUAGES, FileLimits())
    return Sources(archive, reversed(described) if backwards else described)


def edges_of(sources: Sources) -> list[CallEdge]:
    return snapshot_callgraph(sources.archive, sources.files).edges


def writing(sources: Sources, url: str, engine: str, transcript: Path, **more: Any) -> Writing:
    """What the agent is to do; ``entry`` and ``limits`` besides the fields themselves."""
    limits = AgentLimits(**{"turns": 12, "command_s": 20, **more.pop("limits", {})})
    fields = {
        "sources": sources,
        "listing": listing(sources, edges_of(sources)),
        "prompt": load_prompt(PROMPT),
        "model": model_at(url, **more.pop("entry", {})),
        "engine": engine,
        "limits": limits,
        "tokens": 4_000,
        "transcript": transcript,
        "purpose": "context larder",
    }
    return Writing(**(fields | more))


def submission(**fields: Any) -> dict[str, Any]:
    """A document on ``PYTHON`` in which everything holds."""
    base = {
        "purpose": "Larder keeps track of a kitchen's stock for people who cook at home.",
        "overview": "Lists come in through `larder/store.py` and are held in memory.",
        "modules": [
            {"path": "larder/store.py", "role": "Owns the lists.", "reached": "Through `load`."},
            {"path": "larder", "role": "The package.", "reached": ""},
        ],
        "public_api": [
            {"name": "Larder.due()", "path": "larder/store.py", "does": "Takes days, gives rows."},
            {"name": "larder", "path": "pyproject.toml", "does": "The command."},
        ],
        "supported_inputs": [{"text": "CSV in UTF-8.", "paths": ["README.md"]}],
        "error_handling": [{"text": "ListError for a bad list.", "paths": ["larder/errors.py"]}],
        "intentional_deviations": [
            {
                "text": "Unknown dates are never due.",
                "path": "larder/store.py",
                "quote": "An unknown date is ignored on purpose",
            }
        ],
        "unsupported_features": [
            {
                "text": "Compressed lists.",
                "path": "larder/store.py",
                "quote": "Compressed lists are not supported.",
            }
        ],
    }
    return {**base, **fields}
