//! Keys of `[sweep]` itself; its axes are keys of other sections, read by `read::axes`.

use super::kind::seconds;
use super::{PlanKey, PlanKeyKind, PlanSection, at};

pub(super) const SECTION: PlanSection = PlanSection {
    name: "sweep",
    title: "runs over a grid of settings",
    doc: "What `dyno sweep` runs: every combination of the values on its axes. An axis is a key of the plan \
          with a list of values: `update_pct = [0, 10, 20, 30]`, `block_size = [\"4K\", \"8K\"]`, or \
          `\"data.seed\" = [1, 2]` with its section if several sections have a key of that name. The axis \
          `sessions = [1, 2, 4, 8]` is the number of sessions over all schemas. All other settings come from \
          the other sections. Other commands ignore this section.",
    keys: &[
        PlanKey::new("sweep.until", PlanKeyKind::Word(&[], at!(sweep.until)))
            .words(&[
                ("end", "every point of the grid"),
                ("saturation", "each ramp of sessions stops two steps after throughput no longer rises"),
            ])
            .default("end")
            .doc("Which points of a ramp are run.")
            .more("A rise is 2 % or more above the best throughput so far. With `saturation` the first \
                   repeat runs each ramp upwards, whatever `order` is, and later repeats run the same points.")
            .example("saturation"),
        PlanKey::new("sweep.repeats", PlanKeyKind::Count(1, 1_000, at!(sweep.repeats)))
            .default("1")
            .doc("Runs of every point.")
            .more("All points run once before any point runs again, so that drift affects all points alike. \
                   One run per point gives no verdict on a difference; start with five.")
            .example("5"),
        PlanKey::new("sweep.order", PlanKeyKind::Word(&[], at!(sweep.order)))
            .words(&[
                (
                    "random",
                    "shuffled by `seed`, with a different order for each repeat, so that no setting is \
                     always early or late",
                ),
                ("up", "in the order of the axes; sessions change fastest, and rise"),
                ("up-down", "up, and down in the next repeat"),
            ])
            .default("random")
            .doc("The order of the points in time.")
            .more("Points with the same data stay together, because the data is loaded once for all of them.")
            .example("up"),
        PlanKey::new("sweep.seed", PlanKeyKind::Number(0, u64::MAX, at!(sweep.seed)))
            .default("1")
            .doc("Seed of the random order.")
            .example("2"),
        PlanKey::new("sweep.pause", PlanKeyKind::Span(seconds(0), seconds(24 * 3_600), at!(sweep.pause)))
            .default("0s")
            .doc("Pause between two runs.")
            .example("30s"),
    ],
};
