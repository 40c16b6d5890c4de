"""How fast and how right the call graph is: ours against a bare parse, pyan3, PyCG and real calls.

    python benchmarks/callgraph.py                              PROBE's own sources, for any machine
    python benchmarks/callgraph.py REPOSITORY T0 --source GLOB  a snapshot of a real one (full hash)
    python benchmarks/callgraph.py … --peers PYTHON             also pyan3 and PyCG, which PYTHON has
    python benchmarks/callgraph.py … --trace CALLS.json --package NAME
                                     precision and recall against calls that ran, of Python sources

``inside/record_calls.py`` makes CALLS.json in the project's own environment. Times are processor
seconds, the best of ``--repeat`` runs taken in turn, each over the same texts in memory. Goal: call graph and plan take at
most 3 times a bare tree-sitter parse.

Against a trace: an edge counts between units of the given files. Precision is the share of a graph's
edges from executed callers that ran (a branch that no test takes counts as wrong, so it is a lower
bound, for all alike). Recall is the share of calls that ran and are in the graph; ``explicit`` leaves
out those that no call expression names: operators, iteration, properties. An edge to a class without
a constructor of its own stands for the one that it inherits, and is left out where it inherits none.
"""

import argparse
import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from probe.code.graph import build_callgraph, sources_of
from probe.code.languages import language_of, parser_for
from probe.code.languages.python import PythonModules
from probe.code.paths import SourceScope
from probe.code.project import Project
from probe.code.reading import read_facts
from probe.code.resolve import Resolver
from probe.code.units import find_units
from probe.git.process import run_git
from probe.records import SnapshotFile
from probe.snapshot.plan import build_plan

