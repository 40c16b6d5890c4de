"""YAML read without the silent surprises: a key given twice is an error, and lines are remembered.

PyYAML keeps the last of two equal keys, so that a setting seems to be ignored; and neither PyYAML
nor Snakemake says in which line a value stands.
"""

from codecs import BOM_UTF8
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from probe.config.base import KeyPath, dotted
from probe.errors import ConfigError


@dataclass(frozen=True)
class YamlFile:
    """A parsed file and where its values stand."""

    shown: str
    """The path as messages show it."""
    data: dict[str, Any]
    """The top-level mapping; empty for a file with comments only."""
    lines: dict[KeyPath, int]
    """1-based line of every key and list item."""

    def where(self, path: KeyPath) -> str:
        """``file:line`` of the value, or of the nearest enclosing one that the file has."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.lines:
                return f"{self.shown}:{self.lines[path[:length]]}"
        return self.shown


def read_yaml(path: Path, shown: str | None = None) -> YamlFile:
    """Read a YAML file whose top level is a mapping with text keys.

    Args:
        path: the file.
        shown: how messages name it; the path itself by default.

    Raises:
        ConfigError: the file is missing, not UTF-8, not YAML, not a mapping, holds several
            documents, a key twice, or a key that is not text.
    """
    name = shown or str(path)
    text = read_utf8(path, name)
    lines: dict[KeyPath, int] = {}
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        if node is None:
            return YamlFile(name, {}, lines)
        _index(node, (), lines, name)
        data = loader.construct_document(node)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise ConfigError(f"{_position(error, name)}: not valid YAML: {_reason(error)}") from error
    if not isinstance(data, dict):
        raise ConfigError(f"{name}: expected a mapping of keys at the top level")
    return YamlFile(name, data, lines)


def read_utf8(path: Path, shown: str) -> str:
    """The text of a configuration file, without the byte-order mark that some editors write.

    Raises:
        ConfigError: the file is missing, unreadable or not UTF-8; the message names the line.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{shown}: cannot read: {error.strerror or error}") from error
    try:
        return data.removeprefix(BOM_UTF8).decode()
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ConfigError(f"{shown}:{line}: is not UTF-8; save the file as UTF-8") from error


def _index(node: yaml.Node, path: KeyPath, lines: dict[KeyPath, int], name: str) -> None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.tag == "tag:yaml.org,2002:merge":
                continue
            _index(value, _enter(key, path, lines, name), lines, name)
    elif isinstance(node, yaml.SequenceNode):
        for place, item in enumerate(node.value):
            lines.setdefault((*path, place), item.start_mark.line + 1)
            _index(item, (*path, place), lines, name)


def _enter(key: yaml.Node, path: KeyPath, lines: dict[KeyPath, int], name: str) -> KeyPath:
    line = key.start_mark.line + 1
    if not isinstance(key, yaml.ScalarNode) or key.tag != "tag:yaml.org,2002:str":
        raise ConfigError(
            f"{name}:{line}: {dotted((*path, str(key.value)))}: a key must be text; "
            "put it in quotes if that is what you mean"
        )
    inner = (*path, key.value)
    if inner in lines:
        raise ConfigError(
            f"{name}:{line}: {dotted(inner)}: given twice (first in line {lines[inner]}); "
            "keep one of the two"
        )
    lines[inner] = line
    return inner


def _position(error: Exception, name: str) -> str:
    mark = getattr(error, "problem_mark", None)
    return f"{name}:{mark.line + 1}" if mark else name


def _reason(error: Exception) -> str:
    text = getattr(error, "problem", None) or str(error) or type(error).__name__
    return " ".join(str(text).split())
