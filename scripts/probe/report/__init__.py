"""Tables and summaries for people."""
