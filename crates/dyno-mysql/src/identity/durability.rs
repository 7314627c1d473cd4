//! Preflight checks of the settings that determine the cost of a commit.

use dyno_plan::{Length, Plan};
use dyno_record::Advice;

use super::facts::MySqlPreflightFacts;
use super::settings::{ServerSettings, set_global};
use dyno_engine::WorkloadNeeds;
use dyno_engine::advice::{note, ok, warn};

/// Settings under which commits or data do not survive a crash.
pub(super) fn not_durable(settings: &ServerSettings) -> Vec<String> {
    let mut all = Vec::new();
    let mut put = |name: &str, value: &str, means: &str| all.push(format!("{name} = {value}: {means}"));
    let value = |name: &str| settings.value(name);
    if let Some(flush) = value("innodb_flush_log_at_trx_commit").filter(|flush| !matches!(*flush, "1" | "3"))
    {
        let means = "commits do not wait for storage, and a crash loses those of the last second";
        put("innodb_flush_log_at_trx_commit", flush, means);
    }
    if settings.is_on("log_bin")
        && let Some(sync) = value("sync_binlog").filter(|sync| *sync != "1")
    {
        put("sync_binlog", sync, "commits do not wait for the binlog, and a crash loses what replicas need");
    }
    if let Some(double) = value("innodb_doublewrite").filter(|double| !matches!(*double, "ON" | "1" | "fast"))
    {
        put("innodb_doublewrite", double, "a crash of the machine can leave torn pages");
    }
    if let Some(method @ ("nosync" | "O_DIRECT_NO_FSYNC")) = value("innodb_flush_method") {
        put(
            "innodb_flush_method",
            method,
            "writes are not always synced, and a crash of the machine can lose them",
        );
    }
    all
}

/// Whether a commit waits for the redo log.
pub(super) fn flush_at_commit(facts: &MySqlPreflightFacts) -> Advice {
    let name = "innodb_flush_log_at_trx_commit";
    match facts.settings.value(name) {
        Some("1" | "3") => ok(name, format!("{name} is 1: each commit waits until its redo is on storage")),
        value => warn(
            name,
            format!(
                "{name} is {}: commits do not wait for storage, and a crash can lose the commits of the \
                last second",
                value.unwrap_or("unknown")
            ),
            set_global(name, "1"),
        ),
    }
}

/// Whether a commit waits for the binlog, if there is one.
pub(super) fn sync_binlog(facts: &MySqlPreflightFacts) -> Advice {
    if !facts.settings.is_on("log_bin") {
        return ok("sync_binlog", "the binlog is off: a commit writes InnoDB's redo only");
    }
    match facts.settings.number("sync_binlog") {
        Some(1) => ok(
            "sync_binlog",
            "the binlog is on, and each commit waits until its binlog entries are on \
                storage",
        ),
        value => warn(
            "sync_binlog",
            format!(
                "sync_binlog is {}: commits do not wait for the binlog, and a crash can lose what replicas \
                need",
                value.map_or("unknown".to_owned(), |value| value.to_string())
            ),
            set_global("sync_binlog", "1"),
        ),
    }
}

/// Whether the doublewrite buffer is on. Without it, the server writes less than one that survives torn
/// pages.
pub(super) fn doublewrite(facts: &MySqlPreflightFacts) -> Advice {
    let name = "innodb_doublewrite";
    match facts.settings.value(name) {
        Some("ON" | "1" | "fast") => ok(name, "innodb_doublewrite is on"),
        value => warn(
            name,
            format!(
                "{name} is {}: pages are written once, and a page torn by a crash cannot be repaired",
                value.unwrap_or("unknown")
            ),
            format!(
                "set {name} = ON in the server's option file, unless the storage writes pages atomically"
            ),
        ),
    }
}

/// Whether the window is long enough to include the page writes that redo forces.
pub(super) fn redo_capacity(facts: &MySqlPreflightFacts, plan: &Plan, needs: &WorkloadNeeds) -> Advice {
    let settings = &facts.settings;
    let files = settings.number("innodb_log_files_in_group").unwrap_or(1);
    let capacity = settings
        .number("innodb_redo_log_capacity")
        .or_else(|| settings.number("innodb_log_file_size").map(|size| size * files));
    let words = match capacity {
        Some(bytes) => format!("the redo log holds {} MiB", bytes >> 20),
        None => "the redo log's size is unknown".to_owned(),
    };
    if !needs.writes() {
        return ok(
            "redo_capacity",
            format!("the run only reads, so redo does not force page writes; {words}"),
        );
    }
    match plan.run.length() {
        Length::Time(time) => note(
            "redo_capacity",
            format!(
                "{words}; until updates have filled it once, page writes are delayed and updates appear \
                cheaper"
            ),
            format!(
                "for stable figures, let the warm-up and the window of {time} write several times as much \
                redo"
            ),
        ),
        _ => ok("redo_capacity", words),
    }
}
