#!/usr/bin/env python3
"""Pictures of every page of `dyno serve`, to be looked at.

    python3 scripts/pictures.py [--dyno target/debug/dyno] [--out target/pictures] [--runs 1,40,1000]

Repositories with so many runs are made of one that is measured here on SQLite; every view is taken 1280 and 390 pixels wide, light
and dark. Needs chromium (or google-chrome). It also says what is wider than the page, and what the browser complains of.
"""

import argparse
import base64
import copy
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "testing/benches"))
from shared.serve import Serve  # noqa: E402 - it lies beside the benchmarks

WIDTHS = (1280, 390)


class Browser:
    """A browser without a window, led over a pipe by its DevTools protocol."""

    def __init__(self, folder):
        program = next((p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), None)
        if not program:
            sys.exit("no chromium is here: apt-get install chromium")
        options = [
            "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
            "--disable-background-networking", "--disable-component-update", "--disable-sync", "--remote-debugging-pipe",
            f"--user-data-dir={folder}",
        ]
        # The pipe is descriptors 3 and 4.
        command = ["sh", "-c", 'exec "$0" "$@" 3<&0 4>&1 >/dev/null 2>&1 </dev/null', program, *options]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.number, self.buffer, self.said = 0, b"", []
        target = self.ask("Target.createTarget", {"url": "about:blank"})["targetId"]
        self.session = None
        self.session = self.ask("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")

    def receive(self):
        while b"\0" not in self.buffer:
            piece = os.read(self.process.stdout.fileno(), 1 << 16)
            if not piece:
                raise RuntimeError("the browser is gone")
            self.buffer += piece
        line, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(line)

    def ask(self, method, parameters=None):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters or {}}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        self.process.stdin.write(json.dumps(message).encode() + b"\0")
        self.process.stdin.flush()
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.hear(answer)

    def hear(self, event):
        if event.get("method") == "Log.entryAdded":
            self.said.append(event["params"]["entry"]["text"])
        if event.get("method") == "Runtime.exceptionThrown":
            details = event["params"]["exceptionDetails"]
            self.said.append(details.get("exception", {}).get("description", details["text"]))

    def run(self, script):
        return self.ask("Runtime.evaluate", {"expression": script, "returnByValue": True, "awaitPromise": True})["result"].get("value")

    def go(self, url):
        self.ask("Page.navigate", {"url": url})
        for _ in range(300):
            if self.run("document.readyState === 'complete' && location.href !== 'about:blank' && !document.querySelector('meta[http-equiv=refresh]:not(noscript *)')"):
                return
            time.sleep(0.05)
        raise RuntimeError(f"{url} does not come")

    def look(self, width, dark):
        self.ask("Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
        self.ask("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    def picture(self, path):
        height = min(6000, self.run("document.documentElement.scrollHeight"))
        width = self.run("innerWidth")
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        data = self.ask("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})["data"]
        path.write_bytes(base64.b64decode(data))

    def close(self):
        self.process.stdin.close()
        self.process.wait(20)


def many(record, runs, seed=1):
    """So many runs like this one, with figures of their own."""
    chance = random.Random(seed)
    for number in range(runs):
        one = copy.deepcopy(record)
        minutes = 60 * 24 * 200 + number * 7
        day = time.gmtime(1_767_225_600 + minutes * 60)
        one["id"] = time.strftime("%Y%m%d-%H%M%S", day) + f"-{number % 0x10000:04x}"
        one["started_at"] = time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", day)
        factor = (1.0 if number < runs * 2 / 3 else 0.8) * chance.uniform(0.97, 1.03)
        for ops in one["ops"].values():
            if isinstance(ops.get("rate_per_s"), (int, float)):
                ops["rate_per_s"] *= factor
        operations = one["metrics"].get("ops_per_s", {})
        if isinstance(operations.get("value"), (int, float)):
            operations["value"] *= factor
        one["variant"] = ["ext4", "xfs", "btrfs", None][number % 4]
        one["tags"] = [["nightly"], ["after-patch", "<b>bold</b>"], []][number % 3]
        if number % 29 == 7:
            one["status"], one["reasons"] = "invalid", ["commits: 10 acknowledged, the database counted 4"]
        yield one


def reports(dyno, folder, repository):
    """The reports of Oracle that the tests have, as intervals."""
    there = pathlib.Path(__file__).resolve().parents[1] / "crates/dyno-awr/tests/reports"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    subprocess.run([dyno, "awr", there, "--import", "--repository", repository], check=False, **quiet)


def fill(dyno, folder, repository, runs):
    """Puts so many runs into a repository."""
    seed = folder / "seed.sqlite3"
    common = ["--target", f"sqlite:{folder}/bench.db", "--repository", seed, "--set", "data.scale=8M"]
    if not seed.exists():
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
        subprocess.run([dyno, "load", *common], check=True, **quiet)
        subprocess.run([dyno, "run", *common, "--set", "run.time=12s", "--set", "run.warmup=1s"], check=False, **quiet)
        axes = ["--set", "sweep.sessions=1,2,4,8", "--set", "sweep.update_pct=0,20"]
        subprocess.run([dyno, "sweep", *common, *axes, "--set", "run.time=1s", "--set", "run.warmup=0s", "--set", "sweep.pause=0s"], check=False, **quiet)
    if runs == 1:
        shutil.copy(seed, repository)
        reports(dyno, folder, repository)
        return
    shown = subprocess.run([dyno, "list", "--json", "--limit", "1000", "--repository", seed], check=True, capture_output=True, text=True)
    single = [run["id"] for run in json.loads(shown.stdout) if not run.get("part_of")][-1]
    shown = subprocess.run([dyno, "show", single, "--json", "--repository", seed], check=True, capture_output=True, text=True)
    record = json.loads(shown.stdout)
    # As a report has them inside, which is what import takes whole records out of.
    path = folder / f"{runs}.html"
    lines = "".join(json.dumps(one) + "\n" for one in many(record, runs)).encode()
    data = base64.b64encode(zlib.compress(lines, 1)).decode()
    head = json.dumps({"format": "dyno-records", "version": 1, "count": runs}, separators=(",", ":"))[:-1]
    element = f'{head},"encoding":"zlib+base64","data":"{data}"}}'
    path.write_text(f'<!DOCTYPE html><script type="application/json" id="dyno-records">{element}</script>', encoding="utf-8")
    subprocess.run([dyno, "import", path, "--repository", repository], check=True, stdout=subprocess.DEVNULL)


def views(server):
    runs = server.ask("/api/v1/runs")["cards"]
    single = [card["id"] for card in runs if card["kind"] == "run"]
    intervals = [interval["id"] for interval in server.ask("/api/v1/awr")]
    sweeps = [card["id"] for card in runs if card["kind"] == "sweep"]
    yield "home", "/"
    yield "new", "/new"
    yield "jobs", "/jobs"
    yield "awr", "/awr"
    yield "choose", "/compare"
    if single:
        yield "run", f"/runs/{single[0]}"
        yield "history", f"/history?like={single[0]}"
        yield "export", f"/export?runs={single[0]}"
    if len(intervals) > 1:
        yield "awr-diff", f"/awr/diff?a={intervals[0]}&b={intervals[1]}"
    if len(single) > 1:
        yield "compare", f"/compare?run={single[0]}&run={single[1]}"
    if sweeps:
        yield "sweep", f"/sweeps/{sweeps[0]}"


def take(browser, server, name, address, out, troubles, wait=0.0):
    browser.go(server.base + address)
    time.sleep(wait)
    for width in WIDTHS:
        for dark in (False, True):
            browser.look(width, dark)
            browser.run("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 60)))")
            wide = browser.run("document.documentElement.scrollWidth - innerWidth")
            if wide > 0:
                troubles.append(f"{name} at {width}: {wide} pixels wider than the page")
            browser.picture(out / f"{name}-{width}-{'dark' if dark else 'light'}.png")
    troubles.extend(f"{name}: {line}" for line in browser.said)
    browser.said.clear()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dyno", default="target/debug/dyno")
    parser.add_argument("--out", default="target/pictures")
    parser.add_argument("--runs", default="1,40,1000")
    parser.add_argument("--no-live", action="store_true", help="leave out what runs")
    arguments = parser.parse_args()
    dyno, out = str(pathlib.Path(arguments.dyno).resolve()), pathlib.Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    troubles = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for runs in map(int, arguments.runs.split(",")):
            repository = folder / f"runs-{runs}.sqlite3"
            fill(dyno, folder, repository, runs)
            server = Serve(repository, f"sqlite:{folder}/bench.db", folder, program=dyno)
            browser = Browser(folder / f"profile-{runs}")
            try:
                browser.go(server.url)
                for name, address in views(server):
                    take(browser, server, f"{runs:04}-{name}", address, out, troubles)
                if runs == 1 and not arguments.no_live:
                    plan = {"run.time": "25s", "run.warmup": "2s", "data.scale": "8M", "run.sessions_per_schema": "4"}
                    job = server.ask("/api/v1/jobs", {"target": "target", "set": plan})
                    take(browser, server, "live", f"/jobs/{job['id']}", out, troubles, wait=14)
                    server.ask(f"/api/v1/jobs/{job['id']}/stop", {})
            finally:
                browser.close()
                server.close()
    for line in dict.fromkeys(troubles):
        print(line)
    print(f"{len(list(out.glob('*.png')))} pictures in {out}")


if __name__ == "__main__":
    main()
