"""`dyno list` and `dyno show` on a repository of 10,000 runs."""

import tempfile

from shared import pairs, process, report
from shared.dyno import Dyno
from shared.many import copy_of, multiply

RUNS = 10_000


def main():
    """One row for each command."""
    head = ["command", "ms", "target"]
    table = report.Report("repository", f"A repository of {RUNS:,} runs", head)
    with tempfile.TemporaryDirectory() as folder:
        dyno = Dyno(folder, "sqlite::memory:", data__scale="1000 blocks", run__warmup="0s", run__time="5s")
        record, _ = dyno.run()
        multiply(dyno.repository, record["id"], RUNS)
        commands = {
            "dyno list": ["list"],
            f"dyno list --limit {RUNS}": ["list", "--limit", str(RUNS)],
            "dyno show last": ["show", "last"],
            "dyno show ID (in the middle)": ["show", copy_of(record["id"], RUNS // 2)],
        }
        for name, words in commands.items():
            argv = [process.DYNO, *words, "--repository", dyno.repository, "--plan", dyno.plan]
            shown = process.run(argv).stdout
            if words[0] == "list" and len(words) > 1 and shown.count("\n") < RUNS:
                raise RuntimeError(f"{name} showed {shown.count(chr(10))} lines")
            ms = pairs.Spread.of([process.run(argv).wall_s * 1000 for _ in range(9)])
            table.row([name, ms.show(1), report.verdict(ms.median, at_most=200)], command=name, ms=ms)
    table.finish()
