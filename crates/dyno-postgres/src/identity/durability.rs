//! Preflight checks of the settings that determine the cost of a commit, and of background work in the
//! server.

use dyno_plan::{Length, Plan};
use dyno_record::Advice;

use super::facts::PostgresPreflightFacts;
use super::settings::{ServerSettings, alter, seconds};
use dyno_engine::WorkloadNeeds;
use dyno_engine::advice::{note, ok, warn};

/// Settings under which commits or data do not survive a crash.
pub(super) fn not_durable(settings: &ServerSettings) -> Vec<String> {
    let off = [
        ("fsync", "a crash of the machine can destroy the data"),
        ("full_page_writes", "a crash of the machine can leave torn pages"),
        ("synchronous_commit", "commits do not wait for the log, and a crash loses the last ones"),
    ];
    let is_off = |name: &str| settings.value(name) == Some("off");
    off.iter()
        .filter(|(name, _)| is_off(name))
        .map(|(name, means)| format!("{name} = off: {means}"))
        .collect()
}

/// Whether `fsync` is on. Without it nothing is durable and every commit is too cheap.
pub(super) fn fsync(facts: &PostgresPreflightFacts) -> Advice {
    if facts.settings.is_on("fsync") {
        return ok("fsync", "fsync is on");
    }
    warn(
        "fsync",
        "fsync is off: commits are not durable, and cost less than on a real platform",
        alter("fsync", "on"),
    )
}

/// Whether `full_page_writes` is on. Without it the server writes less WAL than a safe platform.
pub(super) fn full_page_writes(facts: &PostgresPreflightFacts) -> Advice {
    if facts.settings.is_on("full_page_writes") {
        return ok("full_page_writes", "full_page_writes is on");
    }
    warn(
        "full_page_writes",
        "full_page_writes is off: less WAL is written than by a server that survives torn pages",
        format!("{} unless the storage writes blocks atomically", alter("full_page_writes", "on")),
    )
}

/// Whether a commit waits for the WAL.
pub(super) fn synchronous_commit(facts: &PostgresPreflightFacts) -> Advice {
    let value = facts.settings.value("synchronous_commit").unwrap_or("unknown");
    match value {
        "off" => warn(
            "synchronous_commit",
            "synchronous_commit is off: commits do not wait for the log, and a crash can lose the last \
            commits",
            alter("synchronous_commit", "on"),
        ),
        "local" => note(
            "synchronous_commit",
            "synchronous_commit is local: commits wait for this server's log, but not for a standby",
            alter("synchronous_commit", "on"),
        ),
        _ => {
            let standbys = facts.settings.value("synchronous_standby_names").unwrap_or("none");
            ok(
                "synchronous_commit",
                format!("synchronous_commit is {value}, synchronous standbys: {standbys}"),
            )
        }
    }
}

/// Autovacuum stays on, because the platform is measured as it is used; its work is counted and shown.
pub(super) fn autovacuum(facts: &PostgresPreflightFacts) -> Advice {
    if !facts.settings.is_on("autovacuum") {
        return note(
            "autovacuum",
            "autovacuum is off: tables bloat in long update runs, unlike on a production platform",
            alter("autovacuum", "on"),
        );
    }
    if facts.vacuuming > 0 {
        return warn(
            "autovacuum",
            format!(
                "{} autovacuum workers are active now and would share the disks with the run",
                facts.vacuuming
            ),
            "wait until they finish: SELECT pid, query FROM pg_stat_activity WHERE backend_type = \
            'autovacuum worker';",
        );
    }
    let naptime = facts.settings.value("autovacuum_naptime").unwrap_or("1min");
    ok(
        "autovacuum",
        format!(
            "autovacuum is on and idle; it checks the database every {naptime}, which adds a few commits \
            to the counters"
        ),
    )
}

/// Whether the window is long enough to include a representative share of checkpoints.
pub(super) fn checkpoints(facts: &PostgresPreflightFacts, plan: &Plan, needs: &WorkloadNeeds) -> Advice {
    let settings = &facts.settings;
    let timeout_s = seconds(settings, "checkpoint_timeout").unwrap_or(300.0);
    let spacing = format!(
        "checkpoint_timeout = {}, max_wal_size = {}",
        settings.value("checkpoint_timeout").unwrap_or("unknown"),
        settings.value("max_wal_size").unwrap_or("unknown")
    );
    if !needs.writes() {
        return ok("checkpoints", format!("the run only reads, so checkpoints write nothing; {spacing}"));
    }
    match plan.run.length() {
        Length::Time(time) if time.0.as_secs_f64() < timeout_s => note(
            "checkpoints",
            format!("a window of {time} may contain no checkpoint, or one at an arbitrary time; {spacing}"),
            format!(
                "for stable figures, use run.time = \"{}s\" or more, a multiple of checkpoint_timeout",
                timeout_s.ceil()
            ),
        ),
        _ => ok("checkpoints", format!("the window is long enough to include checkpoints; {spacing}")),
    }
}
