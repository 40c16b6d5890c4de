from probe.models.secrets import MASK, one_line, register_key, scrub


def test_values_of_secret_variables_are_masked(monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "sk-abcdefgh12345")
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_0123456789")
    monkeypatch.setenv("CLIENT_SECRET", "hush-hush-hush")
    monkeypatch.setenv("PLAIN", "plain-and-visible")
    text = "sk-abcdefgh12345 ghp_0123456789/hush-hush-hush plain-and-visible"
    assert scrub(text) == f"{MASK} {MASK}/{MASK} plain-and-visible"


def test_short_values_are_words_and_stay(monkeypatch):
    monkeypatch.setenv("SORT_KEY", "name")
    assert scrub("by name") == "by name"


def test_a_key_under_any_name_is_masked_once_it_is_known(monkeypatch):
    monkeypatch.setenv("LAB_ACCESS", "q8w7e6r5t4y3")
    register_key("LAB_ACCESS")
    assert scrub("header q8w7e6r5t4y3") == f"header {MASK}"


def test_a_key_that_contains_another_leaves_no_rest(monkeypatch):
    monkeypatch.setenv("A_KEY", "abcdefgh")
    monkeypatch.setenv("B_KEY", "abcdefgh-and-more")
    assert scrub("abcdefgh-and-more") == MASK


def test_keys_are_masked_before_a_line_is_cut(monkeypatch):
    monkeypatch.setenv("A_KEY", "k" * 40)
    line = one_line("x" * 40 + "\n" + "k" * 40, limit=50)
    assert line == "x" * 40 + f" {MASK}"
    assert one_line("a\n\tb  c") == "a b c"
    assert len(one_line("y" * 900)) == 500
