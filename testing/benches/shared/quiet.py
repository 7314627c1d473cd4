"""How much of the machine others used while we measured.

Pairs do not help against this: the scheduler shares processors among threads, so on a machine with other work the side
with more threads (Dyno has one per session, pgbench one per processor) takes more from the others, and looks faster. So every side of a pair tells how much
others took, pairs wait for a quiet moment, and pairs that were disturbed are taken again or named.
"""

import os
import time

TICK = os.sysconf("SC_CLK_TCK")
# A pair counts as quiet if others took less than this share of all processors during each side.
OTHERS_PCT_MAX = 5.0


def processors_s():
    """Seconds that all processors were busy since boot."""
    with open("/proc/stat") as stat:
        user, nice, system, _idle, _iowait, irq, softirq = map(int, stat.readline().split()[1:8])
    return (user + nice + system + irq + softirq) / TICK


def own_s():
    """Seconds that this process, its children and theirs were busy, ended ones included."""
    parents, used = {}, {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as stat:
                fields = stat.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        parents[int(pid)] = int(fields[1])
        used[int(pid)] = sum(map(int, fields[11:15])) / TICK

    def ours(pid):
        while pid in parents:
            if pid == os.getpid():
                return True
            pid = parents[pid]
        return False

    return sum(seconds for pid, seconds in used.items() if ours(pid))


class Others:
    """The share of the machine that others took since this was made."""

    def __init__(self):
        self.began, self.busy_s, self.own_s = time.monotonic(), processors_s(), own_s()

    def pct(self):
        """In percent of all processors."""
        taken_s = (processors_s() - self.busy_s) - (own_s() - self.own_s)
        return max(0.0, 100 * taken_s / (time.monotonic() - self.began) / os.cpu_count())


def wait(seconds_max):
    """Waits for a quiet half second, for `seconds_max` at most."""
    until = time.monotonic() + seconds_max
    while True:
        others = Others()
        time.sleep(0.5)
        if others.pct() <= OTHERS_PCT_MAX or time.monotonic() > until:
            return
