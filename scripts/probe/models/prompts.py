"""Prompts are files of their own: rendered strictly, and hashed, so that a record can say which one
made it.

A template (``prompts/*.j2``, Jinja2) holds two blocks, ``system`` and ``user``, and nothing beside
them. It may not take in other files: the hash of its own bytes must cover all that it says.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jinja2 import (
    Environment,
    StrictUndefined,
    Template,
    TemplateError,
    TemplateSyntaxError,
    nodes,
)

from probe.errors import ConfigError
from probe.models.base import Message
from probe.models.secrets import one_line

ROLES = ("system", "user")
"""Blocks of a template and roles of its messages, in their order."""

_FOREIGN = (nodes.Extends, nodes.FromImport, nodes.Import, nodes.Include)


@dataclass(frozen=True)
class Prompt:
    """A template that became messages once its variables are known."""

    name: str
    """The file's name, for messages of error."""
    sha256: str
    """Hash of the file's bytes: part of every record that it leads to."""
    template: Template
    """The compiled template."""

    def messages(self, **variables: object) -> list[Message]:
        """The system and the user message with the variables filled in.

        Raises:
            ConfigError: the template names a variable that is not given, or fails on one.
        """
        return [{"role": role, "content": self._render(role, variables)} for role in ROLES]

    def _render(self, block: str, variables: Mapping[str, object]) -> str:
        context = self.template.new_context(dict(variables))
        try:
            return "".join(self.template.blocks[block](context))
        except (TemplateError, TypeError, ValueError) as error:
            known = ", ".join(sorted(variables)) or "none"
            raise ConfigError(
                f"{self.name}: block {block!r}: {one_line(str(error))}; variables there are: {known}"
            ) from error


def load_prompt(path: Path) -> Prompt:
    """Read a template.

    Raises:
        ConfigError: the file cannot be read, is no template, takes in other files, or does not
            consist of the two blocks.
    """
    try:
        data = path.read_bytes()
        source = data.decode("utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: cannot read the prompt: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: the prompt is not UTF-8 (byte {error.start})") from error
    environment = _environment()
    try:
        problem = _problem(environment.parse(source))
        template = environment.from_string(source)
    except TemplateSyntaxError as error:
        raise ConfigError(f"{path}:{error.lineno}: {one_line(str(error))}") from error
    if problem:
        raise ConfigError(f"{path}{problem}")
    return Prompt(path.name, hashlib.sha256(data).hexdigest(), template)


def _environment() -> Environment:
    return Environment(
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701 - the output is a prompt, not a page
    )


def _problem(tree: nodes.Template) -> str:
    """What keeps a template from being a prompt, with its line; empty where nothing does."""
    for foreign in tree.find_all(_FOREIGN):
        return (
            f":{foreign.lineno}: a prompt takes in no other file; its hash must cover all it says"
        )
    found = []
    for node in tree.body:
        if isinstance(node, nodes.Block) and node.name in ROLES:
            found.append(node.name)
        elif not _is_blank(node):
            return f":{node.lineno}: text or code outside the blocks 'system' and 'user'"
    missing = [role for role in ROLES if role not in found]
    return f": no block {missing[0]!r}; write {{% block {missing[0]} %}}" if missing else ""


def _is_blank(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Output) and all(
        isinstance(part, nodes.TemplateData) and not part.data.strip() for part in node.nodes
    )
