//! Keys of `[run]`.

use super::kind::{millis, seconds};
use super::{Fallback, Key, Kind, Section, Shown, Word};
use crate::plan::Placement;

/// An hour and a day, for limits.
const HOUR_S: u64 = 3_600;
const DAY_S: u64 = 24 * HOUR_S;

pub(super) const SECTION: Section = Section {
    name: "run",
    title: "the run",
    doc: "How many sessions, for how long. All sessions connect and prepare, start at one instant, and warm up; then comes the \
          window, and only what happens inside it counts. Sessions keep working until after the window's last snapshot, so it \
          has neither ramp nor idle tail.",
    keys: &[
        Key {
            path: "run.sessions_per_schema",
            kind: Kind::Count {
                range: (1, 100_000),
                set: |plan, value| plan.run.sessions_per_schema = value,
            },
            unit: "",
            default: Fallback::Value("1"),
            doc: "Sessions on each schema; each is one connection doing one operation at a time.",
            more: "At most 100,000 over all schemas.",
            example: "16",
            shown: Shown::Active,
            get: |plan| Some(plan.run.sessions_per_schema.to_string()),
        },
        Key {
            path: "run.threads",
            kind: Kind::Count { range: (1, 1_024), set: |plan, value| plan.run.threads = Some(value) },
            unit: "",
            default: Fallback::None("none: one per processor"),
            doc: "Threads of Dyno that lead the sessions.",
            more: "For client drive on an engine that is reached by a socket; elsewhere each session has a thread of its own. Never more \
                   than sessions.",
            example: "4",
            shown: Shown::Commented,
            get: |plan| plan.run.threads.map(|threads| threads.to_string()),
        },
        Key {
            path: "run.placement",
            kind: Kind::Word(&[
                Word {
                    word: "auto",
                    means: "each thread stays on a processor of its own and leads the sessions for which the server works there",
                    set: |plan| plan.run.placement = Placement::Auto,
                },
                Word {
                    word: "none",
                    means: "the operating system alone places threads and processes, as it does with most programs",
                    set: |plan| plan.run.placement = Placement::None,
                },
            ]),
            unit: "",
            default: Fallback::Value("auto"),
            doc: "How threads and sessions are placed where the server runs on this machine.",
            more: "It changes the platform: compare runs of one placement only. For client drive on PostgreSQL, MySQL and MariaDB, \
                   which tell the process or thread that works for a session; elsewhere nothing is placed. The result says what was \
                   done.",
            example: "none",
            shown: Shown::CommentedForServers,
            get: |plan| Some(plan.run.placement.name().to_owned()),
        },
        Key {
            path: "run.warmup",
            kind: Kind::Span {
                range: (seconds(0), seconds(DAY_S)),
                set: |plan, span| plan.run.warmup = span,
            },
            unit: "",
            default: Fallback::Value("5s"),
            doc: "Load before the window that is not counted.",
            more: "",
            example: "5m",
            shown: Shown::Active,
            get: |plan| Some(plan.run.warmup.to_string()),
        },
        Key {
            path: "run.time",
            kind: Kind::Span {
                range: (seconds(1), seconds(30 * DAY_S)),
                set: |plan, span| plan.run.time = Some(span),
            },
            unit: "",
            default: Fallback::Value("60s"),
            doc: "Length of the window.",
            more: "Not together with `ops_per_session`.",
            example: "10m",
            shown: Shown::Active,
            get: |plan| plan.run.time.map(|span| span.to_string()),
        },
        Key {
            path: "run.ops_per_session",
            kind: Kind::Number {
                range: (1, 1_000_000_000_000),
                set: |plan, value| plan.run.ops_per_session = Some(value),
            },
            unit: "",
            default: Fallback::None("none: `time` counts"),
            doc: "Instead of a time: the window ends when every session has done this many operations.",
            more: "Not together with `time`.",
            example: "100000",
            shown: Shown::Commented,
            get: |plan| plan.run.ops_per_session.map(|ops| ops.to_string()),
        },
        Key {
            path: "run.drain",
            kind: Kind::Span {
                range: (millis(100), seconds(HOUR_S)),
                set: |plan, span| plan.run.drain = span,
            },
            unit: "",
            default: Fallback::Value("10s"),
            doc: "The longest wait for operations still under way after the window.",
            more: "",
            example: "1m",
            shown: Shown::Commented,
            get: |plan| Some(plan.run.drain.to_string()),
        },
    ],
};
