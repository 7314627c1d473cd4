"""Two agents with four sessions each against one process with eight, and the merge of what 1,000 hosts of 1,000 sessions hand in.

The agents, the NATS server and the leader are on one machine, so what the two sides share is all of it: a ratio below 1 is what leading from
elsewhere costs, and on a machine with few processors a third process takes a part of them. `ENGINES=postgres` takes one engine only, `MERGE=0`
leaves the merge out, and `MERGE=program` runs it from a program of tests of dyno-fleet that is there already.
"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time

from shared import mysql, pairs, postgres, process, report
from shared.dyno import Dyno, count, rate

HOSTS, SESSIONS = 2, 8
WORK = {
    "lookups": {"workload__lookup_pct": 100},
    "selects of 64 rows": {"workload__work_unit": 64},
    "mix with 30 % updates": {"workload__update_pct": 30, "workload__lookup_pct": 30},
}
MERGED = "thousand_simulated_hosts_are_merged_in_time"


@contextlib.contextmanager
def ended(child):
    """Ends a child of ours however this goes on."""
    try:
        yield child
    finally:
        if child.poll() is None:
            child.terminate()
            try:
                child.wait(20)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


@contextlib.contextmanager
def meeting_point():
    """A NATS server; yields its address."""
    program = shutil.which("nats-server") or shutil.which("nats-server", path="/usr/sbin:/usr/local/bin")
    if not program:
        raise RuntimeError("nats-server is not here; run scripts/testbeds.sh")
    port = postgres.free_port()
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with ended(subprocess.Popen([program, "-a", "127.0.0.1", "-p", str(port)], **quiet)):
        until = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                if time.monotonic() > until:
                    raise RuntimeError("nats-server does not listen") from None
                time.sleep(0.05)
        yield f"nats://127.0.0.1:{port}"


@contextlib.contextmanager
def agents(folder, nats):
    """Two of them, which wait."""
    with contextlib.ExitStack() as stack:
        for number in range(HOSTS):
            log = stack.enter_context(open(pathlib.Path(folder, f"agent-{number}.log"), "w+"))
            argv = [process.DYNO, "agent", "--nats", nats, "--name", f"a{number}", "--keep", pathlib.Path(folder, f"keep-{number}")]
            child = stack.enter_context(ended(subprocess.Popen([str(a) for a in argv], stdin=subprocess.DEVNULL, stdout=log, stderr=log)))
            until = time.monotonic() + 30
            while "waits in group" not in pathlib.Path(log.name).read_text():
                if child.poll() is not None or time.monotonic() > until:
                    raise RuntimeError(f"an agent did not start: {pathlib.Path(log.name).read_text()[-1000:]}")
                time.sleep(0.1)
        yield


@contextlib.contextmanager
def server_of(engine):
    """A server of its own."""
    settings = {"innodb_buffer_pool_size": "512M"} if engine == "mysql" else {}
    with (mysql if engine == "mysql" else postgres).server(**settings) as server:
        yield server


def measure(table, engine, server, folder, nats):
    """A row for each kind of work."""
    for words, work in WORK.items():
        own = pathlib.Path(folder, f"{engine}-{words.split()[0]}")
        own.mkdir()
        dyno = Dyno(own, server.url, data__scale="10000 blocks", data__scan_scale="0 blocks", run__sessions_per_schema=SESSIONS, run__warmup="500ms", **work)
        dyno.load()

        def run(*more, dyno=dyno):
            command = dyno.command
            dyno.command = lambda name, *rest, **options: command(name, *rest, *more, **options)
            try:
                record, _ = dyno.run(run__time=f"{report.seconds()}s")
            finally:
                dyno.command = command
            return record

        def together(run=run):
            record = run("--hosts", str(HOSTS), "--nats", nats)
            hosts = record["fleet"]["hosts"]
            # All of it is what both did, and each did its half.
            if sum(host["ops"] for host in hosts) != count(record) or [host["sessions"] for host in hosts] != [SESSIONS // HOSTS] * HOSTS:
                raise RuntimeError(f"the hosts did something else than the record says: {hosts}")
            return record

        done = pairs.interleave(report.pairs(), together, run)
        ours, theirs, ratio = done.of(0, rate), done.of(1, rate), done.ratio(rate)
        p99 = done.ratio(lambda record: record["ops"]["all"]["service_us"]["p99"])
        skew = done.of(0, lambda record: record["gate"]["skew_us_max"] / 1000)
        bound = done.of(0, lambda record: max(host["clock"]["bound_us"] for host in record["fleet"]["hosts"]))
        low, high = ratio.likely
        # Where the interval is not known (fewer than six pairs), all of the pairs are.
        same = (ratio.least if low is None else low) <= 1 <= (ratio.greatest if high is None else high)
        table.row(
            [engine, words, ours.show(0), theirs.show(0), ratio.show(), ratio.show_likely(), p99.show(), skew.show(), bound.show(0), done.others().show(0), "holds 1" if same else "apart"],
            engine=engine, work=words, agents_per_s=ours, process_per_s=theirs, ratio=ratio, p99_ratio=p99, skew_ms=skew, bound_us=bound, others_pct=done.others(), holds_one=same,
        )


def merging_program():
    """The program of tests of dyno-fleet that has the merge in it, built where it is not named."""
    named = os.environ.get("MERGE", "")
    if named:
        return named
    build = [os.environ.get("CARGO", "cargo"), "test", "--release", "-p", "dyno-fleet", "--lib", "--no-run", "--message-format=json"]
    built = process.run(build, cwd=process.ROOT)
    programs = [json.loads(line).get("executable") for line in built.stdout.splitlines() if line.startswith("{")]
    found = [program for program in programs if program]
    if not found:
        raise RuntimeError("cargo has built no program of tests of dyno-fleet")
    return found[-1]


def merge(table):
    """A row for each time: what is printed by the test that holds the merge against its law."""
    program = merging_program()
    for _ in range(report.pairs()):
        done = process.run([program, MERGED, "--include-ignored", "--nocapture"])
        told = re.search(r"^merged: (\{.*\})$", done.stdout, re.MULTILINE)
        if not told:
            raise RuntimeError(f"it said nothing of a merge: {done.stdout[-1000:]}")
        figures = json.loads(told[1])
        met = [report.verdict(figures["merge_s"], at_most=10), report.verdict(figures["memory_mb"], at_most=1024)]
        table.row(
            [f"{figures['hosts']:,} × {figures['sessions']:,}", f"{figures['bytes_each'] / 1e3:.1f}", f"{figures['wire_bytes'] / 1e6:.1f}", f"{figures['taken_in_s']:.2f}", f"{figures['read_s']:.2f}", f"{figures['merge_s']:.2f}",
             f"{figures['memory_mb']} ({figures['memory_before_mb']})", f"{figures['skew_us']:.2f}", f"{figures['skew_by_law_us']:.2f}", ", ".join(met)],
            **figures,
        )


def main():
    """Both tables."""
    head = ["engine", "work", f"{HOSTS} agents ops/s", "one process ops/s", "ratio", "ratio [95 %]", "p99 ratio", "skew ms", "clocks µs", "others' CPU %", "1 in the spread"]
    table = report.Report("fleet", f"{HOSTS} agents of {SESSIONS // HOSTS} sessions against one process of {SESSIONS}, on one machine", head)
    with tempfile.TemporaryDirectory() as folder, meeting_point() as nats, agents(folder, nats):
        for engine in os.environ.get("ENGINES", "postgres,mysql").split(","):
            with server_of(engine) as server:
                measure(table, engine, server, folder, nats)
    table.finish()
    if os.environ.get("MERGE") != "0":
        head = ["hosts × sessions", "KB each", "MB on the wire", "taken in s", "read s", "all s", "MB at most (before)", "skew µs", "by law µs", "target"]
        table = report.Report("fleet_merge", "What scripted hosts hand in, merged by one leader", head)
        merge(table)
        table.finish()
