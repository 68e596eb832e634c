"""Enough: ends epochs after so many batches and the program after so many epochs."""

from . import settings


def reached(current):
    """Whether a pass has had its batches."""
    return bool(settings.BATCHES) and current.delivered >= settings.BATCHES


def had_epoch(current):
    """A loader has had one more epoch."""
