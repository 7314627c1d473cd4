//! The data of a report: figures by name, and lists.
//!
//! A figure's name is its place in the output: `load_profile_per_s.redo_size`. A figure that the
//! report lacks has no entry. A figure that could not be read has none either, but an issue.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;

use crate::issue::Issue;
use crate::number::{PrintedNumber, TimeReading};
use crate::table::AwrFormat;

/// The place of a value in the report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AwrSource {
    /// The title of the section.
    pub section: Arc<str>,
    /// The caption of the column; also the label of the line where the figure's name is not
    /// sufficient.
    pub caption: Arc<str>,
    /// The line of the file, from 1.
    pub line: u32,
}

/// A number, the place value of its last digit, and its source.
#[derive(Debug, Clone, PartialEq)]
pub struct AwrFigure {
    /// The value with its precision.
    pub reading: PrintedNumber,
    /// Its place in the report, or what it was computed from.
    pub source: AwrSource,
}

/// A text and its place in the report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AwrText {
    /// The text as it was printed.
    pub text: String,
    pub source: AwrSource,
}

/// The kind of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AwrReportKind {
    /// AWR report of one instance.
    Awr,
    /// AWR report of one pluggable database.
    AwrPdb,
    /// AWR report of a whole cluster; never mixed with those of its instances.
    AwrRacGlobal,
    /// STATSPACK report of one instance.
    Statspack,
}

impl AwrReportKind {
    /// The word in output: `awr_rac_global`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Awr => "awr",
            Self::AwrPdb => "awr_pdb",
            Self::AwrRacGlobal => "awr_rac_global",
            Self::Statspack => "statspack",
        }
    }
}

/// A pluggable database that was open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Container {
    pub dbid: String,
    pub name: String,
    /// When it was opened, as printed.
    pub opened: String,
}

/// One wait event, or a class of them.
#[derive(Debug, Clone, PartialEq)]
pub struct AwrWaitEvent {
    /// Its name; text reports truncate it.
    pub name: String,
    /// Number of waits; absent where not printed.
    pub waits: Option<PrintedNumber>,
    /// Time waited in total, in seconds.
    pub time_s: Option<PrintedNumber>,
    /// That time as it was printed.
    pub time_raw: String,
    /// Mean time of a wait, as printed.
    pub average: Option<TimeReading>,
    /// That mean as it was printed.
    pub average_raw: String,
    /// Share of DB time (of call time in STATSPACK, of background time for background events), %.
    pub share_pct: Option<PrintedNumber>,
    /// Waits that ended by a timeout, %.
    pub timeouts_pct: Option<PrintedNumber>,
    /// Its wait class as printed; text reports truncate it.
    pub class: Option<String>,
    pub source: AwrSource,
}

impl AwrWaitEvent {
    /// The mean time of a wait in seconds, from the more precise source: the printed mean, or time
    /// divided by waits.
    pub fn mean_s(&self) -> Option<PrintedNumber> {
        let printed = self.average.map(|average| average.seconds());
        let divided = match (self.time_s, self.waits) {
            (Some(time), Some(waits)) if waits.value > 0.0 => {
                Some(PrintedNumber { value: time.value / waits.value, step: time.step / waits.value })
            }
            _ => None,
        };
        match (printed, divided) {
            (Some(printed), Some(divided)) if divided.step < printed.step => Some(divided),
            (printed, divided) => printed.or(divided),
        }
    }
}

/// One band of a distribution of wait times.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AwrHistogramBand {
    /// Shortest wait in the band, µs.
    pub from_us: u64,
    /// The exclusive upper bound, µs; absent in the last band.
    pub below_us: Option<u64>,
    /// Share of all waits, %.
    #[serde(serialize_with = "crate::json::serialize_value")]
    pub share_pct: PrintedNumber,
}

