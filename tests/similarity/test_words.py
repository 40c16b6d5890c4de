from probe.similarity.words import (
    path_suffixes,
    prose_identifiers,
    prose_words,
    snippet_tokens,
    title_trigrams,
)


def test_snippets_are_cut_into_names_numbers_and_operators():
    assert snippet_tokens("if a_b >= 1.5:\n  f(a_b)") == {
        "if",
        "a_b",
        ">=",
        "1.5",
        ":",
        "f",
        "(",
        ")",
    }


def test_identifiers_are_words_written_as_only_code_is():
    text = "The `Parser.parse` call and read_rows(), camelCase or HTTPError; not Words in Prose."
    assert prose_identifiers(text) == {"parser", "parse", "read_rows", "camelcase", "httperror"}
    assert prose_identifiers("Nothing here at all.") == frozenset()


def test_called_names_count_without_their_parentheses():
    assert prose_identifiers("calling close() twice") == {"close"}


def test_trigrams_ignore_case_and_spacing():
    assert title_trigrams("Ab") == {"  a", " ab", "ab ", "b  "}
    assert title_trigrams(" AB  ") == title_trigrams("ab")
    assert title_trigrams("  ") == frozenset()


def test_prose_words_keep_names_whole_and_in_parts():
    assert prose_words("The parseRows of a table_name") == [
        "parserows",
        "parse",
        "rows",
        "table_name",
        "table",
        "name",
    ]


def test_path_suffixes_go_from_the_name_to_the_whole():
    assert path_suffixes("a/b/c.py") == ("c.py", "b/c.py", "a/b/c.py")
