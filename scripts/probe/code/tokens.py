"""Token counts by one named tokenizer, so that every model gets the same plan.

``cl100k_base``, from the file that the litellm wheel ships: nothing is fetched, and litellm itself
is not imported (five seconds).
"""

import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from probe.errors import ConfigError

if TYPE_CHECKING:
    from tiktoken import Encoding

TOKENIZER = "cl100k_base"


@cache
def _encoding() -> "Encoding":
    spec = find_spec("litellm")
    if spec is None or spec.origin is None:
        raise ConfigError("the tokenizer's file is missing: litellm is not installed; run `make`")
    folder = Path(spec.origin).parent / "litellm_core_utils" / "tokenizers"
    previous = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    try:
        import tiktoken

        return tiktoken.get_encoding(TOKENIZER)
    finally:
        if previous is None:
            del os.environ["TIKTOKEN_CACHE_DIR"]
        else:
            os.environ["TIKTOKEN_CACHE_DIR"] = previous


def count_tokens(text: str) -> int:
    """Number of ``cl100k_base`` tokens; special-token texts count as ordinary text."""
    return len(_encoding().encode_ordinary(text))
