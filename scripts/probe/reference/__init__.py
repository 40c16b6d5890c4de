"""The reference set: every bug fixed in the window that the snapshot already had."""
