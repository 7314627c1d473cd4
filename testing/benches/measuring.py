"""What measuring costs: the same operations, which do nothing, with Dyno's whole loop around them and without."""

import json

from shared import pairs, process, report


def main():
    """One row."""
    head = ["measured loop ns/op", "bare loop ns/op", "cost ns/op", "others' CPU %", "target"]
    table = report.Report("measuring", "The cost of measuring: clock, histogram, series and phase check per operation", head)
    program = process.EXAMPLES / "measuring"
    side = lambda name: lambda: json.loads(process.run([program, name, report.seconds()]).stdout)["ns_per_op"]
    done = pairs.interleave(report.pairs(), side("measured"), side("bare"))
    own, peer = (done.of(number, lambda ns: ns) for number in (0, 1))
    cost = pairs.Spread.of([a - b for a, b in done.sides])
    table.row(
        [own.show(1), peer.show(1), cost.show(1), done.others().show(0), report.verdict(cost.median, at_most=100, others=done.others())],
        measured_ns=own, bare_ns=peer, cost_ns=cost, others_pct=done.others(),
    )
    table.finish()
