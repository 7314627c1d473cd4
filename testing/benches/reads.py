"""64-block reads over the wire, client drive, against `pgbench -M prepared`."""

from shared import client, report


def main():
    """One row for each count of sessions."""
    client.against_pgbench(
        "reads",
        "64-block reads on PostgreSQL, client drive, against pgbench -M prepared",
        {client.SELECT_64: 1},
        {"workload__work_unit": 64},
        report.sessions("1,2,4,8"),
        (1.0, None),
        keys=client.ROWS - 63,
    )
