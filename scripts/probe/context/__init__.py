"""The document on the project that sessions are given."""
