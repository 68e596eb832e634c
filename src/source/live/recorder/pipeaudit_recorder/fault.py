"""What the recorder could not do is counted and written, never raised into the program."""

from . import shard

_counts = {}


def note(where, error):
    """Counts a failure; the 1st, 10th, 100th … of a kind is written."""
    try:
        kind = (where, type(error).__name__)
        count = _counts[kind] = _counts.get(kind, 0) + 1
        if count in (1, 10, 100, 1000, 10000):
            message = "%s: %s" % (kind[1], shard.text(error)[:300])
            shard.emit({"type": "fault", "where": where, "message": message, "count": count})
    except Exception:
        pass
