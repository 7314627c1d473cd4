"""Single-row lookups over the wire, client drive, against `pgbench -M prepared`: operations per second and client CPU."""

from shared import client, report


def main():
    """One row for each count of sessions."""
    client.against_pgbench(
        "lookups",
        "Single-row lookups on PostgreSQL, client drive, against pgbench -M prepared",
        {client.LOOKUP: 1},
        {"workload__lookup_pct": 100},
        report.sessions("1,2,4,8,32"),
        (1.0, 0.85),
    )
