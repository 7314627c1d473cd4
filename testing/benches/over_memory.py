"""Lookups on PostgreSQL with data far over its buffers, the page cache bounded by a memory cgroup, against pgbench with the same
SQL: reads of the device per second, and how far the database's physical reads and the device's are apart. Needs root."""

import pathlib
import tempfile

from shared import cgroup, client, pairs, postgres, report
from shared.dyno import Dyno, metric

# What is left for the page cache beside the server processes is less than 5 % of the data.
MEMORY_MIB = 160


def main():
    """One row for each count of sessions. `BENCH_DIR` names a folder on the file system to be measured."""
    scale_mib = 1024 if report.quick() else 4096
    head = ["sessions", "Dyno device reads/s", "pgbench device reads/s", "ratio", "device ÷ database's reads", "Dyno lookups/s", "p99 ms", "others' CPU %", "target"]
    title = f"Lookups on PostgreSQL over {scale_mib} MiB with 64 MiB of buffers and {MEMORY_MIB} MiB of memory, against pgbench -M prepared"
    table = report.Report("over_memory", title, head)
    settings = {"shared_buffers": "64MB", "autovacuum": "off", "wal_level": "minimal", "max_wal_senders": "0"}
    with postgres.server(**settings) as server, tempfile.TemporaryDirectory() as folder:
        dyno = Dyno(folder, server.url, data__scale=f"{scale_mib}M", run__warmup="1s", workload__lookup_pct=100)
        dyno.load()
        rows = int(server.psql("SELECT count(*) FROM dyno.rows_1"))
        server.psql("CHECKPOINT")
        script = pathlib.Path(folder, "lookup.sql")
        script.write_text(f"\\set k random(1, {rows})\n{client.LOOKUP}")
        script.chmod(0o644)
        cgroup.drop_page_cache()
        with cgroup.memory(MEMORY_MIB) as enter:
            enter(server.pids())
            for sessions in report.sessions("1,4,8,32"):

                def ours():
                    record, _ = dyno.run(run__sessions_per_schema=sessions, run__time=f"{report.seconds()}s")
                    device, seconds = device_reads(record), record["window"]["seconds"]
                    asked = metric(record, "physical_reads_per_s")
                    latency = record["ops"]["lookup"]["service_us"]["p99"] / 1000
                    return device / seconds, device / seconds / asked, record["ops"]["all"]["count"] / seconds, latency

                def theirs():
                    before = reads_of_disk(dyno.device)
                    tps, counted, _ = server.pgbench({script: 1}, sessions, report.seconds())
                    return ((reads_of_disk(dyno.device) - before) / counted * tps,)

                # Dyno's first record says which device holds the data.
                if not hasattr(dyno, "device"):
                    record, _ = dyno.run(run__time="1s")
                    dyno.device = record["hosts"][0]["facts"]["place.data.device"]
                done = pairs.interleave(report.pairs(), ours, theirs)
                ratio = done.ratio(lambda side: side[0])
                own, peer = (done.of(side, lambda figures: figures[0]) for side in (0, 1))
                agree, ops, p99 = (done.of(0, lambda figures, i=i: figures[i]) for i in (1, 2, 3))
                told = report.verdict(ratio.median, at_least=1.0, others=done.others())
                told += ", " + report.verdict(abs(agree.median - 1), at_most=0.05)
                table.row(
                    [sessions, f"{own.median:,.0f}", f"{peer.median:,.0f}", ratio.show(), agree.show(3), f"{ops.median:,.0f}", p99.show(), done.others().show(0), told],
                    sessions=sessions, dyno_device_reads_per_s=own, pgbench_device_reads_per_s=peer, ratio=ratio,
                    device_per_database_read=agree, dyno_lookups_per_s=ops, p99_ms=p99, others_pct=done.others(),
                )
    table.finish()


def device_reads(record):
    """Reads of the data's device inside the window."""
    device = record["hosts"][0]["facts"]["place.data.device"]
    return record["hosts"][0]["counters"][f"device.{device}.reads"]


def reads_of_disk(device):
    """Reads that a block device has completed since the machine started (Linux: Documentation/admin-guide/iostats.rst)."""
    for line in pathlib.Path("/proc/diskstats").read_text().splitlines():
        fields = line.split()
        if fields[2] == device:
            return int(fields[3])
    raise RuntimeError(f"no device {device} in /proc/diskstats")
