//! Keys of `[hooks]`.

use super::kind::seconds;
use super::{PlanKey, PlanKeyKind, PlanSection, at};

pub(super) const SECTION: PlanSection = PlanSection {
    name: "hooks",
    title: "commands around a run",
    doc: "Your own commands around every run, executed with `sh -c` on this host: to drop caches, change a \
          setting, or start a profiler. The environment of a command describes the run: DYNO_TARGET, \
          DYNO_SESSIONS and every key of the plan as DYNO_SECTION_KEY (DYNO_WORKLOAD_UPDATE_PCT); in a sweep \
          also DYNO_SWEEP, DYNO_POINT and DYNO_REPEAT; after a run DYNO_RUN and DYNO_STATUS. If a command \
          fails, the point fails with the command's output as the error. Every record stores the commands, \
          so they must not contain a password.",
    keys: &[
        PlanKey::new("hooks.before_run", PlanKeyKind::Command(at!(hooks.before_run)))
            .without("none")
            .doc("Executed before the sessions of a run connect.")
            .example("sync"),
        PlanKey::new("hooks.pre", PlanKeyKind::Command(at!(hooks.pre)))
            .without("none")
            .doc(
                "Executed when all sessions of a run are connected and prepared, before they start together.",
            )
            .more("DYNO_RUN is set, too.")
            .example("sync"),
        PlanKey::new("hooks.post", PlanKeyKind::Command(at!(hooks.post)))
            .without("none")
            .doc("Executed directly after the window and its drain.")
            .more("DYNO_RUN is set, too.")
            .example("date"),
        PlanKey::new("hooks.after_run", PlanKeyKind::Command(at!(hooks.after_run)))
            .without("none")
            .doc("Executed after the record of a run is stored.")
            .example("date"),
        PlanKey::new("hooks.end", PlanKeyKind::Command(at!(hooks.end)))
            .without("none")
            .doc("Executed once, after all runs of a Dyno command, whatever their status.")
            .more(
                "The environment has the keys of the plan, DYNO_RUNS (number of runs that ended) and \
                 DYNO_STATUS (status of the last one).",
            )
            .example("date"),
        PlanKey::new("hooks.timeout", PlanKeyKind::Span(seconds(1), seconds(24 * 3_600), at!(hooks.timeout)))
            .default("5m")
            .doc("Time limit of one command; a command that exceeds it is killed and counts as failed.")
            .example("30s"),
    ],
};
