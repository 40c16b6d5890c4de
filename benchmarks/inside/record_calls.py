"""Record which functions of a package call which, while its own tests run. Standard library only.

    python record_calls.py OUT.json PACKAGE_FOLDER pytest ARGUMENTS…

Runs in the project's own environment, under ``sys.setprofile``. A generator counts where it is first
resumed; frames of comprehensions and lambdas belong to the function around them. What is written:
edges as ``[caller path, caller line, callee path, callee line, callee name]`` with the first lines
of the functions (decorators included; 0 for a module's top level), and the executed functions.
"""

import inspect
import json
import runpy
import sys
import threading
from pathlib import Path
from types import CodeType, FrameType

_INNER = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<lambda>"}


class Recorder:
    """Collects pairs of code objects."""

    def __init__(self, folder: Path) -> None:
        self.prefix = str(folder.resolve()) + "/"
        self.pairs: set[tuple[CodeType, CodeType]] = set()
        self.seen: set[CodeType] = set()

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """The profile function."""
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(self.prefix):
            return
        self.seen.add(code)
        if code.co_flags & inspect.CO_GENERATOR and frame.f_lineno != code.co_firstlineno:
            return
        back = frame.f_back
        if back is not None and back.f_code.co_filename.startswith(self.prefix):
            self.pairs.add((back.f_code, code))

    def place(self, code: CodeType) -> tuple[str, int]:
        """Path inside the package and first line of a function; 0 for a top level."""
        line = 0 if code.co_name == "<module>" else code.co_firstlineno
        return code.co_filename.removeprefix(self.prefix), line

    def result(self) -> dict[str, list[list[object]]]:
        """All that was seen, sorted."""
        edges = {
            (*self.place(caller), *self.place(callee), callee.co_name)
            for caller, callee in self.pairs
            if callee.co_name not in _INNER and callee.co_flags & inspect.CO_OPTIMIZED
        }
        return {
            "edges": [list(edge) for edge in sorted(edges)],
            "executed": [list(place) for place in sorted({self.place(c) for c in self.seen})],
        }


def main() -> None:
    """Run the module under the recorder and write what it saw."""
    out, folder, module, *arguments = sys.argv[1:]
    recorder = Recorder(Path(folder))
    sys.argv = [module, *arguments]
    threading.setprofile(recorder)
    sys.setprofile(recorder)
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        print(f"{module} ended with {end.code}", file=sys.stderr)
    finally:
        sys.setprofile(None)
        Path(out).write_text(json.dumps(recorder.result()))


if __name__ == "__main__":
    main()
