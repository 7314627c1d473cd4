#!/usr/bin/env python3
"""Builds and runs the tests, each in a process of its own, and writes where their time went: target/test-times.md.

Most tests wait: for a window, for a server, for a limit. Those run beside each other, more of them than there are
processors. Tests in a module `alone` load the machine or judge figures by the clock: each of them runs by itself, at the end,
but for those in a module `together` there, which run beside each other. `cargo test` runs the same tests, without either.

tests.py --build                            builds only
tests.py [--jobs N] [--list] [WORD ...]     only tests whose names hold one of the words, as `dyno faults_data::changed`
"""

import argparse
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TARGET = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
CARGO = os.environ.get("CARGO", "cargo")
# A test that takes longer hangs.
LIMIT_S = 900
BUILD = ["test", "--workspace", "--lib", "--bins", "--tests", "--examples", "--no-run", "--message-format=json-render-diagnostics"]


class Test:
    """One test, or all unit tests of a crate, which are short."""

    def __init__(self, binary, cwd, exe, name):
        self.binary, self.cwd, self.exe, self.name = binary, cwd, exe, name
        self.wall_s = self.cpu_s = 0.0
        self.output = None
        self.ok = False

    def title(self):
        return f"{self.binary} {self.name or '(unit tests)'}"

    def module(self):
        return f"{self.binary} {self.name.rpartition('::')[0]}" if self.name else f"{self.binary} (unit tests)"

    def is_in(self, module):
        return bool(self.name) and module in self.name.split("::")[:-1]

    def run(self, running):
        words = [self.exe] + (["--exact", self.name] if self.name else [])
        env = dict(os.environ, CARGO_MANIFEST_DIR=self.cwd, RUST_BACKTRACE=os.environ.get("RUST_BACKTRACE", "0"))
        self.output = tempfile.TemporaryFile(mode="w+", errors="replace")
        began = time.monotonic()
        child = subprocess.Popen(
            words, cwd=self.cwd, env=env, stdin=subprocess.DEVNULL, stdout=self.output, stderr=subprocess.STDOUT
        )
        running.add(child)
        timer = threading.Timer(LIMIT_S, child.kill)
        timer.start()
        # The time of a test is that of its servers and programs, too.
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        timer.cancel()
        running.discard(child)
        self.wall_s = time.monotonic() - began
        self.cpu_s = usage.ru_utime + usage.ru_stime
        self.ok = status == 0
        if self.wall_s >= LIMIT_S:
            self.output.write(f"\nended by tests.py after {LIMIT_S} s\n")


def build():
    """Builds the binaries of tests; `(name, folder of the crate, program)` of each."""
    build = subprocess.run([CARGO, *BUILD], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if build.returncode != 0:
        sys.exit(build.returncode)
    found = []
    for line in build.stdout.splitlines():
        message = json.loads(line)
        if message.get("reason") == "compiler-artifact" and message["profile"]["test"] and message.get("executable"):
            folder = os.path.dirname(message["manifest_path"])
            is_unit = message["target"]["kind"] != ["test"]
            found.append((os.path.basename(folder), folder, message["executable"], is_unit))
    return found


BUILD_TIME = os.path.join(TARGET, "test-build-s")


def write_build_time(seconds):
    """For the run that follows, which finds everything built."""
    with open(BUILD_TIME, "w", encoding="utf-8") as file:
        file.write(f"{seconds:.1f}")


def read_build_time():
    try:
        with open(BUILD_TIME, encoding="utf-8") as file:
            seconds = float(file.read())
        os.remove(BUILD_TIME)
        return seconds
    except (OSError, ValueError):
        return 0.0


def tests_of(binary, folder, exe, is_unit):
    """The tests of one binary, those that are ignored apart."""
    if is_unit:
        return [Test(binary, folder, exe, None)]

    def listed(*more):
        words = [exe, "--list", "--format", "terse", *more]
        said = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, text=True, check=True).stdout
        return [line.removesuffix(": test") for line in said.splitlines() if line.endswith(": test")]

    ignored = set(listed("--ignored"))
    return [Test(binary, folder, exe, name) for name in listed() if name not in ignored]


