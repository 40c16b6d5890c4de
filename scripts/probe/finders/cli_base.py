"""What a command-line agent is to PROBE: how it is started, told what to do, and read.

A tool is one module with a :data:`TOOL` and a ``find``; everything that is the same for all of them
is in :mod:`probe.finders.cli`. A tool's own settings only lead it to the gateway, let it work without
questions, and keep it from the web and from instructions that lie in the repository.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Literal, NamedTuple

from probe.config import ModelEntry
from probe.finders.shape import section, string
from probe.gateway import client_environment
from probe.gateway.routes import Protocol

INSIDE = "/opt/agents"
"""Where the installed agents are mounted in a sandbox."""

MODULES = f"{INSIDE}/node_modules"
"""npm's folder of them."""

HOME = "/tmp/home"  # noqa: S108 # a sandbox's own /tmp
"""The home folder of a sandbox."""

PLACE = "/tmp/probe"  # noqa: S108 # a sandbox's own /tmp
"""Folder in the sandbox for the prompt, the answer's schema and the output; not in the checkout."""

SCHEMA_FILE = f"{PLACE}/schema.json"
"""The answer's JSON schema, for tools that take a file."""

URLS = client_environment()
"""Where the gateway is, in the variables of the providers' libraries."""

_PREFIXES: Mapping[Protocol, tuple[str, ...]] = {
    "chat": ("OPENAI_",),
    "responses": ("OPENAI_",),
    "messages": ("ANTHROPIC_",),
    "gemini": ("GEMINI_", "GOOGLE_"),
}

Machine = Literal["x64", "arm64"]
"""Processors that all agents come for, as npm writes them."""

Event = Mapping[str, object]
"""One JSON object of a tool's native output."""


class Asked(NamedTuple):
    """What a tool is started for."""

    entry: ModelEntry
    """The model's settings."""
    schema: str
    """The answer's JSON schema, as JSON."""
    machine: Machine
    """The processor, which is part of some programs' paths."""

    @property
    def model(self) -> str:
        """The provider's name of the model: tools know some by name, and act by it."""
        return self.entry.litellm_id.partition("/")[2]


@dataclass(frozen=True)
class Launch:
    """How a tool is started in a sandbox; its prompt comes from stdin."""

    command: Sequence[str]
    """The program and its arguments."""
    again: Callable[[str], Sequence[str]]
    """The same, to go on with the session of this id."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables beside those that lead to the gateway."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Settings, by path inside."""


class Spoken(NamedTuple):
    """What a tool's native output says."""

    answer: str | None
    """Its last message as text, or the structured answer as JSON; None where it ended without one."""
    session: str | None = None
    """Id by which the session can be gone on with."""
    error: str | None = None
    """What went wrong in the tool's own words; None where it says that all went well."""
    misfit: bool = False
    """Whether it counts an answer of another form than the schema's as an error, and nothing else went
    wrong: its exit status then says no more than that."""


@dataclass(frozen=True)
class CliTool:
    """A command-line agent."""

    name: str
    """As in ``runs.yaml``."""
    protocol: Protocol
    """What it speaks with its model."""
    package: str
    """npm package whose version is the tool's, below :data:`MODULES`; ``{machine}`` in it."""
    launch: Callable[[Asked], Launch]
    """How it is started."""
    read: Callable[[Sequence[Event]], Spoken]
    """How its output is read."""
    efforts: frozenset[str] = frozenset()
    """Reasoning efforts that it can be told, of those of ``models.yaml``."""


def urls(protocol: Protocol) -> dict[str, str]:
    """The variables of one protocol alone: the project's own code sees them too."""
    return {name: value for name, value in URLS.items() if name.startswith(_PREFIXES[protocol])}


def script(path: str, machine: Machine) -> list[str]:
    """A script of :data:`MODULES` behind the pinned Node.js: an image need not have one."""
    return [f"{MODULES}/node-linux-{machine}/bin/node", f"{MODULES}/{path}"]


def parse_events(output: str) -> list[Event]:
    """The JSON objects of an output, a line each; lines that are none are notes for people."""
    events: list[Event] = []
    for line in output.split("\n"):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            events.append(value)
    return events


def last(events: Sequence[Event], kind: str) -> Event:
    """The last event whose ``type`` this is; empty where there is none."""
    return next((event for event in reversed(events) if event.get("type") == kind), {})


def said(event: Event, *keys: str) -> str | None:
    """The text at the end of a path of keys; None where there is none."""
    item: Event = event
    for key in keys[:-1]:
        item = section(item, key)
    return string(item, keys[-1]) or None


def as_json(value: object) -> str | None:
    """A structured answer as JSON; None where there is none."""
    return None if value is None else json.dumps(value, ensure_ascii=False)


def settings_file(path: str, settings: Mapping[str, object]) -> dict[str, str]:
    """A file of settings in the home folder, for :attr:`Launch.files`."""
    return {str(PurePosixPath(HOME) / path): json.dumps(settings)}
