"""How far apart 64 sessions start: the skew that Dyno measures and records in every run."""

import os
import tempfile

from shared import pairs, postgres, quiet, report
from shared.dyno import Dyno

SESSIONS = 64


def main():
    """One row for each engine."""
    head = ["engine", "sessions", "skew ms", "others' CPU %", "target"]
    table = report.Report("gate", f"Start gate: {SESSIONS} sessions on {os.cpu_count()} processors", head)
    with postgres.server() as server, tempfile.TemporaryDirectory() as folder:
        for engine, url in {"PostgreSQL": server.url, "SQLite in memory": "sqlite::memory:"}.items():
            dyno = Dyno(folder, url, data__scale="1000 blocks", workload__lookup_pct=100, run__warmup="0s", run__time="1s")
            if engine == "PostgreSQL":
                dyno.load()
            skews, taken = [], []
            for _ in range(report.pairs()):
                quiet.wait(10)
                others = quiet.Others()
                record, _ = dyno.run(run__sessions_per_schema=SESSIONS)
                taken.append(others.pct())
                if record["gate"]["sessions"] != SESSIONS:
                    raise RuntimeError(f"{record['gate']['sessions']} sessions passed the gate")
                skews.append(record["gate"]["skew_us_max"] / 1000)
            skew, busy = pairs.Spread.of(skews), pairs.Spread.of(taken)
            table.row([engine, SESSIONS, skew.show(), busy.show(0), report.verdict(skew.median, at_most=2.0, others=busy)], engine=engine, skew_ms=skew, others_pct=busy)
    table.finish()
