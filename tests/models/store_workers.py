"""What eight processes do at once to one state folder; run as a script with the name of a part."""

import random
import subprocess
import sys
from pathlib import Path

from probe.errors import BudgetError
from probe.models.ledger import Ledger


def spend(folder: str, cap: str, usd: str, real: str, times: str) -> int:
    """How often a process got its call."""
    ledger, got = Ledger(Path(folder), float(cap)), 0
    for _ in range(int(times)):
        try:
            booking = ledger.book("luna", float(usd), purpose="classify sqlglot/0003")
        except BudgetError:
            continue
        assert ledger.totals().committed <= float(cap) + 1e-9
        ledger.settle(booking, float(real), outcome="answered")
        got += 1
    return got


def put_and_get(folder: str, seed: str) -> int:
    """How often an answer was there already."""
    from call_samples import sample_call

    from probe.models.cache import CallStore

    store, order, hits = CallStore(Path(folder)), list(range(60)), 0
    random.Random(seed).shuffle(order)
    for number in order:
        call = sample_call(f"question {number}")
        found = store.get(call.key)
        hits += found is not None
        if found is None:
            store.put(call)
        got = store.get(call.key)
        assert got is not None
        assert got.request == call.request
    return hits


def at_once(part, *words_of_each) -> list[int]:
    """Run a part in one process for each group of words; what each returned."""
    command = [sys.executable, __file__, part.__name__]
    running = [
        subprocess.Popen([*command, *map(str, words)], stdout=subprocess.PIPE, text=True)
        for words in words_of_each
    ]
    outputs = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0] * len(running)
    return [int(output) for output in outputs]


if __name__ == "__main__":
    sys.stdout.write(str(globals()[sys.argv[1]](*sys.argv[2:])))
