import os

from probe.code.tokens import count_tokens


def test_known_counts():
    # cl100k_base, as in OpenAI's cookbook: "tiktoken is great!" has 6 tokens
    assert count_tokens("tiktoken is great!") == 6
    assert count_tokens("") == 0


def test_special_tokens_are_ordinary_text():
    assert count_tokens("<|endoftext|>") > 1


def test_the_environment_is_left_as_it_was():
    count_tokens("x")
    assert "TIKTOKEN_CACHE_DIR" not in os.environ
