"""A thousand sessions with think time in one process, on real connections: memory for each, and whether operations are
begun when they are due."""

import tempfile

from shared import pairs, postgres, quiet, report
from shared.dyno import Dyno

SESSIONS = 1000
RATE_PER_S = 2000


def main():
    """One row. Think time by rate: each session has two operations per second to do, at random moments."""
    head = ["sessions", "ops done of due", "KiB resident per session", "p50 ms from due to end", "p99 ms", "latest begin ms", "others' CPU %", "target"]
    table = report.Report("many_sessions", f"{SESSIONS} sessions by rate ({RATE_PER_S}/s) in one process, PostgreSQL", head)
    rounds, seconds = report.pairs(), 2 * report.seconds()
    with postgres.server(max_connections=SESSIONS + 50) as server, tempfile.TemporaryDirectory() as folder:
        dyno = Dyno(folder, server.url, data__scale="10000 blocks", workload__lookup_pct=100, workload__rate=f"{RATE_PER_S}/s", run__warmup="2s", run__time=f"{seconds}s")
        dyno.load()
        figures, taken = [], []
        for _ in range(rounds):
            quiet.wait(10)
            others = quiet.Others()
            _, one = dyno.run(run__sessions_per_schema=1)
            record, all_ = dyno.run(run__sessions_per_schema=SESSIONS)
            taken.append(others.pct())
            done = record["ops"]["all"]
            lookup = record["ops"]["lookup"]["response_us"]
            late = record["window"]["late_us_max"] / 1000
            share = done["rate_per_s"] / RATE_PER_S
            figures.append(((all_.rss_kib_max - one.rss_kib_max) / (SESSIONS - 1), lookup["p50"] / 1000, lookup["p99"] / 1000, late, share))
        kib, p50, p99, late, share = (pairs.Spread.of(column) for column in zip(*figures))
        busy = pairs.Spread.of(taken)
        table.row(
            [SESSIONS, share.show(3), kib.show(1), p50.show(), p99.show(), late.show(), busy.show(0), report.verdict(kib.median, at_most=100, others=busy)],
            sessions=SESSIONS, rate_per_s=RATE_PER_S, kib_per_session=kib, p50_ms=p50, p99_ms=p99, latest_ms=late, done_share=share, others_pct=busy,
        )
    table.finish()
