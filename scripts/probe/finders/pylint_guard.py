"""Runs pylint so that nothing of the snapshot can be imported, and prints what it says as JSON.

Started as a program of its own (``python pylint_guard.py SNAPSHOT [pylint's arguments]``); it
imports nothing of PROBE. Pylint puts the snapshot's folders on ``sys.path`` to resolve imports by
reading files. Python would then import from there too: a compiled module of the snapshot, a module
named like one of the standard library that pylint loads late. So here

* imports are looked up along the path that Python started with, whatever ``sys.path`` says;
* an audit hook refuses to execute code, or to load a library, whose file lies in the snapshot;
* ``sys.path`` holds the standard library only, so that what is installed beside pylint does not
  change what it says about the snapshot.
"""

import json
import os
import sys
import sysconfig
from collections.abc import Sequence
from importlib.machinery import BuiltinImporter, FrozenImporter, ModuleSpec, PathFinder
from types import CodeType, ModuleType
from typing import Any


class StartPathFinder:
    """Finds top-level modules where Python found them at its start, and nowhere else."""

    def __init__(self, path: list[str]) -> None:
        self._path = path

    def find_spec(
        self, name: str, path: Any = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Part of the import protocol."""
        return PathFinder.find_spec(name, self._path if path is None else path, target)


def refuse_code_in(root: str) -> None:
    """Make executing a code object, or loading a library, from below ``root`` an error."""
    prefix = os.path.realpath(root) + os.sep

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "exec" and isinstance(arguments[0], CodeType):
            path: Any = arguments[0].co_filename
        elif event == "import":
            path = arguments[1]
        elif event == "ctypes.dlopen":
            path = arguments[0]
        else:
            return
        if isinstance(path, str) and os.path.realpath(path).startswith(prefix):
            raise PermissionError(f"refused to execute {path} of the snapshot")

    sys.addaudithook(hook)


def isolate(root: str) -> None:
    """Separate what Python imports from what pylint reads."""
    start = list(sys.path)
    sys.meta_path[:] = [BuiltinImporter, FrozenImporter, StartPathFinder(start)]
    stdlib = {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}
    real = {os.path.realpath(path) for path in stdlib}
    real |= {f"{path}{os.sep}lib-dynload" for path in real}
    sys.path[:] = [path for path in start if os.path.realpath(path) in real]
    refuse_code_in(root)


def run(root: str, arguments: list[str]) -> dict[str, Any]:
    """Pylint's messages, and name and description of the rules that were on before any file."""
    from pylint.lint import PyLinter, Run
    from pylint.reporters import CollectingReporter

    class IsolatedLinter(PyLinter):
        """Has loaded its own checkers and not yet looked at a file."""

        def check(self, files_or_modules: Sequence[str]) -> None:
            isolate(root)
            super().check(files_or_modules)

    class IsolatedRun(Run):
        LinterClass = IsolatedLinter

    reporter = CollectingReporter()
    linter = IsolatedRun(arguments, reporter=reporter, exit=False).linter
    enabled = [
        message
        for message in linter.msgs_store.messages
        if linter.is_message_enabled(message.msgid)
    ]
    return {
        "messages": [
            {
                "type": message.category,
                "symbol": message.symbol,
                "message": message.msg,
                "messageId": message.msg_id,
                "confidence": message.confidence.name,
                "module": message.module,
                "obj": message.obj,
                "line": message.line,
                "column": message.column,
                "endLine": message.end_line,
                "endColumn": message.end_column,
                "path": message.abspath,
            }
            for message in reporter.messages
        ],
        "rules": {message.symbol: message.description for message in enabled},
    }


def main() -> None:
    """Entry point."""
    root, *arguments = sys.argv[1:]
    json.dump(run(root, arguments), sys.stdout)


if __name__ == "__main__":
    main()
