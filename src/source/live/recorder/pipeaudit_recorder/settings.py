"""What the environment asks for; read once a process."""

import os

TRACE = ""
RUN = ""
EPOCHS = 2
BATCHES = 0
WORKERS = None
WHOLE = False
LISTING_SEED = None


def _number(name, default):
    try:
        value = int(os.environ.get(name, ""))
    except ValueError:
        return default
    return value if value >= 0 else default


def read():
    """Reads the variables; those that make no sense count as absent."""
    global TRACE, RUN, EPOCHS, BATCHES, WORKERS, WHOLE, LISTING_SEED
    TRACE = os.environ.get("PIPEAUDIT_TRACE", "")
    RUN = os.environ.get("PIPEAUDIT_RUN", "")
    WHOLE = os.environ.get("PIPEAUDIT_WHOLE", "") == "1"
    EPOCHS = 0 if WHOLE else _number("PIPEAUDIT_EPOCHS", 2)
    BATCHES = 0 if WHOLE else _number("PIPEAUDIT_BATCHES", 0)
    WORKERS = _number("PIPEAUDIT_WORKERS", None)
    LISTING_SEED = os.environ.get("PIPEAUDIT_LISTING_SEED") or None
