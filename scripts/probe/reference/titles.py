"""A commit's subject as the title of a defect: present tense, without what names the fix.

A subject says what a commit does; a report says what is wrong. Turning the leading verb is the
most that a template can do: "handle truncated tables" becomes "Does not handle truncated tables".
"""

import re

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
    (?:\b(?:closes?|closed|fix(?:es|ed)?|resolves?|resolved|refs?|references|see|for|from|issues?
        |prs?|pull\s+requests?|bugs?|tickets?)\b[\s:]*)*
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
    r"^(?:don'?t|do\s+not|never|no\s+longer|does\s+not|doesn'?t)\s+", re.IGNORECASE
)
_INSTEAD = re.compile(
    r"^(?:(?:use|prefer)\b.+?\b(?:instead of|rather than)|(?:replace|swap)(?=.+\bwith\b))\s+"
    r"(?P<old>.+?)(?:\s+with\s.*)?$",
    re.IGNORECASE,
)
_REMOVING = re.compile(r"^(?:remove|drop|delete|get rid of)\s+", re.IGNORECASE)
_ADVERB = re.compile(
    r"^(?:properly|correctly|also|always|only|safely|explicitly)\s+", re.IGNORECASE
)
_IMPERATIVES = frozenset(
    {
        "accept", "account", "add", "adjust", "align", "annotate", "allow", "apply", "assign", "bail", "bound", "build", "calculate",
        "call", "cap", "cast", "catch", "check", "clean", "clear", "close", "compare", "compute",
        "consider", "convert", "copy", "count", "create", "decode", "deal", "deduplicate", "detect", "distinguish",
        "emit", "enable", "encode", "enforce", "ensure", "escape", "evaluate", "exclude", "expand", "expose",
        "export", "extract", "fall", "fill", "filter", "flush", "follow", "format", "generate",
        "get", "give", "guarantee", "handle", "honor", "honour", "ignore", "improve", "include",
        "increase", "infer", "inherit", "initialize", "initialise", "keep", "limit", "load",
        "look", "make", "map", "mark", "match", "mention", "merge", "normalise", "normalize", "parse", "pass",
        "permit", "pop", "preserve", "print", "process", "produce", "propagate", "qualify", "quote", "raise",
        "read", "recognise", "recognize", "recurse", "refuse", "reject", "release", "remember",
        "render", "report", "require", "reset", "resolve", "respect", "restore", "restrict",
        "retain", "return", "sanitize", "sanitise", "send", "serialize", "set", "show", "skip",
        "sort", "split", "store", "strip", "support", "terminate", "throw", "tolerate",
        "transpile", "traverse", "treat", "trim", "unqualify", "unquote", "unwrap", "update", "use", "validate",
        "verify", "wait", "warn", "wrap", "write", "yield",
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
    text = plain_title(subject)
    if not re.search(r"[^\W\d_]{2}", text):
        return ""
    for pattern, sentence in ((_FORBIDDING, "Does not prevent {}"), (_NOT_TO, "Wrongly: {}")):
        match = pattern.match(text)
        if match:
            return sentence.format(text[match.end() :])
    instead = _INSTEAD.match(text)
    if instead:
        return f"Uses {instead['old']}"
    removing = _REMOVING.match(text)
    if removing:
        return f"Wrongly keeps {text[removing.end() :]}"
    adverb = _ADVERB.match(text)
    rest = text[adverb.end() :] if adverb else text
    verb = re.match(r"[A-Za-z-]+", rest)
    if verb and not verb.group().isupper() and verb.group().lower() in _IMPERATIVES:
        words = (adverb.group().lower() if adverb else "") + _lower_first(rest)
        return f"Does not {words}"
    return text[0].upper() + text[1:]


def _lower_first(text: str) -> str:
    word = text.split(" ", 1)[0]
    return text if len(word) > 1 and word[1:] != word[1:].lower() else text[0].lower() + text[1:]
