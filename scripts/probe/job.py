"""The frame of every workflow job: its log, and how it ends.

A log's last line says how the job ended: ``DONE``, or ``ERROR`` with the cause in one line. A log
without either belongs to a job that was killed; :mod:`probe.report.summary` relies on it.
"""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from probe.errors import ProbeError

DONE = "DONE"
ERROR = "ERROR"


@contextmanager
def job(log: str | Path) -> Iterator[None]:
    """Send log records to ``log`` and stderr while the body runs, and end the log with the outcome.

    A :class:`ProbeError` becomes one line and exit status 1; anything unforeseen leaves its
    traceback in the log, one line on stderr, and exit status 1.
    """
    path = Path(log)
    path.parent.mkdir(parents=True, exist_ok=True)
    to_file = logging.FileHandler(path, mode="w", encoding="utf-8")
    to_stderr = logging.StreamHandler(sys.stderr)
    to_stderr.addFilter(lambda record: record.exc_info is None)
    logging.basicConfig(
        level=logging.INFO, format="%(levelname)s %(message)s", handlers=[to_file, to_stderr]
    )
    outcome = f"{ERROR} ended without a reason"
    try:
        yield
        outcome = DONE
    except ProbeError as error:
        outcome = f"{ERROR} {error}"
        raise SystemExit(1) from error
    except KeyboardInterrupt:
        outcome = f"{ERROR} interrupted"
        raise SystemExit(130) from None
    except Exception as error:
        logging.getLogger(__name__).error("unforeseen", exc_info=True)
        outcome = f"{ERROR} {type(error).__name__}: {error} (a fault of PROBE; traceback in {path})"
        raise SystemExit(1) from error
    finally:
        to_file.close()
        line = " ".join(outcome.splitlines()) + "\n"
        with path.open("a", encoding="utf-8") as stream:
            stream.write(line)
        if outcome != DONE:
            sys.stderr.write(line)