def run_all(tests, jobs, running, told):
    """Runs tests beside each other; the seconds it took."""
    began = time.monotonic()
    waiting = queue.SimpleQueue()
    for test in tests:
        waiting.put(test)

    def work():
        while True:
            try:
                test = waiting.get_nowait()
            except queue.Empty:
                return
            test.run(running)
            told(test)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.monotonic() - began


def by_time(tests):
    """Long ones first, so that none of them is still at work when all others have ended: as long as the last time."""
    try:
        with open(os.path.join(TARGET, "test-times.json"), encoding="utf-8") as file:
            last = json.load(file)
    except (OSError, ValueError):
        last = {}

    def expected(test):
        # Where nobody knows: all unit tests of a crate are many, and MySQL starts slowly.
        unknown = 2.0 if test.name is None else 1.0 if "mysql" in test.title() else 0.0
        return last.get(test.title(), unknown)

    return sorted(tests, key=expected, reverse=True)


def write_times(tests, phases):
    """The tables, for people and for the next run's order."""
    last = {test.title(): round(test.wall_s, 1) for test in tests}
    with open(os.path.join(TARGET, "test-times.json"), "w", encoding="utf-8") as file:
        json.dump(last, file)
    modules = {}
    for test in tests:
        modules.setdefault(test.module(), []).append(test)
    lines = ["| phase | s |", "| --- | ---: |"]
    lines += [f"| {name} | {seconds:.0f} |" for name, seconds in phases]
    lines += ["", "| tests of | tests | s, one after the other | processor, s | longest, s | |", "| --- | ---: | ---: | ---: | ---: | --- |"]
    rows = []
    for module, of in modules.items():
        longest = max(of, key=lambda test: test.wall_s)
        name = (longest.name or "").rpartition("::")[2]
        wall, cpu = sum(test.wall_s for test in of), sum(test.cpu_s for test in of)
        rows.append((wall, f"| {module} | {len(of)} | {wall:.0f} | {cpu:.0f} | {longest.wall_s:.0f} | {name} |"))
    lines += [row for _, row in sorted(rows, reverse=True)]
    path = os.path.join(TARGET, "test-times.md")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("DYNO_TEST_JOBS", 0)) or 3 * os.cpu_count())
    parser.add_argument("--build", action="store_true", help="build only")
    parser.add_argument("--list", action="store_true", help="say which tests there are")
    parser.add_argument("words", nargs="*", metavar="WORD")
    args = parser.parse_args()
    began = time.monotonic()
    binaries = build()
    if args.build:
        write_build_time(time.monotonic() - began)
        return 0
    tests = [test for binary in binaries for test in tests_of(*binary)]
    phases = [("building, lints and documentation", time.monotonic() - began + read_build_time())]
    tests = [test for test in tests if not args.words or any(word in test.title() for word in args.words)]
    if args.list:
        print("\n".join(test.title() for test in tests))
        return 0
    beside = by_time([test for test in tests if not test.is_in("alone")])
    alone = [test for test in tests if test.is_in("alone") and not test.is_in("together")]
    together = [test for test in tests if test.is_in("alone") and test.is_in("together")]
    running, done, lock = set(), [], threading.Lock()

    def told(test):
        with lock:
            done.append(test)
            word = "ok    " if test.ok else "FAILED"
            print(f"{word} {len(done)}/{len(tests)} {test.wall_s:6.1f} s {test.cpu_s:6.1f} cpu  {test.title()}", flush=True)
            if not test.ok:
                test.output.seek(0)
                print(test.output.read(), flush=True)
            test.output.close()

    def end(*_):
        for child in list(running):
            child.kill()
        os._exit(130)

    signal.signal(signal.SIGINT, end)
    signal.signal(signal.SIGTERM, end)
    phases.append((f"{len(beside)} tests, {args.jobs} beside each other", run_all(beside, args.jobs, running, told)))
    phases.append((f"{len(together)} tests that have the machine for themselves", run_all(together, args.jobs, running, told)))
    phases.append((f"{len(alone)} tests alone", run_all(alone, 1, running, told)))
    failed = [test for test in done if not test.ok]
    if not args.words:
        print(f"where the time went: {write_times(done, phases)}")
    print("; ".join(f"{name}: {seconds:.0f} s" for name, seconds in phases))
    print(f"{len(done) - len(failed)} passed, {len(failed)} failed")
    for test in failed:
        print(f"FAILED {test.title()}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
