"""Order entry against go-tpc and sysbench-tpcc, with their statements, on the same tables: transactions per second; and procedures against statements.

Dyno loads the tables twice: peers have theirs in a database of their own, as they do not keep all that Dyno asks for behind a run. go-tpc runs on
them as they are, for sysbench-tpcc they are renamed to its names and back (both lack nothing of what they need). `GO_TPC` names the program, `SYSBENCH_TPCC` the folder of the scripts; a peer that is not there is skipped with that reason.
`ORDERS` names a changed folder of the workload, `WAREHOUSES=2` takes others than 20, `SESSIONS=4` other sessions, `ENGINES=postgres,mysql` some engines; `PEER_LOAD=1` also times peers' own loads of one
warehouse, `PEER_CHECK=1` asks go-tpc whether Dyno's tables are right behind Dyno's runs; `AGAINST="client drive;go-tpc"` measures these sides only.
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
# What each does behind its own load.
CHECKED = {"go-tpc": "conditions asked", "sysbench-tpcc": "not checked"}
# Behind the name of a side whose commits are acknowledged before they are on the disk.
UNWAITED = ", commits do not wait"
SETTINGS = {
    "postgres": {"listen_addresses": "127.0.0.1", "shared_buffers": "2GB", "max_wal_size": "16GB", "checkpoint_timeout": "30min", "autovacuum": "off"},
    "mysql": {"innodb_buffer_pool_size": "2G", "innodb_log_file_size": "1G", "local_infile": "1"},
}


def warehouses():
    """How many."""
    return int(os.environ.get("WAREHOUSES", 2 if report.quick() else 20))


def statements(server, engine, texts, database="peer"):
    """Does them."""
    for sql in texts:
        server.psql(sql, {"PGDATABASE": database}) if engine == "postgres" else server.sql(sql, database)


def url(server, engine, database, tcp=False):
    """Of a database of the server."""
    if engine == "mysql":
        return f"mysql://root@127.0.0.1:{server.port}/{database}" if tcp else server.url.replace("/bench?", f"/{database}?")
    end = f"/{database}"
    return f"postgres://postgres@127.0.0.1:{server.port}{end}" if tcp else server.url.removesuffix("/postgres") + end


def go_tpc(server, engine, command, count, *more, database="peer"):
    """go-tpc on the server; what it says."""
    # It knows no Unix sockets, so both go over TCP.
    where = ["-d", engine, "-H", "127.0.0.1", "-P", str(server.port), "-D", database]
    where += ["-U", "postgres", "--conn-params", "sslmode=disable"] if engine == "postgres" else ["-U", "root"]
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


def sysbench(server, engine, command, *more, database="peer"):
    """sysbench-tpcc on the server; what it says."""
    if engine == "postgres":
        where = ["--db-driver=pgsql", f"--pgsql-host={server.folder}", f"--pgsql-port={server.port}", "--pgsql-user=postgres", f"--pgsql-db={database}"]
    else:
        where = ["--db-driver=mysql", f"--mysql-socket={server.socket}", "--mysql-user=root", f"--mysql-db={database}"]
    done = process.run(["sysbench", "./tpcc.lua", *where, "--tables=1", "--trx_level=RC", *more, command], cwd=os.environ["SYSBENCH_TPCC"])
    return done.stdout


def by_sysbench(server, engine, sessions):
    """Transactions per second of sysbench-tpcc."""
    statements(server, engine, [f"ALTER TABLE {ours} RENAME TO {theirs}" for ours, theirs in NAMES.items()])
    try:
        out = sysbench(server, engine, "run", f"--threads={sessions}", f"--time={report.seconds()}", f"--scale={warehouses()}")
    finally:
        statements(server, engine, [f"ALTER TABLE {theirs} RENAME TO {ours}" for ours, theirs in NAMES.items()])
    return float(re.search(r"transactions:\s+\d+\s+\(([0-9.]+) per sec", out).group(1))


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

    def ours(options, by=dyno, commit="wait"):
        # A session of MariaDB cannot choose, so its server does.
        commit = commit if engine == "postgres" else "wait"
        record, _ = by.run(run__sessions_per_schema=sessions, run__time=f"{report.seconds()}s", workload__options=options, workload__commit=commit)
        return rate(record)

    (dyno.folder / "tcp").mkdir(exist_ok=True)
    over_tcp = Dyno(dyno.folder / "tcp", url(server, engine, "own", tcp=True), **dyno.options)

    sides = [(name, options, lambda peer=peer: peer(server, engine, sessions), wanted) for name, options, peer, wanted in peers()]
    sides.append(("client drive", "drive=server,deck=false", lambda: ours("drive=client,deck=false"), 2.0))
    # The disk's time is the same for both and hides what round trips cost.
    sides.append((f"client drive{UNWAITED}", "drive=server,deck=false", lambda: ours("drive=client,deck=false", commit="nowait"), 2.0))
    wished = os.environ.get("AGAINST", "").split(";")
    for name, options, peer, wanted in (side for side in sides if wished == [""] or side[0] in wished):
        by = over_tcp if name == "go-tpc" else dyno
        commit = "nowait" if name.endswith(UNWAITED) else "wait"
        with commits(server, engine, commit):
            done = pairs.interleave(report.pairs(), lambda options=options, by=by, commit=commit: ours(options, by, commit), peer)
        own, their = (done.of(side, lambda per_s: per_s) for side in (0, 1))
        ratio = done.ratio(lambda per_s: per_s)
        told = report.verdict(ratio.median, at_least=wanted, others=done.others())
        table.row(
            [engine, options, name, warehouses(), sessions, own.show(0), their.show(0), ratio.show(), done.others().show(0), told],
            engine=engine, options=options, peer=name, warehouses=warehouses(), sessions=sessions, dyno_per_s=own, peer_per_s=their,
            ratio=ratio, others_pct=done.others(),
        )


def load(table, server, engine, dyno):
    """Loads the tables, and times that; what peers take for one warehouse."""
    began = time.monotonic()
    process.run(dyno.command("load"))
    each_s = (time.monotonic() - began) / warehouses()
    theirs = {name: None for name in ("go-tpc", "sysbench-tpcc")}
    if os.environ.get("PEER_LOAD"):
        for name in theirs:
            statements(server, engine, ["CREATE DATABASE loaded"], "postgres" if engine == "postgres" else None)
            began = time.monotonic()
            if name == "go-tpc":
                go_tpc(server, engine, "prepare", 1, database="loaded")
            else:
                sysbench(server, engine, "prepare", "--threads=1", "--scale=1", database="loaded")
            theirs[name] = time.monotonic() - began
            # One that cannot connect says so and ends well.
            count = f"SELECT COUNT(*) FROM {NAMES['stock'] if name == 'sysbench-tpcc' else 'stock'}"
            rows = server.psql(count, {"PGDATABASE": "loaded"}) if engine == "postgres" else server.sql(count, "loaded")
            if rows.strip() != "100000":
                raise RuntimeError(f"{name} has loaded {rows} rows of the stock")
            statements(server, engine, ["DROP DATABASE loaded"], "postgres" if engine == "postgres" else None)
    for name, theirs_s in theirs.items():
        ratio = each_s / theirs_s if theirs_s else None
        told = report.verdict(ratio, at_most=0.3) if ratio else "–"
        peer, shown = (f"{theirs_s:.1f} s", f"{ratio:.2f}") if ratio else ("–", "–")
        table.row(
            [engine, "load of a warehouse, conditions asked", f"{name}, {CHECKED[name]}", warehouses(), "–", f"{each_s:.1f} s", peer, shown, "–", told],
            engine=engine, load_s=each_s, peer=name, peer_load_s=theirs_s, warehouses=warehouses(),
        )


def check(server, engine):
    """What go-tpc says of Dyno's tables behind Dyno's runs; an error if they are not right."""
    # It looks for the payments of each customer, of whom a warehouse has 30,000: without an index that takes ten minutes of each.
    statements(server, engine, ["CREATE INDEX history_by_customer ON history (h_c_w_id, h_c_d_id, h_c_id)"], "own")
    # Its conditions without a whole scan of all tables, which it leaves out of a check behind runs. It ends well also where one does not hold.
    said = go_tpc(server, engine, "check", warehouses(), database="own")
    if "failed" in said or "Finished" not in said:
        raise RuntimeError(f"go-tpc finds Dyno's tables wrong: {said.strip()[-1000:]}")
    print("  go-tpc's own check of Dyno's tables passes:", said.count("begin to check"), "conditions", flush=True)


@contextlib.contextmanager
def commits(server, engine, commit):
    """A server of MariaDB whose commits wait for the disk, or do not."""
    chosen = engine == "mysql" and commit == "nowait"
    if chosen:
        server.sql("SET GLOBAL innodb_flush_log_at_trx_commit = 2")
    try:
        yield
    finally:
        if chosen:
            server.sql("SET GLOBAL innodb_flush_log_at_trx_commit = 1")


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
            # The first database is none of these, so that each can be made and dropped from it.
            statements(server, engine, ["CREATE DATABASE own", "CREATE DATABASE peer"], "postgres" if engine == "postgres" else None)
            of = {name: pathlib.Path(folder, name) for name in ("own", "peer")}
            for name in of:
                of[name].mkdir()
                of[name] = Dyno(of[name], url(server, engine, name), workload__folder=os.environ.get("ORDERS", "@orders"), workload__scale=warehouses(), run__warmup="1s")
            load(table, server, engine, of["own"])
            process.run(of["peer"].command("load"))
            for sessions in report.sessions("4"):
                measure(table, server, engine, of["own"], sessions)
            if os.environ.get("PEER_CHECK"):
                check(server, engine)
    table.finish()
