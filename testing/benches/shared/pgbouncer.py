"""A PgBouncer in front of a PostgreSQL server of ours, for the time of a benchmark: more sessions than a server has processes."""

import contextlib
import glob
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

from . import process
from .postgres import free_port


def program():
    """The words that start it: the newest one of the tests, with its libraries, or the system's."""
    root = process.ROOT / "target/testbeds/pgbouncer"
    for loader in glob.glob(f"{root}/usr/lib/*/ld-linux*"):
        return [loader, "--library-path", os.path.dirname(loader), root / "usr/sbin/pgbouncer"]
    found = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
    if not found:
        raise RuntimeError("there is no PgBouncer; run scripts/testbeds.sh")
    return [found]


@contextlib.contextmanager
def in_front_of(server, connections, sessions):
    """Its URL: so many `connections` of `server` for up to `sessions` of them, one transaction at a time."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="dyno-bench-"))
    port = free_port()
    (folder / "users").write_text('"postgres" ""\n')
    (folder / "pgbouncer.ini").write_text(
        f"[databases]\n* = host={server.folder} port={server.port}\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = trust\nauth_file = {folder}/users\n"
        f"pool_mode = transaction\nignore_startup_parameters = extra_float_digits,options\nmax_client_conn = {sessions}\n"
        f"default_pool_size = {connections}\nmax_prepared_statements = 100\n"
    )
    folder.chmod(0o755)
    log = open(folder / "log", "w+b")
    child = subprocess.Popen(
        [str(word) for word in [*program(), folder / "pgbouncer.ini"]],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        **process.as_user(server.user),
    )
    try:
        wait_ready(child, port, folder)
        yield f"postgres://postgres@127.0.0.1:{port}/postgres"
    finally:
        child.terminate()
        child.wait()
        log.close()
        shutil.rmtree(folder, ignore_errors=True)


def wait_ready(child, port, folder):
    """Until it accepts connections, for a minute at most."""
    until = time.monotonic() + 60
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if child.poll() is not None or time.monotonic() > until:
            raise RuntimeError("PgBouncer did not start:\n" + (folder / "log").read_text()[-2000:])
        time.sleep(0.05)
