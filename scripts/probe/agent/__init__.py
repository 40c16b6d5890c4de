"""The one agent loop: a model outside, its commands inside a sandbox."""
