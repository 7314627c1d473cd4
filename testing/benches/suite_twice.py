"""Two `dyno suite --full` of one platform, which go on by turns: how often they are told apart although there is nothing to find."""

import json
import os
import tempfile

from shared import postgres, process, report
from shared.dyno import Dyno

WRONG = ("better", "worse")
SIDES = ("one", "other")


def main():
    """One row for each engine of `ENGINES`; `WINDOW` and `WARMUP` are the times of a run, `TESTS` a choice of tests."""
    window, warmup = os.environ.get("WINDOW", "1s"), os.environ.get("WARMUP", "200ms")
    chosen = os.environ.get("TESTS", "server-lookup,cpu-integer" if report.quick() else "")
    tests = [word for test in chosen.split(",") if test for word in ("--test", test)]
    head = ["engine", "key figures", "unsure", "too few repeats", "better or worse", "the right answer, %", "target"]
    table = report.Report("suite_twice", f"A/A: two full suites by turns, windows of {window}", head)
    for engine in os.environ.get("ENGINES", "sqlite").split(","):
        with tempfile.TemporaryDirectory() as folder:
            if engine == "sqlite":
                row(table, engine, folder, f"sqlite:{folder}/suite.db", tests, window, warmup)
            else:
                with postgres.server() as server:
                    row(table, engine, folder, server.url, tests, window, warmup)
    table.finish()


def row(table, engine, folder, url, tests, window, warmup):
    """Both suites to their end, and what a scorecard says of them."""
    dyno = Dyno(folder, url, run__warmup=warmup, run__time=window, observe__interval="200ms")
    names, done, turn = {}, set(), 0
    # A B B A, and nobody is a test ahead, as one ramp may be longer than the other: drift meets both alike.
    order = lambda at: SIDES[at % 2] if at // 2 % 2 == 0 else SIDES[1 - at % 2]
    begun = dict.fromkeys(SIDES, 0)
    while len(done) < len(SIDES):
        side, turn = order(turn), turn + 1
        other = SIDES[1 - SIDES.index(side)]
        if side in done or other not in done and begun[side] > begun[other]:
            side = other
        if side in names:
            argv = [dyno.program, "suite", "--plan", dyno.plan, "--repository", dyno.repository, "--quiet", "--resume", names[side]]
        else:
            argv = dyno.command("suite", "--full", "--keep-data", "--variant", side, *tests)
        # What fails or is invalid is the suite's to say, and is told in its exit code.
        said = json.loads(process.run([*argv, "--runs", "1", "--json"], ok=(0, 1, 3)).stdout)
        names[side] = said["suite"]
        begun[side] = sum(bool(test.get("steps")) for test in said["tests"] or [])
        if said["done"]:
            done.add(side)
    argv = [dyno.program, "scorecard", "--repository", dyno.repository, "--json", *(f"variant:{side}" for side in SIDES)]
    lines = json.loads(process.run(argv).stdout)["lines"]
    told = {line["test"]: line["ratios"][1] for line in lines if line["ratios"][1]}
    verdicts = [ratio["verdict"] for ratio in told.values()]
    wrong = {test: ratio for test, ratio in told.items() if ratio["verdict"] in WRONG}
    right = 100 * (1 - len(wrong) / len(verdicts))
    table.row(
        [engine, len(verdicts), verdicts.count("unsure"), verdicts.count("few"), len(wrong), f"{right:.0f}", report.verdict(right, at_least=95)],
        engine=engine, turns=turn, ratios=told, wrong=wrong, right_pct=right,
    )
