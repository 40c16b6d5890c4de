"""A few threads that work through a list, for work that must be left at once when interrupted.

The threads are daemons: an interrupt ends the process without waiting for an agent's next answer,
and sandboxes end with the process by themselves. The standard library's pool would wait.
"""

import threading
from collections.abc import Callable, Sequence
from queue import Queue
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def run_all(work: Callable[[T], R], items: Sequence[T], threads: int) -> list[R]:
    """Apply ``work`` to each item, at most ``threads`` at a time; results in the items' order.

    After the first error no further item is begun; those under way are waited for, so that what
    they pay for is kept, and then the error is raised.
    """
    results: dict[int, R] = {}
    errors: list[BaseException] = []
    waiting = iter(range(len(items)))
    lock = threading.Lock()
    ended: Queue[None] = Queue()

    def serve() -> None:
        try:
            while True:
                with lock:
                    number = None if errors else next(waiting, None)
                if number is None:
                    return
                results[number] = work(items[number])
        except BaseException as error:
            errors.append(error)
        finally:
            ended.put(None)

    started = min(threads, len(items))
    for _ in range(started):
        threading.Thread(target=serve, daemon=True).start()
    for _ in range(started):
        ended.get()
    if errors:
        raise errors[0]
    return [results[number] for number in range(len(items))]
