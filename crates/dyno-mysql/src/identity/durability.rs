//! Checks of what decides how much a commit costs.

use dyno_plan::{Length, Plan};
use dyno_record::Advice;

use super::facts::Facts;
use super::settings::set_global;
use dyno_engine::advice::{note, ok, warn};

/// Whether a commit waits for the redo log.
pub(super) fn flush_at_commit(facts: &Facts) -> Advice {
    let name = "innodb_flush_log_at_trx_commit";
    match facts.settings.value(name) {
        Some("1" | "3") => ok(name, format!("{name} is 1: each commit waits until its redo is on storage")),
        value => warn(
            name,
            format!(
                "{name} is {}: commits do not wait for storage, and the last second of them can be lost",
                value.unwrap_or("unknown")
            ),
            set_global(name, "1"),
        ),
    }
}

/// Whether a commit waits for the binlog, where there is one.
pub(super) fn sync_binlog(facts: &Facts) -> Advice {
    if !facts.settings.is_on("log_bin") {
        return ok("sync_binlog", "there is no binlog: a commit needs InnoDB's redo only");
    }
    match facts.settings.number("sync_binlog") {
        Some(1) => {
            ok("sync_binlog", "there is a binlog, and each commit waits until its part of it is on storage")
        }
        value => warn(
            "sync_binlog",
            format!(
                "sync_binlog is {}: commits do not wait for the binlog, which can lose what replicas need",
                value.map_or("unknown".to_owned(), |value| value.to_string())
            ),
            set_global("sync_binlog", "1"),
        ),
    }
}

/// Without it less is written than by a server that survives torn pages.
pub(super) fn doublewrite(facts: &Facts) -> Advice {
    let name = "innodb_doublewrite";
    match facts.settings.value(name) {
        Some("ON" | "1" | "fast") => ok(name, "innodb_doublewrite is on"),
        value => warn(
            name,
            format!(
                "{name} is {}: pages are written once, and one that is torn by a crash cannot be mended",
                value.unwrap_or("unknown")
            ),
            format!(
                "set {name} = ON in the server's option file, unless the storage writes pages atomically"
            ),
        ),
    }
}

/// Whether the window is long enough to hold the writing of pages that redo forces.
pub(super) fn redo_capacity(facts: &Facts, plan: &Plan) -> Advice {
    let settings = &facts.settings;
    let files = settings.number("innodb_log_files_in_group").unwrap_or(1);
    let capacity = settings
        .number("innodb_redo_log_capacity")
        .or_else(|| settings.number("innodb_log_file_size").map(|size| size * files));
    let words = match capacity {
        Some(bytes) => format!("the redo log holds {} MiB", bytes >> 20),
        None => "the redo log's size is not known".to_owned(),
    };
    if plan.workload.update_pct == 0 {
        return ok("redo_capacity", format!("the run only reads, so redo forces no page out; {words}"));
    }
    match plan.run.length() {
        Length::Time(time) => note(
            "redo_capacity",
            format!(
                "{words}; until updates have filled it once, pages are written lazily and updates look cheaper"
            ),
            format!(
                "for figures that last, let the warm-up and the window of {time} make several times as much redo"
            ),
        ),
        _ => ok("redo_capacity", words),
    }
}
