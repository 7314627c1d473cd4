"""What watching costs a run: lookups while Prometheus' scrapes come every second, beside the same without."""

import socket
import tempfile
import threading
import urllib.request

from shared import pairs, report
from shared.dyno import Dyno, rate


def free_port():
    """A port that nobody has now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def scraped(dyno):
    """A run that is scraped every second, and how often it was."""
    port, over, scrapes = free_port(), threading.Event(), []

    def scrape():
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        while not over.wait(1):
            try:
                scrapes.append(len(direct.open(f"http://127.0.0.1:{port}/metrics", timeout=5).read()))
            except OSError:
                pass  # not there yet, or not any more

    thread = threading.Thread(target=scrape)
    thread.start()
    try:
        command = dyno.command
        dyno.command = lambda name, *more, **options: command(name, *more, "--metrics", f"127.0.0.1:{port}", **options)
        record, _ = dyno.run()
    finally:
        dyno.command = command
        over.set()
        thread.join()
    if not scrapes:
        raise RuntimeError("it was never scraped")
    return record


def main():
    """One row."""
    head = ["scraped ops/s", "unwatched ops/s", "ratio [95 %]", "others' CPU %", "target"]
    table = report.Report("scraped", "Lookups on SQLite in memory, scraped every second and not", head)
    with tempfile.TemporaryDirectory() as folder:
        work = {"data__scale": "1000 blocks", "data__scan_scale": "0 blocks", "workload__lookup_pct": 100}
        dyno = Dyno(folder, "sqlite::memory:", **work, run__warmup="500ms", run__time=f"{report.seconds()}s")
        done = pairs.interleave(report.pairs(), lambda: scraped(dyno), lambda: dyno.run()[0])
    own, peer, ratio = done.of(0, rate), done.of(1, rate), done.ratio(rate)
    table.row(
        [own.show(0), peer.show(0), ratio.show_likely(), done.others().show(0), report.verdict(ratio.median, at_least=0.99, others=done.others())],
        scraped_per_s=own, unwatched_per_s=peer, ratio=ratio, others_pct=done.others(),
    )
    table.finish()
