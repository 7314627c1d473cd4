"""Dyno as a user runs it: options in, the run record out."""

import json
import pathlib

from . import process


class Dyno:
    """Dyno on one target, with a repository of its own; another build of it where `program` says so."""

    def __init__(self, folder, url, program=process.DYNO, **options):
        self.url = url
        self.program = program
        self.options = options
        self.folder = pathlib.Path(folder)
        self.plan = self.folder / "bench.toml"
        self.plan.write_text(f'[target]\nurl = "{url}"\n')
        self.repository = self.folder / "bench.db"

    def command(self, name, *more, **options):
        """The command line of subcommand `name`; an option `data__scale=...` is `--set data.scale=...`."""
        argv = [self.program, name, "--plan", self.plan, "--repository", self.repository, "--quiet"]
        for key, value in {**self.options, **options}.items():
            argv += ["--set", f"{key.replace('__', '.')}={value}"]
        return argv + list(more)

    def load(self, **options):
        """Loads the data anew; returns the finished process."""
        return process.run(self.command("load", "--replace", **options))

    def run(self, **options):
        """One run; returns its record and the finished process. A run that its own audit rejects is an error."""
        # Invalid is 1 or 3 by what it is of; the record says why, an error has none.
        done = process.run(self.command("run", "--json", **options), ok=(0, 1, 3))
        if not done.stdout:
            raise RuntimeError(f"{self.program} run: {done.stderr[-2000:]}")
        record = json.loads(done.stdout)
        if record["status"] != "valid":
            raise RuntimeError(f"the run is {record['status']}: {record['reasons']}")
        return record, done


def count(record):
    """Operations that a run counted in its window. `all` is the sum of the other classes: adding both would double it."""
    return record["ops"]["all"]["count"]


def rate(record):
    """Operations per second of a run's window."""
    return record["ops"]["all"]["rate_per_s"]


def metric(record, name):
    """A figure of the record, or an error with the reason why it is absent."""
    figure = record["metrics"][name]
    if "value" not in figure:
        raise RuntimeError(f"{name} is absent: {figure}")
    return figure["value"]
