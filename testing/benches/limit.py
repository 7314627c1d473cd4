"""A user's own SQL against the limit: the ready workload `point-select` against a client that only sends, waits and reads the same bytes
over epoll (`crates/dyno-drive/examples/bare.rs`), on PostgreSQL and MariaDB, with client and server on one processor.

`ENGINES=mariadb` takes one of them, `BOUND=0` the processors as they are, `BARE` names another bare client. Commits do not wait for the disk. Dyno's CPU is that of its
process in the window, for an operation; the bare client's is that of its whole life.
"""

import json
import os
import pathlib
import tempfile

from shared import bound as binding, mysql, pairs, postgres, process, report
from shared.dyno import Dyno, metric, rate

# Each server, what the bare client calls its protocol, and where its socket is.
SERVERS = {
    "postgres": (lambda: postgres.server(synchronous_commit="off"), "postgres", lambda server: server.folder / f".s.PGSQL.{server.port}"),
    "mariadb": (lambda: mysql.server(innodb_flush_log_at_trx_commit="0", character_set_server="utf8mb4"), "mysql", lambda server: server.socket),
}
ROWS = 10_000
# Operations per second at least, client CPU at most, as ratios to the bare client's.
AT_LEAST, AT_MOST = 0.97, 1.10


def measure(table, engine, server, dyno, bare, sessions, bound):
    """One row."""

    def ours():
        record, _ = dyno.run(run__sessions_per_schema=sessions, run__time=f"{report.seconds()}s")
        return rate(record), metric(record, "client_cpu_us_per_op")

    def theirs():
        done = process.run([*bare, ROWS, sessions, report.seconds()])
        figures = json.loads(done.stdout)
        return figures["ops_per_s"], done.cpu_s * 1e6 / figures["ops"]

    with binding.processors(server, bound):
        done = pairs.interleave(report.pairs(), ours, theirs)
    ops, cpu = done.ratio(lambda side: side[0]), done.ratio(lambda side: side[1])
    own, peer = ([done.of(side, lambda figures: figures[i]) for i in (0, 1)] for side in (0, 1))
    told = [report.verdict(ops.median, at_least=AT_LEAST, others=done.others()), "CPU " + report.verdict(cpu.median, at_most=AT_MOST, others=done.others())]
    table.row(
        [engine, binding.words(bound), sessions, f"{own[0].median:,.0f}", f"{peer[0].median:,.0f}", ops.show(), f"{own[1].median:.2f}", f"{peer[1].median:.2f}", cpu.show(), done.others().show(0), ", ".join(told)],
        engine=engine, bound=bound, sessions=sessions, dyno_per_s=own[0], bare_per_s=peer[0], ops_ratio=ops,
        dyno_cpu_us=own[1], bare_cpu_us=peer[1], cpu_ratio=cpu, others_pct=done.others(),
    )


def main():
    """One row for each engine, setting and count of sessions."""
    engines = os.environ.get("ENGINES", ",".join(SERVERS)).split(",")
    head = ["engine", "processors", "sessions", "Dyno ops/s", "bare ops/s", "ops/s ratio", "Dyno CPU µs/op", "bare CPU µs/op", "CPU ratio", "others' CPU %", "target"]
    table = report.Report("limit", "point-select against a client that only sends, waits and reads the same bytes", head)
    for engine in engines:
        start, protocol, socket = SERVERS[engine]
        with start() as server, tempfile.TemporaryDirectory() as folder:
            process.run([process.DYNO, "init", "--workload", "point-select"], cwd=folder)
            dyno = Dyno(folder, server.url, workload__folder=pathlib.Path(folder, "point-select"), run__warmup="0s", observe__waits="off")
            dyno.load()
            bare = [process.BARE, protocol, socket(server)]
            for bound in binding.settings() if "BOUND" in os.environ else [True]:
                for sessions in report.sessions("1,8,32"):
                    measure(table, engine, server, dyno, bare, sessions, bound)
    table.finish()
