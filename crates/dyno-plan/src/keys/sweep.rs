//! Keys of `[sweep]` itself; its axes are keys of other sections, read by `read::axes`.

use super::kind::seconds;
use super::{PlanKey, PlanKeyKind, PlanSection, at};

pub(super) const SECTION: PlanSection = PlanSection {
    name: "sweep",
    title: "runs over a grid of settings",
    doc: "What `dyno sweep` runs: every combination of the values on its axes. An axis is a key of the plan with a list of \
          values: `update_pct = [0, 10, 20, 30]`, `block_size = [\"4K\", \"8K\"]`, `\"data.seed\" = [1, 2]` with the section \
          where the name alone could be several keys. The axis `sessions = [1, 2, 4, 8]` is sessions over all schemas. \
          Everything else is as the rest of the plan says. Other commands read past this section.",
    keys: &[
        PlanKey::new("sweep.until", PlanKeyKind::Word(&[], at!(sweep.until)))
            .words(&[
                ("end", "every point of the grid"),
                ("saturation", "each ramp of sessions stops two steps after throughput no longer rises"),
            ])
            .default("end")
            .doc("How far the sessions rise.")
            .more("Less than 2 % more than the best before is no rise. The first pass over a ramp then goes up, whatever \
                   `order` says, and later ones run what it ran.")
            .example("saturation"),
        PlanKey::new("sweep.repeats", PlanKeyKind::Count(1, 1_000, at!(sweep.repeats)))
            .default("1")
            .doc("Runs of every point.")
            .more("All points are run once before any is run again, so that drift meets all alike. From one run each there \
                   is no verdict on a difference; five are a good beginning.")
            .example("5"),
        PlanKey::new("sweep.order", PlanKeyKind::Word(&[], at!(sweep.order)))
            .words(&[
                (
                    "random",
                    "shuffled by `seed`, differently for each repeat, so that no setting is always early or late",
                ),
                ("up", "as the axes are written, sessions fastest and rising"),
                ("up-down", "up, and with the next repeat down again"),
            ])
            .default("random")
            .doc("The order of the points in time.")
            .more("Points on the same data stay together, because data is loaded once for all of them.")
            .example("up"),
        PlanKey::new("sweep.seed", PlanKeyKind::Number(0, u64::MAX, at!(sweep.seed)))
            .default("1")
            .doc("Seed of the random order.")
            .example("2"),
        PlanKey::new("sweep.pause", PlanKeyKind::Span(seconds(0), seconds(24 * 3_600), at!(sweep.pause)))
            .default("0s")
            .doc("Rest between two runs.")
            .example("30s"),
    ],
};
