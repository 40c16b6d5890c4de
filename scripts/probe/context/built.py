"""Which source a built file comes from: package.json names what is published, not what is written.

Guessed by names, as no build is run: the output folders are taken away and the usual source folders
tried. A wrong guess names a file that is there, under a name like the one published.
"""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from probe.code.languages import language_of
from probe.context.metadata import Package
from probe.context.sources import Sources

_OUTPUT = {
    "dist", "build", "lib", "out", "output", "es", "esm", "cjs", "umd", "iife", "amd", "types", "typings", "node",
    "browser", "bundle", "min", "es6", "es2015", "module", "commonjs", "target", "webapi", "web", "_esm", "_cjs",
}  # fmt: skip
_ENDING = re.compile(r"(?:\.d)?\.[cm]?[jt]sx?$")
_FLAVOUR = re.compile(r"\.(?:min|esm|cjs|umd|es|prod|mjs)$")
_ENDINGS = (".ts", ".mts", ".tsx", ".js", ".mjs", ".cjs", ".jsx", ".cts", ".d.ts")
_FOLDERS = ("src", "lib", "source", "packages", "")


def source_file(sources: Sources, package: Package, place: str, target: str) -> str | None:
    """The source behind an entry point; None where none is like it.

    Args:
        sources: the snapshot.
        package: whose entry point it is.
        place: ``.`` or ``./sub``.
        target: the file that package.json names.
    """
    for candidate in _candidates(package, place, target):
        path = str(PurePosixPath(package.folder) / candidate)
        if path in sources and language_of(path) is not None:
            return path
    return None


def _candidates(package: Package, place: str, target: str) -> Iterator[str]:
    """Paths in the package's folder, the likeliest first."""
    plain = PurePosixPath(target.removeprefix("./"))
    if plain.parts and plain.parts[0] not in _OUTPUT:
        yield str(plain)
    folders, name = _inside(plain)
    for stem in dict.fromkeys([name, _FLAVOUR.sub("", name)]):
        if stem:
            yield from _written("/".join([*folders, stem]))
    if plain.parts:
        # plain JavaScript in `lib` is its own source
        yield str(plain)
        yield f"{plain}.js"
    short = package.name.rpartition("/")[2]
    own = ("index", short, "main", "mod", name.split(".")[0])
    for stem in own if place == "." else (place.removeprefix("./"),):
        if stem:
            yield from _written(stem)


def _inside(path: PurePosixPath) -> tuple[list[str], str]:
    """The folders inside the output folder, and the name without its endings."""
    folders = list(path.parts)
    name = _ENDING.sub("", folders.pop()) if folders else ""
    while folders and folders[0] in _OUTPUT:
        folders.pop(0)
    return folders, name


def _written(stem: str) -> Iterator[str]:
    last = stem.rpartition("/")[2]
    for folder in _FOLDERS:
        base = f"{folder}/{stem}" if folder else stem
        for form in (base, f"{base}/index", f"{base}/{last}"):
            for ending in _ENDINGS:
                yield form + ending
