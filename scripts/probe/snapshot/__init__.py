"""The snapshot as finders get it: which files are audited, and the plan of passes."""
