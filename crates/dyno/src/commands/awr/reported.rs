//! Converts the start of a report for a record: load profile and top timed events.

use dyno_awr::{AwrReport, AwrWaitEvent, SectionFigure, section_figures};
use dyno_record::{Reported, ReportedEvent, ReportedLoad, ReportedSection};

/// Figures of the load profile in report order, with their display names.
const LOAD: [(&str, &str); 27] = [
    ("db_time_s", "DB time (s)"),
    ("db_cpu_s", "DB CPU (s)"),
    ("background_cpu_s", "background CPU (s)"),
    ("redo_size", "redo size (bytes)"),
    ("logical_reads", "logical reads (blocks)"),
    ("block_changes", "block changes"),
    ("physical_reads", "physical reads (blocks)"),
    ("physical_writes", "physical writes (blocks)"),
    ("read_io_requests", "read IO requests"),
    ("write_io_requests", "write IO requests"),
    ("read_io_mb", "read IO (MiB)"),
    ("write_io_mb", "write IO (MiB)"),
    ("im_scan_rows", "IM scan rows"),
    ("session_logical_read_im", "session logical reads IM"),
    ("gc_blocks_received", "global cache blocks received"),
    ("gc_blocks_served", "global cache blocks served"),
    ("user_calls", "user calls"),
    ("parses", "parses"),
    ("hard_parses", "hard parses"),
    ("sorts", "sorts"),
    ("work_area_mb", "SQL work area (MiB)"),
    ("logons", "logons"),
    ("user_logons", "user logons"),
    ("executes", "executes"),
    ("rollbacks", "rollbacks"),
    ("transactions", "transactions"),
    ("redo_writes", "redo writes"),
];

/// Oracle's wait classes by full name; text reports truncate them.
const CLASSES: [&str; 12] = [
    "Administrative",
    "Application",
    "Cluster",
    "Commit",
    "Concurrency",
    "Configuration",
    "Network",
    "Other",
    "Queueing",
    "Scheduler",
    "System I/O",
    "User I/O",
];

/// Minimum letters that identify a truncated class; two classes share the first three.
const CLASS_LETTERS: usize = 4;

/// The part of a report's start that its record stores.
pub(super) fn of(report: &AwrReport) -> Reported {
    let reading = |name: String| report.figures.get(&name).map(|figure| figure.reading);
    let load = LOAD.iter().filter_map(|(name, label)| {
        let per_s = reading(format!("load_profile_per_s.{name}"))?;
        let per_txn = reading(format!("load_profile_per_txn.{name}"));
        Some(ReportedLoad {
            name: (*label).to_owned(),
            per_s: per_s.value,
            per_s_step: Some(per_s.step),
            per_txn: per_txn.map(|reading| reading.value),
            per_txn_step: per_txn.map(|reading| reading.step),
        })
    });
    let db_time =
        report.value("time_model_s.DB time").or_else(|| report.value("db_time_min").map(|min| min * 60.0));
    Reported {
        db_time_s: db_time,
        load_profile: load.collect(),
        top_events: report.top_events.iter().map(reported_event).collect(),
        sections: section_figures(report).iter().map(section).collect(),
    }
}

fn section(row: &SectionFigure<'_>) -> ReportedSection {
    ReportedSection {
        section: row.section.to_owned(),
        row: row.row.to_owned(),
        figure: row.figure.to_owned(),
        value: row.reading.value,
        step: row.reading.step,
        per_s: row.per_s,
    }
}

fn reported_event(source_event: &AwrWaitEvent) -> ReportedEvent {
    let mean = source_event.mean_s();
    ReportedEvent {
        event: source_event.name.clone(),
        class: class(source_event.class.as_deref().unwrap_or("")).to_owned(),
        waits: source_event.waits.map(|waits| waits.value),
        time_s: source_event.time_s.map(|time| time.value),
        time_step_s: source_event.time_s.map(|time| time.step),
        mean_us: mean.map(|mean| mean.value * 1e6),
        mean_step_us: mean.map(|mean| mean.step * 1e6),
        share_pct: source_event.share_pct.map(|share| share.value),
    }
}

/// The full name of a class that a narrow column may have truncated.
fn class(printed: &str) -> &str {
    let whole = CLASSES.iter().find(|name| printed.len() >= CLASS_LETTERS && name.starts_with(printed));
    whole.copied().unwrap_or(printed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncated_wait_class_names_are_restored() {
        for (printed, name) in [
            ("Concurrenc", "Concurrency"),
            ("Conf", "Configuration"),
            ("System I", "System I/O"),
            ("User I/O", "User I/O"),
            ("Con", "Con"),
            ("", ""),
        ] {
            assert_eq!(class(printed), name);
        }
    }
}