/// The distribution of the wait times of one event.
#[derive(Debug, Clone, PartialEq)]
pub struct EventHistogram {
    /// The event; text reports truncate it.
    pub event: String,
    /// Total waits; absent where the column was too narrow for its suffix.
    pub waits: Option<PrintedNumber>,
    /// Bands without gap or overlap, the finest that the report has.
    pub bands: Vec<AwrHistogramBand>,
    pub source: AwrSource,
}

/// One statement in a list of top statements.
#[derive(Debug, Clone, PartialEq)]
pub struct AwrStatement {
    /// SQL id, or STATSPACK's old hash value.
    pub id: String,
    /// The list's figures by name: `elapsed_s`, `executions`.
    pub figures: BTreeMap<&'static str, PrintedNumber>,
    pub module: Option<String>,
    pub pdb: Option<String>,
    /// The part of the statement that the list shows.
    pub text: Option<String>,
    /// Line of the file, from 1.
    pub line: u32,
}

/// Top statements in one order.
#[derive(Debug, Clone, PartialEq)]
pub struct StatementList {
    /// What they are sorted by: `elapsed`.
    pub order: String,
    pub statements: Vec<AwrStatement>,
    pub source: AwrSource,
}

/// One segment in a list of top segments.
#[derive(Debug, Clone, PartialEq)]
pub struct Segment {
    /// Its pluggable database, where the list names one.
    pub pdb: Option<String>,
    pub owner: String,
    pub tablespace: String,
    pub name: String,
    /// The partition; empty where it has none.
    pub subobject: String,
    /// The object type as printed: `TABLE`, `INDEX`.
    pub kind: String,
    /// The figure by which the list is sorted.
    pub value: Option<PrintedNumber>,
    /// Share of the total of all segments, %.
    pub share_pct: Option<PrintedNumber>,
    /// Line of the file, from 1.
    pub line: u32,
}

/// Top segments in one order.
#[derive(Debug, Clone, PartialEq)]
pub struct SegmentList {
    /// What they are sorted by: `logical_reads`.
    pub order: String,
    pub segments: Vec<Segment>,
    pub source: AwrSource,
}

/// I/O of one tablespace, file, function of the database or file type.
#[derive(Debug, Clone, PartialEq)]
pub struct IoRow {
    /// Tablespace, function or file type; for files, followed by the file's name.
    pub name: String,
    pub file: Option<String>,
    /// Its pluggable database, where the list names one.
    pub pdb: Option<String>,
    /// Figures by name: `reads`, `read_bytes`, `read_ms`.
    pub figures: BTreeMap<&'static str, PrintedNumber>,
    /// Line of the file, from 1.
    pub line: u32,
}

/// One line of a section of rows with figures: a latch, an enqueue, a size of an advisory, a
/// service.
#[derive(Debug, Clone, PartialEq)]
pub struct DetailRow {
    /// What it describes: `cache buffers chains`; for an advisory the size, as printed.
    pub name: String,
    /// The object, user or program, where the section names one.
    pub object: Option<String>,
    /// Figures by name, for example `wait_s`.
    pub figures: BTreeMap<&'static str, PrintedNumber>,
    /// Line of the file, from 1.
    pub line: u32,
}

/// One initialization parameter with its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AwrParameter {
    pub name: String,
    /// Its value at the begin; several are joined by a comma.
    pub value: String,
    /// Its value at the end, where it changed.
    pub end_value: Option<String>,
    /// The container for which it is set, where the report names one: `CDB$ROOT`, or a pluggable
    /// database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pdb: Option<String>,
    /// The instance that has this value, where those of a cluster differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance: Option<u32>,
    /// Its number among the parameters whose names text truncated to this one, from 1; absent where
    /// the name is unique.
    #[serde(skip)]
    pub ordinal: Option<u32>,
}

