//! Keys of `[workload]`.

use super::{Fallback, Key, Kind, Section, Shown, Word};
use crate::plan::{Arrivals, Drive, Redo};
use crate::units::Rate;

pub(super) const SECTION: Section = Section {
    name: "workload",
    title: "the load",
    doc: "What each session does, operation after operation. Each operation's class is drawn anew: an update with \
          `update_pct`; else a full scan with `scan_pct`, a lookup with `lookup_pct`, and a `select` of `work_unit` rows with \
          what is left.",
    keys: &[
        Key {
            path: "workload.update_pct",
            kind: Kind::Count { range: (0, 100), set: |plan, value| plan.workload.update_pct = value },
            unit: "%",
            default: Fallback::Value("0"),
            doc: "Share of operations that are updates; each is one commit.",
            more: "",
            example: "20",
            shown: Shown::Active,
            get: |plan| Some(plan.workload.update_pct.to_string()),
        },
        Key {
            path: "workload.scan_pct",
            kind: Kind::Count { range: (0, 100), set: |plan, value| plan.workload.scan_pct = value },
            unit: "%",
            default: Fallback::Value("0"),
            doc: "Share of the reads that are full scans of the second table.",
            more: "Needs `data.scan_scale`; together with `lookup_pct` at most 100.",
            example: "5",
            shown: Shown::Commented,
            get: |plan| Some(plan.workload.scan_pct.to_string()),
        },
        Key {
            path: "workload.lookup_pct",
            kind: Kind::Count { range: (0, 100), set: |plan, value| plan.workload.lookup_pct = value },
            unit: "%",
            default: Fallback::Value("0"),
            doc: "Share of the reads that are lookups of a single row by key.",
            more: "Together with `scan_pct` at most 100.",
            example: "100",
            shown: Shown::Commented,
            get: |plan| Some(plan.workload.lookup_pct.to_string()),
        },
        Key {
            path: "workload.work_unit",
            kind: Kind::Count { range: (1, 1_000_000), set: |plan, value| plan.workload.work_unit = value },
            unit: "blocks",
            default: Fallback::Value("64"),
            doc: "Rows, hence blocks, that one select or update touches.",
            more: "Not more than the rows of a schema.",
            example: "256",
            shown: Shown::Active,
            get: |plan| Some(plan.workload.work_unit.to_string()),
        },
        Key {
            path: "workload.redo",
            kind: Kind::Word(&[
                Word {
                    word: "lite",
                    means: "an update sets 2 columns",
                    set: |plan| plan.workload.redo = Redo::Lite,
                },
                Word {
                    word: "heavy",
                    means: "an update sets all 19 columns",
                    set: |plan| plan.workload.redo = Redo::Heavy,
                },
            ]),
            unit: "",
            default: Fallback::Value("lite"),
            doc: "How much an update writes.",
            more: "",
            example: "heavy",
            shown: Shown::Commented,
            get: |plan| Some(plan.workload.redo.name().into()),
        },
        Key {
            path: "workload.drive",
            kind: Kind::Word(&[
                Word {
                    word: "client",
                    means: "each operation crosses the wire: true response times, true commits",
                    set: |plan| plan.workload.drive = Drive::Client,
                },
                Word {
                    word: "server",
                    means: "the loop runs inside the database: least client cost, the most logical reads",
                    set: |plan| plan.workload.drive = Drive::Server,
                },
            ]),
            unit: "",
            default: Fallback::Value("client"),
            doc: "Where the loop runs.",
            more: "",
            example: "server",
            shown: Shown::Commented,
            get: |plan| Some(plan.workload.drive.name().into()),
        },
        Key {
            path: "workload.rate",
            kind: Kind::Rate {
                range: (Rate(0.001), Rate(100_000_000.0)),
                set: |plan, rate| plan.workload.rate = rate,
            },
            unit: "",
            default: Fallback::Value("off"),
            doc: "Open loop at this many operations per second over all sessions; off is closed loop.",
            more: "In a closed loop a session issues its next operation when the last has ended. In an open loop operations are due \
                   on a schedule, and response time counts from the due moment, so a stall is seen by every operation it \
                   delays.",
            example: "5000/s",
            shown: Shown::Commented,
            get: |plan| Some(plan.workload.rate.map_or_else(|| "off".into(), |rate| rate.to_string())),
        },
        Key {
            path: "workload.arrivals",
            kind: Kind::Word(&[
                Word {
                    word: "poisson",
                    means: "independent arrivals, as from many users",
                    set: |plan| plan.workload.arrivals = Arrivals::Poisson,
                },
                Word {
                    word: "constant",
                    means: "evenly spaced",
                    set: |plan| plan.workload.arrivals = Arrivals::Constant,
                },
            ]),
            unit: "",
            default: Fallback::Value("poisson"),
            doc: "How the operations of an open loop are spaced.",
            more: "",
            example: "constant",
            shown: Shown::Commented,
            get: |plan| Some(plan.workload.arrivals.name().into()),
        },
        Key {
            path: "workload.seed",
            kind: Kind::Number { range: (0, u64::MAX), set: |plan, value| plan.workload.seed = value },
            unit: "",
            default: Fallback::Value("1"),
            doc: "Seed of the operations' random draws: the same seed draws the same operations.",
            more: "",
            example: "2",
            shown: Shown::Commented,
            get: |plan| Some(plan.workload.seed.to_string()),
        },
    ],
};
