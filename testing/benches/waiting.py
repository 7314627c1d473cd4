"""Ways for a client to wait for a server's answers, in turns on one server: a thread per session asleep in `recv` (what
Dyno does), yielding before it sleeps, looking before it sleeps, and one thread per processor with epoll."""

import json
import tempfile

from shared import pairs, postgres, process, report
from shared.dyno import Dyno

ROWS = 10_000


def main():
    """One row for each way and count of sessions; ratios are against the thread per session."""
    head = ["sessions", "way", "ops/s", "ops/s ratio", "client CPU µs/op", "CPU ratio", "service µs", "others' CPU %"]
    table = report.Report("waiting", "Ways to wait for answers, single-row lookups on PostgreSQL, against a thread per session", head)
    program = process.EXAMPLES / "postgres_waiting"
    with postgres.server() as server, tempfile.TemporaryDirectory() as folder:
        Dyno(folder, server.url, data__scale=f"{ROWS} blocks").load()
        path = server.folder / f".s.PGSQL.{server.port}"
        for sessions in report.sessions("1,2,4,8,32"):
            way = lambda mode: lambda: json.loads(process.run([program, path, ROWS, sessions, report.seconds(), mode]).stdout)
            for mode in ["yield", "spin", "epoll"]:
                done = pairs.interleave(report.pairs(), way(mode), way("thread"))
                ops, cpu = done.ratio(lambda side: side["ops_per_s"]), done.ratio(lambda side: side["cpu_us"])
                own = {name: done.of(0, lambda side: side[name]) for name in ("ops_per_s", "cpu_us", "service_us")}
                table.row(
                    [sessions, mode, f"{own['ops_per_s'].median:,.0f}", ops.show(), f"{own['cpu_us'].median:.2f}", cpu.show(), f"{own['service_us'].median:.1f}", done.others().show(0)],
                    sessions=sessions, way=mode, ops_ratio=ops, cpu_ratio=cpu, others_pct=done.others(), **own,
                )
    table.finish()
