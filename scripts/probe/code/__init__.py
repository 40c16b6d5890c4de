"""What PROBE knows of source code: languages, roles of paths, units, tokens."""
