"""Everything that PROBE raises on purpose.

::

    ProbeError              a user can act on it; shown as one line, never as a traceback
    ├── ConfigError         a config file, the inventory or a target names something wrong
    ├── GitError            git failed, or a repository is not what the inventory says
    ├── RecordError         a file of ours (JSON Lines, results folder) cannot be read
    ├── PatchError          a patch series does not apply
    ├── FinderError         a finder is missing, crashed, or its output cannot be read
    ├── ModelError          a model cannot be asked: no key, no price, no server
    ├── BudgetError         the next call could pass the cap on money
    ├── SandboxError        no sandbox works here, or one died
    └── IsolationError      a snapshot knows the time after T0, or that cannot be found out

The message says what was found, where (file and key), what was expected, and what to do.
"""


class ProbeError(Exception):
    """Root of the tree: the message alone must be enough to act on."""


class ConfigError(ProbeError):
    """A configuration file, the inventory or a requested target is wrong."""


class GitError(ProbeError):
    """git failed, or a repository or commit is not usable."""


class RecordError(ProbeError):
    """A file of records is malformed, or was written by an incompatible version."""


class PatchError(ProbeError):
    """A bundled patch series is malformed or does not apply."""


class FinderError(ProbeError):
    """A finder cannot run, or what it produced cannot be read."""


class ModelError(ProbeError):
    """A model cannot be asked at all; a single failed call is a recorded failure instead."""


class BudgetError(ProbeError):
    """A call was refused because it could pass ``budget.usd``; nothing that was bought is lost."""


class SandboxError(ProbeError):
    """No sandbox works here, or one died: never a command that merely failed inside one."""


class IsolationError(ProbeError):
    """A snapshot or session knows something of the time after T0, or nobody can tell whether it does."""
