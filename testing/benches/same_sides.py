"""`dyno ab` with both sides the same: how often it says "faster" or "slower" although there is nothing to find."""

import json
import os
import tempfile

from shared import postgres, process, report
from shared.dyno import Dyno

WRONG = ("faster", "slower")


def main():
    """One row for each engine: `TRIALS` comparisons, each of `RUNS` runs of each side."""
    trials = int(os.environ.get("TRIALS", 4 if report.quick() else 20))
    runs = int(os.environ.get("RUNS", 5))
    head = ["engine", "sessions", "comparisons", "same", "unsure", "faster or slower", "the right answer, %", "target"]
    table = report.Report("same_sides", f"A/A: {runs} runs of each side, which are the same", head)
    with postgres.server() as server, tempfile.TemporaryDirectory() as folder:
        for engine, url, sessions in (("SQLite in memory", "sqlite::memory:", 1), ("PostgreSQL", server.url, 4)):
            work = {"data__scale": "1000 blocks", "data__scan_scale": "0 blocks", "workload__lookup_pct": 100}
            dyno = Dyno(folder, url, **work, run__sessions_per_schema=sessions, run__warmup="100ms", run__time="1s")
            if engine == "PostgreSQL":
                dyno.load()
            said = []
            for _ in range(trials):
                argv = dyno.command("ab", "--json", "--a", "", "--b", "", "--pairs", str(runs), "--metric", "ops_per_s")
                answer = json.loads(process.run(argv).stdout)
                said.append(answer["comparison"]["overall"][0]["verdict"])
            right = 100 * sum(verdict not in WRONG for verdict in said) / len(said)
            table.row(
                [engine, sessions, trials, said.count("same"), said.count("unsure"), sum(map(said.count, WRONG)), f"{right:.0f}", report.verdict(right, at_least=95)],
                engine=engine, sessions=sessions, verdicts=said, right_pct=right,
            )
    table.finish()
