"""What a source distribution says about itself, read from its bytes; nothing of it is run."""

import io
import re
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

from probe.environment.python_project import usable
from probe.errors import ProbeError

_LARGEST = 5_000_000
_DEFAULT_BUILD = ("setuptools", "wheel")


@dataclass(frozen=True)
class SdistFacts:
    """Requirements of a source distribution."""

    build: tuple[Requirement, ...]
    """To build it."""
    run: tuple[Requirement, ...]
    """To run it, without its extras."""


def read_sdist(path: Path) -> SdistFacts:
    """Read the metadata inside.

    Raises:
        ProbeError: it is no archive of a known kind.
    """
    files = dict(_metadata(path))
    build, _ = usable(_build(files.get("pyproject.toml")))
    return SdistFacts(tuple(build), tuple(_run(files)))


def _metadata(path: Path) -> Iterator[tuple[str, str]]:
    """The few files that matter, by name; those nearest to the root win."""
    wanted = {"pyproject.toml", "PKG-INFO", "requires.txt"}
    try:
        found = sorted(_members(path, wanted), key=lambda one: -one[0].count("/"))
    except (tarfile.TarError, zipfile.BadZipFile, OSError, EOFError) as error:
        raise ProbeError(f"{path.name}: not a readable source distribution: {error}") from None
    for name, content in found:
        yield name.rpartition("/")[2], content.decode("utf-8", "replace")


def _members(path: Path, wanted: set[str]) -> Iterator[tuple[str, bytes]]:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            for one in archive.infolist():
                if one.filename.rpartition("/")[2] in wanted and one.file_size <= _LARGEST:
                    yield one.filename, archive.read(one)
        return
    with tarfile.open(path) as tar:
        for member in tar:
            if (
                member.isreg()
                and member.name.rpartition("/")[2] in wanted
                and member.size <= _LARGEST
            ):
                stream = tar.extractfile(member) or io.BytesIO()
                yield member.name, stream.read()


def _build(pyproject: str | None) -> list[str]:
    try:
        told = tomllib.loads(pyproject or "").get("build-system", {})
    except tomllib.TOMLDecodeError:
        told = {}
    return [*map(str, told.get("requires", _DEFAULT_BUILD)), "wheel"]


def _run(files: dict[str, str]) -> list[Requirement]:
    headers = HeaderParser().parsestr(files.get("PKG-INFO", ""))
    lines = [str(one) for one in headers.get_all("Requires-Dist") or ()]
    if not lines:
        lines = list(_requires(files.get("requires.txt", "")))
    kept = []
    for line in lines:
        try:
            one = Requirement(line)
        except InvalidRequirement:
            continue
        if one.marker is None or "extra" not in str(one.marker):
            kept.append(one)
    return kept


def _requires(text: str) -> Iterator[str]:
    """Setuptools' ``requires.txt``: sections are ``[extra:marker]``, and the part before them is plain."""
    marker = ""
    for raw in text.splitlines():
        line = raw.strip()
        section = re.fullmatch(r"\[([^:\]]*):?(.*)\]", line)
        if section is not None:
            marker = "extra == 'no'" if section[1] else section[2]
        elif line:
            yield f"{line} ; {marker}" if marker else line
