"""The client drive against sysbench: sessions, server and kind of work alike, in pairs."""

import tempfile

from . import mysql, pairs, report
from .dyno import Dyno, count, rate

# Operations per second at least, client CPU per operation at most, as ratios to sysbench's.
TARGETS = (1.0, 0.85)


def against(name, title, workload, script, statement, sessions):
    """Measures `workload` (plan keys) against sysbench's own `script` and against Dyno's own `statement` run by sysbench.

    The script reads by primary key, one tree; Dyno's statement goes by a secondary index to a row that fills its page, two
    trees. So the second peer tells what the clients cost, the first what users compare.
    """
    head = ["sessions", "peer", "Dyno ops/s", "sysbench ops/s", "ops/s ratio", "Dyno CPU µs/op", "sysbench CPU µs/op", "CPU ratio", "others' CPU %", "target"]
    table = report.Report(name, title, head)
    with mysql.server() as server, tempfile.TemporaryDirectory() as folder:
        dyno = Dyno(folder, server.url, data__scale=f"{mysql.TABLE_ROWS} blocks", run__warmup="0s", observe__waits="off", **workload)
        dyno.load()
        peers = {script: (script, {}), "same statement": (mysql.SAME, {"statement": statement})}
        for peer, options in peers.values():
            server.sysbench(peer, "prepare", **options)
        for n in report.sessions(sessions):
            for label, (peer, options) in peers.items():

                def ours():
                    before = server.commits()
                    record, done = dyno.run(run__sessions_per_schema=n, run__time=f"{report.seconds()}s")
                    # Sessions work on outside the window too, and their CPU time there is in the process's.
                    counted = server.check_commits(count(record), before, count(record) * 0.25 + 1000)
                    return rate(record), done.cpu_s * 1e6 / counted

                def theirs():
                    per_s, counted, cpu_s = server.sysbench(peer, "run", n, report.seconds(), **options)
                    return per_s, cpu_s * 1e6 / counted

                done = pairs.interleave(report.pairs(), ours, theirs)
                ops, cpu = done.ratio(lambda side: side[0]), done.ratio(lambda side: side[1])
                own, other = ([done.of(side, lambda figures: figures[i]) for i in (0, 1)] for side in (0, 1))
                told = [report.verdict(ops.median, at_least=TARGETS[0], others=done.others())]
                told += ["CPU " + report.verdict(cpu.median, at_most=TARGETS[1], others=done.others())]
                table.row(
                    [n, label, f"{own[0].median:,.0f}", f"{other[0].median:,.0f}", ops.show(), f"{own[1].median:.2f}", f"{other[1].median:.2f}", cpu.show(), done.others().show(0), ", ".join(told)],
                    sessions=n, peer=label, dyno_ops_per_s=own[0], sysbench_ops_per_s=other[0], ops_ratio=ops,
                    dyno_cpu_us=own[1], sysbench_cpu_us=other[1], cpu_ratio=cpu, others_pct=done.others(),
                )
    table.finish()
