"""20 % updates, one commit each, client drive, against pgbench with the same two statements weighted 80 to 20."""

from shared import client, report

# pgbench works on a copy of the same shape: Dyno refuses to run on rows that somebody else has changed.
COPY = """
CREATE TABLE peer_rows (LIKE dyno.rows_1 INCLUDING DEFAULTS INCLUDING STORAGE) WITH (fillfactor = 10);
INSERT INTO peer_rows SELECT * FROM dyno.rows_1 ORDER BY ctid;
CREATE INDEX peer_rows_custid ON peer_rows (custid);
"""
LOOKUP = client.LOOKUP.replace("dyno.rows_1", "peer_rows")
# The same work on both sides: a version, and two columns of 128 bytes with other values than before.
UPDATE = (
    "\\set v random(1, 1000000000)\n"
    "UPDATE peer_rows SET ver = ver + 1, c2 = lpad((:v)::text, 128, 'x'), c20 = lpad((:v)::text, 128, 'y') "
    "WHERE custid BETWEEN :k AND :k + 0;\n"
)


def main():
    """One row for each count of sessions."""
    client.against_pgbench(
        "updates",
        "20 % single-row updates, one commit each, on PostgreSQL, client drive, against pgbench",
        {LOOKUP: 80, UPDATE: 20},
        {"workload__update_pct": 20, "workload__lookup_pct": 100, "workload__work_unit": 1},
        report.sessions("1,2,4,8"),
        (1.0, None),
        prepare=prepare,
    )


def prepare(server):
    """The peer's copy, as settled as the original."""
    server.psql(COPY)
    server.psql("VACUUM (FREEZE, ANALYZE) peer_rows")
    server.psql("CHECKPOINT")
