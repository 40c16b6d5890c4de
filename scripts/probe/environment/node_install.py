"""How packages of a lock become folders: lists for a few lines of shell that run without a network.

The tree lies in the image, outside the project; the project's own ``node_modules`` are folders of links
into it. So they can be written to (caches of test runners), and opening a sandbox copies nothing.
"""

import posixpath
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from probe.environment.node_lock import MODULES, Link, Lock, Placement
from probe.environment.node_registry import Published
from probe.environment.recipe import ARTIFACTS, OVERLAY, PREFIX

ROOT = f"{PREFIX}/node"
"""Where everything of Node is inside: ``bin``, ``runtime``, ``npm`` and ``tree``."""
PLACES, BINS, LINKS, FOLDERS = (
    f"node-{name}.tsv" for name in ("places", "bins", "links", "folders")
)
"""Names of the lists among the artifacts."""

INSTALL = rf"""mkdir -p {ROOT}/bin {ROOT}/tree
unpack() {{
    mkdir -p "$2"
    tar -xzf "{ARTIFACTS}/$1" --strip-components=1 --no-same-owner --no-same-permissions \
        --warning=no-unknown-keyword -C "$2"
    chmod -R u+rwX,go+rX "$2"
}}
export -f unpack
unpack "${{runtime[0]##*/}}" {ROOT}/runtime
rm -rf {ROOT}/runtime/include {ROOT}/runtime/share
ln -s ../runtime/bin/node {ROOT}/bin/node
{ROOT}/bin/node --version || {{ echo "PROBE: error: this Node needs glibc 2.28 and libstdc++ in the base image" >&2; exit 1; }}
unpack "${{npm[0]##*/}}" {ROOT}/npm
for name in npm npx; do
    printf '#!/bin/sh\nexec {ROOT}/bin/node {ROOT}/npm/bin/%s-cli.js "$@"\n' "$name" >{ROOT}/bin/$name
    chmod +x {ROOT}/bin/$name
done
cd {ROOT}/tree
tr '\t\n' '\0\0' <{ARTIFACTS}/{PLACES} | xargs -0 -r -n 2 -P 4 bash -euc 'unpack "$1" "./$0"'
while IFS=$'\t' read -r link target; do
    mkdir -p "${{link%/*}}"
    ln -sfn "$target" "$link"
done <{ARTIFACTS}/{LINKS}
while IFS=$'\t' read -r link target; do
    mkdir -p "${{link%/*}}"
    [ -e "$link" ] || ln -s "$target" "$link"
    [ ! -f "${{link%/*}}/$target" ] || chmod +x "${{link%/*}}/$target"
done <{ARTIFACTS}/{BINS}
while IFS= read -r folder; do
    mkdir -p "$folder" "{OVERLAY}/$folder"
    find "{ROOT}/tree/$folder" -mindepth 1 -maxdepth 1 -exec ln -s -t "{OVERLAY}/$folder" {{}} +
done <{ARTIFACTS}/{FOLDERS}
"""
"""Installs everything; see :class:`probe.environment.recipe.EcosystemRecipe`. Arrays: ``runtime`` and
``npm``, a file each."""


def places(lock: Lock, files: Mapping[Placement, str]) -> str:
    """``places.tsv``: a folder and the artifact that fills it."""
    return _lines((one.path, files[one]) for one in lock.placements if one in files)


def bins(placed: Mapping[Placement, Published], found: Iterable[Link] = ()) -> str:
    """``bins.tsv``: a link in a ``.bin`` folder and what it leads to, relative to it."""
    commands = {one.path: release.bins for one, release in placed.items()}
    standing = [*((path, path) for path in commands), *((one.path, one.target) for one in found)]
    rows = []
    for path, target in standing:
        head, _, name = path.rpartition(MODULES)
        for command, file in sorted(commands.get(target, {}).items()):
            inside = posixpath.normpath(f"{name}/{file}")
            if "/" not in command and command not in {"", ".", ".."} and inside.startswith(name):
                rows.append((f"{head}{MODULES}.bin/{command}", f"../{inside}"))
    return _lines(sorted(rows))


def links(found: Iterable[Link]) -> str:
    """``links.tsv``: links inside the tree stay inside; those to the project lead to ``/work``."""
    rows = []
    for link in found:
        if f"/{link.target}".find(f"/{MODULES}") >= 0:
            start = str(PurePosixPath(link.path).parent)
            rows.append((link.path, posixpath.relpath(link.target, start)))
        else:
            rows.append((link.path, f"/work/{link.target}".rstrip("/")))
    return _lines(sorted(rows))


def folders(lock: Lock) -> str:
    """``folders.tsv``: the project's ``node_modules`` folders that are to be filled with links."""
    paths = [one.path for one in lock.placements] + [link.path for link in lock.links]
    tops = {path[: f"/{path}".index(f"/{MODULES}")] + MODULES.rstrip("/") for path in paths}
    return _lines((top,) for top in sorted(tops))


def _lines(rows: Iterable[tuple[str, ...]]) -> str:
    return "".join("\t".join(row) + "\n" for row in rows)
