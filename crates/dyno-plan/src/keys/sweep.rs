//! Keys of `[sweep]` that are the same for every sweep; its axes are keys of other sections, read by `read::axes`.

use super::kind::seconds;
use super::{Fallback, Key, Kind, Section, Shown, Word};
use crate::plan::{Order, Until};

pub(super) const SECTION: Section = Section {
    name: "sweep",
    title: "runs over a grid of settings",
    doc: "What `dyno sweep` runs: every combination of the values on its axes. An axis is a key of the plan with a list of \
          values: `update_pct = [0, 10, 20, 30]`, `block_size = [\"4K\", \"8K\"]`, `\"data.seed\" = [1, 2]` with the section \
          where the name alone could be several keys. The axis `sessions = [1, 2, 4, 8]` is sessions over all schemas. \
          Everything else is as the rest of the plan says. Other commands read past this section.",
    keys: &[
        Key {
            path: "sweep.until",
            kind: Kind::Word(&[
                Word {
                    word: "end",
                    means: "every point of the grid",
                    set: |plan| plan.sweep.until = Until::End,
                },
                Word {
                    word: "saturation",
                    means: "each ramp of sessions stops two steps after throughput no longer rises",
                    set: |plan| plan.sweep.until = Until::Saturation,
                },
            ]),
            unit: "",
            default: Fallback::Value("end"),
            doc: "How far the sessions rise.",
            more: "Less than 2 % more than the best before is no rise. The first pass over a ramp then goes up, whatever `order` \
                   says, and later ones run what it ran.",
            example: "saturation",
            shown: Shown::Commented,
            get: |plan| Some(plan.sweep.until.name().into()),
        },
        Key {
            path: "sweep.repeats",
            kind: Kind::Count { range: (1, 1_000), set: |plan, value| plan.sweep.repeats = value },
            unit: "",
            default: Fallback::Value("1"),
            doc: "Runs of every point.",
            more: "All points are run once before any is run again, so that drift meets all alike. From one run each there is \
                   no verdict on a difference; five are a good beginning.",
            example: "5",
            shown: Shown::Commented,
            get: |plan| Some(plan.sweep.repeats.to_string()),
        },
        Key {
            path: "sweep.order",
            kind: Kind::Word(&[
                Word {
                    word: "random",
                    means: "shuffled by `seed`, anew for each repeat, so that no setting is always early or late",
                    set: |plan| plan.sweep.order = Order::Random,
                },
                Word {
                    word: "up",
                    means: "as the axes are written, sessions fastest and rising",
                    set: |plan| plan.sweep.order = Order::Up,
                },
                Word {
                    word: "up-down",
                    means: "up, and with the next repeat down again",
                    set: |plan| plan.sweep.order = Order::UpDown,
                },
            ]),
            unit: "",
            default: Fallback::Value("random"),
            doc: "The order of the points in time.",
            more: "Points on the same data stay together, because data is loaded once for all of them.",
            example: "up",
            shown: Shown::Commented,
            get: |plan| Some(plan.sweep.order.name().into()),
        },
        Key {
            path: "sweep.seed",
            kind: Kind::Number { range: (0, u64::MAX), set: |plan, value| plan.sweep.seed = value },
            unit: "",
            default: Fallback::Value("1"),
            doc: "Seed of the random order.",
            more: "",
            example: "2",
            shown: Shown::Commented,
            get: |plan| Some(plan.sweep.seed.to_string()),
        },
        Key {
            path: "sweep.pause",
            kind: Kind::Span {
                range: (seconds(0), seconds(24 * 3_600)),
                set: |plan, span| plan.sweep.pause = span,
            },
            unit: "",
            default: Fallback::Value("0s"),
            doc: "Rest between two runs.",
            more: "",
            example: "30s",
            shown: Shown::Commented,
            get: |plan| Some(plan.sweep.pause.to_string()),
        },
    ],
};
