"""Live views of a run: what 50 viewers cost the server, and what being watched costs the run."""

import os
import selectors
import tempfile
import threading
import time

from shared import pairs, quiet, report
from shared.dyno import Dyno, rate
from shared.serve import Serve

VIEWERS = int(os.environ.get("VIEWERS", 50))
# What is looked at by the run that is held against one that nobody looks at.
WATCHED_BY = 5


class Crowd:
    """So many viewers of a job, whose events are read and thrown away on one thread."""

    def __init__(self, server, job, viewers):
        self.over, self.bytes, self.events = threading.Event(), 0, 0
        self.selector = selectors.DefaultSelector()
        for _ in range(viewers):
            self.selector.register(server.viewer(job), selectors.EVENT_READ)
        self.thread = threading.Thread(target=self.read)
        self.thread.start()

    def read(self):
        while not self.over.is_set() and self.selector.get_map():
            for key, _ in self.selector.select(0.2):
                piece = key.fileobj.recv(1 << 16)
                self.bytes += len(piece)
                self.events += piece.count(b"\ndata: ")
                if not piece:
                    self.selector.unregister(key.fileobj)
                    key.fileobj.close()

    def close(self):
        self.over.set()
        self.thread.join()
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()


def plan(seconds):
    """Single-row lookups on few blocks, with an interval each second, as is usual."""
    sets = {"data.scale": "1000 blocks", "data.scan_scale": "0 blocks", "workload.lookup_pct": "100"}
    return {**sets, "run.warmup": "500ms", "run.time": f"{seconds}s"}


def until(server, job, holds, what):
    """Waits until a job stands so."""
    until_s = time.monotonic() + 120
    while time.monotonic() < until_s:
        seen = server.ask(f"/api/v1/jobs/{job}")
        if holds(seen):
            return seen
        time.sleep(0.05)
    raise RuntimeError(f"{what} did not come: {seen['job']}, {seen['talk']}")


def in_window(seen):
    return seen["progress"]["last"] is not None


def used_pct(server, seconds):
    """Share of one processor that the server uses, in percent."""
    began, used = time.monotonic(), server.cpu_s()
    time.sleep(seconds)
    return 100 * (server.cpu_s() - used) / (time.monotonic() - began)


def crowd(folder):
    """The server's processor time with many viewers and with none, by turns in one run."""
    each = max(10, 2 * report.seconds())
    rounds = report.pairs()
    server = Serve(f"{folder}/viewers.sqlite3", f"sqlite:{folder}/viewers.db", folder)
    head = ["viewers", "server's CPU with them %", "with none %", "for each viewer %", "bytes/s for each", "others' CPU %", "target"]
    table = report.Report("viewers", "Live views of one run with an interval each second", head)
    try:
        job = server.ask("/api/v1/jobs", {"target": "target", "set": plan(2 * each * rounds + 60)})["id"]
        until(server, job, in_window, "its first interval")
        taken, others, received = [], [], []
        for number in range(rounds):
            both = {}
            watch = quiet.Others()
            for many in (True, False) if number % 2 == 0 else (False, True):
                viewers = Crowd(server, job, VIEWERS) if many else None
                time.sleep(1)  # what they are given of the past is sent
                before = viewers.bytes if viewers else 0
                both[many] = used_pct(server, each)
                if viewers:
                    received.append((viewers.bytes - before) / each / VIEWERS)
                    viewers.close()
            taken.append((both[True], both[False]))
            # The run is the server's child, and so none of the others.
            others.append(watch.pct())
        server.get(f"/api/v1/jobs/{job}/stop", {})
        until(server, job, lambda seen: seen["job"]["ended_at"], "its end")
    finally:
        server.close()
    with_them, with_none = (pairs.Spread.of([pair[side] for pair in taken]) for side in (0, 1))
    of_each = pairs.Spread.of([(a - b) / VIEWERS for a, b in taken])
    size, others = pairs.Spread.of(received), pairs.Spread.of(others)
    if not size.median:
        raise RuntimeError("no viewer was told anything")
    table.row(
        [VIEWERS, with_them.show(1), with_none.show(1), of_each.show(3), size.show(0), others.show(0), report.verdict(of_each.median, at_most=2.0, others=others)],
        viewers=VIEWERS, with_pct=with_them, without_pct=with_none, each_pct=of_each, bytes_per_s=size, others_pct=others,
    )
    table.finish()


def watched(folder):
    """A run with viewers and one that nobody looks at, by turns; in memory, so that nothing else drifts."""
    sets = plan(report.seconds())
    dyno = Dyno(folder, "sqlite::memory:", **{key.replace(".", "__"): value for key, value in sets.items()})
    server = Serve(f"{folder}/watched.sqlite3", "sqlite::memory:", folder)

    def looked_at():
        job = server.ask("/api/v1/jobs", {"target": "target", "load": False, "set": sets})["id"]
        viewers = Crowd(server, job, WATCHED_BY)
        seen = until(server, job, lambda seen: seen["job"]["ended_at"], "its end")
        viewers.close()
        if not viewers.events or not seen["progress"]["stored"]:
            raise RuntimeError(f"nothing was told: {seen['job']}, {seen['talk']}")
        record = server.ask(f"/api/v1/runs/{seen['progress']['stored'][0]['id']}")
        if record["status"] != "valid":
            raise RuntimeError(f"the run is {record['status']}: {record['reasons']}")
        return record

    head = ["watched ops/s", "unwatched ops/s", "ratio [95 %]", "others' CPU %", "target"]
    table = report.Report("watched", f"Lookups on SQLite in memory, with {WATCHED_BY} live views and with none", head)
    try:
        done = pairs.interleave(report.pairs(), looked_at, lambda: dyno.run()[0])
    finally:
        server.close()
    own, peer, ratio = done.of(0, rate), done.of(1, rate), done.ratio(rate)
    table.row(
        [own.show(0), peer.show(0), ratio.show_likely(), done.others().show(0), report.verdict(ratio.median, at_least=0.99, others=done.others())],
        watched_per_s=own, unwatched_per_s=peer, ratio=ratio, others_pct=done.others(),
    )
    table.finish()


def main():
    """What viewers cost the server, and the run."""
    with tempfile.TemporaryDirectory() as folder:
        crowd(folder)
    with tempfile.TemporaryDirectory() as folder:
        watched(folder)
