"""How much two reports of a defect look alike: six signals, whatever is compared with what.

Findings are compared with reference bugs, reports with reports, and repeats with each other, so
the signals know nothing of the stages above them.
"""
