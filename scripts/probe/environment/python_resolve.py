"""Resolution as of a date, by uv: the newest releases that were there at T0 and fit together.

uv reads metadata only: with ``--no-build`` it never runs a package's build. It refuses an index that
gives no upload dates. It also refuses packages that exist as source only; :class:`NeedsSourceError`
names one, and the caller takes it out (``without``) and asks for what it needs in its place.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

from packaging.requirements import Requirement

from probe.environment.base import Machine, UnbuildableError
from probe.environment.downloads import without_secrets
from probe.environment.python_locks import Pin, marker_values, read_pins
from probe.errors import ProbeError

_TIMEOUT_S = 600
_GLIBCS = (17, 28, *range(31, 41))
"""Versions 2.n for which uv knows a platform."""
_MUSL = "unknown-linux-musl"
_KEPT = ("HOME", "PATH", "TMPDIR", "LANG", "SSL_CERT_FILE", "SSL_CERT_DIR")
_NETWORK = re.compile(
    r"Failed to fetch|error sending request|dns error|connection (?:refused|reset)|timed out|"
    r"client error|operation timed out",
    re.IGNORECASE,
)
_SOURCE_ONLY = re.compile(r"Wheels are required for `([^`]+)`")
_NO_DATES = re.compile(r"missing an upload date|upload[- ]time", re.IGNORECASE)


class NeedsSourceError(UnbuildableError):
    """A package that is needed exists as source only."""

    def __init__(self, message: str, package: str) -> None:
        super().__init__(message)
        self.package = package


@dataclass(frozen=True)
class Resolver:
    """How to resolve, whatever is asked."""

    machine: Machine
    """For which interpreter and platform."""
    cutoff: datetime
    """Nothing uploaded later is seen."""
    index: str
    """Address of the package index."""
    cache: Path
    """Folder of uv's own cache."""

    def resolve(
        self,
        wanted: Iterable[Requirement],
        constraints: Iterable[Pin] = (),
        without: Iterable[str] = (),
    ) -> tuple[Pin, ...]:
        """Releases that fulfil all of these, with the hashes of their files.

        Args:
            wanted: what is asked for; requirements of the same package are joined.
            constraints: releases that are taken where their package is needed.
            without: packages that are left out wherever they are needed.

        Raises:
            NeedsSourceError: a package that is needed exists as source only.
            UnbuildableError: nothing that was there at the cut-off fulfils them.
            ProbeError: the index cannot be reached or gives no dates, or uv is missing.
        """
        lines = sorted({str(one) for one in wanted})
        if not lines:
            return ()
        with TemporaryDirectory(prefix="probe-uv-") as folder:
            said = self._run(Path(folder), lines, list(constraints), sorted(without))
        if said.returncode:
            raise self._fault(said.stderr)
        return tuple(sorted(read_pins(said.stdout, marker_values(self.machine))))

    def _run(
        self, folder: Path, lines: Sequence[str], constraints: Sequence[Pin], without: Sequence[str]
    ) -> subprocess.CompletedProcess[str]:
        bounds = folder / "constraints.txt"
        bounds.write_text("".join(f"{pin.name}=={pin.version}\n" for pin in constraints))
        replaced = folder / "replaced.txt"
        replaced.write_text("".join(f"{name} ; python_version < '0'\n" for name in without))
        python = self.machine.python or (3, 0, 0)
        command = [
            *(
                _uv(),
                "pip",
                "compile",
                "-",
                "--quiet",
                "--no-header",
                "--no-annotate",
                "--no-build",
            ),
            *("--generate-hashes", "--exclude-newer", self.cutoff.strftime("%Y-%m-%dT%H:%M:%SZ")),
            *("--python-version", ".".join(map(str, python))),
            *("--python-platform", platform_name(self.machine)),
            *("--python", sys.executable, "--no-python-downloads", "--no-config"),
            *(
                "--default-index",
                self.index,
                "--constraint",
                str(bounds),
                "--override",
                str(replaced),
            ),
            *("--cache-dir", str(self.cache), "--color", "never"),
        ]
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
        environment |= {k: v for k, v in os.environ.items() if k.lower().endswith("_proxy")}
        try:
            return subprocess.run(
                command,
                input="\n".join(lines),
                capture_output=True,
                text=True,
                cwd=folder,
                env=environment,
                timeout=_TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise ProbeError(
                f"uv did not resolve within {_TIMEOUT_S} s from {without_secrets(self.index)}; check "
                "the network, then run the same command again"
            ) from None

    def _fault(self, said: str) -> ProbeError:
        """What uv's failure means."""
        text = " ".join(said.replace(self.index, without_secrets(self.index)).split())
        text = re.sub(r"^(error|×|warning):?\s*", "", text)
        if _NO_DATES.search(text):
            return ProbeError(
                f"{without_secrets(self.index)}: gives no upload dates, so that nothing can be resolved "
                "as of the snapshot; name another index (UV_DEFAULT_INDEX)"
            )
        if _NETWORK.search(text):
            return ProbeError(f"{without_secrets(self.index)}: {text[:300]}; check the network")
        problem = f"nothing uploaded by {self.cutoff:%Y-%m-%d %H:%M} UTC fulfils the requirements: {text[:600]}"
        source = _SOURCE_ONLY.search(text)
        return NeedsSourceError(problem, source[1]) if source else UnbuildableError(problem)


def platform_name(machine: Machine) -> str:
    """Uv's name of a platform: the newest C library that it knows and the machine has."""
    if machine.libc == "musl":
        return f"{machine.processor}-{_MUSL}"
    known = [one for one in _GLIBCS if one <= machine.libc_version[1]] or [_GLIBCS[0]]
    return f"{machine.processor}-manylinux_2_{known[-1]}"


def _uv() -> str:
    """The program; it is installed beside our interpreter.

    Raises:
        ProbeError: it is missing.
    """
    beside = Path(sys.executable).parent / "uv"
    found = str(beside) if beside.exists() else which("uv")
    if found is None:
        raise ProbeError("uv is missing, which resolves Python packages: run `make setup`")
    return found
