//! Converts AWR and STATSPACK reports to what a record stores: metrics under Dyno's own names, load profile, top
//! timed events.

use std::collections::BTreeMap;

use dyno_awr::{AwrReport, AwrWaitEvent, SectionFigure, section_figures};
use dyno_engine::OwnReport;
use dyno_record::{DatabaseReport, Metric, Reported, ReportedEvent, ReportedLoad, ReportedSection, Unit};

use crate::campaign_context::CampaignContext;
use crate::event::{CampaignEvent, Warning};

/// Bytes in a megabyte of reports and records.
const MIB: f64 = 1_048_576.0;
const MB: f64 = 1_000_000.0;

/// Metrics from a report: name, unit, figure of the report, and factor.
const METRICS: [(&str, Unit, &str, f64); 25] = [
    ("logical_reads_per_s", Unit::BlocksPerSecond, "derived.logical_reads_per_s", 1.0),
    ("physical_reads_per_s", Unit::BlocksPerSecond, "load_profile_per_s.physical_reads", 1.0),
    ("physical_writes_per_s", Unit::BlocksPerSecond, "load_profile_per_s.physical_writes", 1.0),
    ("physical_read_requests_per_s", Unit::PerSecond, "derived.read_iops", 1.0),
    ("physical_write_requests_per_s", Unit::PerSecond, "derived.write_iops", 1.0),
    ("physical_read_mb_per_s", Unit::MegabytesPerSecond, "derived.read_mib_per_s", MIB / MB),
    ("physical_write_mb_per_s", Unit::MegabytesPerSecond, "derived.write_mib_per_s", MIB / MB),
    ("redo_writes_per_s", Unit::PerSecond, "derived.redo_iops", 1.0),
    ("redo_written_mb_per_s", Unit::MegabytesPerSecond, "derived.redo_mib_per_s", MIB / MB),
    ("redo_bytes_per_s", Unit::BytesPerSecond, "derived.redo_generated_bytes_per_s", 1.0),
    ("redo_mb_per_s", Unit::MegabytesPerSecond, "derived.redo_generated_bytes_per_s", 1.0 / MB),
    ("commits_per_s", Unit::PerSecond, "instance_activity_per_s.user commits", 1.0),
    ("rollbacks_per_s", Unit::PerSecond, "instance_activity_per_s.user rollbacks", 1.0),
    ("executions_per_s", Unit::PerSecond, "load_profile_per_s.executes", 1.0),
    ("transactions_per_s", Unit::PerSecond, "load_profile_per_s.transactions", 1.0),
    ("user_calls_per_s", Unit::PerSecond, "load_profile_per_s.user_calls", 1.0),
    ("hard_parses_per_s", Unit::PerSecond, "load_profile_per_s.hard_parses", 1.0),
    ("database_active_sessions", Unit::Sessions, "derived.avg_active_sessions", 1.0),
    ("database_sessions", Unit::Sessions, "end_sessions", 1.0),
    ("cpu_busy_pct", Unit::Percent, "derived.cpu_busy_pct", 1.0),
    ("buffer_hit_pct", Unit::Percent, "efficiency_pct.buffer_hit", 1.0),
    // Latency for the chart over IOPS: single-block reads, which are one request each.
    ("physical_read_latency_us", Unit::Microseconds, "derived.single_block_read_ms", 1e3),
    ("single_block_read_us", Unit::Microseconds, "derived.single_block_read_ms", 1e3),
    ("log_file_sync_us", Unit::Microseconds, "derived.log_file_sync_ms", 1e3),
    ("log_file_parallel_write_us", Unit::Microseconds, "derived.log_file_parallel_write_ms", 1e3),
];

/// What a report that the database wrote about a window says; absent where it has no text of its own, and with
/// a warning where it cannot be read.
pub(crate) fn read(report: &OwnReport, ctx: &CampaignContext<'_>) -> Option<DatabaseReport> {
    if !report.file_ending.ends_with(".html") {
        return None;
    }
    match dyno_awr::read_report(&report.text, &report.name, 1) {
        Ok(parsed) => Some(DatabaseReport {
            name: report.name.clone(),
            seconds: parsed.value("elapsed_min").map(|minutes| minutes * 60.0),
            metrics: metrics(&parsed),
            reported: reported(&parsed),
        }),
        Err(error) => {
            let why = format!("{} cannot be read: {error}", report.name);
            ctx.emit(CampaignEvent::Warning(Warning::NoOwnReport(why)));
            None
        }
    }
}

/// The metrics that a report has; those that it lacks are absent with the reason.
pub fn metrics(report: &AwrReport) -> BTreeMap<String, Metric> {
    let metric = |&(name, unit, figure, factor): &(&str, Unit, &str, f64)| {
        let metric = match report.value(figure) {
            Some(value) => Metric::Value { value: value * factor, unit },
            None => Metric::Absent { absent: "the report does not have it".into() },
        };
        (name.to_owned(), metric)
    };
    METRICS.iter().map(metric).collect()
}

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

/// Load profile, top timed events and other sections that a record stores.
pub fn reported(report: &AwrReport) -> Reported {
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
