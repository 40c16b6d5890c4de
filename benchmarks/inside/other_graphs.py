"""Call graphs of pyan3 and PyCG as pairs of dotted names; runs where these are installed.

    python other_graphs.py pyan3|pycg PACKAGE FILE…

Prints JSON: ``seconds`` for the analysis alone, ``edges``. The wheel of PyCG 0.0.8 has its folder
under another name than its own imports use; it is found under both.
"""

import importlib
import json
import logging
import sys
import time


def pyan3(package: str, files: list[str]) -> list[tuple[str, str]]:
    """The "uses" edges between functions, methods, classes and modules that are defined in the files."""
    from pyan.analyzer import CallGraphVisitor

    visitor = CallGraphVisitor(files, logger=logging.getLogger("pyan"))
    return [
        (caller.get_name(), callee.get_name())
        for caller, callees in visitor.uses_edges.items()
        for callee in callees
        if caller.defined and callee.defined
    ]


def pycg(package: str, files: list[str]) -> list[tuple[str, str]]:
    """All edges, external names included."""
    try:
        found = importlib.import_module("pycg.pycg")
    except ModuleNotFoundError:
        for name in ("", ".machinery", ".processing", ".utils"):
            sys.modules["pycg" + name] = importlib.import_module("PyCG" + name)
        found = importlib.import_module("pycg.pycg")
    from pycg.utils.constants import CALL_GRAPH_OP

    graph = found.CallGraphGenerator(files, package, -1, CALL_GRAPH_OP)
    graph.analyze()
    return [(caller, callee) for caller, callees in graph.output().items() for callee in callees]


def main() -> None:
    """Run one of them and print what it found."""
    tool, package, *files = sys.argv[1:]
    run = {"pyan3": pyan3, "pycg": pycg}[tool]
    start = time.perf_counter()
    edges = run(package, files)
    print(json.dumps({"seconds": time.perf_counter() - start, "edges": sorted(set(edges))}))


if __name__ == "__main__":
    main()
