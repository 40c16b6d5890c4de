"""What each claim and each observation is worth, in log-odds, set by hand.

Positive speaks for a fix. The figures are round on purpose: a hundred labels cannot carry fitted
ones. The order of magnitude follows from the classes: a prefix that says fix (5) outweighs every
shape of a diff, a shape (about 1) outweighs no plain claim to the contrary.
"""

import re
from typing import NamedTuple

from probe.reference.classify_languages import FAULT, NOVELTY, REPAIR
from probe.reference.classify_message import Kind

PRIOR = 0.1
"""A commit that changes production behaviour, of which nothing else is known."""


class Claim(NamedTuple):
    """A pattern over a message's claim."""

    name: str
    pattern: re.Pattern[str]
    weight: float


PREFIX_WEIGHT: dict[Kind, tuple[float, float]] = {
    "fix": (5.0, 0.0),
    "feature": (-1.5, -2.5),
    "performance": (-3.0, -1.5),
    "upkeep": (-0.8, -1.7),
    "style": (-2.5, -1.0),
    "docs": (-2.5, -1.5),
    "test": (-2.5, -1.0),
    "ci": (-3.0, -1.0),
    "release": (-4.0, 0.0),
    "revert": (-4.0, 0.0),
}
"""Worth of a prefix: a constant, and what a strict project adds to it."""

FORK_WEIGHT = 6.0
RELEASE_WEIGHT = -2.5

SIDELINE_SCOPE = re.compile(
    r"^(?:deps.*|ci|docs?|tests?|lint|build|release|readme|bench\w*|examples?|website|site|dev.*)$"
)
"""Scopes of a fix prefix that name something else than the product."""
SIDELINE_WEIGHT = -3.0

_SIDELINE = (
    r"(?:typos?|lint\w*|format\w*|style|styling|docs?|docstrings?|documentation|comments?|tests?|ci"
    r"|workflows?|readme|changelog|layout|links?|mypy|pyright|ruff|eslint|clippy|annotations?|typings?"
    r"|type hints?|benchmarks?|build|spelling|gramma\w+|warnings?|deploy\w*|performance"
    r"|doctests?|sphinx|stubs?|pylint|flake8|codespell)"
    r"(?=\W*$|[,.;:)]| (?:in|of|for|on|from|and|to|due|with|after|by|errors?|issues?|failures?|rules?|references?|findings|cases?|roles?)\b)"
)

_LINTERS = (
    r"(?:ruff|pylint|flake8\S*|flynt|refurb|eslint|oxlint|biome|clippy|pyupgrade|codespell|isort|sonar\w*"
    r"|standard\.?js|prettier|pre-commit)"
)

_REPAIR_VERBS = (
    r"^(?:\w+ly )?(?:avoid|prevent|handle|ensure|don't|do not|stop|respect|preserve|properly|correct"
    r"|reject|restore|resolve|guard|escape|raise|throw|skip|ignore|limit|make sure|never|keep|treat"
    r"|quote|cap|enforce(?! (?:\S+ ){0,3}rules?\b)|block|propagate|disallow|validate|return|distinguish|detect"
    r"|tolerate|account|forward|flush|honou?r|cope|bail|qualify|hide|only|differentiate|consider"
    r"|unescape|strip|harden|emit|round-?trip|deal|pass|normali[sz]e|wrap)(?:s|es|ed|ing)?\b"
)
_FEATURE_VERBS = (
    r"^(?:\w+ )?(?:add|support|implement|introduce|enable|expose|export|extend|provide|new|initial"
    r"|transpile|parse and annotate|annotate|mark|customi[sz]e)(?:s|es|ed|d|ing)?\b"
)
_WIDENING_VERBS = (
    r"^(?:\w+ )?(?:allow|accept|include|expand|improve|recogni[sz]e)(?:s|es|ed|d|ing)?\b"
)
"""In projects that call their fixes so, every second "allow x" is one, and every third "improve x"."""
_UPKEEP_VERBS = (
    r"^(?:small |minor |more |another |further )?(?:refactor\w*|renam\w*|clean(?!ly)\w*|simplif\w*|extract"
    r"|tidy|reorgani[sz]\w*|reorder|convert|rewrite|reword|bump|upgrade|restructure|consolidate"
    r"|deprecate|increase readability|tweak\w*|unpack|standardi[sz]e|apply|run|get rid|regroup"
    r"|inline|dedup\w*|quiet|pin|cleanup|factor|sync|merge|address|feedback|pr feedback|fixups?"
    r"|styling|style|lint|rework|reconcile|eliminate|optimi[sz]e|optimi[sz]ation|speed|compile"
    r"|memoize|shorten)\b"
)
_CHANGE_VERBS = (
    r"^(?:mov(?:e|es|ed|ing)|remove[sd]?|drop|update[sd]?|switch|replace[sd]?|modify|split|reduce|cut|cache"
    r"|hardcode|override|refine|adjust)\b"
)
_SLIGHT_VERBS = r"^(?:use[sd]?|using|make|set|change[sd]?)\b"
_VERBS = (
    _REPAIR_VERBS, _FEATURE_VERBS, _WIDENING_VERBS, _UPKEEP_VERBS, _CHANGE_VERBS, _SLIGHT_VERBS
)  # fmt: skip

