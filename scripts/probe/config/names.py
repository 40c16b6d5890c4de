"""Names that become folders and files: one pattern for the inventory, the runs and the wildcards.

A dot is not allowed because ``{run}.metrics.csv`` must split in one way only, nor an upper-case
letter because some file systems do not tell it from a lower-case one.
"""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Annotated

from pydantic import AfterValidator, Field

NAME_PATTERN = r"[a-z0-9][a-z0-9_-]*"
"""A repository's or a run's name, unanchored: also the workflow's wildcard constraint."""

VARIANT_MARK = "@"
"""Stands between a repository's name and the label of one of its variants; in no other name."""

MAX_NAME_LENGTH = 60
"""Longest name: file systems allow 255 bytes for one part of a path, and the names are combined."""

RESERVED_REPOSITORIES = frozenset(
    {"all", "benchmarks", "dataset", "figures", "logs", "prepare", "report", "tables"}
)
"""Folders under ``results/`` and target names that a repository may not take."""

RESERVED_RUNS = frozenset({"all", "environment", "reference", "snapshot"})
"""Folders under ``results/{repo}/`` and target names that a run may not take."""

_WHOLE_NAME = re.compile(NAME_PATTERN)


def _checked(name: str, reserved: frozenset[str]) -> str:
    if not _WHOLE_NAME.fullmatch(name):
        raise ValueError(
            f"{name!r} is no valid name; expected lower-case letters, digits, '-' and '_', "
            "starting with a letter or digit"
        )
    if len(name) > MAX_NAME_LENGTH:
        raise ValueError(f"{name!r} has {len(name)} characters; at most {MAX_NAME_LENGTH} fit")
    if name in reserved:
        raise ValueError(f"{name!r} is reserved for a folder or target of the workflow")
    return name


def _repository_name(name: str) -> str:
    return _checked(name, RESERVED_REPOSITORIES)


def _variant_name(name: str) -> str:
    base, mark, label = name.partition(VARIANT_MARK)
    if not mark:
        raise ValueError(
            f"{name!r} names no variant; expected REPOSITORY{VARIANT_MARK}LABEL, "
            f"for example {name}{VARIANT_MARK}2025-07"
        )
    return f"{_repository_name(base)}{mark}{_checked(label, frozenset())}"


def _snapshot_name(name: str) -> str:
    return _variant_name(name) if VARIANT_MARK in name else _repository_name(name)


def _run_name(name: str) -> str:
    return _checked(name, RESERVED_RUNS)


def _model_name(name: str) -> str:
    return _checked(name, frozenset({"heuristic"}))


_SCHEMA_PATTERN = {"pattern": f"^{NAME_PATTERN}$", "maxLength": MAX_NAME_LENGTH}

RepositoryName = Annotated[
    str, AfterValidator(_repository_name), Field(json_schema_extra=_SCHEMA_PATTERN)
]
"""Key of a repository in the inventory; a folder under ``results/``."""

_VARIANT_SCHEMA = {"pattern": f"^{NAME_PATTERN}{VARIANT_MARK}{NAME_PATTERN}$"}
_SNAPSHOT_SCHEMA = {"pattern": f"^{NAME_PATTERN}({VARIANT_MARK}{NAME_PATTERN})?$"}

VariantName = Annotated[
    str, AfterValidator(_variant_name), Field(json_schema_extra=_VARIANT_SCHEMA)
]
"""Key of a variant, ``REPOSITORY@LABEL``: the same repository with another window."""

SnapshotName = Annotated[
    str, AfterValidator(_snapshot_name), Field(json_schema_extra=_SNAPSHOT_SCHEMA)
]
"""What is benchmarked: a repository of the inventory, or a variant of one."""

RunName = Annotated[str, AfterValidator(_run_name), Field(json_schema_extra=_SCHEMA_PATTERN)]
"""Key of a run in ``runs.yaml``; a folder and a file under ``results/{repo}/``."""

ModelName = Annotated[str, AfterValidator(_model_name), Field(json_schema_extra=_SCHEMA_PATTERN)]
"""Key of a model in ``models.yaml``."""


def suggestion(name: str, known: Iterable[str]) -> str:
    """``; did you mean 'x'?`` for the nearest known name, else the known names, else nothing.

    More than twelve names are not listed: the file that defines them is the better place to look.
    """
    names = sorted(known)
    nearest = get_close_matches(name, names, n=1, cutoff=0.6)
    if nearest:
        return f"; did you mean {nearest[0]!r}?"
    if 0 < len(names) <= 12:
        return f"; known: {', '.join(names)}"
    return ""
