//! Keys of `[hooks]`.

use super::kind::seconds;
use super::{PlanKey, PlanKeyKind, PlanSection, at};

pub(super) const SECTION: PlanSection = PlanSection {
    name: "hooks",
    title: "commands around a run",
    doc: "Commands of your own around every run, run through `sh -c` on this host: to drop caches, change a setting, start a \
          profiler. A command sees the run in its environment: DYNO_TARGET, DYNO_SESSIONS and every key of the plan as \
          DYNO_SECTION_KEY (DYNO_WORKLOAD_UPDATE_PCT), in a sweep also DYNO_SWEEP, DYNO_POINT and DYNO_REPEAT, after a run \
          DYNO_RUN and DYNO_STATUS. One that fails ends the point with its output as the error. The commands stand in every \
          record, so they hold no password.",
    keys: &[
        PlanKey::new("hooks.before_run", PlanKeyKind::Command(at!(hooks.before_run)))
            .without("none")
            .doc("Run before the sessions of a run connect.")
            .example("sync"),
        PlanKey::new("hooks.pre", PlanKeyKind::Command(at!(hooks.pre)))
            .without("none")
            .doc("Run when all sessions of a run are connected and prepared, before they start together.")
            .more("It sees DYNO_RUN too.")
            .example("sync"),
        PlanKey::new("hooks.post", PlanKeyKind::Command(at!(hooks.post)))
            .without("none")
            .doc("Run directly after the end of the window and of what was still under way then.")
            .more("It sees DYNO_RUN too.")
            .example("date"),
        PlanKey::new("hooks.after_run", PlanKeyKind::Command(at!(hooks.after_run)))
            .without("none")
            .doc("Run after the record of a run is stored.")
            .example("date"),
        PlanKey::new("hooks.end", PlanKeyKind::Command(at!(hooks.end)))
            .without("none")
            .doc("Run once, after all runs of a command, however they ended.")
            .more("It sees the plan's own keys, DYNO_RUNS (how many runs ended) and DYNO_STATUS (the last one's).")
            .example("date"),
        PlanKey::new("hooks.timeout", PlanKeyKind::Span(seconds(1), seconds(24 * 3_600), at!(hooks.timeout)))
            .default("5m")
            .doc("The longest that a command may take; then it is killed, and has failed.")
            .example("30s"),
    ],
};
