"""Runs a program to its end and tells what it cost: wall time, CPU time of all its threads, peak memory."""

import os
import pathlib
import subprocess
import tempfile
import time
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[3]
DYNO = pathlib.Path(os.environ.get("DYNO", ROOT / "target/release/dyno"))
EXAMPLES = DYNO.parent / "examples"
BARE = pathlib.Path(os.environ.get("BARE", EXAMPLES / "bare"))


@dataclass
class Finished:
    """A program that has ended."""

    code: int
    stdout: str
    stderr: str
    wall_s: float
    cpu_s: float
    rss_kib_max: int


def run(argv, env=None, stdin=None, user=None, cwd=None, ok=(0,)):
    """Runs `argv`; an exit code that is not in `ok` is an error with what the program said."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        began = time.monotonic()
        child = subprocess.Popen(
            [str(a) for a in argv],
            stdin=stdin if stdin is not None else subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env=None if env is None else {**os.environ, **env},
            cwd=cwd,
            **as_user(user),
        )
        # wait4 gives this one child's usage, its threads and reaped children included.
        _, status, usage = os.wait4(child.pid, 0)
        wall_s = time.monotonic() - began
        child.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode(errors="replace"))
    done = Finished(child.returncode, *texts, wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
    if done.code not in ok:
        raise RuntimeError(f"{' '.join(map(str, argv))} ended with {done.code}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done


def as_user(user):
    """Arguments of Popen that run a child as `user`; none where it is us already."""
    if user is None:
        return {}
    return {"user": user, "group": user, "extra_groups": []}


def raise_file_limit():
    """As many open files as the system lets us have: a thousand sessions need two thousand."""
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
