"""A commit's subject as the title of a defect: present tense, without what names the fix.

A subject says what a commit does; a report says what is wrong. Turning the leading verb is the
most that a template can do: "handle truncated tables" becomes "Does not handle truncated tables".
"""

import re

from probe.reference.leaks import Forbidden, find_spans

_PREFIX = re.compile(
    r"""
    ^\s*(?:
        [A-Za-z][\w./-]{0,30}(?:\s*\([^)]{0,60}\))?!?\s*:\s+    # fix(parser)!: …, BUG: …
      | \[[^\]]{1,40}\]\s*:?\s*                                # [3.x] …
      | :[a-z0-9_+-]+:\s*                                      # :bug: …
      | [\u2190-\u2bff\U0001f000-\U0001faff\ufe0f\u200d]+\s*   # an emoji
      | (?:backport|cherry[- ]?pick(?:ed)?)\b\s*[:\s]\s*
    )+
    """,
    re.VERBOSE | re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"""
    [\[(]?\s*
    (?:\b(?:closes?|closed|fix(?:es|ed)?|resolves?|resolved|refs?|references|see|for|from)\b[\s:]*)*
    (?:\b(?:issues?|prs?|pull\s+requests?|bugs?|tickets?)\b[\s:]*)?
    (?:
        (?:\bgh-?|[\w.-]+/[\w.-]+)?\#\d+
      | \bGHSA(?:-\w{4}){3}
      | \bCVE-\d{4}-\d+
      | https?://\S+
      | \b[0-9a-f]{12,40}\b
    )
    (?:\s*(?:,|and|&)\s*(?:gh-?)?\#\d+)*
    \s*[\])]?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_FIX_VERB = re.compile(
    r"^(?:(?:bug|hot|quick)?[\s-]?fix(?:es|ed|ing|up)?|patch(?:es|ed)?|resolv(?:e|es|ed|ing)"
    r"|repair(?:s|ed)?|address(?:es|ed)?|workaround|work around)"
    r"(?:\s+(?:for|of|up|an?\s+issue\s+(?:with|where|when|in)|the\s+issue\s+(?:with|where|when|in)"
    r"|a\s+bug\s+(?:with|where|when|in)|issues?\s+(?:with|where|when|in)"
    r"|bugs?\s+(?:with|where|when|in)))?\b[\s:,-]*",
    re.IGNORECASE,
)
_FORBIDDING = re.compile(
    r"^(?:prevent(?:s|ed|ing)?|avoid(?:s|ed|ing)?|stop(?:s|ped)?|disallow(?:s|ed)?|forbid"
    r"|guard\s+against|protect\s+against)\s+",
    re.IGNORECASE,
)
_NOT_TO = re.compile(
    r"^(?:don'?t|do\s+not|never|no\s+longer|does\s+not|doesn'?t|should\s+not|shouldn'?t)\s+",
    re.IGNORECASE,
)
_NO_LONGER = re.compile(r"\b(?P<verb>is|are)\s+no\s+longer\b", re.IGNORECASE)
"""Of a subject that tells the state after: *x is no longer cut*."""
_INSTEAD = re.compile(
    r"^(?:(?:use|prefer)\b.+?\b(?:instead of|rather than)|(?:replace|swap)(?=.+\bwith\b))\s+"
    r"(?P<old>.+?)(?:\s+with\s.*)?$",
    re.IGNORECASE,
)
_ADDING = re.compile(
    r"^(?:add(?:ed|s)?|introduce)\s+(?!.*\b(?:up|together)\b)(?:missing\s+)?", re.IGNORECASE
)
_SUPPORT_FOR = re.compile(r"^(?:[\w-]+\s)?support\s+for\s+", re.IGNORECASE)
_REMOVING = re.compile(r"^(?:remove|drop|delete|get rid of)\s+", re.IGNORECASE)
_TAG = re.compile(r"\s*\[[A-Z][A-Z -]{2,20}\]$")
"""``[CODEX]``: who wrote it."""
_ABOUT_FIX = re.compile(
    r"^(?:(?:a|an|another|small|minor|tiny|simple|quick|more|some|several|various|follow-?up|real)\s+)+"
    r"fix(?:es)?\s+(?:for|in|of|to)\s+|^fix-?ups?\b\s*(?:for|in|of|to)?\s*|[\s_-]fix(?:es|ups?)?$",
    re.IGNORECASE,
)
_AND_FIX = re.compile(r"^.{3,}?\b(?:and|also)\s+fix(?:es)?\s+(?=\S+\s+\S)", re.IGNORECASE)
_RESHAPES = re.compile(
    r"^(?:refactor|rework|rewrite|restructure|moderni[sz]e|reorgani[sz]e|tidy|merge commit from|apply suggestions)\b",
    re.IGNORECASE,
)
_SCOPE = re.compile(r"^!?\([\w, -]{1,30}\)!?:\s*")
_OUGHT = re.compile(r"^(?:\w+ing\s+)?should\s+(?!not\b)(?=[a-z])", re.IGNORECASE)
_WANTED = re.compile(
    r"^(?:more\s+)?(?P<how>robust|consistent|proper|correct(?:ed)?|safe|strict|full|complete|reliable|missing)"
    r"\s+(?=[\w`'\"])",
    re.IGNORECASE,
)
_SUPPORT = re.compile(
    r"^(?:support\s+(?:for|of)\b.*|(?!support\b)[\w/`.-]+(?:\s[\w/`.-]+)?\s+support)$",
    re.IGNORECASE,
)
_PROCESS = re.compile(
    r"^(?:parsing|handling|generation|transpilation|conversion|rendering|formatting|detection|escaping"
    r"|encoding|decoding|traversal|roundtrip|resolution|validation|evaluation)\s+(?:of|for)\b",
    re.IGNORECASE,
)
_FAULT = re.compile(
    r"\b(?:wrong\w*|errors?|\w+error|\w*exceptions?|bugs?|issues?|crash\w*|fail\w*|los[est]\w*|leak\w*|broken|breaks?"
    r"|incorrect\w*|in(?:valid|finite|consistent\w*|complete\w*|jection)|missing|un(?:expected|handled|caught|defined|able)\w*"
    r"|cannot|\w+n't|not|no|never|nothing|without|instead|regress\w*|race|redos|redundant|duplicat\w*|double|extra|twice"
    r"|overflow\w*|recursion|deadlock\w*|hang\w*|quadratic|exponential|exhaust\w*|corrupt\w*|stale|conflict\w*|drop(?:s|ped)"
    r"|swallow\w*|ignor(?:es|ed)|vulnerab\w*|mis[a-z]+ed|typos?|is|are|was|were|has|have|gets?|becomes?)\b",
    re.IGNORECASE,
)
"""Words of a phrase that says by itself what is wrong."""
_WILL = (
    (re.compile(r"\b(?:will|shall) not be\b", re.IGNORECASE), "is not"),
    (re.compile(r"\b(?:will|shall) not\b|\bwon['’]t\b", re.IGNORECASE), "does not"),
    (re.compile(r"\b(?:will|shall) be\b", re.IGNORECASE), "is"),
    (re.compile(r"\b(?:will|shall) ([a-z]+[^aeious\W])\b", re.IGNORECASE), r"\1s"),
)
_CLAUSE = re.compile(r"[,;]\s+|\s+(?:and|by|for|from|in|so|to|using|via|when|with)\s+")
MIN_WORDS = 2
"""Words with two letters that a title must keep when something is cut from it."""
_ADVERB = re.compile(
    r"^(?:properly|correctly|also|always|only|safely|explicitly|consistently|conditionally)\s+",
    re.IGNORECASE,
)
_MANNER = re.compile(r"^(?:properly|correctly|consistently|conditionally)\s", re.IGNORECASE)
_IMPERATIVES = frozenset(
    {
        "adapt", "add", "correct", "decouple", "delegate", "deserialise", "deserialize", "finish", "forward",
        "generalise", "generalize", "interpret", "invalidate", "minimise", "minimize", "move", "prune", "re-assign",
        "reassign", "reconnect", "rename", "resume", "retry", "satisfy", "switch", "take", "trigger",
        "accept", "account", "adjust", "align", "allow", "annotate", "apply", "assign",
        "bail", "bound", "build", "calculate", "call", "cap", "capture", "cast", "catch", "check",
        "clean", "clear", "close", "coerce", "compare", "compute", "consider", "consume",
        "convert", "copy", "count", "create", "deal", "decode", "deduplicate", "detect",
        "determine", "disable", "disambiguate", "distinguish", "emit", "enable", "encode",
        "enforce", "enhance", "ensure", "escape", "evaluate", "exclude", "exit", "expand",
        "export", "expose", "extract", "fall", "fill", "filter", "find", "flush", "follow",
        "format", "generate", "get", "give", "guarantee", "guard", "halt", "handle", "hide",
        "honor", "honour", "ignore", "improve", "include", "increase", "infer", "inherit",
        "initialise", "initialize", "inline", "introduce", "invoke", "iterate", "keep", "leave",
        "let", "limit", "load", "look", "lowercase", "make", "map", "mark", "match", "mention",
        "merge", "normalise", "normalize", "optimise", "optimize", "parse", "pass", "permit",
        "pop", "preserve", "print", "prioritise", "prioritize", "process", "produce", "propagate",
        "qualify", "quote", "raise", "read", "recognise", "recognize", "recurse", "refuse",
        "reject", "release", "remember", "remind", "render", "report", "require", "reset",
        "resolve", "respect", "restore", "restrict", "retain", "return", "rewind", "sanitise",
        "sanitize", "say", "send", "serialize", "serve", "set", "show", "simplify", "skip",
        "sort", "specify", "split", "store", "strip", "substitute", "support", "swallow", "tell",
        "terminate", "throw", "tolerate", "transpile", "traverse", "treat", "trim", "unescape",
        "unqualify", "unquote", "unwrap", "update", "uppercase", "use", "validate", "verify",
        "wait", "warn", "widen", "wrap", "write", "yield",
    }
)  # fmt: skip
_SPACES = re.compile(r"\s+")


def plain_title(subject: str) -> str:
    """A subject without prefixes, references and the words that say that it fixes.

    Returns:
        The empty string where nothing is left.
    """
    text = _PREFIX.sub("", subject)
    text = _REFERENCE.sub(" ", text)
    text = _SPACES.sub(" ", text).strip(" \t-:,;.")
    previous = None
    while previous != text:
        previous = text
        text = _FIX_VERB.sub("", text, count=1).strip(" -:,;.")
    return text


def defect_title(subject: str) -> str:
    """The defect that a commit with this subject mends, in the present tense.

    Returns:
        The empty string where the subject names nothing but the act of fixing.
    """
    text = _SCOPE.sub("", _TAG.sub("", plain_title(subject)))
    text = _AND_FIX.sub("", _ABOUT_FIX.sub("", text)).strip(" -:,;.!")
    for pattern, words in _WILL:
        text = pattern.sub(words, text)
    if _RESHAPES.match(text) or not re.search(r"[^\W\d_]{2}", text):
        return ""
    turned = _turned(text) or _lacking(text)
    if turned:
        return turned
    text = _OUGHT.sub("", text)
    adverb = _ADVERB.match(text)
    rest = text[adverb.end() :] if adverb else text
    if _is_imperative(rest, after_manner=bool(adverb and _MANNER.match(text))):
        words = (adverb.group().lower() if adverb else "") + _lower_first(rest)
        return f"Does not {words}"
    return _upper_first(text) if _FAULT.search(text) else f"Wrong behaviour of {_lower_first(text)}"


def _turned(text: str) -> str:
    """What a subject with a verb of its own kind says of the state before; empty for others."""
    if match := _FORBIDDING.match(text):
        return f"Does not prevent {text[match.end() :]}"
    if match := _NOT_TO.match(text):
        return _third_person(text[match.end() :])
    before, after_state = _NO_LONGER.subn(r"\g<verb>", text)
    if after_state:
        return f"Wrongly: {_lower_first(before)}"
    if match := _INSTEAD.match(text):
        return f"Uses {match['old']}"
    if match := _REMOVING.match(text):
        return f"Wrongly keeps {text[match.end() :]}"
    if match := _ADDING.match(text):
        added = text[match.end() :]
        support = _SUPPORT_FOR.match(added)
        if support:
            return f"Does not support {added[support.end() :]}"
        return f"Lacks {added.replace(' to ', ' in ', 1)}"
    return ""


def _third_person(text: str) -> str:
    """An imperative as a statement: ``drop the last row`` becomes ``Drops the last row``."""
    verb, _, rest = text.partition(" ")
    if not re.fullmatch(r"[A-Za-z]{2,}", verb) or verb.lower().endswith(("ing", "ed", "ly")):
        return f"Wrongly: {text}"
    word = verb.lower()
    if word == "be":
        word = "is"
    elif re.search(r"[^aeiou]y$", word):
        word = f"{word[:-1]}ies"
    else:
        word += "es" if re.search(r"(?:s|x|z|ch|sh|o)$", word) else "s"
    return f"{_upper_first(word)} {rest}".rstrip()


def _is_imperative(text: str, *, after_manner: bool) -> bool:
    """Whether a text begins with a verb: a known one, or any after *properly* and the like."""
    verb = re.match(r"[A-Za-z-]+", text)
    if verb is None or verb.group().isupper():
        return False
    word = verb.group().lower()
    return word in _IMPERATIVES or (after_manner and not word.endswith(("ed", "ing")))


def safe_title(title: str, forbidden: Forbidden) -> str:
    """A title without what gives the fix away: the shortest cut that leaves a title.

    Words that name the fix and references are dropped; else the clauses from the first that
    leaks on. What is left must have :data:`MIN_WORDS` words and no leak.

    Returns:
        The empty string where nothing can be cut.
    """
    spans = sorted(find_spans(title, forbidden), key=lambda span: span[1:])
    if not spans:
        return title
    if all(kind in {"reference", "commit"} or _is_noun(title, a, b) for kind, a, b in spans):
        shorter = title
        for _, start, end in reversed(spans):
            shorter = shorter[:start] + shorter[end:]
        shorter = _tidy(re.sub(r"\(\s*\)", "", shorter))
        if _is_title(shorter, forbidden):
            return shorter
    ends = [match.start() for match in _CLAUSE.finditer(title) if match.start() <= spans[0][1]]
    cuts = (_tidy(title[:end]) for end in reversed(ends))
    return next((cut for cut in cuts if _is_title(cut, forbidden)), "")


def _is_noun(title: str, start: int, end: int) -> bool:
    """Whether a leak is the bare word, and no verb after *to* or *and* that the rest hangs on."""
    alone = title[start:end].lower() in {"fix", "fixes"}
    return alone and re.search(r"\b(?:to|and|not)\s+$", title[:start], re.IGNORECASE) is None


def _is_title(text: str, forbidden: Forbidden) -> bool:
    words = re.findall(r"[^\W\d_]{2}\w*", text.removeprefix("Does not "))
    return (
        len(words) >= MIN_WORDS
        and text.count("`") % 2 == 0
        and text.count("(") == text.count(")")
        and not any(True for _ in find_spans(text, forbidden))
    )


def _tidy(text: str) -> str:
    return _upper_first(_SPACES.sub(" ", text).strip(" -:,;."))


def _upper_first(text: str) -> str:
    """Code names keep their spelling."""
    word = text.split(" ", 1)[0]
    return text if re.search(r"[_.(/]|[a-z][A-Z]", word) else text[:1].upper() + text[1:]


def _lacking(text: str) -> str:
    """What a subject wants that has no verb: ``robust x`` is lacking, ``parsing of x`` is wrong."""
    wanted = _WANTED.match(text)
    if wanted and wanted["how"].lower() == "missing":
        return f"Lacks {text[wanted.end() :]}"
    if wanted:
        return f"Lacks {wanted['how'].lower().removesuffix('ed')} {text[wanted.end() :]}"
    if _SUPPORT.match(text) and not _is_imperative(text, after_manner=False):
        return f"Lacks {_lower_first(text)}"
    if _PROCESS.match(text) and not _FAULT.search(text):
        return f"Wrong {_lower_first(text)}"
    return ""


def _lower_first(text: str) -> str:
    word = text.split(" ", 1)[0]
    return text if len(word) > 1 and word[1:] != word[1:].lower() else text[0].lower() + text[1:]
