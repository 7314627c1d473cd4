"""A user's own SQL against sysbench: the statements of its oltp_point_select and oltp_read_write, which are ready workloads of Dyno's, on
MariaDB and PostgreSQL; transactions per second and client CPU, as the machine is and with client and server on one processor.

`ENGINES=mariadb` and `WORKLOADS=point-select` take some of them, `BOUND=0` or `BOUND=1` one setting. Commits do not wait for the disk.
"""

import os
import pathlib
import tempfile

from shared import bound as binding, mysql, pairs, postgres, process, report, sysbench_client
from shared.dyno import Dyno, rate

SERVERS = {
    "mariadb": lambda: mysql.server(innodb_flush_log_at_trx_commit="0", character_set_server="utf8mb4"),
    "postgres": lambda: postgres.server(synchronous_commit="off"),
}
# Ready workloads with the script of sysbench that has the same statements.
SCRIPTS = {"point-select": "oltp_point_select", "oltp-read-write": "oltp_read_write"}
ROWS = 10_000
# Transactions per second at least, client CPU at most, as ratios to sysbench's.
AT_LEAST, AT_MOST = 1.0, 0.85


def measure(table, engine, server, dyno, workload, sessions, bound):
    """One row."""

    def ours():
        record, done = dyno.run(run__sessions_per_schema=sessions, run__time=f"{report.seconds()}s")
        transactions = sum(record["whole"]["ops"].get(one["name"], 0) for one in record["classes"])
        return rate(record), done.cpu_s * 1e6 / transactions

    def theirs():
        per_s, events, cpu_s, _ = sysbench_client.run(server.driver, SCRIPTS[workload], "run", sessions, report.seconds(), ROWS, {})
        return per_s, cpu_s * 1e6 / events

    with binding.processors(server, bound):
        done = pairs.interleave(report.pairs(), ours, theirs)
    ops, cpu = done.ratio(lambda side: side[0]), done.ratio(lambda side: side[1])
    own, peer = ([done.of(side, lambda figures: figures[i]) for i in (0, 1)] for side in (0, 1))
    told = [report.verdict(ops.median, at_least=AT_LEAST, others=done.others()), "CPU " + report.verdict(cpu.median, at_most=AT_MOST, others=done.others())]
    table.row(
        [engine, workload, binding.words(bound), sessions, f"{own[0].median:,.0f}", f"{peer[0].median:,.0f}", ops.show(), f"{own[1].median:.2f}", f"{peer[1].median:.2f}", cpu.show(), done.others().show(0), ", ".join(told)],
        engine=engine, workload=workload, bound=bound, sessions=sessions, dyno_per_s=own[0], sysbench_per_s=peer[0], ops_ratio=ops,
        dyno_cpu_us=own[1], sysbench_cpu_us=peer[1], cpu_ratio=cpu, others_pct=done.others(),
    )


def main():
    """One row for each engine, workload, setting and count of sessions."""
    engines = os.environ.get("ENGINES", ",".join(SERVERS)).split(",")
    workloads = os.environ.get("WORKLOADS", ",".join(SCRIPTS)).split(",")
    head = ["engine", "workload", "processors", "sessions", "Dyno tx/s", "sysbench tx/s", "tx/s ratio", "Dyno CPU µs/tx", "sysbench CPU µs/tx", "CPU ratio", "others' CPU %", "target"]
    table = report.Report("own_sql", "Ready workloads against sysbench's scripts with the same statements", head)
    for engine in engines:
        with SERVERS[engine]() as server, tempfile.TemporaryDirectory() as folder:
            for workload in workloads:
                own = pathlib.Path(folder, f"{workload}-runs")
                own.mkdir()
                process.run([process.DYNO, "init", "--workload", workload], cwd=own)
                dyno = Dyno(own, server.url, workload__folder=own / workload, run__warmup="0s", observe__waits="off")
                dyno.load()
                sysbench_client.run(server.driver, SCRIPTS[workload], "prepare", 1, 0, ROWS, {})
                for bound in binding.settings():
                    for sessions in report.sessions("1,8,32"):
                        measure(table, engine, server, dyno, workload, sessions, bound)
                sysbench_client.run(server.driver, SCRIPTS[workload], "cleanup", 1, 0, ROWS, {})
    table.finish()
