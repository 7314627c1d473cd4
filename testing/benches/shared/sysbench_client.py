"""One run of sysbench."""

import re

from . import process


def run(driver, script, command, sessions, seconds, table_rows, options):
    """Runs a script with the options of a `driver`: transactions per second, how many there were, and CPU seconds of the client;
    nothing where `command` is no run. Conflicts are begun anew and counted apart; anything else ends it."""
    argv = ["sysbench", script, *driver, f"--table-size={table_rows}", "--tables=1", f"--threads={sessions}"]
    argv += [f"--time={seconds}", "--events=0", "--db-ps-mode=auto", "--rand-type=uniform"]
    argv += [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    done = process.run([*argv, command])
    if command != "run":
        return None
    rate = float(re.search(r"transactions:\s+\d+\s+\(([0-9.]+) per sec", done.stdout)[1])
    events = int(re.search(r"transactions:\s+(\d+)", done.stdout)[1])
    ignored = int(re.search(r"ignored errors:\s+(\d+)", done.stdout)[1])
    return rate, events, done.cpu_s, ignored
