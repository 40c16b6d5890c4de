"""Finders: what reports defects of a snapshot; each is one module, reached through ``base``."""
