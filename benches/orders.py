"""Order entry against go-tpc and sysbench-tpcc, with their statements, on the same tables: transactions per second; and procedures against statements.

The tables are loaded by Dyno; go-tpc runs on them as they are, for sysbench-tpcc they are renamed to its names and back (both lack nothing of what they
need). `GO_TPC` names the program, `SYSBENCH_TPCC` the folder of the scripts; a peer that is not there is skipped with that reason.
`WAREHOUSES=2` takes others than 20, `SESSIONS=4` other sessions, `ENGINES=postgres,mysql` some engines, `PEER_LOAD=1` also times go-tpc's own load of one warehouse.
"""

import contextlib
import os
import pathlib
import re
import shutil
import tempfile
import time

from shared import mysql, pairs, postgres, process, report
from shared.dyno import Dyno, rate

# Dyno's tables by sysbench-tpcc's names.
NAMES = {"warehouse": "warehouse1", "district": "district1", "customer": "customer1", "history": "history1", "orders": "orders1", "new_order": "new_orders1", "order_line": "order_line1", "item": "item1", "stock": "stock1"}
SETTINGS = {
    "postgres": {"shared_buffers": "2GB", "max_wal_size": "16GB", "checkpoint_timeout": "30min", "autovacuum": "off"},
    "mysql": {"innodb_buffer_pool_size": "2G", "innodb_log_file_size": "1G", "local_infile": "1"},
}


def warehouses():
    """How many."""
    return int(os.environ.get("WAREHOUSES", 2 if report.quick() else 20))


def statements(server, engine, texts):
    """Does them."""
    for sql in texts:
        server.psql(sql) if engine == "postgres" else server.sql(sql)


def go_tpc(server, engine, command, count, *more):
    """go-tpc on the server; what it says."""
    if engine == "postgres":
        where = ["-d", "postgres", "-H", str(server.folder), "-P", str(server.port), "-U", "postgres", "-D", "postgres", "--conn-params", "sslmode=disable"]
    else:
        where = ["-d", "mysql", "-S", str(server.socket), "-U", "root", "-D", "bench"]
    done = process.run([os.environ["GO_TPC"], "tpcc", command, *where, "--warehouses", count, *more])
    return done.stdout


def by_go_tpc(server, engine, sessions):
    """Transactions per second of go-tpc, over all kinds."""
    out = go_tpc(server, engine, "run", warehouses(), "-T", sessions, "--time", f"{report.seconds()}s")
    # Its last line has new orders a minute and all transactions a minute.
    figures = re.findall(r"tpmTotal: ([0-9.]+)", out)
    if not figures:
        raise RuntimeError(f"go-tpc says no figure: {out[-500:]}")
    return float(figures[-1]) / 60


def by_sysbench(server, engine, sessions):
    """Transactions per second of sysbench-tpcc."""
    rename = [f"ALTER TABLE {ours} RENAME TO {theirs}" for ours, theirs in NAMES.items()]
    back = [f"ALTER TABLE {theirs} RENAME TO {ours}" for ours, theirs in NAMES.items()]
    if engine == "postgres":
        where = ["--db-driver=pgsql", f"--pgsql-host={server.folder}", f"--pgsql-port={server.port}", "--pgsql-user=postgres", "--pgsql-db=postgres"]
    else:
        where = ["--db-driver=mysql", f"--mysql-socket={server.socket}", "--mysql-user=root", "--mysql-db=bench"]
    statements(server, engine, rename)
    try:
        done = process.run(
            ["sysbench", "./tpcc.lua", *where, f"--threads={sessions}", f"--time={report.seconds()}", "--tables=1", f"--scale={warehouses()}", "--trx_level=RC", "run"],
            cwd=os.environ["SYSBENCH_TPCC"],
        )
    finally:
        statements(server, engine, back)
    return float(re.search(r"transactions:\s+\d+\s+\(([0-9.]+) per sec", done.stdout).group(1))


