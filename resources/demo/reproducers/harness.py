"""What every reproducer needs: the checkout's library, and one way to say what was seen.

A reproducer is started with a checkout's root as its working directory and ends with

- exit code 1 and a line ``BUG: …`` when the defect shows,
- exit code 0 and a line ``OK: …`` when it does not,
- exit code 2 and a line ``N/A: …`` when the checkout has no such feature.

Anything else (a traceback, another code) means that the reproducer itself is broken.
"""

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import NoReturn

sys.path.insert(0, str(Path.cwd() / "src"))


def end(code: int, word: str, what: str) -> NoReturn:
    """Print the verdict and leave."""
    print(f"{word}: {what}")
    raise SystemExit(code)


def load(*names: str) -> ModuleType:
    """The first module that the checkout has; several names for one that was renamed."""
    for name in names:
        try:
            return importlib.import_module(f"larder.{name}")
        except ModuleNotFoundError as error:
            if error.name not in (f"larder.{name}", "larder"):
                raise
    end(2, "N/A", f"no module {' or '.join(names)}")


def need(owner: object, name: str) -> None:
    """Leave when the checkout lacks an attribute."""
    if not hasattr(owner, name):
        end(2, "N/A", f"{getattr(owner, '__name__', owner)} has no {name}")


def verdict(broken: bool, seen: object) -> NoReturn:
    """Say whether the defect shows, and what was seen."""
    end(1 if broken else 0, "BUG" if broken else "OK", repr(seen))