CLAIMS: tuple[Claim, ...] = tuple(
    Claim(name, re.compile(pattern), weight)
    for name, pattern, weight in (
        ("opens with fix", rf"^(?:small |minor |quick )?(?:bug ?)?fix(?:e[sd]|ing)?\b(?! (?:up|findings)|(?: \w+){{0,2}} {_SIDELINE})", 3.5),
        ("fixes something on the side", rf"^(?:small |minor )?fix(?:e[sd])?(?: \w+){{0,2}} {_SIDELINE}", -1.5),
        ("speaks of a fix", r"(?<!^)\b(?:fix(?:e[sd]|ing)?|bugs?|bugfix(?:es)?|hotfix)\b", 1.5),
        ("speaks of a fault", r"\b(?:crash\w*|regressions?|incorrect\w*|wrong\w*|broken|unparseable|leak\w*|race conditions?|deadlock\w*|infinite|vulnerab\w*|cve|redos|corrupt\w*|misparse\w*|mishandl\w*|bypass\w*|path traversal|injection|unbound\w*|undefined|stale|lost|fails?|failing|failures?|segfault\w*|overflow\w*|recursion|nonetype|typeerrors?|keyerrors?|indexerrors?|attributeerrors?)\b", 1.4),
        ("non-English repair", REPAIR, 3.0),
        ("non-English fault", FAULT, 1.6),
        ("non-English feature", NOVELTY, -1.3),
        ("opens with a repair", _REPAIR_VERBS, 1.3),
        ("tells a repair", r"\b(?:properly|correctly|instead of|missing|should(?:n't)?|unexpected\w*|invalid|malformed|truncated|edge[- ]cases?|round ?trips?|ambigu\w+|silently|consisten\w+|inconsisten\w+|precedence|robust\w*|no longer|never|gracefully|duplicated?|redundant|cyclic|limits?|unbound\w*|mismatch\w*|errors?|exceptions?|doesn't|don't|cannot|can't|even (?:if|on|when|on failure)|not being|to avoid|to prevent|to ensure)\b", 0.9),
        ("opens with a feature", _FEATURE_VERBS, -1.6),
        ("typing only", r"\b(?:annotat\w+|type[- ]hints?|type:? ignores?|typing|mypy|pyright|return type of)\b", -1.2),
        ("opens with upkeep", _UPKEEP_VERBS, -2.0),
        ("opens with a change", _CHANGE_VERBS, -0.9),
        ("opens with a widening", _WIDENING_VERBS, -0.8),
        ("opens with a slight change", _SLIGHT_VERBS, -0.4),
        ("tells a circumstance", r"(?<!^)\b(?:when|if|while|during|without|after|before|unless|empty|only|not|no|even)\b", 0.7),
        ("claims neither a feature nor upkeep", rf"^(?!{'|'.join(v[1:] for v in _VERBS)})\W*\w", 0.2),
        ("a lint campaign", rf"\b{_LINTERS}\b|\brules? \w*\d+|\b(?:enforce|apply|enable|follow|satisfy|please)\b.*\b(?:rules?|linters?)$", -3.0),
        ("finishes a deprecation", r"\b(?:finish|finali[sz]e|complete|start|begin|conclude|end)\w*\b.*\bdeprecat\w+|\bfinali[sz]e change\b|^(?:remove|drop|delete)\b.*\bdeprecated\b|\bdeprecation cycles?\b|^silence\b", -1.8),
        ("a better message", r"\b(?:improve|better|clear(?:er)?|friendl\w+|helpful|descriptive|reword|add)\b.*\b(?:error|warning|exception) (?:messages?|texts?|contexts?|hints?)\b|\b(?:error|warning)? ?messages? (?:more |clearer)|\badd (?:a )?(?:suggestion|hint)s?\b|\badd error context\b|\badd_note\b", -1.3),
        ("performance", r"\b(?:performance|faster|speed ?ups?|optimi[sz]\w+|fast path|overheads?|bundle size|~?\d+% faster|import time|perf|needless\w*|extra cop(?:y|ies)|copying|(?:reduc|minimi[sz]|lower|sav|less)\w*\b.*\bmemory|micro-?opti\w+|allocations?|fewer \w+ calls)\b|^(?:lazily|defer|hoist|precompute|memoi[sz]e|cache)\b|\b(?:redundant|repeated|unnecessary|extra) (?:clon|cop|call|comput|work|look|alloc|travers|iterat|request|render)", -1.3),
        ("prose only", r"\b(?:docs?|docstrings?|documentation|typos?|readme|changelog|spelling|wording|readability|style noise|lint\w*|formatting|jsdoc|gramma\w+|doctests?|sphinx)\b|^(?:\w+ ){0,4}comments?$|^(?:tweak|modify|update|change|remove|improve|add|clarify|reword|fix)(?: \w+){0,2} comments?\b|\bchanges? (?:to|in) comments?\b", -1.6),
        ("a message's wording", r"\b(?:messages?|error text)\b", -0.8),
        ("speaks of tidiness", r"\b(?:unnecessar\w+|noise|clearer|clarity|cosmetic|variable names?|structure of|mention\w*|simpler|readab\w+|conciseness|idiom\w*|pythonic|moderni[sz]\w+|f-strings?|comprehensions?|similar implementations?|clean-?ups|end[- ]of[- ]life|python versions?|support for (?:python|node)\b.*)\b", -1.5),
        ("about tests", r"^(?:add|update|move|simplify|improve|more|unit|extend)?\s*(?:\w+ )?tests?\b|\btest (?:suite|coverage|case)s?\b|(?<!fix)\btests?(?: for .*)?\W*$", -1.5),
    )
)  # fmt: skip