impl AwrParameter {
    /// Its name, followed by container and instance where it is set for these only:
    /// `sga_target (SALES)`. `_long_name #2` is the second of those whose names were truncated to
    /// this one.
    pub fn full_name(&self) -> String {
        let qualifiers = [
            self.pdb.clone().filter(|_| !self.is_whole()),
            self.instance.map(|number| format!("instance {number}")),
        ];
        let scope_parts: Vec<String> = qualifiers.into_iter().flatten().collect();
        let ordinal = self.ordinal.map_or_else(String::new, |ordinal| format!(" #{ordinal}"));
        let scope =
            if scope_parts.is_empty() { String::new() } else { format!(" ({})", scope_parts.join(", ")) };
        format!("{}{ordinal}{scope}", self.name)
    }

    /// Whether it applies to the whole report rather than to one container or instance.
    pub fn is_whole(&self) -> bool {
        self.instance.is_none() && self.pdb.as_deref().is_none_or(|pdb| pdb == "CDB$ROOT")
    }
}

/// One instance in the report of a cluster.
#[derive(Debug, Clone, PartialEq)]
pub struct AwrInstance {
    pub number: u32,
    /// Names and times, with the same keys as the report's words: `instance`, `host`, `begin_time`.
    pub words: BTreeMap<&'static str, String>,
    /// Its figures, with the same names as the report's: `load_profile_per_s.logical_reads`.
    pub figures: BTreeMap<String, AwrFigure>,
}

/// What was measured: an interval of an instance, independent of the report's form.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Measurement {
    kind: AwrReportKind,
    database: Option<u64>,
    instance: Option<u64>,
    snapshots: (u64, u64),
    /// Distinguishes intervals whose snapshots were renumbered.
    begin: Option<jiff::civil::DateTime>,
    container: Option<String>,
}

/// One report with all its figures and lists.
#[derive(Debug, Clone)]
pub struct AwrReport {
    /// The file's name without its folder.
    pub file: String,
    /// Its number among the reports of its file, from 1; 0 where it is the only one.
    pub part: u32,
    pub form: AwrFormat,
    pub kind: AwrReportKind,
    /// Names and times: `db_name`, `begin_time`.
    pub words: BTreeMap<&'static str, AwrText>,
    pub figures: BTreeMap<String, AwrFigure>,
    pub containers: Vec<Container>,
    /// The title above the top events.
    pub top_events_title: Option<String>,
    /// The events with the longest times.
    pub top_events: Vec<AwrWaitEvent>,
    pub foreground_events: Vec<AwrWaitEvent>,
    pub background_events: Vec<AwrWaitEvent>,
    /// Events of all sessions together, where the report itself adds them up.
    pub all_events: Vec<AwrWaitEvent>,
    /// Wait classes; of all sessions from 11.2.0.4 on.
    pub wait_classes: Vec<AwrWaitEvent>,
    /// Wait classes of foreground sessions only.
    pub foreground_wait_classes: Vec<AwrWaitEvent>,
    pub histograms: Vec<EventHistogram>,
    /// I/O by function of the database.
    pub io_functions: Vec<IoRow>,
    pub io_filetypes: Vec<IoRow>,
    /// I/O by function of the database and file type.
    pub io_function_filetypes: Vec<IoRow>,
    pub tablespaces: Vec<IoRow>,
    pub files: Vec<IoRow>,
    /// Top statements, one list per sort order.
    pub statements: Vec<StatementList>,
    /// Complete texts of statements by id, where the report lists them.
    pub statement_texts: BTreeMap<String, String>,
    /// Plans of statements by id, where the report has them.
    pub plans: BTreeMap<String, BTreeSet<String>>,
    /// Top segments, one list per sort order.
    pub segments: Vec<SegmentList>,
    /// Sections of rows with figures by the name of their list: `latches`, `services`, `gc_transfers`.
    pub details: BTreeMap<&'static str, Vec<DetailRow>>,
    pub parameters: Vec<AwrParameter>,
    /// The instances of a cluster's report.
    pub instances: Vec<AwrInstance>,
    /// What could not be read, and what was unknown.
    pub issues: Vec<Issue>,
}

