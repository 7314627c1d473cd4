"""Runs benchmarks: all of them, or those named. `python3 testing/benches/run.py [NAME...]`; QUICK=1 for a short pass."""

import importlib
import signal
import sys

from shared import process

ALL = ["lookups", "pgbench", "own_sql", "orders", "limit", "reads", "server_drive", "updates", "mysql_lookups", "mysql_updates", "mysql_choices", "load", "sqlite_memory", "sqlite_direct", "over_memory", "measuring", "scraped", "home", "viewers", "gate", "fleet", "many_sessions", "repository", "waiting", "same_sides", "suite_twice", "awr"]
# What needs more than this build, and is run when it is named.
ASKED = ["before"]


def main(names):
    """Each benchmark of `names`; one that cannot run is named, and the others run."""
    unknown = [name for name in names if name not in ALL + ASKED]
    if unknown:
        sys.exit(f"no such benchmark: {', '.join(unknown)}; there are {', '.join(ALL + ASKED)}")
    if not process.DYNO.exists():
        sys.exit(f"{process.DYNO} is not there: run `make build`, or name the program in DYNO")
    process.raise_file_limit()
    # However we are stopped, the servers that we started end with us.
    for stop in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(stop, lambda *_: sys.exit(130))
    failed = []
    for name in names or ALL:
        print(f"{name} …", flush=True)
        try:
            importlib.import_module(name).main()
        except Exception as error:  # noqa: BLE001 - one benchmark's trouble must not cost the figures of the others
            failed.append(name)
            print(f"{name} failed: {error}", file=sys.stderr, flush=True)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main(sys.argv[1:])
