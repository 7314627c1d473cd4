"""pgbench's built-in scripts, imported by `dyno import pgbench`, against `pgbench -M prepared` with the same tables and server:
transactions per second and client CPU, as the machine is and with client and server on one processor.

`SCRIPTS=select-only` takes some of them, `SCALE=10` other tables, `BOUND=0` or `BOUND=1` one of both settings. Commits do not
wait for the disk, so that what is compared are the clients. The history is emptied before each run.
"""

import os
import pathlib
import tempfile

from shared import bound as binding, pairs, postgres, process, report
from shared.dyno import Dyno, count, rate

SCRIPTS = ["tpcb-like", "simple-update", "select-only"]
# Transactions per second at least, and client CPU at most, each of pgbench's.
TARGETS = {"select-only": (1.05, 0.85)}
AT_LEAST = (1.0, None)


def measure(table, server, dyno, script, sessions, bound):
    """One row."""

    def ours():
        server.psql("TRUNCATE pgbench_history")
        before = server.commits()
        record, done = dyno.run(run__sessions_per_schema=sessions, run__time=f"{report.seconds()}s")
        # What sessions do outside of the window, and before it to learn what a transaction does, is in the process's CPU time, and so in
        # the server's count.
        counted = server.check_commits(count(record), before, count(record) * 0.5 + 8000)
        return rate(record), done.cpu_s * 1e6 / counted

    def theirs():
        server.psql("TRUNCATE pgbench_history")
        tps, counted, cpu_s = server.pgbench({}, sessions, report.seconds(), builtin=script)
        return tps, cpu_s * 1e6 / counted

    with binding.processors(server, bound):
        done = pairs.interleave(report.pairs(), ours, theirs)
    ops, cpu = done.ratio(lambda side: side[0]), done.ratio(lambda side: side[1])
    own, peer = ([done.of(side, lambda figures: figures[i]) for i in (0, 1)] for side in (0, 1))
    at_least, at_most = TARGETS.get(script, AT_LEAST)
    told = [report.verdict(ops.median, at_least=at_least, others=done.others())]
    told += ["CPU " + report.verdict(cpu.median, at_most=at_most, others=done.others())] if at_most else []
    table.row(
        [script, binding.words(bound), sessions, f"{own[0].median:,.0f}", f"{peer[0].median:,.0f}", ops.show(), f"{own[1].median:.2f}", f"{peer[1].median:.2f}", cpu.show(), done.others().show(0), ", ".join(told)],
        script=script, bound=bound, sessions=sessions, dyno_per_s=own[0], pgbench_per_s=peer[0], ops_ratio=ops,
        dyno_cpu_us=own[1], pgbench_cpu_us=peer[1], cpu_ratio=cpu, others_pct=done.others(),
    )


def main():
    """One row for each script, setting and count of sessions."""
    scripts = os.environ.get("SCRIPTS", ",".join(SCRIPTS)).split(",")
    scale = os.environ.get("SCALE", "4" if report.quick() else "32")
    head = ["script", "processors", "sessions", "Dyno tx/s", "pgbench tx/s", "tx/s ratio", "Dyno CPU µs/tx", "pgbench CPU µs/tx", "CPU ratio", "others' CPU %", "target"]
    table = report.Report("pgbench", f"pgbench's built-in scripts on PostgreSQL, scale {scale}, against pgbench -M prepared", head)
    with postgres.server(synchronous_commit="off") as server, tempfile.TemporaryDirectory() as folder:
        loaded = False
        for script in scripts:
            workload = pathlib.Path(folder, script)
            # One name for all: they share their tables.
            process.run([process.DYNO, "import", "pgbench", "--builtin", script, "--scale", scale, "--name", "pgbench", "--into", workload])
            own = pathlib.Path(folder, f"{script}-runs")
            own.mkdir()
            dyno = Dyno(own, server.url, workload__folder=workload, run__warmup="500ms")
            if not loaded:
                process.run(dyno.command("load"))
                loaded = True
            for bound in binding.settings():
                for sessions in report.sessions("1,2,8,32"):
                    measure(table, server, dyno, script, sessions, bound)
    table.finish()
