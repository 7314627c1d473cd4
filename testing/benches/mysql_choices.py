"""What two of Dyno's own choices are worth on MariaDB: definitions of columns told once, and placement by processor.

Each is the same build twice, on one server, in pairs: single-row lookups with `result-metadata=once` against `each`, and
with `run.placement = "auto"` against `"none"`. `MYSQL_URL` names another server's empty database, such as MySQL's;
`CHOICES=definitions` takes only the choices whose names begin so. Ratios have the interval in which the true median lies
in 95 cases of 100.
"""

import contextlib
import os
import pathlib
import tempfile

from shared import mysql, pairs, report
from shared.dyno import Dyno, metric, rate

# The choice, and its two sides: what stands in the URL, and options.
CHOICES = {
    "definitions once ÷ with each answer": (("result-metadata=once", {}), ("result-metadata=each", {})),
    "placement auto ÷ none": (("", {"run__placement": "auto"}), ("", {"run__placement": "none"})),
}


@contextlib.contextmanager
def database():
    """The URL of an empty database."""
    if os.environ.get("MYSQL_URL"):
        yield os.environ["MYSQL_URL"]
        return
    with mysql.server() as server:
        yield server.url


def main():
    """One row for each choice and count of sessions."""
    head = ["choice", "sessions", "ops/s", "the other", "ops/s ratio", "client CPU ratio", "others' CPU %"]
    table = report.Report("mysql_choices", "Lookups on MariaDB: definitions told once, and placement by processor", head)
    with database() as url, tempfile.TemporaryDirectory() as folder:
        for name, both in CHOICES.items():
            if not name.startswith(os.environ.get("CHOICES", "")):
                continue
            sides = []
            for number, (parameter, options) in enumerate(both):
                place = pathlib.Path(folder) / f"{name.split()[0]}{number}"
                place.mkdir()
                joined = url + ("&" if "?" in url else "?") + parameter if parameter else url
                common = {"data__scale": "10000 blocks", "run__warmup": "500ms", "workload__lookup_pct": 100}
                sides.append(Dyno(place, joined, **common, **options))
            sides[0].load()
            for sessions in report.sessions("1,4,16"):

                def run(side):
                    record, _ = side.run(run__sessions_per_schema=sessions, run__time=f"{report.seconds()}s")
                    return rate(record), metric(record, "client_cpu_us_per_op")

                done = pairs.interleave(report.pairs(), lambda: run(sides[0]), lambda: run(sides[1]))
                ops, cpu = done.ratio(lambda side: side[0]), done.ratio(lambda side: side[1])
                own, other = (done.of(side, lambda figures: figures[0]) for side in (0, 1))
                table.row(
                    [name, sessions, f"{own.median:,.0f}", f"{other.median:,.0f}", ops.show_likely(), cpu.show_likely(), done.others().show(0)],
                    choice=name, sessions=sessions, ops_per_s=own, other_ops_per_s=other, ops_ratio=ops, cpu_ratio=cpu,
                    others_pct=done.others(),
                )
    table.finish()
