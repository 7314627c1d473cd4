//! Converts a report, or one instance of a cluster's report, to one line of columns.

use crate::number::PrintedNumber;
use crate::read::detail_lists;
use crate::report::{AwrInstance, AwrReport, AwrReportKind};

/// One line: a report, or an instance in the report of a cluster.
#[derive(Debug, Clone, Copy)]
pub struct AwrOutputRow<'r> {
    pub report: &'r AwrReport,
    /// The instance, where the line does not describe the whole report.
    pub instance: Option<&'r AwrInstance>,
}

/// The value of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum AwrValue {
    Text(String),
    /// A number with its precision.
    Number(PrintedNumber),
    /// The report lacks the value.
    Absent,
}

impl From<Option<&str>> for AwrValue {
    fn from(text: Option<&str>) -> Self {
        text.map_or(Self::Absent, |text| Self::Text(text.to_owned()))
    }
}

impl From<Option<PrintedNumber>> for AwrValue {
    fn from(reading: Option<PrintedNumber>) -> Self {
        reading.map_or(Self::Absent, Self::Number)
    }
}

/// The lines of a report: the report itself, and each of its instances if it is a cluster's.
pub fn lines(report: &AwrReport) -> impl Iterator<Item = AwrOutputRow<'_>> {
    let whole = std::iter::once(AwrOutputRow { report, instance: None });
    whole
        .chain(report.instances.iter().map(move |instance| AwrOutputRow { report, instance: Some(instance) }))
}

/// Short names of the default columns, and the corresponding figures or words.
const SHORT: [(&str, &str); 16] = [
    ("sessions", "end_sessions"),
    ("db_time_per_s", "load_profile_per_s.db_time_s"),
    ("aas", "derived.avg_active_sessions"),
    ("cpu_busy_pct", "derived.cpu_busy_pct"),
    ("unaccounted_pct", "derived.db_time_unaccounted_pct"),
    ("lio_per_s", "derived.logical_reads_per_s"),
    ("read_iops", "derived.read_iops"),
    ("write_iops", "derived.write_iops"),
    ("redo_iops", "derived.redo_iops"),
    ("read_mib_per_s", "derived.read_mib_per_s"),
    ("write_mib_per_s", "derived.write_mib_per_s"),
    ("redo_mib_per_s", "derived.redo_mib_per_s"),
    ("read_ms", "derived.single_block_read_ms"),
    ("log_file_sync_ms", "derived.log_file_sync_ms"),
    ("txn_per_s", "load_profile_per_s.transactions"),
    ("executes_per_s", "load_profile_per_s.executes"),
];

/// Columns whose values are words, or are composed.
const WORDS: [&str; 19] = [
    "file",
    "part",
    "form",
    "report_type",
    "db_name",
    "unique_name",
    "role",
    "edition",
    "instance",
    "version",
    "rac",
    "cdb",
    "host",
    "platform",
    "startup_time",
    "begin_time",
    "end_time",
    "top_event",
    "top_event_pct",
];

/// The columns that are shown by default.
pub const COLUMNS: [&str; 17] = [
    "file",
    "db_name",
    "instance",
    "begin_time",
    "sessions",
    "db_time_per_s",
    "aas",
    "cpu_busy_pct",
    "lio_per_s",
    "read_iops",
    "write_iops",
    "read_mib_per_s",
    "write_mib_per_s",
    "redo_mib_per_s",
    "read_ms",
    "log_file_sync_ms",
    "top_event",
];

