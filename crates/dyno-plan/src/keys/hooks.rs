//! Keys of `[hooks]`.

use super::kind::seconds;
use super::{Fallback, Key, Kind, Section, Shown};

pub(super) const SECTION: Section = Section {
    name: "hooks",
    title: "commands around a run",
    doc: "Commands of your own around every run, run through `sh -c` on this host: to drop caches, change a setting, start a \
          profiler. A command sees the run in its environment: DYNO_TARGET, DYNO_SESSIONS and every key of the plan as \
          DYNO_SECTION_KEY (DYNO_WORKLOAD_UPDATE_PCT), in a sweep also DYNO_SWEEP, DYNO_POINT and DYNO_REPEAT, after a run \
          DYNO_RUN and DYNO_STATUS. One that fails ends the point with its output as the error. The commands stand in every \
          record, so they hold no password.",
    keys: &[
        Key {
            path: "hooks.before_run",
            kind: Kind::Command { set: |plan, command| plan.hooks.before_run = Some(command) },
            unit: "",
            default: Fallback::None("none"),
            doc: "Run before the sessions of a run connect.",
            more: "",
            example: "sync",
            shown: Shown::Commented,
            get: |plan| plan.hooks.before_run.clone(),
        },
        Key {
            path: "hooks.pre",
            kind: Kind::Command { set: |plan, command| plan.hooks.pre = Some(command) },
            unit: "",
            default: Fallback::None("none"),
            doc: "Run when all sessions of a run are connected and prepared, before they start together.",
            more: "It sees DYNO_RUN too.",
            example: "sync",
            shown: Shown::Commented,
            get: |plan| plan.hooks.pre.clone(),
        },
        Key {
            path: "hooks.post",
            kind: Kind::Command { set: |plan, command| plan.hooks.post = Some(command) },
            unit: "",
            default: Fallback::None("none"),
            doc: "Run directly after the end of the window and of what was still under way then.",
            more: "It sees DYNO_RUN too.",
            example: "date",
            shown: Shown::Commented,
            get: |plan| plan.hooks.post.clone(),
        },
        Key {
            path: "hooks.after_run",
            kind: Kind::Command { set: |plan, command| plan.hooks.after_run = Some(command) },
            unit: "",
            default: Fallback::None("none"),
            doc: "Run after the record of a run is stored.",
            more: "",
            example: "date",
            shown: Shown::Commented,
            get: |plan| plan.hooks.after_run.clone(),
        },
        Key {
            path: "hooks.end",
            kind: Kind::Command { set: |plan, command| plan.hooks.end = Some(command) },
            unit: "",
            default: Fallback::None("none"),
            doc: "Run once, after all runs of a command, however they ended.",
            more: "It sees the plan's own keys, DYNO_RUNS (how many runs ended) and DYNO_STATUS (the last one's).",
            example: "date",
            shown: Shown::Commented,
            get: |plan| plan.hooks.end.clone(),
        },
        Key {
            path: "hooks.timeout",
            kind: Kind::Span {
                range: (seconds(1), seconds(24 * 3_600)),
                set: |plan, span| plan.hooks.timeout = span,
            },
            unit: "",
            default: Fallback::Value("5m"),
            doc: "The longest that a command may take; then it is killed, and has failed.",
            more: "",
            example: "30s",
            shown: Shown::Commented,
            get: |plan| Some(plan.hooks.timeout.to_string()),
        },
    ],
};