HERE = Path(__file__).resolve().parent
Edge = tuple[tuple[str, str], tuple[str, str]]
"""Path and qualified name of the caller and of the callee."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("repository", nargs="?", type=Path)
    parser.add_argument("t0", nargs="?")
    parser.add_argument("--source", nargs="*", default=[], help="globs of production code")
    parser.add_argument("--tests", nargs="*", default=[], help="globs of tests")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--peers", type=Path, help="an interpreter with pyan3 and PyCG installed")
    parser.add_argument("--trace", type=Path, help="what inside/record_calls.py wrote")
    parser.add_argument("--package", default="", help="folder whose calls were recorded")
    options = parser.parse_args()
    if options.repository and not options.t0:
        parser.error("a repository needs T0 (a full hash)")
    texts = read_texts(options.repository, options.t0, SourceScope(options.source, options.tests))
    print(speed(texts, options.repeat))
    peers = run_peers(texts, options.peers) if options.peers else {}
    for name, (seconds, edges) in peers.items():
        print(f"{name}: {seconds:.2f} s, {len(edges)} edges between units of these files")
    if options.trace:
        print(against_trace(texts, json.loads(options.trace.read_text()), options.package, peers))


def read_texts(repository: Path | None, t0: str | None, scope: SourceScope) -> dict[str, bytes]:
    """Production files that a plugin claims, by path."""
    if repository is None:
        root = HERE.parent / "scripts"
        found = {str(path.relative_to(root)): path for path in sorted(root.rglob("*.py"))}
        return {path: file.read_bytes() for path, file in found.items()}
    listed = run_git(repository, "ls-tree", "-r", "-z", "--name-only", t0 or "").decode()
    wanted = [
        path
        for path in listed.split("\0")
        if language_of(path) and scope.role(path) == "source" and scope.in_source(path)
    ]
    return {path: run_git(repository, "cat-file", "blob", f"{t0}:{path}") for path in wanted}


def speed(texts: dict[str, bytes], repeat: int) -> str:
    """A table of seconds and of multiples of a bare parse."""
    files = [described(path, text) for path, text in texts.items()]
    contenders: dict[str, Callable[[], object]] = {
        "a bare parse": lambda: bare_parse(texts),
        "call graph": lambda: build_callgraph(sources_of(texts)),
        "call graph and plan": lambda: build_plan(files, build_callgraph(sources_of(texts)).edges),
    }
    best: dict[str, float] = {}
    for _ in range(repeat):
        for name, contender in contenders.items():
            start = time.process_time()
            contender()
            best[name] = min(best.get(name, 1e9), time.process_time() - start)
    graph = build_callgraph(sources_of(texts))
    sizes = f"{len(texts)} files, {sum(map(len, texts.values())) / 1e6:.1f} MB"
    calls, resolved = (sum(getattr(p, f) for p in graph.parsing) for f in ("calls", "resolved"))
    lines = [
        f"{sizes}; {calls} calls, {resolved} resolved; {len(graph.edges)} edges",
        "",
        "| | seconds | × bare parse |",
        "|---|---|---|",
    ]
    bare = best["a bare parse"]
    lines += [f"| {name} | {took:.3f} | {took / bare:.2f} |" for name, took in best.items()]
    return "\n".join(lines)


def bare_parse(texts: dict[str, bytes]) -> None:
    """Parse every file and keep nothing."""
    for path, text in texts.items():
        parser_for(language_of(path) or "").parse(text)


def described(path: str, text: bytes) -> SnapshotFile:
    """A file as the planner knows it; tokens are taken as a quarter of the bytes."""
    return SnapshotFile(
        path=path, blob="0" * 40, size=len(text), language=language_of(path),
        lines=text.count(b"\n"), tokens=len(text) // 4, audited=True, reason=None,
    )  # fmt: skip


def run_peers(texts: dict[str, bytes], python: Path) -> dict[str, tuple[float, set[Edge]]]:
    """Seconds and edges of pyan3 and PyCG on the Python files; one that fails is said and left out."""
    found = {}
    with tempfile.TemporaryDirectory(prefix="probe-callgraph-") as folder:
        names = dotted_names(texts)
        for path, text in texts.items():
            (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / path).write_bytes(text)
        files = [path for path in texts if path.endswith(".py")]
        for tool in ("pyan3", "pycg"):
            command = [str(python), "-W", "ignore", str(HERE / "inside/other_graphs.py"), tool, "."]
            try:
                told = subprocess.run(
                    [*command, *files], cwd=folder, capture_output=True, text=True, timeout=280
                )
            except subprocess.TimeoutExpired:
                print(f"{tool}: no result in 280 s")
                continue
            if told.returncode:
                print(f"{tool}: {told.stderr.strip().splitlines()[-1]}")
                continue
            result = json.loads(told.stdout)
            pairs = ((names.get(a), names.get(b)) for a, b in result["edges"])
            found[tool] = (result["seconds"], {(a, b) for a, b in pairs if a and b})
    return found


def dotted_names(texts: dict[str, bytes]) -> dict[str, tuple[str, str]]:
    """Units of Python files by the dotted names that other tools give them."""
    found = {}
    modules = PythonModules([path for path in texts if path.endswith(".py")])
    for module, (path, *_) in modules.names.items():
        found[module] = (path, "")
        for unit in find_units("python", texts[path]):
            found[f"{module}.{unit.name}"] = (path, unit.name)
    return found


class Truth:
    """Calls that ran, between units of some files."""

    def __init__(self, texts: dict[str, bytes], calls: dict[str, list], package: str) -> None:
        self.units = {p: find_units("python", t) for p, t in texts.items() if p.endswith(".py")}
        prefix = package + "/" if package else ""
        rows = [(prefix + a, m, prefix + b, n, name) for a, m, b, n, name in calls["edges"]]
        rows = [row for row in rows if row[0] in self.units and row[2] in self.units]
        self.edges: dict[Edge, str] = {}
        for caller_path, caller, callee_path, callee, name in rows:
            edge = (self.unit(caller_path, caller), self.unit(callee_path, callee))
            if edge[1][1].rpartition(".")[2] == name:
                self.edges[edge] = name
        self.executed = {
            self.unit(prefix + path, line)
            for path, line in calls["executed"]
            if prefix + path in self.units
        }

    def unit(self, path: str, line: int) -> tuple[str, str]:
        """The innermost unit whose first line, or one of whose lines, this is."""
        around = [u for u in self.units[path] if u.first <= line <= u.last] if line else []
        inner = min(around, key=lambda u: (u.last - u.first, -u.first), default=None)
        return path, inner.name if inner else ""

    def explicit(self, texts: dict[str, bytes]) -> set[Edge]:
        """Calls of functions that a call expression can name."""
        found = set()
        for edge, name in self.edges.items():
            special = name.startswith("__") and name.endswith("__")
            path, unit = edge[1]
            fact = next(u for u in self.units[path] if u.name == unit)
            lines = texts[path].split(b"\n")[fact.first - 1 : fact.head_first]
            is_property = any(
                line.strip().startswith(b"@") and b"property" in line for line in lines
            )
            if not is_property and (not special or name == "__init__"):
                found.add(edge)
        return found


class Constructed:
    """Edges with classes replaced by the constructors that run when they are called."""

    def __init__(self, texts: dict[str, bytes]) -> None:
        facts = [
            read_facts(path, "python", text, parser_for("python").parse(text))
            for path, text in texts.items()
            if path.endswith(".py")
        ]
        self.project = Project(facts)
        self.resolver = Resolver(self.project)

    def edge(self, edge: Edge) -> Edge | None:
        """The edge as it runs; None where no function of these files runs."""
        caller, (path, name) = edge
        project = self.project
        number = project.unit_named(project.numbers[path], name) if name else None
        if number is None or project.units[number].unit.kind != "class":
            return edge if name else None
        made = self.resolver.class_member(number, "__init__")
        if not made or made[0].kind != "unit":
            return None
        where = project.files[project.file_of[made[0].number]].path
        return caller, (where, project.units[made[0].number].unit.name)

    def edges(self, edges: Iterable[Edge]) -> set[Edge]:
        """All of them."""
        found = (self.edge(edge) for edge in edges)
        return {edge for edge in found if edge is not None}


def against_trace(
    texts: dict[str, bytes], calls: dict[str, list], package: str, peers: dict
) -> str:
    """A table of precision and recall."""
    texts = {path: text for path, text in texts.items() if path.endswith(".py")}
    truth = Truth(texts, calls, package)
    ran, explicit = set(truth.edges), truth.explicit(texts)
    graph = build_callgraph(sources_of(texts))
    ranks = {"certain": 0, "likely": 1, "possible": 2}
    contenders: dict[str, set[Edge]] = {}
    for name, rank in (("certain", 0), ("and likely", 1), ("and possible", 2)):
        contenders[f"ours, {name}"] = {
            ((e.caller.path, e.caller.unit), (e.callee.path, e.callee.unit))
            for e in graph.edges
            if ranks[e.certainty] <= rank
        }
    made = Constructed(texts)
    contenders |= {name: edges for name, (_, edges) in peers.items()}
    lines = [
        f"{len(ran)} calls ran, {len(explicit)} of them explicit",
        "",
        "| | edges | precision | recall | recall, explicit |",
        "|---|---|---|---|---|",
    ]
    for name, edges in contenders.items():
        real = {e for e in made.edges(edges) if e[0] in truth.executed}
        right = len(real & ran)
        lines.append(
            f"| {name} | {len(real)} | {right / max(1, len(real)):.1%} ({right}) "
            f"| {right / max(1, len(ran)):.1%} "
            f"| {len(real & explicit) / max(1, len(explicit)):.1%} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