/// The columns of the option `--wide`.
pub const WIDE: [&str; 46] = [
    "file",
    "part",
    "report_type",
    "db_name",
    "dbid",
    "instance",
    "inst_num",
    "version",
    "rac",
    "cdb",
    "host",
    "cpus",
    "begin_snap",
    "end_snap",
    "begin_time",
    "end_time",
    "elapsed_min",
    "db_time_min",
    "sessions",
    "db_time_per_s",
    "aas",
    "cpu_busy_pct",
    "host_cpu.user_pct",
    "host_cpu.system_pct",
    "host_cpu.io_wait_pct",
    "lio_per_s",
    "load_profile_per_s.block_changes",
    "load_profile_per_s.user_calls",
    "load_profile_per_s.parses",
    "load_profile_per_s.hard_parses",
    "executes_per_s",
    "txn_per_s",
    "read_iops",
    "write_iops",
    "redo_iops",
    "read_mib_per_s",
    "write_mib_per_s",
    "redo_mib_per_s",
    "derived.redo_generated_bytes_per_s",
    "read_ms",
    "log_file_sync_ms",
    "derived.log_file_parallel_write_ms",
    "efficiency_pct.buffer_hit",
    "efficiency_pct.soft_parse",
    "top_event",
    "top_event_pct",
];

/// Groups of figures; each name in them can be a column: `instance_activity.physical reads`.
pub const GROUPS: [&str; 32] = [
    "cache_bytes_begin",
    "cache_bytes_end",
    "derived",
    "efficiency_pct",
    "host_cpu",
    "instance_activity",
    "instance_activity_begin",
    "instance_activity_end",
    "instance_activity_per_hour",
    "instance_activity_per_s",
    "instance_cpu",
    "io_profile_per_s",
    "io_profile_read_per_s",
    "io_profile_write_per_s",
    "load_profile_per_s",
    "load_profile_per_txn",
    "memory_begin",
    "memory_end",
    "os_stats",
    "os_stats_end",
    "rac_efficiency_pct",
    "rac_load_per_s",
    "rac_services",
    "shared_pool_pct_begin",
    "shared_pool_pct_end",
    "time_model_pct",
    "time_model_s",
    "event_waits",
    "event_time_s",
    "event_avg_ms",
    "event_pct_db_time",
    "parameter",
];

/// Figures that have no group.
const FIGURES: [&str; 22] = [
    "dbid",
    "inst_num",
    "cpus",
    "cores",
    "sockets",
    "memory_gb",
    "memory_mb",
    "block_size",
    "instance_count",
    "begin_snap",
    "end_snap",
    "begin_sessions",
    "end_sessions",
    "begin_cursors_per_session",
    "end_cursors_per_session",
    "begin_instances",
    "end_instances",
    "elapsed_min",
    "db_time_min",
    "db_cpu_min",
    "redo_size_kb_per_s",
    "avg_active_sessions",
];

/// Whether there is a column of this name.
pub fn is_column(name: &str) -> bool {
    let is_group = |group: &str| GROUPS.contains(&group) || detail_lists().contains(group);
    let grouped = name.split_once('.').is_some_and(|(group, _)| is_group(group));
    grouped
        || WORDS.contains(&name)
        || FIGURES.contains(&name)
        || SHORT.iter().any(|(short, _)| *short == name)
}

/// Names of columns without a group, for listing them.
pub fn column_names() -> impl Iterator<Item = &'static str> {
    WORDS.into_iter().chain(FIGURES).chain(SHORT.into_iter().map(|(short, _)| short))
}

/// Lists of rows with figures; each figure can be a column: `latches.wait_s.cache buffers chains`.
pub fn section_lists() -> impl Iterator<Item = &'static str> {
    detail_lists().iter().copied()
}

