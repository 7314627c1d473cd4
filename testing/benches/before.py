"""This build of the program against another one, which `BEFORE` names: operations per second and client CPU, in pairs.

`BEFORE=/path/to/another/dyno python3 testing/benches/run.py before`; with `taskset -c 0` in front, everything shares one
processor, and what differs is what both programs and the server spend on an operation. Two per cent show with many
short pairs only: `PAIRS=40 SECONDS_EACH=2`. `WORK=updates,reads` takes some kinds of work; `memory` is lookups on SQLite
in memory, `load` the MB/s of loading `LOAD_MIB` of data (256).
"""

import os
import pathlib
import tempfile

from shared import pairs, postgres, process, report
from shared.dyno import Dyno, metric, rate

# One write in five, each a commit of its own, which does not wait for storage (`fsync`): that would measure the disk.
WORK = {
    "lookups": {"workload__lookup_pct": 100},
    "reads": {"workload__work_unit": 64},
    "updates": {"workload__update_pct": 20, "workload__lookup_pct": 100, "workload__work_unit": 1},
    "server drive": {"workload__drive": "server"},
    "memory": {"workload__lookup_pct": 100},
    "load": {},
}
MEMORY = "sqlite::memory:?cache=256M"
LOAD_MIB = int(os.environ.get("LOAD_MIB", 256))


def verdict(ratio, at_least=0.98):
    """`met` or `missed` where the interval of the median lies on one side of the target, else `undecided`."""
    low, high = ratio.likely
    if low is None or low < at_least <= high:
        return f"undecided (≥ {at_least})"
    return f"{'met' if low >= at_least else 'missed'} (≥ {at_least})"


def load(side, server):
    """MB/s and seconds of processor of a load into an empty database."""
    process.run(side.command("drop", "--yes"))
    server.psql("CHECKPOINT")
    done = process.run(side.command("load"))
    return LOAD_MIB * 1.048576 / done.wall_s, done.cpu_s


def main():
    """One row for each kind of work and count of sessions."""
    other = os.environ.get("BEFORE")
    if not other or not pathlib.Path(other).exists():
        raise RuntimeError("BEFORE has to name another build of the program")
    head = ["work", "sessions", "this build, ops/s", "the other", "ratio", "client CPU ratio", "others' CPU %", "target"]
    table = report.Report("before", "This build against another, PostgreSQL", head)
    chosen = os.environ.get("WORK", ",".join(WORK)).split(",")
    # Nothing that comes and goes by the clock may fall into one side's run and not into the other's.
    still = {"autovacuum": "off", "fsync": "off", "checkpoint_timeout": "1d", "jit": "off"}
    with postgres.server(**still) as server, tempfile.TemporaryDirectory() as folder:
        for name, work in ((name, WORK[name]) for name in chosen):
            sides = []
            for number, program in enumerate((process.DYNO, pathlib.Path(other))):
                place = pathlib.Path(folder) / f"{name} {number}"
                place.mkdir()
                url = MEMORY if name == "memory" else server.url
                scale = f"{LOAD_MIB}M" if name == "load" else "10000 blocks"
                sides.append(Dyno(place, url, program, data__scale=scale, run__warmup="500ms", **work))
            for sessions in [1] if name == "load" else report.sessions("1,4"):
                # Updates leave versions behind: both sides begin with tables that are loaded anew, by the same build.
                if name not in ("memory", "load"):
                    sides[0].load()

                def run(side):
                    if name == "load":
                        return load(side, server)
                    # Both find the table as it was, however many versions the side before left behind.
                    server.psql("VACUUM")
                    server.psql("CHECKPOINT")
                    record, _ = side.run(run__sessions_per_schema=sessions, run__time=f"{report.seconds()}s")
                    return rate(record), metric(record, "client_cpu_us_per_op")

                done = pairs.interleave(report.pairs(), lambda: run(sides[0]), lambda: run(sides[1]))
                ratio, cpu, others = done.ratio(lambda side: side[0]), done.ratio(lambda side: side[1]), done.others()
                this, that = (done.of(side, lambda figures: figures[0]) for side in (0, 1))
                table.row(
                    [name, sessions, f"{this.median:,.0f}", f"{that.median:,.0f}", ratio.show_likely(), cpu.show_likely(), others.show(0), verdict(ratio)],
                    work=name, sessions=sessions, this_ops_per_s=this, other_ops_per_s=that, ratio=ratio, client_cpu_ratio=cpu, others_pct=others,
                )
    table.finish()
