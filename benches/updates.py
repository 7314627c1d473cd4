"""20 % updates, one commit each, client drive, against pgbench with the same two statements weighted 80 to 20."""

from shared import client, report

COLUMN_BYTES = 128
# The same work on both sides: a version, and two columns of 128 bytes with values that no earlier update had.
UPDATE = (
    "\\set v random(1, 1000000000)\n"
    "UPDATE dyno.rows_1 SET ver = ver + 1, c2 = lpad((:v)::text, 128, 'x'), c20 = lpad((:v)::text, 128, 'y') "
    "WHERE custid BETWEEN :k AND :k + 0;\n"
)


def main():
    """One row for each count of sessions."""
    client.against_pgbench(
        "updates",
        "20 % single-row updates, one commit each, on PostgreSQL, client drive, against pgbench",
        {client.LOOKUP: 80, UPDATE: 20},
        {"workload__update_pct": 20, "workload__lookup_pct": 100, "workload__work_unit": 1},
        report.sessions("1,2,4,8"),
        (1.0, None),
    )
