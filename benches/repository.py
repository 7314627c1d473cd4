"""`dyno list` and `dyno show` on a repository of 10,000 runs."""

import json
import sqlite3
import tempfile
import zlib

from shared import pairs, process, report
from shared.dyno import Dyno

RUNS = 10_000


def main():
    """One row for each command."""
    head = ["command", "ms", "target"]
    table = report.Report("repository", f"A repository of {RUNS:,} runs", head)
    with tempfile.TemporaryDirectory() as folder:
        dyno = Dyno(folder, "sqlite::memory:", data__scale="1000 blocks", run__warmup="0s", run__time="5s")
        record, _ = dyno.run()
        multiply(dyno.repository, record["id"])
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


def copy_of(run, number):
    """The name of copy `number`, as unique as a real one."""
    return f"{run}-{number:05d}"


def multiply(repository, run):
    """Copies one real run until there are [`RUNS`], each with its own name and moment, as that many runs would lie there."""
    base = sqlite3.connect(repository)
    columns = [row[1] for row in base.execute("PRAGMA table_info(run)")]
    first = dict(zip(columns, base.execute("SELECT * FROM run WHERE id = ?", [run]).fetchone()))
    (packed,) = base.execute("SELECT packed FROM record WHERE id = ?", [run]).fetchone()
    text = zlib.decompress(packed).decode()
    marks = ", ".join("?" * len(columns))
    for number in range(1, RUNS):
        name = copy_of(run, number)
        document = text.replace(json.dumps(run), json.dumps(name))
        row = {**first, "id": name, "started_us": first["started_us"] - number * 60_000_000}
        base.execute(f"INSERT INTO run ({', '.join(columns)}) VALUES ({marks})", [row[c] for c in columns])
        base.execute("INSERT INTO record (id, json_bytes, packed) VALUES (?, ?, ?)", [name, len(document), zlib.compress(document.encode())])
    base.commit()
    base.close()