impl AwrReport {
    pub(crate) fn new(file: &str, form: AwrFormat, kind: AwrReportKind) -> Self {
        Self {
            file: file.to_owned(),
            part: 0,
            form,
            kind,
            words: BTreeMap::new(),
            figures: BTreeMap::new(),
            containers: Vec::new(),
            top_events_title: None,
            top_events: Vec::new(),
            foreground_events: Vec::new(),
            background_events: Vec::new(),
            all_events: Vec::new(),
            wait_classes: Vec::new(),
            foreground_wait_classes: Vec::new(),
            histograms: Vec::new(),
            io_functions: Vec::new(),
            io_filetypes: Vec::new(),
            io_function_filetypes: Vec::new(),
            tablespaces: Vec::new(),
            files: Vec::new(),
            statements: Vec::new(),
            statement_texts: BTreeMap::new(),
            plans: BTreeMap::new(),
            segments: Vec::new(),
            details: BTreeMap::new(),
            parameters: Vec::new(),
            instances: Vec::new(),
            issues: Vec::new(),
        }
    }

    /// A name or time, as printed.
    pub fn word(&self, name: &str) -> Option<&str> {
        self.words.get(name).map(|word| word.text.as_str())
    }

    /// The value of a figure; absent where the report lacks it.
    pub fn value(&self, name: &str) -> Option<f64> {
        self.figures.get(name).map(|figure| figure.reading.value)
    }

    /// A figure with its precision.
    pub fn reading(&self, name: &str) -> Option<PrintedNumber> {
        self.figures.get(name).map(|figure| figure.reading)
    }

    /// The parameter of this name that applies to the whole report.
    pub fn parameter(&self, name: &str) -> Option<&AwrParameter> {
        let named = || self.parameters.iter().filter(|parameter| parameter.name == name);
        // A pluggable database's own setting takes precedence over the inherited one.
        let pdb_setting =
            || named().find(|parameter| self.kind == AwrReportKind::AwrPdb && !parameter.is_whole());
        pdb_setting().or_else(|| named().find(|parameter| parameter.is_whole()))
    }

    /// The interval and instance that the report describes. Text and HTML for one pair of snapshots
    /// are one measurement. A report that lacks a snapshot has none.
    pub fn measurement(&self) -> Option<Measurement> {
        let whole = |name: &str| self.value(name).map(|value| value as u64);
        Some(Measurement {
            kind: self.kind,
            database: whole("dbid"),
            instance: whole("inst_num"),
            snapshots: (whole("begin_snap")?, whole("end_snap")?),
            begin: self.word("begin_time").and_then(crate::timestamp::parse_timestamp),
            container: self
                .containers
                .first()
                .filter(|_| self.kind == AwrReportKind::AwrPdb)
                .map(|of| of.dbid.clone()),
        })
    }

    /// Whether anything in the report could not be read.
    pub fn has_errors(&self) -> bool {
        self.issues.iter().any(Issue::is_error)
    }

    /// The wait event of this name among foreground events, top events and all events, in this
    /// order. Names that text reports truncate are found too.
    pub fn event(&self, name: &str) -> Option<&AwrWaitEvent> {
        let lists = [&self.foreground_events, &self.top_events, &self.all_events];
        lists.into_iter().find_map(|list| list.iter().find(|event| self.is_event(&event.name, name)))
    }

    /// Whether a printed name, which may be truncated, denotes the event `name`.
    pub(crate) fn is_event(&self, printed: &str, name: &str) -> bool {
        let may_be_cut = self.form == AwrFormat::Text && CUT_NAME.contains(&printed.len());
        printed == name || (may_be_cut && name.starts_with(printed))
    }
}

/// Widths of the columns of event names in text reports.
const CUT_NAME: std::ops::RangeInclusive<usize> = 24..=30;
