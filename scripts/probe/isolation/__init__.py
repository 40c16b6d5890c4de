"""Proofs that a snapshot, and a session on it, know nothing of the time after T0."""
