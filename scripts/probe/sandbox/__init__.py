"""Isolated places in which foreign code runs, one interface over several engines."""
