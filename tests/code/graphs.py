"""A call graph in a few words, for tests."""

from probe.code.graph import build_callgraph, sources_of


def calls(files: dict[str, str], certainty: str | None = None) -> dict[str, str]:
    """``a.py:f -> b.py:g`` and its certainty and way, of all edges or those of one certainty."""
    graph = build_callgraph(sources_of({path: text.encode() for path, text in files.items()}))
    return {
        f"{edge.caller.path}:{edge.caller.unit} -> {edge.callee.path}:{edge.callee.unit}": (
            f"{edge.certainty} {edge.way}"
        )
        for edge in graph.edges
        if certainty in {None, edge.certainty}
    }
