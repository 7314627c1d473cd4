"""The first page of `dyno serve` over a repository of 10,000 runs."""

import os
import sqlite3
import tempfile
import time

from shared import pairs, report
from shared.dyno import Dyno
from shared.many import copy_of, multiply
from shared.serve import Serve

RUNS = int(os.environ.get("RUNS", 10_000))


def timed_ms(server, address, before=lambda: None):
    """Some answers, each after `before`."""
    each = []
    for _ in range(5 if report.quick() else 15):
        before()
        began = time.monotonic()
        server.get(address)
        each.append((time.monotonic() - began) * 1000)
    return pairs.Spread.of(each)


def main():
    """One row for each way of asking."""
    head = ["page", "ms", "bytes", "target"]
    table = report.Report("home", f"The first page over {RUNS:,} runs", head)
    with tempfile.TemporaryDirectory() as folder:
        dyno = Dyno(folder, "sqlite::memory:", data__scale="1000 blocks", run__warmup="0s", run__time="5s")
        record, _ = dyno.run()
        multiply(dyno.repository, record["id"], RUNS)
        middle = copy_of(record["id"], RUNS // 2)

        def changed():
            """As if a run had been stored meanwhile."""
            base = sqlite3.connect(dyno.repository)
            base.execute("UPDATE run SET started_us = started_us + 1 WHERE id = ?", [record["id"]])
            base.commit()
            base.close()

        server = Serve(dyno.repository, "sqlite::memory:", folder)
        try:
            began = time.monotonic()
            server.get("/")
            cold = pairs.Spread.of([(time.monotonic() - began) * 1000])
            asked = {
                "the first one of a server": ("/", cold),
                "again": ("/", timed_ms(server, "/")),
                "after a run was stored": ("/", timed_ms(server, "/", changed)),
                "a search": (f"/?q={middle}", timed_ms(server, f"/?q={middle}")),
                "the last page": (f"/?page={-(-RUNS // 40)}", timed_ms(server, f"/?page={-(-RUNS // 40)}")),
                "as JSON, after a run was stored": ("/api/v1/runs", timed_ms(server, "/api/v1/runs", changed)),
            }
            for name, (address, ms) in asked.items():
                size = len(server.get(address))
                table.row([name, ms.show(1), f"{size:,}", report.verdict(ms.median, at_most=200)], page=name, ms=ms, bytes=size)
        finally:
            server.close()
    table.finish()
