"""Single-row lookups over the wire, client drive, against `pgbench -M prepared`: operations per second and client CPU."""

import os

from shared import client


def main():
    """One row for each count of sessions; `SESSIONS=2,8` takes others."""
    sessions = [int(n) for n in os.environ.get("SESSIONS", "1,2,4,8,32").split(",")]
    client.against_pgbench(
        "lookups",
        "Single-row lookups on PostgreSQL, client drive, against pgbench -M prepared",
        {client.LOOKUP: 1},
        {"workload__lookup_pct": 100},
        sessions,
        (1.0, 0.85),
    )
