"""The time after T0 stays outside: the audit of a snapshot, and the scan of finished sessions.

An instruction not to look proves nothing. Before any session is paid for, a snapshot is opened as a
finder will see it and searched for what it must not hold (``leaks.json``); after a run its transcripts
are searched for what no session can know (``{run}/leaks.jsonl``).
"""
