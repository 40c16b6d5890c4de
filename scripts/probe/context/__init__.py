"""The document on the project that full sessions and the panel get, one per snapshot."""
