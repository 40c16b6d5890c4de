"""Text in the cells of tables for people: repositories and models write it, spreadsheets run it."""

_FORMULA = ("=", "+", "-", "@")


def safe_cell(text: str) -> str:
    """Text that a spreadsheet shows as it is: on one line, and never taken for a formula.

    Whitespace of any kind becomes one space; what begins like a formula gets an apostrophe in
    front (OWASP, CSV injection). Control characters, which some programs refuse, are left out.
    """
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return f"'{line}" if line.startswith(_FORMULA) else line
