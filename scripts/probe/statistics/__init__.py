"""Figures and their intervals; each docstring states its formula."""
