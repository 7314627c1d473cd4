"""Pairs: two ways of doing the same work, one after the other, again and again, and the ratio inside each pair.

A machine's speed drifts by more than the differences that matter here. Neighbours in time share the drift, so only
ratios inside a pair are kept; which side goes first changes from pair to pair, so that a trend favours neither.
"""

import math
import os
import statistics
from dataclasses import dataclass

from . import quiet


@dataclass
class Spread:
    """The median of some figures, with the least and the greatest, and where the true median lies (`likely`)."""

    median: float
    least: float
    greatest: float
    n: int
    likely: tuple

    @classmethod
    def of(cls, figures):
        """Of one figure or more."""
        return cls(statistics.median(figures), min(figures), max(figures), len(figures), interval(figures))

    def show(self, digits=2):
        """`1.04 (0.98–1.11)`."""
        return f"{self.median:,.{digits}f} ({self.least:,.{digits}f}–{self.greatest:,.{digits}f})"

    def show_likely(self, digits=3):
        """`1.004 [0.997, 1.012]`: the median, and the interval that holds the true one in 95 cases of 100."""
        low, high = (f"{end:,.{digits}f}" if end is not None else "?" for end in self.likely)
        return f"{self.median:,.{digits}f} [{low}, {high}]"

    def as_json(self):
        """For the file beside the table."""
        return {"median": self.median, "min": self.least, "max": self.greatest, "n": self.n, "median_95": self.likely}


def interval(figures):
    """The interval of order statistics that holds the median with 95 % or more, whatever the distribution is (the sign
    test's; Conover, Practical Nonparametric Statistics, 3.2); `(None, None)` for fewer than six figures."""
    n, figures = len(figures), sorted(figures)
    below, cut = 0.0, 0
    while (below := below + math.comb(n, cut) / 2**n) <= 0.025:
        cut += 1
    return (figures[cut - 1], figures[n - cut]) if cut else (None, None)


@dataclass
class Pairs:
    """Pairs of `(ours, theirs)`, and what others took of the machine meanwhile, in percent, each pair's worse side."""

    sides: list
    others_pct: list

    def of(self, side, figure):
        """The spread of a figure of ours (0) or theirs (1)."""
        return Spread.of([figure(pair[side]) for pair in self.sides])

    def ratio(self, figure):
        """The spread of ours ÷ theirs of one figure; of pairs in which theirs is not nothing."""
        return Spread.of([figure(a) / figure(b) for a, b in self.sides if figure(b)] or [math.nan])

    def others(self):
        """The spread of what others took."""
        return Spread.of(self.others_pct)


def interleave(pairs, ours, theirs):
    """Does both in turns until `pairs` of them were quiet, and returns those.

    It tries `TRIES` (3) times as many at most, and waits up to `WAIT_QUIET` (20) seconds before each. If too few were quiet, the quietest make up the number: what others took is part
    of the result, so that nobody takes a disturbed figure for a clean one. The choice looks at others' CPU only, never at
    the figures.
    """
    wait_s = float(os.environ.get("WAIT_QUIET", 20))
    taken = []
    for number in range(pairs * int(os.environ.get("TRIES", 3))):
        if sum(others <= quiet.OTHERS_PCT_MAX for others, _, _ in taken) >= pairs:
            break
        quiet.wait(wait_s)
        both, worst = {}, 0.0
        for side in (0, 1) if number % 2 == 0 else (1, 0):
            others = quiet.Others()
            both[side] = (ours, theirs)[side]()
            worst = max(worst, others.pct())
        taken.append((worst, number, (both[0], both[1])))
    kept = sorted(taken)[:pairs]
    return Pairs([pair for _, _, pair in kept], [others for others, _, _ in kept])
