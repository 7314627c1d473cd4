//! Keys of `[observe]`.

use super::kind::{millis, seconds};
use super::{Fallback, Key, Kind, Section, Shown, Word};
use crate::plan::Awr;
use crate::units::Rate;

pub(super) const SECTION: Section = Section {
    name: "observe",
    title: "what is watched",
    doc: "What is read from the database and the host while the sessions work.",
    keys: &[
        Key {
            path: "observe.interval",
            kind: Kind::Span {
                range: (millis(100), seconds(3_600)),
                set: |plan, span| plan.observe.interval = span,
            },
            unit: "",
            default: Fallback::Value("1s"),
            doc: "Spacing of the series of operations, latencies and counters.",
            more: "Not longer than `run.time`, which has at most 2,592,000 intervals, the seconds of 30 days.",
            example: "100ms",
            shown: Shown::Commented,
            get: |plan| Some(plan.observe.interval.to_string()),
        },
        Key {
            path: "observe.waits",
            kind: Kind::Rate {
                range: (Rate(0.1), Rate(1_000.0)),
                set: |plan, rate| plan.observe.waits = rate,
            },
            unit: "",
            default: Fallback::Value("10/s"),
            doc: "Samples of wait events per second, on a connection of its own; or off.",
            more: "",
            example: "off",
            shown: Shown::CommentedForServers,
            get: |plan| Some(plan.observe.waits.map_or_else(|| "off".into(), |rate| rate.to_string())),
        },
        Key {
            path: "observe.awr",
            kind: Kind::Word(&[
                Word {
                    word: "off",
                    means: "none, and nothing of the Diagnostics Pack is touched",
                    set: |plan| plan.observe.awr = Awr::Off,
                },
                Word {
                    word: "statspack",
                    means: "snapshots of STATSPACK around the run, never of AWR; a run without them is refused",
                    set: |plan| plan.observe.awr = Awr::Statspack,
                },
                Word {
                    word: "awr",
                    means: "snapshots and the report of AWR: whoever writes this says that the Diagnostics Pack is licensed; a run \
                            without them is refused",
                    set: |plan| plan.observe.awr = Awr::Awr,
                },
            ]),
            unit: "",
            default: Fallback::Value("off"),
            doc: "Which of Oracle's own reports is made around a run.",
            more: "Dyno's own counters are read in any case. Other engines have no such reports.",
            example: "statspack",
            shown: Shown::CommentedForServers,
            get: |plan| Some(plan.observe.awr.name().into()),
        },
    ],
};
