"""Random single-row lookups on SQLite past the page cache (O_DIRECT, 8 KiB pages, a cache of 64 KiB), against fio reading
the same file at random with as many threads: physical reads per second."""

import json
import os
import pathlib
import tempfile

from shared import pairs, process, report
from shared.dyno import Dyno, metric


def main():
    """One row for each count of sessions. `BENCH_DIR` names a folder on the file system to be measured."""
    scale_mib = 256 if report.quick() else 1024
    head = ["sessions", "Dyno physical reads/s", "fio reads/s", "ratio", "Dyno lookups/s", "others' CPU %", "target"]
    table = report.Report("sqlite_direct", f"SQLite with O_DIRECT, {scale_mib} MiB, random lookups, against fio psync randread 8k", head)
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR", "/tmp"), prefix="dyno-bench-") as folder:
        file = pathlib.Path(folder, "direct.db")
        url = f"sqlite:{file}?direct=on&cache=64K"
        dyno = Dyno(folder, url, data__scale=f"{scale_mib}M", data__block_size="8K", workload__lookup_pct=100, run__warmup="0s")
        dyno.load()
        for sessions in report.sessions("1,4,16"):

            def ours():
                record, _ = dyno.run(run__sessions_per_schema=sessions, run__time=f"{report.seconds()}s")
                return metric(record, "physical_read_requests_per_s"), record["ops"]["all"]["rate_per_s"]

            def theirs():
                argv = ["fio", "--name=peer", f"--filename={file}", "--readonly", "--direct=1", "--ioengine=psync", "--rw=randread", "--bs=8k"]
                argv += [f"--numjobs={sessions}", "--thread", "--group_reporting", "--time_based", f"--runtime={report.seconds()}", "--norandommap", "--output-format=json"]
                said = process.run(argv).stdout
                return json.loads(said[said.index("{"):])["jobs"][0]["read"]["iops"], None

            done = pairs.interleave(report.pairs(), ours, theirs)
            ratio = done.ratio(lambda side: side[0])
            own, peer = (done.of(side, lambda figures: figures[0]) for side in (0, 1))
            lookups = done.of(0, lambda figures: figures[1])
            table.row(
                [sessions, f"{own.median:,.0f}", f"{peer.median:,.0f}", ratio.show(), f"{lookups.median:,.0f}", done.others().show(0), report.verdict(ratio.median, at_least=0.9, others=done.others())],
                sessions=sessions, dyno_reads_per_s=own, fio_reads_per_s=peer, ratio=ratio, dyno_lookups_per_s=lookups, others_pct=done.others(),
            )
    table.finish()
