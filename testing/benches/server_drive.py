"""64-block reads inside the server, server drive, against a plain PL/pgSQL loop over the same static statement."""

import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

from shared import pairs, postgres, report
from shared.dyno import Dyno, metric, rate

ROWS = 10_000
# No more than a loop needs: a random key, the statement, a look at the clock every hundred rounds. What it says it did
# is held against the blocks that the server counted, as Dyno's audit does it on the other side.
LOOP = f"""
CREATE OR REPLACE FUNCTION plain_loop(begins timestamptz, seconds float8) RETURNS int8 LANGUAGE plpgsql AS $$
DECLARE
    ends timestamptz := begins + seconds * interval '1 second';
    first_key int8;
    counted int8;
    done int8 := 0;
BEGIN
    PERFORM pg_sleep(extract(epoch FROM begins - clock_timestamp()));
    WHILE clock_timestamp() < ends LOOP
        FOR round IN 1..100 LOOP
            first_key := 1 + floor(random() * {ROWS - 63});
            SELECT COUNT(c2) INTO counted FROM dyno.rows_1 WHERE custid BETWEEN first_key AND first_key + 63;
            done := done + 1;
        END LOOP;
    END LOOP;
    RETURN done;
END $$
"""


def main():
    """One row for each count of sessions."""
    head = ["sessions", "Dyno ops/s", "loop ops/s", "ratio", "Dyno logical reads/s", "others' CPU %", "target"]
    table = report.Report("server_drive", "64-block reads on PostgreSQL, server drive, against a PL/pgSQL loop", head)
    with postgres.server() as server, tempfile.TemporaryDirectory() as folder:
        dyno = Dyno(folder, server.url, data__scale=f"{ROWS} blocks", run__warmup="0s", workload__drive="server")
        dyno.load()
        server.psql(LOOP)
        seconds = report.seconds()
        options = {"PGOPTIONS": postgres.SESSION_OPTIONS}
        for sessions in report.sessions("1,2,4,8"):

            def ours():
                record, _ = dyno.run(run__sessions_per_schema=sessions, run__time=f"{seconds}s")
                return rate(record), metric(record, "logical_reads_per_s")

            def theirs():
                before = server.blocks_read("rows_1")
                # All loops begin at one moment, when every psql is there: what one does before the others are would count.
                begins = server.psql(f"SELECT clock_timestamp() + {0.5 + 0.05 * sessions} * interval '1 second'")
                with ThreadPoolExecutor(sessions) as pool:
                    loop = lambda _: int(server.psql(f"SELECT plain_loop('{begins.strip()}', {seconds})", options))
                    done = sum(pool.map(loop, range(sessions)))
                check_blocks(server, before, done)
                return done / seconds, None

            done = pairs.interleave(report.pairs(), ours, theirs)
            # The statement is the same and so are its reads: operations are to each other as logical reads are.
            ratio = done.ratio(lambda side: side[0])
            own, peer = (done.of(side, lambda figures: figures[0]) for side in (0, 1))
            reads = done.of(0, lambda figures: figures[1])
            table.row(
                [sessions, f"{own.median:,.0f}", f"{peer.median:,.0f}", ratio.show(), f"{reads.median:,.0f}", done.others().show(0), report.verdict(ratio.median, at_least=1.0, others=done.others())],
                sessions=sessions, dyno_ops_per_s=own, loop_ops_per_s=peer, ratio=ratio, dyno_logical_reads_per_s=reads, others_pct=done.others(),
            )
    table.finish()


def check_blocks(server, before, done):
    """Every execution of the loop must have read its 64 blocks; ended sessions are booked a moment later."""
    for _ in range(50):
        blocks = server.blocks_read("rows_1") - before
        if blocks == done * 64:
            return
        time.sleep(0.1)
    raise RuntimeError(f"{done} executions claimed, but the server counted {blocks} blocks, not {done * 64}")
