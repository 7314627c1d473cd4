"""A MariaDB server of our own for the time of a benchmark, and sysbench on it: own folder, own port, gone afterwards."""

import contextlib
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import tempfile
import time

from . import process, sysbench_client
from .postgres import free_port

# The table of sysbench's own scripts, as long as Dyno's.
TABLE_ROWS = 10_000
# Statements that are Dyno's own, for sysbench to run on a table of the same shape.
SAME = pathlib.Path(__file__).parent / "same_statement.lua"


class Server:
    """A running server with an empty database `bench`."""

    def __init__(self, folder, settings):
        self.folder = pathlib.Path(folder)
        # The server refuses to run as root.
        self.user = "mysql" if os.getuid() == 0 else None
        os.chmod(self.folder, 0o755)
        if self.user:
            owner = pwd.getpwnam(self.user)
            os.chown(self.folder, owner.pw_uid, owner.pw_gid)
        self.data, self.socket = self.folder / "data", self.folder / "s.sock"
        install = ["mariadb-install-db", "--no-defaults", "--skip-test-db", "--auth-root-authentication-method=normal"]
        process.run([*install, f"--datadir={self.data}"], user=self.user, cwd=self.folder)
        self.port = free_port()
        options = {
            "datadir": self.data,
            "socket": self.socket,
            "port": self.port,
            "bind-address": "127.0.0.1",
            "pid-file": self.folder / "pid",
            "log-error": self.folder / "log.err",
            **{name.replace("_", "-"): value for name, value in settings.items()},
        }
        self.child = subprocess.Popen(
            ["mariadbd", "--no-defaults", *(f"--{name}={value}" for name, value in options.items())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.folder,
            **process.as_user(self.user),
        )
        self.wait_ready()
        self.sql("CREATE DATABASE bench", database=None)
        self.url = f"mysql://root@/bench?socket={self.socket}"

    def wait_ready(self):
        """Until it accepts connections, for a minute at most."""
        until = time.monotonic() + 60
        ping = ["mariadb-admin", "--no-defaults", "-uroot", f"--socket={self.socket}", "ping"]
        while process.run(ping, ok=(0, 1)).code != 0:
            if self.child.poll() is not None or time.monotonic() > until:
                raise RuntimeError("MariaDB did not start:\n" + (self.folder / "log.err").read_text()[-2000:])
            time.sleep(0.1)

    def sql(self, text, database="bench"):
        """What the client prints."""
        argv = ["mariadb", "--no-defaults", "-uroot", f"--socket={self.socket}", "-N", "-B", "-e", text]
        return process.run(argv + ([database] if database else [])).stdout.strip()

    def commits(self):
        """Transactions that the server has counted; without a binlog each is one."""
        return int(self.sql("SHOW GLOBAL STATUS LIKE 'Handler_commit'", None).split()[1])

    def check_commits(self, claimed, before, more_max):
        """Holds what a client says it did against what the server counted, which may be up to `more_max` more, and
        returns the server's count: no figure rests on one side's word."""
        counted = self.commits() - before
        if not claimed <= counted <= claimed + more_max:
            raise RuntimeError(f"{claimed} transactions claimed, but the server counted {counted}")
        return counted

    def sysbench(self, script, command, sessions=1, seconds=0, **options):
        """Runs a sysbench script; operations per second, those the server counted, and CPU seconds of the client."""
        before = self.commits()
        done = sysbench_client.run(self.driver, script, command, sessions, seconds, TABLE_ROWS, options)
        if done is None:
            return None
        rate, events, cpu_s, ignored = done
        if ignored > seconds:
            raise RuntimeError(f"sysbench had {ignored} errors")
        return rate, self.check_commits(events, before, events * 0.01 + 100 + 20 * sessions), cpu_s

    @property
    def driver(self):
        """How sysbench reaches it."""
        return ["--db-driver=mysql", f"--mysql-socket={self.socket}", "--mysql-user=root", "--mysql-db=bench"]

    def bind(self, processors):
        """Keeps all of its threads, and those to come, on these processors."""
        for task in os.listdir(f"/proc/{self.child.pid}/task"):
            # One of them may have ended meanwhile.
            with contextlib.suppress(ProcessLookupError):
                os.sched_setaffinity(int(task), processors)

    def stop(self):
        """At once."""
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGKILL)
            self.child.wait()


@contextlib.contextmanager
def server(**settings):
    """A server with `settings`, stopped and removed at the end."""
    # Under /tmp whatever TMPDIR says: a Unix socket's path has at most 107 bytes.
    folder = tempfile.mkdtemp(prefix="dyno-bench-", dir=os.environ.get("BENCH_DIR", "/tmp"))
    running = None
    try:
        running = Server(folder, {"innodb_buffer_pool_size": "512M", "innodb_log_file_size": "512M", "max_connections": 200, **settings})
        yield running
    finally:
        if running:
            running.stop()
        shutil.rmtree(folder, ignore_errors=True)
