"""The script that makes a Python environment inside a sandbox, and the little Python that it carries.

It runs without a network, from files that were checked before. A tool environment in /tmp holds pip
and the build requirements, so that only the project and what it needs end up in the environment.
"""

import json
import shlex

from probe.environment.python_project import Project
from probe.environment.recipe import MISMATCH, OVERLAY, PREFIX

HOME = f"{PREFIX}/python"
"""The environment itself, a venv."""
_TOOLS = "/tmp/probe-tools"  # noqa: S108 - a path inside
_PIP = "/tmp/probe-pip"  # noqa: S108

_EDITABLE = r'''
"""Build the project in /work as an editable wheel with its own build system (PEP 660)."""
import importlib, os, sys, tomllib

sys.path = [entry for entry in sys.path if entry not in ("", "/work")]
try:
    with open("pyproject.toml", "rb") as stream:
        build = tomllib.load(stream).get("build-system", {})
except FileNotFoundError:
    build = {}
sys.path[:0] = [os.path.join("/work", folder) for folder in build.get("backend-path", ())]
module, _, attribute = build.get("build-backend", "setuptools.build_meta:__legacy__").partition(":")
backend = importlib.import_module(module)
for name in filter(None, attribute.split(".")):
    backend = getattr(backend, name)
os.makedirs(sys.argv[1], exist_ok=True)
print(backend.build_editable(sys.argv[1]))
'''

_BY_HAND = r'''
"""Put the project on the path, with metadata of ours: for projects that cannot be built here."""
import json, os, sys, sysconfig

about = json.loads(sys.argv[1])
site = sysconfig.get_path("purelib")
folders = [folder for folder in about["folders"] if os.path.isdir(folder)] or ["/work"]
with open(os.path.join(site, "probe-project.pth"), "w") as stream:
    stream.write("".join(f"{folder}\n" for folder in folders))
info = os.path.join(site, f"{about['file']}-{about['version']}.dist-info")
os.makedirs(info, exist_ok=True)
metadata = ["Metadata-Version: 2.1", f"Name: {about['name']}", f"Version: {about['version']}"]
metadata += [f"Requires-Dist: {one}" for one in about["requirements"]]
points = {"console_scripts": about["scripts"], **about["points"]}
files = {
    "METADATA": "\n".join(metadata) + "\n",
    "INSTALLER": "probe\n",
    "RECORD": "",
    "entry_points.txt": "".join(
        f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in named.items()) for group, named in points.items()
    ),
}
for name, text in files.items():
    with open(os.path.join(info, name), "w") as stream:
        stream.write(text)
for name, target in about["scripts"].items():
    module, _, call = target.partition(":")
    path = os.path.join(sysconfig.get_path("scripts"), name)
    with open(path, "w") as stream:
        root = call.split(".")[0].split("[")[0].strip()
        stream.write(f"#!{sys.executable}\nimport sys\nfrom {module} import {root}\n")
        stream.write(f"sys.exit({call.split('[')[0].strip()}())\n")
    os.chmod(path, 0o755)
'''


def check_python(python: str) -> str:
    """Bash that stops where ``python3`` is another than the wheels were chosen for.

    Args:
        python: its version, ``3.11`` or longer.
    """
    short = ".".join(python.split(".")[:2])
    code = "import sys; print(*sys.version_info[:2], sep='.')"
    return (
        f'found=$(python3 -I -c "{code}") || found=none\n'
        f'[ "$found" = {short} ] || {{ echo "{MISMATCH} Python {short}, but here is $found" >&2; exit 1; }}\n'
    )


def install_script(
    project: Project | None, python: str, version: str, *, sources: bool, editable: bool
) -> str:
    """Bash that installs everything; see :class:`probe.environment.recipe.EcosystemRecipe`.

    It is given three arrays of files: ``wheels`` to install, ``sources`` to build and install, and
    ``tools``, the wheels of pip and of all build requirements.

    Args:
        project: the project at the root, None where it is no distribution.
        python: version of the interpreter.
        version: of the project, for metadata of ours.
        sources: whether there are sources to build.
        editable: whether the project's own build system installs it.
    """
    steps = [
        check_python(python),
        "export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1",
        "export PIP_NO_INDEX=1 PIP_NO_COMPILE=1 PIP_NO_INPUT=1 PIP_ROOT_USER_ACTION=ignore",
        "unset VIRTUAL_ENV",
        'for file in "${tools[@]}"; do case "$file" in */pip-[0-9]*) pip=$file;; esac; done',
        # run from its wheel pip would be compiled anew each time
        f'python3 -m zipfile -e "$pip" {_PIP}',
        f"python3 -m venv --without-pip {_TOOLS}",
        f"python3 -m venv --without-pip {HOME}",
        f'tool() {{ PATH={_TOOLS}/bin:$PATH {_TOOLS}/bin/python -I {_PIP}/pip --quiet "$@"; }}',
        f'into() {{ {HOME}/bin/python -I {_PIP}/pip --quiet install --no-deps --no-warn-script-location "$@"; }}',
        'tool install --no-deps --no-warn-script-location "${tools[@]}"',
    ]
    if sources:
        place = "/tmp/probe-wheels"  # noqa: S108
        steps.append(
            f'tool wheel --no-deps --no-build-isolation --wheel-dir {place} "${{sources[@]}}"'
        )
        steps.append(f"into {place}/*.whl")
    steps.append('[ "${#wheels[@]}" = 0 ] || into "${wheels[@]}"')
    if project is not None:
        steps += _project(project, version, editable)
    steps.append(
        f"{HOME}/bin/python -m compileall -q -j 2 --invalidation-mode unchecked-hash {HOME}/lib || true"
    )
    return "\n".join(steps) + "\n"


def _project(project: Project, version: str, editable: bool) -> list[str]:
    name = project.name or "project"
    about = {
        "name": name,
        "file": name.replace("-", "_").replace(".", "_"),
        "version": version,
        "folders": ["/work/src", "/work/lib"],
        "requirements": project.requirements,
        "scripts": project.scripts,
        "points": project.entry_points,
    }
    by_hand = f"{HOME}/bin/python -I -c {shlex.quote(_BY_HAND)} {shlex.quote(json.dumps(about))}"
    if not editable:
        return [by_hand]
    wheels = "/tmp/probe-editable"  # noqa: S108
    return [
        "touch /tmp/probe-stamp",
        f"if PATH={_TOOLS}/bin:$PATH {_TOOLS}/bin/python -c {shlex.quote(_EDITABLE)} {wheels} >&2; then",
        f"    into {wheels}/*.whl",
        "else",
        '    echo "PROBE: the project cannot be built here; its folders are put on the path" >&2',
        f"    {by_hand}",
        "fi",
        f"mkdir -p {OVERLAY}",
        "find . -newer /tmp/probe-stamp -type f -not -path '*/__pycache__/*' -not -path '*.egg-info/*' "
        f"-not -path './build/*' -exec cp --parents -t {OVERLAY} {{}} +",
    ]