impl AwrOutputRow<'_> {
    /// The value of a column.
    pub fn value(&self, column: &str) -> AwrValue {
        let name = SHORT.iter().find(|(short, _)| *short == column).map_or(column, |(_, name)| *name);
        match name {
            "file" => AwrValue::Text(self.report.file.clone()),
            "part" if self.report.part == 0 => AwrValue::Absent,
            "part" => AwrValue::Text(self.report.part.to_string()),
            "form" => AwrValue::Text(self.report.form.name().to_owned()),
            "report_type" => AwrValue::Text(self.report.kind.name().to_owned()),
            "instance" => AwrValue::from(self.instance_name()),
            "inst_num" if self.instance.is_some() => {
                AwrValue::from(self.instance.map(|instance| PrintedNumber::exact(f64::from(instance.number))))
            }
            "top_event" => AwrValue::from(self.top_event().map(|event| event.name.as_str())),
            "top_event_pct" => AwrValue::from(self.top_event().and_then(|event| event.share_pct)),
            _ => self.named(name),
        }
    }

    /// The instance; a star for a cluster as a whole.
    fn instance_name(&self) -> Option<&str> {
        match (self.instance, self.report.kind) {
            (Some(instance), _) => instance.words.get("instance").map(String::as_str),
            (None, AwrReportKind::AwrRacGlobal) => Some("*"),
            (None, _) => self.report.word("instance"),
        }
    }

    /// The event with the longest time. The top events of a cluster's report are the cluster's.
    fn top_event(&self) -> Option<&crate::report::AwrWaitEvent> {
        self.report.top_events.first().filter(|_| self.instance.is_none())
    }

    fn named(&self, name: &str) -> AwrValue {
        if let Some(instance) = self.instance {
            let figure = |name: &str| instance.figures.get(name).map(|figure| figure.reading);
            // Figures that are computed for a report are printed in a cluster's report for its
            // instances.
            let figure = match name {
                "derived.avg_active_sessions" | "load_profile_per_s.db_time_s" => {
                    figure("avg_active_sessions")
                }
                "derived.logical_reads_per_s" => figure("load_profile_per_s.logical_reads"),
                "derived.cpu_busy_pct" => figure("host_cpu.idle_pct")
                    .map(|idle| PrintedNumber { value: 100.0 - idle.value, step: idle.step }),
                name => figure(name),
            };
            if let Some(parameter) = name.strip_prefix("parameter.") {
                return self.parameter_of(instance, parameter);
            }
            let word = instance.words.get(name).map(String::as_str);
            // Values that are the same for all instances.
            let common =
                ["db_name", "dbid", "unique_name", "rac", "cdb", "begin_snap", "end_snap"].contains(&name);
            return match (figure, word) {
                (Some(figure), _) => AwrValue::Number(figure),
                (None, Some(word)) => AwrValue::Text(word.to_owned()),
                (None, None) if common => self.of_report(name),
                (None, None) => AwrValue::Absent,
            };
        }
        self.of_report(name)
    }

    /// An instance's own value of a parameter, else the one that all instances have.
    fn parameter_of(&self, instance: &AwrInstance, name: &str) -> AwrValue {
        let mut named = self.report.parameters.iter().filter(|parameter| parameter.name == name);
        let instance_setting = named.find(|parameter| parameter.instance == Some(instance.number));
        let effective = instance_setting.or_else(|| self.report.parameter(name));
        AwrValue::from(effective.map(|parameter| parameter.value.as_str()))
    }

    fn of_report(&self, name: &str) -> AwrValue {
        if let Some(word) = self.report.word(name) {
            return AwrValue::Text(word.to_owned());
        }
        if let Some(reading) = self.report.reading(name) {
            return AwrValue::Number(reading);
        }
        let Some((group, rest)) = name.split_once('.') else { return AwrValue::Absent };
        let event = || self.report.event(rest);
        match group {
            "event_waits" => AwrValue::from(event().and_then(|event| event.waits)),
            "event_time_s" => AwrValue::from(event().and_then(|event| event.time_s)),
            "event_avg_ms" => AwrValue::from(
                event()
                    .and_then(crate::report::AwrWaitEvent::mean_s)
                    .map(|mean| PrintedNumber { value: mean.value * 1e3, step: mean.step * 1e3 }),
            ),
            "event_pct_db_time" => AwrValue::from(event().and_then(|event| event.share_pct)),
            "parameter" => {
                AwrValue::from(self.report.parameter(rest).map(|parameter| parameter.value.as_str()))
            }
            // `latches.wait_s.cache buffers chains`
            list => AwrValue::from(rest.split_once('.').and_then(|(figure, name)| {
                let row = self.report.details.get(list)?.iter().find(|row| row.name == name)?;
                row.figures.get(figure).copied()
            })),
        }
    }
}
