"""Generators that a sample constructs, or seeds, while it is made."""


class Made:
    """What was constructed or seeded during one sample."""

    def states(self):
        return {}

    def state_of(self, core):
        return None


_NOTHING = Made()


def begin():
    pass


def end():
    pass


def take():
    """(names and ids of sources that were seeded since the last call, what was made since)."""
    return (), _NOTHING
