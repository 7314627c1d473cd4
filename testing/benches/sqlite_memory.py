"""Single-row lookups on SQLite in memory: mean service time, against the 2 µs published for an in-memory database, and
against the engine's session in a bare loop without Dyno's clock, histograms and series."""

import re
import tempfile

from shared import pairs, process, report
from shared.dyno import Dyno

URL = "sqlite::memory:?cache=256M"
ROWS = 10_000
PUBLISHED_US = 2.0


def main():
    """One row."""
    head = ["mean service time µs", "p99 µs", "ops/s", "bare loop µs", "others' CPU %", "against 2 µs", "target"]
    table = report.Report("sqlite_memory", "Single-row lookups on SQLite in memory, 1 session", head)
    program = process.EXAMPLES / "sqlite_reads"
    with tempfile.TemporaryDirectory() as folder:
        dyno = Dyno(folder, URL, data__scale=f"{ROWS} blocks", data__block_size="8K", workload__lookup_pct=100, run__warmup="500ms")

        def ours():
            record, _ = dyno.run(run__time=f"{report.seconds()}s")
            lookup = record["ops"]["lookup"]
            return lookup["service_us"]["mean"], lookup["service_us"]["p99"], lookup["rate_per_s"]

        def bare():
            said = process.run([program, URL, ROWS, 8192, "lookup"]).stdout
            return float(re.search(r"^lookup\s+median\s+(\d+) ns", said, re.MULTILINE)[1]) / 1000

        done = pairs.interleave(report.pairs(), ours, bare)
        mean, p99, rate = (done.of(0, lambda figures: figures[i]) for i in range(3))
        loop = done.of(1, lambda us: us)
        table.row(
            [mean.show(3), f"{p99.median:.2f}", f"{rate.median:,.0f}", loop.show(3), done.others().show(0), f"{PUBLISHED_US / mean.median:.1f} × faster", report.verdict(mean.median, at_most=1.0, others=done.others())],
            mean_us=mean, p99_us=p99, ops_per_s=rate, bare_loop_us=loop, published_us=PUBLISHED_US, others_pct=done.others(),
        )
    table.finish()
