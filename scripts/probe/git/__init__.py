"""Reading git histories through plumbing commands, streaming, without the user's configuration."""
