"""Thousands of sessions that work now and then, in one process, on real connections: memory for each, how long all of them take to
connect, and whether operations are begun when they are due. The classic method and a user's own SQL; more sessions than the server
has processes go through PgBouncer. `SESSIONS=1000,10000` says how many."""

import contextlib
import os
import tempfile

from shared import pairs, pgbouncer, postgres, process, quiet, report
from shared.dyno import Dyno

# Sessions of which each has a process of the server; more go through a pooler, with this many connections of its own.
STRAIGHT_MAX = 2000
POOLED = 40


def main():
    """A row for each number of sessions and each workload. By rate: each session has something to do once a second, at random moments."""
    head = ["sessions", "workload", "ops done of due", "KiB resident per session", "s to connect", "p50 ms from due to end", "p99 ms", "latest begin ms", "others' CPU %", "target"]
    table = report.Report("many_sessions", "Sessions with one operation a second each, in one process, PostgreSQL; beyond 2000 through PgBouncer", head)
    counts = [int(n) for n in os.environ.get("SESSIONS", "1000,10000").split(",")]
    with postgres.server(max_connections=STRAIGHT_MAX + 50) as server, tempfile.TemporaryDirectory() as folder:
        for sessions in counts:
            with way(server, sessions) as (url, options):
                for workload, settings in workloads(folder).items():
                    dyno = Dyno(folder, url, **{**options, **settings})
                    dyno.load()
                    row(table, dyno, sessions, workload)
    table.finish()


@contextlib.contextmanager
def way(server, sessions):
    """Where so many sessions go, and the options for that."""
    if sessions <= STRAIGHT_MAX:
        yield server.url, {}
        return
    with pgbouncer.in_front_of(server, POOLED, sessions + 100) as url:
        yield url, {"target__observe_url": server.url}


def workloads(folder):
    """The classic method's lookups, and the same as a user's own SQL."""
    if not os.path.exists(f"{folder}/point-select"):
        process.run([process.DYNO, "init", "--workload", "point-select"], cwd=folder)
    return {
        "lookups": {"data__scale": "10000 blocks", "workload__lookup_pct": 100},
        "own SQL": {"workload__folder": f"{folder}/point-select"},
    }


def row(table, dyno, sessions, workload):
    """One number of sessions."""
    rounds, seconds = report.pairs(), 2 * report.seconds()
    rate = int(os.environ.get("RATE", sessions))
    figures, taken = [], []
    for _ in range(rounds):
        quiet.wait(10)
        others = quiet.Others()
        options = {"workload__rate": f"{rate}/s", "run__warmup": "5s", "run__time": f"{seconds}s", "target__connect_timeout": "60s"}
        _, one = dyno.run(**{**options, "workload__rate": "10/s", "run__sessions_per_schema": 1})
        record, all_ = dyno.run(**options, run__sessions_per_schema=sessions)
        taken.append(others.pct())
        done = record["ops"]["all"]
        response = done["response_us"]
        kib = (all_.rss_kib_max - one.rss_kib_max) / (sessions - 1)
        figures.append((kib, record["gate"]["connect_s"], response["p50"] / 1000, response["p99"] / 1000, record["window"]["late_us_max"] / 1000, done["rate_per_s"] / rate))
    kib, connect, p50, p99, late, share = (pairs.Spread.of(column) for column in zip(*figures))
    busy = pairs.Spread.of(taken)
    table.row(
        [sessions, workload, share.show(3), kib.show(1), connect.show(), p50.show(), p99.show(), late.show(), busy.show(0), report.verdict(kib.median, at_most=100, others=busy)],
        sessions=sessions, workload=workload, rate_per_s=rate, kib_per_session=kib, connect_s=connect, p50_ms=p50, p99_ms=p99, latest_ms=late, done_share=share, others_pct=busy,
    )
