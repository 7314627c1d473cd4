"""A PostgreSQL server of our own for the time of a benchmark: own folder, own port, gone afterwards."""

import contextlib
import glob
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from . import process

# What Dyno's sessions set for themselves, so that a peer's plans are the same: see `SESSION_SETTINGS` in
# crates/dyno-postgres/src/ops/mod.rs.
SESSION_OPTIONS = " ".join(
    f"-c {setting}"
    for setting in (
        "plan_cache_mode=force_generic_plan",
        "enable_seqscan=off",
        "max_parallel_workers_per_gather=0",
        "jit=off",
        "statement_timeout=0",
    )
)


def binaries():
    """The newest server installed that brings pgbench along; `PGBIN` names another one."""
    if "PGBIN" in os.environ:
        return pathlib.Path(os.environ["PGBIN"])
    found = [p for p in glob.glob("/usr/lib/postgresql/*/bin") if os.path.exists(f"{p}/pgbench")]
    if not found:
        raise RuntimeError("no PostgreSQL server with pgbench under /usr/lib/postgresql; install one, or set PGBIN")
    return pathlib.Path(max(found, key=lambda path: float(path.split("/")[4])))


class Server:
    """A running server."""

    def __init__(self, folder, settings):
        self.bin = binaries()
        self.folder = pathlib.Path(folder)
        # The server refuses to run as root.
        self.user = "postgres" if os.getuid() == 0 else None
        os.chmod(self.folder, 0o755)
        self.data = self.folder / "data"
        self.data.mkdir(mode=0o700)
        if self.user:
            owner = pwd.getpwnam(self.user)
            for path in (self.folder, self.data):
                os.chown(path, owner.pw_uid, owner.pw_gid)
        self.port = free_port()
        initdb = ["initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
        process.run([self.bin / initdb[0], *initdb[1:]], user=self.user, cwd=self.folder)
        with open(self.data / "postgresql.conf", "a") as conf:
            conf.write(f"port = {self.port}\nunix_socket_directories = '{self.folder}'\nlisten_addresses = ''\n")
            conf.writelines(f"{name} = '{value}'\n" for name, value in settings.items())
        self.log = open(self.folder / "server.log", "w+b")
        self.child = subprocess.Popen(
            [self.bin / "postgres", "-D", self.data],
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=subprocess.STDOUT,
            cwd=self.folder,
            **process.as_user(self.user),
        )
        self.env = {"PGHOST": str(self.folder), "PGPORT": str(self.port), "PGUSER": "postgres", "PGDATABASE": "postgres"}
        self.wait_ready()

    def wait_ready(self):
        """Until it accepts connections, for a minute at most."""
        until = time.monotonic() + 60
        while process.run([self.bin / "pg_isready", "-q"], env=self.env, ok=(0, 1, 2, 3)).code != 0:
            if self.child.poll() is not None or time.monotonic() > until:
                raise RuntimeError("PostgreSQL did not start:\n" + (self.folder / "server.log").read_text()[-2000:])
            time.sleep(0.05)

    @property
    def url(self):
        """Over the Unix socket, as Dyno takes it."""
        host = str(self.folder).replace("/", "%2F")
        return f"postgres://postgres@{host}:{self.port}/postgres"

    def version(self):
        """`15.14`."""
        return self.psql("SHOW server_version").split()[0]

    def psql(self, sql, env=None):
        """What psql prints, unaligned and without heads."""
        argv = [self.bin / "psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-c", sql]
        return process.run(argv, env={**self.env, **(env or {})}).stdout.strip()

    def pgbench(self, scripts, sessions, seconds, builtin=None):
        """`pgbench -M prepared` with scripts `{path: weight}`, or one that is built in; returns `(tps, transactions the server counted, cpu_s)`."""
        jobs = min(sessions, os.cpu_count())
        argv = [self.bin / "pgbench", "-n", "-M", "prepared", "-c", sessions, "-j", jobs, "-T", seconds]
        for path, weight in scripts.items():
            argv += ["-f", f"{path}@{weight}"]
        argv += ["-b", builtin] if builtin else []
        before = self.commits()
        done = process.run(argv, env={**self.env, "PGOPTIONS": SESSION_OPTIONS})
        failed = re.search(r"number of failed transactions: (\d+)", done.stdout)
        if failed and int(failed[1]):
            raise RuntimeError(f"pgbench had failures:\n{done.stdout}")
        tps = float(re.search(r"tps = ([0-9.]+) \(without initial connection time\)", done.stdout)[1])
        transactions = int(re.search(r"number of transactions actually processed: (\d+)", done.stdout)[1])
        counted = self.check_commits(transactions, before, transactions * 0.01 + 100 + 20 * sessions)
        return tps, counted, done.cpu_s

    @property
    def driver(self):
        """How sysbench reaches it."""
        return ["--db-driver=pgsql", f"--pgsql-host={self.folder}", f"--pgsql-port={self.port}", "--pgsql-user=postgres", "--pgsql-db=postgres"]

    def commits(self):
        """Transactions that the server has counted."""
        return int(self.psql("SELECT xact_commit FROM pg_stat_database WHERE datname = 'postgres'"))

    def check_commits(self, claimed, before, more_max):
        """Holds what a client says it did against what the server counted, which may be up to `more_max` more, and
        returns the server's count: no figure rests on one side's word."""
        until = time.monotonic() + 5
        while True:
            counted = self.commits() - before
            # Ended sessions are booked a moment later.
            if claimed <= counted <= claimed + more_max:
                return counted
            if time.monotonic() > until:
                raise RuntimeError(f"{claimed} transactions claimed, but the server counted {counted}")
            time.sleep(0.1)

    def blocks_read(self, table):
        """Blocks of `table` itself that were read, from the cache or not."""
        sql = f"SELECT heap_blks_hit + heap_blks_read FROM pg_statio_user_tables WHERE relname = '{table}'"
        return int(self.psql(sql))

    def pids(self):
        """The server's process and its children."""
        children = pathlib.Path(f"/proc/{self.child.pid}/task/{self.child.pid}/children").read_text().split()
        return [self.child.pid, *map(int, children)]

    def bind(self, processors):
        """Keeps all of its processes, and those to come, on these processors."""
        for pid in self.pids():
            # One of them may have ended meanwhile.
            with contextlib.suppress(ProcessLookupError):
                os.sched_setaffinity(pid, processors)

    def stop(self):
        """At once."""
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGINT)
            self.child.wait()
        self.log.close()


def free_port():
    """A port that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def server(**settings):
    """A server with `settings`, stopped and removed at the end."""
    # Under /tmp whatever TMPDIR says: a Unix socket's path has at most 107 bytes.
    folder = tempfile.mkdtemp(prefix="dyno-bench-", dir=os.environ.get("BENCH_DIR", "/tmp"))
    running = None
    try:
        running = Server(folder, {"shared_buffers": "512MB", "max_connections": 200, "max_wal_size": "4GB", **settings})
        yield running
    finally:
        if running:
            running.stop()
        shutil.rmtree(folder, ignore_errors=True)
