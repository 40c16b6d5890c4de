"""Prompt sizes: the expectation counted by hand, and a bound no tokenizer passes."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probe.code.tokens import count_tokens
from probe.models.size import bound_tokens, prompt_tokens

TOOL = {
    "type": "function",
    "function": {"name": "bash", "parameters": {"type": "object", "properties": {}}},
}


def user(text):
    return {"role": "user", "content": text}


def test_expectation_by_hand():
    # "hello world" is 2 tokens of cl100k, the role 1; 4 around the message, 3 before the answer
    assert prompt_tokens([user("hello world")]) == 2 + 1 + 4 + 3
    assert prompt_tokens([]) == 3


def test_schema_and_tools_count():
    schema = {"type": "object", "properties": {"is_fix": {"type": "boolean"}}}
    dumped = json.dumps(schema, separators=(",", ":"))
    plain = prompt_tokens([user("hello")])
    assert prompt_tokens([user("hello")], schema) == plain + count_tokens(dumped)
    assert prompt_tokens([user("hello")], None, [TOOL, TOOL]) > plain + 20
    assert bound_tokens([user("hello")], schema, [TOOL]) > bound_tokens([user("hello")])


def test_texts_inside_parts_and_tool_calls_count():
    call = {"id": "1", "type": "function", "function": {"name": "bash", "arguments": "x" * 400}}
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "word " * 100}]},
        {"role": "assistant", "content": None, "tool_calls": [call]},
    ]
    assert prompt_tokens(messages) > 100 + count_tokens("x" * 400)
    assert bound_tokens(messages) > 500 + 400


def test_the_bound_is_bytes_and_stated_allowances():
    # content 5 and role 4 bytes; 32 for each text and message; 1,024 for the prompt
    assert bound_tokens([user("hello")]) == 5 + 4 + 32 * 3 + 1024
    assert bound_tokens([user("ü")]) == 2 + 4 + 32 * 3 + 1024


def test_a_text_that_grows_when_normalised():
    # one character of 3 bytes becomes 18 characters of 33 bytes under NFKC
    assert bound_tokens([user("\ufdfa" * 10)]) - bound_tokens([user("")]) == 330


@settings(deadline=None)  # the tokenizer is loaded by the first example
@given(st.text(st.characters(exclude_categories=()), max_size=200))
def test_the_bound_holds_for_bytes_and_for_cl100k(text):
    messages = [user(text)]
    assert bound_tokens(messages) >= len(text.encode("utf-8", errors="surrogatepass"))
    assert bound_tokens(messages) >= prompt_tokens(messages)


@pytest.mark.parametrize("tokenizer", ["anthropic", "cl100k"])
def test_the_bound_holds_for_shipped_tokenizers(tokenizer):
    """litellm ships an older tokenizer of Anthropic's, which normalises texts before."""
    text = (
        "def f(x):\n\treturn 'ü', '漢字', '\ufdfa\u2026\u00bd' # \U0001f9d1\u200d\U0001f680\n" * 50
    )
    if tokenizer == "cl100k":
        tokens = count_tokens(text)
    else:
        from litellm.litellm_core_utils.tokenizers import __path__ as folders
        from tokenizers import Tokenizer

        file = f"{next(iter(folders))}/anthropic_tokenizer.json"
        tokens = len(Tokenizer.from_file(file).encode(text).ids)
    assert tokens <= bound_tokens([user(text)]) - bound_tokens([user("")])
