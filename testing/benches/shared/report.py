"""A benchmark's result: a Markdown table on standard output, and the same figures as JSON beside it."""

import json
import os
import platform
import time

from . import process, quiet


def quick():
    """Whether a short pass is wanted: fewer pairs, shorter runs; its figures are a smoke test, not a result."""
    return os.environ.get("QUICK", "") not in ("", "0")


def pairs():
    """How many pairs to take."""
    return int(os.environ.get("PAIRS", 3 if quick() else 5))


def seconds():
    """How long one run of a pair is."""
    return int(os.environ.get("SECONDS_EACH", 2 if quick() else 5))


def sessions(default):
    """The counts of sessions to measure at; `SESSIONS=2,8` takes others."""
    return [int(n) for n in os.environ.get("SESSIONS", default).split(",")]


class Report:
    """One benchmark's table."""

    def __init__(self, name, title, head):
        self.name, self.title, self.head = name, title, head
        self.rows, self.figures = [], []

    def row(self, cells, **figures):
        """Adds a row as it is shown, and its figures as they are stored; shown at once, for runs take minutes."""
        self.rows.append([str(cell) for cell in cells])
        self.figures.append({k: v.as_json() if hasattr(v, "as_json") else v for k, v in figures.items()})
        print("  " + "  ".join(self.rows[-1]), flush=True)

    def markdown(self):
        """The table."""
        line = lambda cells: "| " + " | ".join(cells) + " |"
        return "\n".join([f"### {self.title}", "", line(self.head), line(["---"] * len(self.head)), *map(line, self.rows), ""])

    def finish(self):
        """Prints the table and writes both files to target/bench."""
        folder = process.ROOT / "target/bench"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{self.name}.md").write_text(self.markdown())
        document = {
            "benchmark": self.name,
            "title": self.title,
            "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "quick": quick(),
            "pairs": pairs(),
            "seconds_each": seconds(),
            "machine": machine(),
            "rows": self.figures,
        }
        (folder / f"{self.name}.json").write_text(json.dumps(document, indent=1) + "\n")
        print("\n" + self.markdown(), flush=True)


def machine():
    """What a figure depends on."""
    model = ""
    with open("/proc/cpuinfo") as info:
        for line in info:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    return {"cpu": model, "cpus": os.cpu_count(), "kernel": platform.release(), "load_average": os.getloadavg()}


def verdict(ratio, at_least=None, at_most=None, others=None):
    """`met` or `missed`, with the target; `undecided` where others took too much of the machine for either word."""
    met = ratio >= at_least if at_least is not None else ratio <= at_most
    target = f"≥ {at_least}" if at_least is not None else f"≤ {at_most}"
    if others is not None and others.median > quiet.OTHERS_PCT_MAX:
        return f"undecided, disturbed ({target})"
    return f"{'met' if met else 'missed'} ({target})"
