"""Which findings and reference bugs are the same defect."""
