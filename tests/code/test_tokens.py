from probe.code.tokens import count_tokens


def test_known_counts():
    # cl100k_base, as in OpenAI's cookbook: "tiktoken is great!" has 6 tokens
    assert count_tokens("tiktoken is great!") == 6
    assert count_tokens("") == 0


def test_special_tokens_are_ordinary_text():
    assert count_tokens("<|endoftext|>") > 1


def test_the_environment_is_left_as_it_was(run_python):
    # in a process of its own: litellm, which other tests import, sets the variable for good
    done = run_python(
        "import os\n"
        "os.environ.pop('TIKTOKEN_CACHE_DIR', None)\n"
        "from probe.code.tokens import count_tokens\n"
        "print(count_tokens('x'), 'TIKTOKEN_CACHE_DIR' in os.environ)\n"
    )
    assert done.stdout == "1 False\n", done.stderr