BODY_FAULT = Claim(
    "the body tells a fault",
    re.compile(
        r"\b(?:bug|crash\w*|incorrect\w*|wrong\w*|raised|raises|fails?|failed|infinite|silently|regression"
        r"|previously|currently|no longer|instead of|invalid sql|ambiguous|broken|mistaken\w*|unexpected\w*"
        r"|improper\w*|not properly|not correctly|traceback)\b"
    ),
    0.8,
)

TYPING = frozenset({"typing only", "annotations only"})
"""What does not speak against a fix that says it corrects public typing."""
TYPING_CLAIM = re.compile(r"\btyp(?:es?|ing|ings|e hints?|e annotations?)\b|annotation")

SIGNALS: dict[str, float] = {
    "issue cited in a test": 1.2,
    "issue cited in code": 0.8,
    "test named after a fault": 0.8,
    "comment explains a fault": 0.2,
    "news of a fix": 1.5,
    "news of a feature": -1.0,
    "documentation grows": -1.0,
    "expectation changed": 0.1,
    "in place": 0.2,
    "small and tested": 0.9,
    "untested": -0.7,
    "very small": 0.3,
    "guard": 0.3,
    "new branch": 0.4,
    "checks a value": 0.2,
    "condition changed": 0.3,
    "operator changed": 0.4,
    "literal changed": 0.1,
    "rejects more": 0.8,
    "catches": 0.4,
    "warns": 0.2,
    "new definition": -0.8,
    "private helper": -0.3,
    "new option": -0.5,
    "new entries": -0.8,
    "only adds": -0.5,
    "only removes": -0.8,
    "new test file": -0.3,
    "large": -0.6,
    "huge": -0.9,
    "many files": -0.8,
    "new production file": -1.2,
    "mostly moved code": -1.0,
    "names renamed": -1.5,
    "annotations only": -4.5,
    "same code in other words": -2.5,
    "wording only": -1.5,
    "same rewrite throughout": -0.8,
    "documented as new": -0.8,
    "deprecates": -0.8,
    "benchmarked": -0.8,
    "caches": -0.5,
    "tests shrink": -0.4,
}
"""Worth of what the diff shows."""

PAIRS: dict[tuple[str, str], float] = {
    ("opens with a feature", "nothing new"): 0.7,
    ("opens with a widening", "nothing new"): 0.7,
    ("opens with a change", "tested"): 0.5,
}
"""What a claim and an observation add together: "support x" whose diff brings nothing new repairs
what was meant to work, and nobody tests a mere tidying."""

SHAPES = frozenset(
    {
        "guard", "new branch", "checks a value", "condition changed", "operator changed",
        "literal changed", "catches", "warns", "comment explains a fault", "expectation changed", "in place",
    }
)  # fmt: skip
"""Observations that occur by chance in any large or untested diff; they count half there."""

UNCHANGED = frozenset({"same code in other words", "wording only"})
"""What says that nothing behaves otherwise; shapes beside it are shapes of the spelling."""