def peers():
    """Sides to compare: their names, Dyno's options for each, the peer, and the ratio that is wanted."""
    all_sides = []
    if shutil.which(os.environ.get("GO_TPC", "")):
        all_sides.append(("go-tpc", "like=go-tpc", by_go_tpc, 1.1))
    else:
        print("  skipped: go-tpc is not there; GO_TPC names the program", flush=True)
    if shutil.which("sysbench") and pathlib.Path(os.environ.get("SYSBENCH_TPCC", "/nowhere"), "tpcc.lua").exists():
        all_sides.append(("sysbench-tpcc", "like=sysbench-tpcc", by_sysbench, 1.1))
    else:
        print("  skipped: sysbench-tpcc is not there; SYSBENCH_TPCC names the folder of its scripts", flush=True)
    return all_sides


def measure(table, server, engine, dyno, sessions):
    """One row for each peer, and one for procedures."""

    def ours(options):
        record, _ = dyno.run(run__sessions_per_schema=sessions, run__time=f"{report.seconds()}s", workload__options=options)
        return rate(record)

    sides = [(name, options, lambda peer=peer: peer(server, engine, sessions), wanted) for name, options, peer, wanted in peers()]
    sides.append(("client drive", "drive=server,deck=false", lambda: ours("drive=client,deck=false"), 2.0))
    for name, options, peer, wanted in sides:
        done = pairs.interleave(report.pairs(), lambda options=options: ours(options), peer)
        own, their = (done.of(side, lambda per_s: per_s) for side in (0, 1))
        ratio = done.ratio(lambda per_s: per_s)
        told = report.verdict(ratio.median, at_least=wanted, others=done.others())
        table.row(
            [engine, options, name, warehouses(), sessions, own.show(0), their.show(0), ratio.show(), done.others().show(0), told],
            engine=engine, options=options, peer=name, warehouses=warehouses(), sessions=sessions, dyno_per_s=own, peer_per_s=their,
            ratio=ratio, others_pct=done.others(),
        )


def load(table, server, engine, dyno):
    """Loads the tables, and times that."""
    began = time.monotonic()
    process.run(dyno.command("load"))
    each_s = (time.monotonic() - began) / warehouses()
    peer, ratio, told = "–", "–", "–"
    theirs_s = None
    if os.environ.get("PEER_LOAD") and os.environ.get("GO_TPC"):
        statements(server, engine, ["CREATE SCHEMA peer; ALTER ROLE postgres SET search_path = peer"] if engine == "postgres" else [])
        if engine == "postgres":
            began = time.monotonic()
            go_tpc(server, engine, "prepare", 1, "--no-check")
            theirs_s = time.monotonic() - began
            statements(server, engine, ["ALTER ROLE postgres RESET search_path; DROP SCHEMA peer CASCADE"])
            peer, ratio = f"{theirs_s:.1f} s", f"{each_s / theirs_s:.2f}"
            told = report.verdict(each_s / theirs_s, at_most=0.3)
    table.row(
        [engine, "load of a warehouse, conditions asked", "go-tpc's, not checked", warehouses(), "–", f"{each_s:.1f} s", peer, ratio, "–", told],
        engine=engine, load_s=each_s, peer_load_s=theirs_s, warehouses=warehouses(),
    )


@contextlib.contextmanager
def server_of(engine):
    """A server of its own."""
    with (postgres if engine == "postgres" else mysql).server(**SETTINGS[engine]) as server:
        yield server


def main():
    """Rows of each engine."""
    head = ["engine", "Dyno", "against", "warehouses", "sessions", "Dyno tx/s", "peer tx/s", "ratio", "others' CPU %", "target"]
    table = report.Report("orders", "Order entry, derived from TPC-C and not comparable with published results, against others on the same tables", head)
    for engine in os.environ.get("ENGINES", "postgres,mysql").split(","):
        with server_of(engine) as server, tempfile.TemporaryDirectory() as folder:
            dyno = Dyno(folder, server.url, workload__folder="@orders", workload__scale=warehouses(), run__warmup="1s")
            load(table, server, engine, dyno)
            for sessions in report.sessions("4"):
                measure(table, server, engine, dyno, sessions)
    table.finish()
