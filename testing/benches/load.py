"""Loading into PostgreSQL: `dyno load` against psql's binary COPY of the very same rows from files made before.

Both sides create, fill, index, vacuum and checkpoint; Dyno also makes the rows' content, and counts and measures what
lies there afterwards. What was there before is dropped outside the clock.
"""

import os
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

from shared import pairs, postgres, process, report
from shared.dyno import Dyno


def main():
    """One row for each count of connections."""
    scale_mib = 256 if report.quick() else 1024
    head = ["connections", "Dyno s", "psql COPY s", "time ratio", "Dyno CPU s", "psql CPU s", "others' CPU %", "target"]
    table = report.Report("load", f"Loading {scale_mib} MiB into PostgreSQL against psql binary COPY", head)
    with postgres.server(max_wal_size="8GB") as server, tempfile.TemporaryDirectory() as folder:
        for connections in [int(n) for n in os.environ.get("CONNECTIONS", "1,2").split(",")]:
            dyno = Dyno(folder, server.url, data__scale=f"{scale_mib}M", data__load_parallel=connections)
            dyno.load()
            files = export(server, connections)
            rows = int(server.psql("SELECT count(*) FROM dyno.rows_1"))
            shape = "(LIKE dyno.rows_1 INCLUDING DEFAULTS INCLUDING STORAGE) WITH (fillfactor = 10)"
            server.psql(f"DROP TABLE IF EXISTS empty_shape; CREATE TABLE empty_shape {shape}")

            def ours():
                process.run(dyno.command("drop", "--yes"))
                server.psql("CHECKPOINT")
                done = process.run(dyno.command("load"))
                check(server, "dyno.rows_1", rows)
                return done.wall_s, done.cpu_s

            def theirs():
                server.psql("DROP TABLE IF EXISTS copied; CHECKPOINT")
                began = time.monotonic()
                server.psql("CREATE TABLE copied (LIKE empty_shape INCLUDING ALL) WITH (fillfactor = 10)")
                copy = lambda file: process.run(
                    [server.bin / "psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-c", f"\\copy copied FROM '{file}' WITH (FORMAT binary)"],
                    env=server.env,
                )
                with ThreadPoolExecutor(connections) as pool:
                    cpu_s = sum(done.cpu_s for done in pool.map(copy, files))
                server.psql("CREATE INDEX copied_custid ON copied (custid)")
                server.psql("VACUUM (FREEZE, ANALYZE) copied")
                server.psql("CHECKPOINT")
                wall_s = time.monotonic() - began
                check(server, "copied", rows)
                return wall_s, cpu_s

            done = pairs.interleave(report.pairs(), ours, theirs)
            ratio = done.ratio(lambda side: side[0])
            own, peer = (done.of(side, lambda figures: figures[0]) for side in (0, 1))
            own_cpu, peer_cpu = (done.of(side, lambda figures: figures[1]) for side in (0, 1))
            table.row(
                [connections, own.show(), peer.show(), ratio.show(), f"{own_cpu.median:.2f}", f"{peer_cpu.median:.2f}", done.others().show(0), report.verdict(ratio.median, at_most=1.0, others=done.others())],
                connections=connections, mib=scale_mib, dyno_s=own, psql_s=peer, ratio=ratio, dyno_cpu_s=own_cpu, psql_cpu_s=peer_cpu, others_pct=done.others(),
            )
    table.finish()


def export(server, connections):
    """The rows as binary COPY files, one for each connection, in the order in which they lie in the table."""
    files = [server.folder / f"rows-{part}.copy" for part in range(connections)]
    for part, file in enumerate(files):
        rows = f"SELECT * FROM dyno.rows_1 WHERE custid % {connections} = {part}"
        server.psql(f"COPY ({rows}) TO '{file}' WITH (FORMAT binary)")
    return files


def check(server, table, rows):
    """Both sides must have made the same: as many rows, each in a block of its own."""
    counted = int(server.psql(f"SELECT count(*) FROM {table}"))
    blocks = int(server.psql(f"SELECT pg_relation_size('{table}') / 8192"))
    if counted != rows or not rows <= blocks <= rows * 1.01:
        raise RuntimeError(f"{table} has {counted} rows in {blocks} blocks; {rows} rows in as many blocks were to be loaded")
