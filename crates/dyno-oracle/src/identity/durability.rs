//! Preflight checks of the settings that determine the cost of a commit.

use dyno_plan::{Commit, Length, Plan};
use dyno_record::Advice;

use super::facts::OraclePreflightFacts;
use dyno_engine::WorkloadNeeds;
use dyno_engine::advice::{fail, note, ok, warn};

/// Whether commits wait as the plan requires.
pub(super) fn commit(facts: &OraclePreflightFacts, plan: &Plan) -> Advice {
    let wait = facts.settings.value("commit_wait");
    match (plan.workload.commit, wait) {
        (Commit::Nowait, Some("FORCE_WAIT")) => fail(
            "commit",
            "the plan's commits should not wait, but commit_wait of the instance is FORCE_WAIT, so all \
            commits wait",
            "workload.commit = \"wait\", or ALTER SYSTEM RESET commit_wait",
        ),
        (Commit::Plsql, Some(value)) => warn(
            "commit",
            format!("commit_wait of the instance is {value}: PL/SQL commits in that way, and not in its own"),
            "ALTER SYSTEM RESET commit_wait",
        ),
        (Commit::Nowait, _) => note(
            "commit",
            "no commit waits for its redo (workload.commit = \"nowait\"): a crash can lose acknowledged \
            commits",
            "workload.commit = \"wait\" measures durable commits",
        ),
        (Commit::Plsql, None) => note(
            "commit",
            "commits run inside PL/SQL, which waits once at the end of a call (workload.commit = \"plsql\")",
            "with workload.commit = \"wait\" each commit waits",
        ),
        (Commit::Wait, _) => {
            ok("commit", "each commit waits until its redo is on storage, by a setting of Dyno's sessions")
        }
    }
}

/// Whether the window is long enough to include the work that full redo logs cause.
pub(super) fn redo_logs(facts: &OraclePreflightFacts, plan: &Plan, needs: &WorkloadNeeds) -> Advice {
    let Some((groups, bytes)) = facts.redo else {
        return note("redo_logs", "the online redo logs are not visible", "GRANT SELECT ON SYS.V_$LOG");
    };
    let words = format!("{groups} redo logs of {} MiB or more", bytes >> 20);
    if !needs.writes() {
        return ok("redo_logs", format!("the run only reads; there are {words}"));
    }
    match plan.run.length() {
        Length::Time(time) => note(
            "redo_logs",
            format!(
                "there are {words}; until updates have filled all of them once, block writes are delayed \
                and updates appear cheaper"
            ),
            format!("for stable figures, let the warm-up and the window of {time} fill them several times"),
        ),
        Length::Ops(_) => ok("redo_logs", words),
    }
}

/// Modes in which the database writes more or less than a commit needs.
pub(super) fn logging(facts: &OraclePreflightFacts) -> Advice {
    let Some([log_mode, force, .., protection]) = &facts.database else {
        return note(
            "logging",
            "log mode and force logging are not visible",
            "GRANT SELECT ON SYS.V_$DATABASE",
        );
    };
    let standby = if protection == "MAXIMUM PERFORMANCE" {
        String::new()
    } else {
        format!("; commits also wait for a standby ({protection})")
    };
    let nologging = if force == "YES" {
        "; force logging is on, so index builds write redo regardless of ?index-logging"
    } else {
        ""
    };
    ok("logging", format!("the database is in {log_mode} mode{standby}{nologging}"))
}
