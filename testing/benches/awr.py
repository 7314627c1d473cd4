"""`dyno awr` over reports of 1 MB: on one core and on two. Reports are HTML as Oracle lays it out, made here."""

import os
import random
import tempfile
from pathlib import Path

from shared import pairs, process, report

MB = 1_000_000


def main():
    """One row for each count of cores."""
    count = 100 if report.quick() else 1000
    head = ["cores", "reports", "MB", "s", "MB/s", "target"]
    table = report.Report("awr", f"Reading {count:,} AWR reports of 1 MB", head)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            (Path(folder) / f"awr_{number:05d}.html").write_text(page(number))
        size = sum(file.stat().st_size for file in Path(folder).iterdir()) / MB
        for cores in (1, 2):
            argv = ["taskset", "-c", ",".join(str(c) for c in range(cores)), process.DYNO, "awr", folder, "--format", "csv"]
            lines = process.run(argv).stdout.count("\n")
            if lines != count + 1:
                raise RuntimeError(f"{lines} lines were written for {count} reports")
            seconds = pairs.Spread.of([process.run(argv).wall_s for _ in range(report.pairs())])
            rate = size / seconds.median
            verdict = report.verdict(rate, at_least=50) if cores == 1 else report.verdict(seconds.median, at_most=20 * count / 1000)
            table.row([cores, count, f"{size:.0f}", seconds.show(), f"{rate:.0f}", verdict], cores=cores, reports=count, mb=size, s=seconds)
    table.finish()


def rows(cells):
    """Cells as Oracle's scripts print them."""
    cell = lambda text: f"<td align=\"right\" class='awrc'>{text}</td>"
    return "".join("<tr>" + "".join(map(cell, row)) + "</tr>\n" for row in cells)


def table_of(title, columns, cells):
    """One section."""
    head = "".join(f'<th class="awrbg" scope="col">{column}</th>' for column in columns)
    return f'<h3 class="awr">{title}</h3>\n<table border="1" class="tdiff"><tr>{head}</tr>\n{rows(cells)}</table>\n'


def page(number):
    """A report of about 1 MB: the sections that real ones have, in their proportions."""
    draw = random.Random(number)
    whole = lambda: f"{draw.randrange(10**8):,}"
    fraction = lambda: f"{draw.random() * 1000:,.2f}"
    head = table_of("", ["DB Name", "DB Id", "Instance", "Inst num", "Startup Time", "Release", "RAC"], [["SHOP", "1001002003", "shop1", "1", "01-Mar-24 06:00", "11.2.0.4.0", "NO"]])
    snaps = [["Begin Snap:", number, "05-Mar-24 10:00:00", 100, "1.5"], ["End Snap:", number + 1, "05-Mar-24 11:00:00", 100, "1.5"], ["Elapsed:", "&#160;", "60.00 (mins)", "&#160;", "&#160;"], ["DB Time:", "&#160;", "120.00 (mins)", "&#160;", "&#160;"]]
    parts = [
        '<html lang="en"><head><title>AWR Report</title></head><body><h1 class="awr">WORKLOAD REPOSITORY report for</h1>\n',
        head.replace('<h3 class="awr"></h3>', ""),
        table_of("Snapshots", ["", "Snap Id", "Snap Time", "Sessions", "Cursors/Session"], snaps),
        table_of("Load Profile", ["", "Per Second", "Per Transaction", "Per Exec", "Per Call"], [[f"{name}:", fraction(), fraction(), "&#160;", "&#160;"] for name in ("Redo size (bytes)", "Logical read (blocks)", "Transactions")]),
        table_of("Foreground Wait Events", ["Event", "Waits", "%Time -outs", "Total Wait Time (s)", "Avg wait (ms)", "Waits /txn", "% DB time"], [[f"event {i}", whole(), 0, whole(), draw.randrange(100), fraction(), fraction()] for i in range(120)]),
        table_of("Instance Activity Stats", ["Statistic", "Total", "per Second", "per Trans"], [[f"statistic {i}", whole(), fraction(), fraction()] for i in range(900)]),
        table_of("Wait Event Histogram", ["Event", "Total Waits", "&lt;1ms", "&lt;2ms", "&lt;4ms", "&lt;8ms", "&lt;16ms", "&lt;32ms", "&lt;=1s", "&gt;1s"], [[f"event {i}", whole(), *["12.5"] * 8] for i in range(250)]),
        table_of("SQL ordered by Elapsed Time", ["Elapsed Time (s)", "Executions", "%Total", "SQL Id", "SQL Text"], [[fraction(), whole(), "1.00", f"{i:013d}", "select * from t where ..."] for i in range(100)]),
        table_of("Latch Activity", ["Latch Name", "Get Requests", "Pct Get Miss", "Wait Time (s)", "NoWait Requests"], [[f"latch {i}", whole(), "0.00", 0, whole()] for i in range(600)]),
        table_of("Complete List of SQL Text", ["SQL Id", "SQL Text"], [[f"{i:013d}", "select column_one, column_two from some_table where key = :1 and other &lt; :2 " * 25] for i in range(200)]),
        "End of Report</body></html>\n",
    ]
    text = "".join(parts)
    filler = table_of("Enqueue Activity", ["Enqueue Type", "Requests", "Succ Gets"], [["TX-Transaction", whole(), whole()]] * 200)
    while len(text) < MB - len(filler):
        text = text.replace("End of Report", filler + "End of Report", 1)
    return text
