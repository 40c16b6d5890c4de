"""How packages of a lock become folders: lists for a few lines of shell that run without a network.

The tree lies in the image, outside the project; the project's own ``node_modules`` are folders of links
into it. So they can be written to (caches of test runners), and opening a sandbox copies nothing.
"""

import os.path
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from probe.environment.node_lock import MODULES, Link, Lock, Placement
from probe.environment.node_registry import Published

ROOT = "/opt/probe-env/node"
"""Where everything of Node is inside: ``bin``, ``runtime`` and ``tree``."""
LISTS = ("places.tsv", "bins.tsv", "links.tsv", "folders.tsv")
"""Names of the lists among the artifacts, below ``node/``."""

INSTALL = f"""\
set -euo pipefail
root={ROOT}
lists=/artifacts/node
mkdir -p "$root/bin" "$root/tree"
unpack() {{
    mkdir -p "$2"
    tar -xzf "/artifacts/$1" --strip-components=1 --no-same-owner --no-same-permissions -C "$2"
}}
export -f unpack
unpack node/runtime.tgz "$root/runtime"
rm -rf "$root/runtime/include" "$root/runtime/share"
ln -sfn ../runtime/bin/node "$root/bin/node"
unpack node/npm.tgz "$root/npm"
for name in npm npx; do
    printf '#!/bin/sh\\nexec "%s/bin/node" "%s/npm/bin/%s-cli.js" "$@"\\n' "$root" "$root" "$name" >"$root/bin/$name"
    chmod +x "$root/bin/$name"
done
cd "$root/tree"
tr '\\t\\n' '\\0\\0' <"$lists/places.tsv" | xargs -0 -r -n 2 -P 4 bash -euc 'unpack "$1" "./$0"'
chmod -R u+rwX,go+rX "$root"
while IFS=$'\\t' read -r link target; do
    mkdir -p "${{link%/*}}"
    ln -sfn "$target" "$link"
done <"$lists/links.tsv"
while IFS=$'\\t' read -r link target; do
    mkdir -p "${{link%/*}}"
    [ -e "$link" ] || ln -s "$target" "$link"
    [ ! -f "${{link%/*}}/$target" ] || chmod +x "${{link%/*}}/$target"
done <"$lists/bins.tsv"
cp "$lists/folders.tsv" "$root/folders.tsv"
"$root/bin/node" --version
"""
"""Run with bash in a place without a network; artifacts at ``/artifacts``."""

SETUP = f"""\
while IFS= read -r folder; do
    mkdir -p "$folder"
    find "{ROOT}/tree/$folder" -mindepth 1 -maxdepth 1 -print0 | xargs -0 -r ln -sfn -t "$folder"
done <{ROOT}/folders.tsv
"""
"""Run in the project's folder of every new sandbox, before anything else."""


def places(lock: Lock, files: Mapping[Placement, str]) -> str:
    """``places.tsv``: a folder and the artifact that fills it."""
    return _lines((one.path, files[one]) for one in lock.placements if one in files)


def bins(placed: Mapping[Placement, Published]) -> str:
    """``bins.tsv``: a link in a ``.bin`` folder and what it leads to, relative to it."""
    rows = []
    for one, release in placed.items():
        head, _, name = one.path.rpartition(MODULES)
        for command, target in sorted(release.bins.items()):
            inside = os.path.normpath(f"{name}/{target}")
            if "/" not in command and command not in {"", ".", ".."} and inside.startswith(name):
                rows.append((f"{head}{MODULES}.bin/{command}", f"../{inside}"))
    return _lines(sorted(rows))


def links(found: Iterable[Link]) -> str:
    """``links.tsv``: links inside the tree stay inside; those to the project lead to ``/work``."""
    rows = []
    for link in found:
        if f"/{link.target}".find(f"/{MODULES}") >= 0:
            start = str(PurePosixPath(link.path).parent)
            rows.append((link.path, os.path.relpath(link.target, start)))
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
