"""The client drive against pgbench: the same statements, keys, sessions and server, in pairs."""

import pathlib
import tempfile

from . import pairs, postgres, report
from .dyno import Dyno, count, rate

ROWS = 10_000
LOOKUP = "SELECT c2 FROM dyno.rows_1 WHERE custid = :k;\n"
SELECT_64 = "SELECT COUNT(c2) FROM dyno.rows_1 WHERE custid BETWEEN :k AND :k + 63;\n"


def against_pgbench(name, title, scripts, workload, sessions, targets, settings=None, keys=ROWS, prepare=None):
    """Measures `workload` (plan keys) against pgbench `scripts` `{sql: weight}` at each count of `sessions`.

    `targets` is `(ops ratio at least, CPU ratio at most)`; either may be `None`.
    """
    head = ["sessions", "Dyno ops/s", "pgbench ops/s", "ops/s ratio", "Dyno CPU µs/op", "pgbench CPU µs/op", "CPU ratio", "others' CPU %", "target"]
    table = report.Report(name, title, head)
    with postgres.server(**(settings or {})) as server, tempfile.TemporaryDirectory() as folder:
        dyno = Dyno(folder, server.url, data__scale=f"{ROWS} blocks", run__warmup="0s", **workload)
        dyno.load()
        files = {}
        for number, (sql, weight) in enumerate(scripts.items()):
            path = pathlib.Path(folder, f"{number}.sql")
            path.write_text(f"\\set k random(1, {keys})\n{sql}")
            path.chmod(0o644)
            files[path] = weight
        if prepare:
            prepare(server)
        for n in sessions:

            def ours():
                before = server.commits()
                record, done = dyno.run(run__sessions_per_schema=n, run__time=f"{report.seconds()}s")
                # Sessions work on outside the window too (before and behind its snapshots); their CPU time is in the
                # process's, so what they did there has to be in the divisor: the server's count has it, on both sides.
                counted = server.check_commits(count(record), before, count(record) * 0.25 + 1000)
                return rate(record), done.cpu_s * 1e6 / counted

            def theirs():
                tps, counted, cpu_s = server.pgbench(files, n, report.seconds())
                return tps, cpu_s * 1e6 / counted

            done = pairs.interleave(report.pairs(), ours, theirs)
            ops, cpu = done.ratio(lambda side: side[0]), done.ratio(lambda side: side[1])
            own, peer = ([done.of(side, lambda figures: figures[i]) for i in (0, 1)] for side in (0, 1))
            told = [report.verdict(ops.median, at_least=targets[0], others=done.others())] if targets[0] else []
            told += ["CPU " + report.verdict(cpu.median, at_most=targets[1], others=done.others())] if targets[1] else []
            table.row(
                [n, f"{own[0].median:,.0f}", f"{peer[0].median:,.0f}", ops.show(), f"{own[1].median:.2f}", f"{peer[1].median:.2f}", cpu.show(), done.others().show(0), ", ".join(told)],
                sessions=n, dyno_ops_per_s=own[0], pgbench_ops_per_s=peer[0], ops_ratio=ops,
                dyno_cpu_us=own[1], pgbench_cpu_us=peer[1], cpu_ratio=cpu, others_pct=done.others(),
            )
    table.finish()
