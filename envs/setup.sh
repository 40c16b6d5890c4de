#!/bin/sh
# Make .venv from envs/requirements.lock, every file checked against its hash; do nothing when it is up to date.
# PYTHON=python3.12 chooses the interpreter; uv is used when it is on the PATH, else pip.
set -eu
cd "$(dirname "$0")/.."
unset PYTHONPATH PYTHONHOME PIP_TARGET PIP_PREFIX PIP_REQUIRE_HASHES
export PIP_USER=0 PIP_NO_INPUT=1 PIP_DISABLE_PIP_VERSION_CHECK=1

command -v git >/dev/null || { echo "setup: git is missing; install it" >&2; exit 1; }

lock=envs/requirements.lock
venv=.venv

fail() {
    echo "setup: $*" >&2
    exit 1
}

# The interpreter behind a virtual environment, since the one that is active may be the one to replace.
base='import sys; sys.version_info >= (3, 11) or sys.exit(1); print(getattr(sys, "_base_executable", sys.executable))'

find_python() {
    for candidate in ${PYTHON:+"$PYTHON"} python3 python3.14 python3.13 python3.12 python3.11; do
        "$candidate" -c "$base" 2>/dev/null && return
    done
    fail "no Python 3.11 or newer among python3, python3.14 ... python3.11; install one, or name it: make PYTHON=/path/to/python3.11 ..."
}

make_venv() {
    python=$(find_python)
    if [ -e "$venv" ] && [ ! -e "$venv/pyvenv.cfg" ]; then
        fail "$venv exists but is no virtual environment; move it away"
    fi
    rm -rf "$venv"
    if ! "$python" -m venv "$venv" >/dev/null 2>&1; then
        rm -rf "$venv"
        command -v uv >/dev/null || fail "$python cannot make virtual environments; install its venv module (Debian: apt install python3-venv) or uv"
        uv venv --quiet --python "$python" "$venv"
    fi
}

install() {
    if command -v uv >/dev/null; then
        uv pip install --quiet --python "$venv/bin/python" "$@"
    else
        "$venv/bin/python" -m pip install -qq "$@"
    fi
}

# Scripts in .venv name it by its absolute path, so a moved checkout needs a new one.
wanted="$(git hash-object --no-filters "$lock") $(pwd -P)"
if ! "$venv/bin/python" -c '' 2>/dev/null || [ "$(cat "$venv/lock.stamp" 2>/dev/null)" != "$wanted" ]; then
    echo "setup: making $venv from $lock (a minute or two) ..." >&2
    make_venv
    install --require-hashes -r "$lock" || fail "could not install the packages of $lock; see the lines above"
    echo "$wanted" >"$venv/lock.stamp"
fi

wanted="$(git hash-object --no-filters pyproject.toml)"
if [ "$(cat "$venv/package.stamp" 2>/dev/null)" != "$wanted" ]; then
    install --no-deps --no-build-isolation --editable . || fail "could not install the package itself; see the lines above"
    echo "$wanted" >"$venv/package.stamp"
fi
