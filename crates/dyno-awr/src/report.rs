//! What a report says: figures by name, and lists.
//!
//! A figure's name is its place in the output: `load_profile_per_s.redo_size`. A figure that the report does not have has
//! no entry; a figure that could not be read has none either, and an issue that says so.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::issue::Issue;
use crate::number::{Reading, TimeReading};
use crate::table::Form;

/// Where a value stood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The title of the section.
    pub section: Arc<str>,
    /// The caption of the column, and the label of the line where the figure's name does not tell.
    pub caption: Arc<str>,
    /// The line of the file, from 1.
    pub line: u32,
}

/// A number, what its last digit is worth, and where it stood.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Value and precision.
    pub reading: Reading,
    /// Where it stood, or what it was computed from.
    pub source: Source,
}

/// A text and where it stood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// As it was printed.
    pub text: String,
    /// Where it stood.
    pub source: Source,
}

/// What kind of report it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// AWR of one instance.
    Awr,
    /// AWR of one pluggable database.
    AwrPdb,
    /// AWR of a whole cluster; never to be mixed with those of its instances.
    AwrRacGlobal,
    /// STATSPACK.
    Statspack,
}

impl Kind {
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Container {
    /// Its DBID.
    pub dbid: String,
    /// Its name.
    pub name: String,
    /// When it was opened, as printed.
    pub opened: String,
}

/// One wait event, or a class of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Its name; text reports cut it.
    pub name: String,
    /// How often it was waited for.
    pub waits: Option<Reading>,
    /// Time waited in all, s.
    pub time_s: Option<Reading>,
    /// That time as it was printed.
    pub time_raw: String,
    /// Mean time of a wait, as printed.
    pub average: Option<TimeReading>,
    /// That mean as it was printed.
    pub average_raw: String,
    /// Share of DB time (of call time in STATSPACK, of background time for background events), %.
    pub share_pct: Option<Reading>,
    /// Waits that ended by a timeout, %.
    pub timeouts_pct: Option<Reading>,
    /// Its wait class as printed; text reports cut it.
    pub class: Option<String>,
    /// Where it stood.
    pub source: Source,
}

impl Event {
    /// The mean time of a wait in seconds, from whichever tells more: the printed mean, or time divided by waits.
    pub fn mean_s(&self) -> Option<Reading> {
        let printed = self.average.map(|average| average.seconds());
        let divided = match (self.time_s, self.waits) {
            (Some(time), Some(waits)) if waits.value > 0.0 => {
                Some(Reading { value: time.value / waits.value, step: time.step / waits.value })
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
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Band {
    /// Shortest wait in it, µs.
    pub from_us: u64,
    /// The wait that is too long for it, µs; absent in the last band.
    pub below_us: Option<u64>,
    /// Share of all waits, %.
    pub share_pct: Reading,
}

/// How long the waits for one event took.
#[derive(Debug, Clone, PartialEq)]
pub struct EventHistogram {
    /// The event; text reports cut it.
    pub event: String,
    /// Waits in all; absent where the column was too narrow for its suffix.
    pub waits: Option<Reading>,
    /// Bands without gap or overlap, the finest that the report has.
    pub bands: Vec<Band>,
    /// Where it stood.
    pub source: Source,
}

/// One statement in a list of top statements.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// SQL id, or STATSPACK's old hash value.
    pub id: String,
    /// The list's figures by name: `elapsed_s`, `executions`.
    pub figures: BTreeMap<&'static str, Reading>,
    /// The program's module.
    pub module: Option<String>,
    /// The container.
    pub pdb: Option<String>,
    /// The statement as far as the list shows it.
    pub text: Option<String>,
    /// Line of the file.
    pub line: u32,
}

/// Top statements in one order.
#[derive(Debug, Clone, PartialEq)]
pub struct StatementList {
    /// What they are ordered by: `elapsed`.
    pub order: String,
    /// The statements.
    pub statements: Vec<Statement>,
    /// Where they stood.
    pub source: Source,
}

/// One segment in a list of top segments.
#[derive(Debug, Clone, PartialEq)]
pub struct Segment {
    /// The pluggable database that it is in, where the list names one.
    pub pdb: Option<String>,
    /// Its owner.
    pub owner: String,
    /// Its tablespace.
    pub tablespace: String,
    /// Its name.
    pub name: String,
    /// Its partition.
    pub subobject: String,
    /// `TABLE`, `INDEX`.
    pub kind: String,
    /// What the list is ordered by.
    pub value: Option<Reading>,
    /// Share of all, %.
    pub share_pct: Option<Reading>,
    /// Line of the file.
    pub line: u32,
}

/// Top segments in one order.
#[derive(Debug, Clone, PartialEq)]
pub struct SegmentList {
    /// What they are ordered by: `logical_reads`.
    pub order: String,
    /// The segments.
    pub segments: Vec<Segment>,
    /// Where they stood.
    pub source: Source,
}

/// I/O of one tablespace, file, function of the database or type of file.
#[derive(Debug, Clone, PartialEq)]
pub struct IoRow {
    /// Tablespace, function or type of file; with the file's name behind it for files.
    pub name: String,
    /// The file's name.
    pub file: Option<String>,
    /// The pluggable database that it is in, where the list names one.
    pub pdb: Option<String>,
    /// Figures by name: `reads`, `read_bytes`, `read_ms`.
    pub figures: BTreeMap<&'static str, Reading>,
    /// Line of the file.
    pub line: u32,
}

/// One line of a section of rows with figures: a latch, an enqueue, a size of an advisory, a service.
#[derive(Debug, Clone, PartialEq)]
pub struct DetailRow {
    /// What it is of: `cache buffers chains`; for an advisory the size, as printed.
    pub name: String,
    /// The object, the user or the program that it is of, where the section names one.
    pub object: Option<String>,
    /// Figures by name: `wait_s`.
    pub figures: BTreeMap<&'static str, Reading>,
    /// Line of the file.
    pub line: u32,
}

/// One initialisation parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its value at the begin; several are joined by a comma.
    pub value: String,
    /// Its value at the end, where it changed.
    pub end_value: Option<String>,
    /// The container that it is set for, where the report names one: `CDB$ROOT`, or a pluggable database.
    pub pdb: Option<String>,
    /// The instance that has this value, where those of a cluster differ.
    pub instance: Option<u32>,
    /// Which one it is of those whose names text cut to this one, from 1; absent where the name tells.
    pub ordinal: Option<u32>,
}

impl Parameter {
    /// Its name, with container and instance behind it where it is theirs alone: `sga_target (SALES)`; `_long_name #2` for the second of
    /// those whose names were cut to this one.
    pub fn full_name(&self) -> String {
        let of = [
            self.pdb.clone().filter(|_| !self.is_whole()),
            self.instance.map(|number| format!("instance {number}")),
        ];
        let of: Vec<String> = of.into_iter().flatten().collect();
        let ordinal = self.ordinal.map_or_else(String::new, |ordinal| format!(" #{ordinal}"));
        let scope = if of.is_empty() { String::new() } else { format!(" ({})", of.join(", ")) };
        format!("{}{ordinal}{scope}", self.name)
    }

    /// Whether it holds for all that the report is about, and not for one container or instance.
    pub fn is_whole(&self) -> bool {
        self.instance.is_none() && self.pdb.as_deref().is_none_or(|pdb| pdb == "CDB$ROOT")
    }
}

/// One instance in the report of a cluster.
#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    /// Its number.
    pub number: u32,
    /// Names and times by the names of the report's own words: `instance`, `host`, `begin_time`.
    pub words: BTreeMap<&'static str, String>,
    /// Its figures by the names of the report's own: `load_profile_per_s.logical_reads`.
    pub figures: BTreeMap<String, Figure>,
}

/// What was measured: an interval of an instance, whatever form its report has.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Measurement {
    kind: Kind,
    database: Option<u64>,
    instance: Option<u64>,
    snapshots: (u64, u64),
    /// Snapshots may be numbered anew.
    begin: Option<jiff::civil::DateTime>,
    container: Option<String>,
}

/// One report.
#[derive(Debug, Clone)]
pub struct AwrReport {
    /// The file's name without its folder.
    pub file: String,
    /// Which of the reports in its file it is, from 1; 0 where it is the only one.
    pub part: u32,
    /// HTML or text.
    pub form: Form,
    /// What kind it is.
    pub kind: Kind,
    /// Names and times: `db_name`, `begin_time`.
    pub words: BTreeMap<&'static str, Word>,
    /// All figures by name.
    pub figures: BTreeMap<String, Figure>,
    /// Open pluggable databases.
    pub containers: Vec<Container>,
    /// The title over the top events.
    pub top_events_title: Option<String>,
    /// The events that took most time.
    pub top_events: Vec<Event>,
    /// Events of foreground sessions.
    pub foreground_events: Vec<Event>,
    /// Events of background processes.
    pub background_events: Vec<Event>,
    /// Events of both together, where the report adds them up itself.
    pub all_events: Vec<Event>,
    /// Wait classes; of all sessions from 11.2.0.4 on.
    pub wait_classes: Vec<Event>,
    /// Wait classes of foreground sessions alone.
    pub foreground_wait_classes: Vec<Event>,
    /// Distributions of wait times.
    pub histograms: Vec<EventHistogram>,
    /// I/O by function of the database.
    pub io_functions: Vec<IoRow>,
    /// I/O by type of file.
    pub io_filetypes: Vec<IoRow>,
    /// I/O by function of the database and type of file.
    pub io_function_filetypes: Vec<IoRow>,
    /// I/O by tablespace.
    pub tablespaces: Vec<IoRow>,
    /// I/O by file.
    pub files: Vec<IoRow>,
    /// Top statements.
    pub statements: Vec<StatementList>,
    /// Whole texts of statements by their ids, where the report lists them.
    pub statement_texts: BTreeMap<String, String>,
    /// Plans of statements by their ids, where the report tells.
    pub plans: BTreeMap<String, BTreeSet<String>>,
    /// Top segments.
    pub segments: Vec<SegmentList>,
    /// Sections of rows with figures by the name of their list: `latches`, `services`, `gc_transfers`.
    pub details: BTreeMap<&'static str, Vec<DetailRow>>,
    /// Initialisation parameters.
    pub parameters: Vec<Parameter>,
    /// The instances of a cluster's report.
    pub instances: Vec<Instance>,
    /// What could not be read, and what was not known.
    pub issues: Vec<Issue>,
}

impl AwrReport {
    pub(crate) fn new(file: &str, form: Form, kind: Kind) -> Self {
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

    /// A figure's value.
    pub fn value(&self, name: &str) -> Option<f64> {
        self.figures.get(name).map(|figure| figure.reading.value)
    }

    /// A figure with its precision.
    pub fn reading(&self, name: &str) -> Option<Reading> {
        self.figures.get(name).map(|figure| figure.reading)
    }

    /// The parameter of this name that holds for all that the report is about.
    pub fn parameter(&self, name: &str) -> Option<&Parameter> {
        let named = || self.parameters.iter().filter(|parameter| parameter.name == name);
        // A pluggable database's own setting stands before what it inherits.
        let own = || named().find(|parameter| self.kind == Kind::AwrPdb && !parameter.is_whole());
        own().or_else(|| named().find(|parameter| parameter.is_whole()))
    }

    /// Which interval of which instance the report is of. Text and HTML of one pair of snapshots are one measurement; a report that
    /// lacks a snapshot has none to be told from.
    pub fn measurement(&self) -> Option<Measurement> {
        let whole = |name: &str| self.value(name).map(|value| value as u64);
        Some(Measurement {
            kind: self.kind,
            database: whole("dbid"),
            instance: whole("inst_num"),
            snapshots: (whole("begin_snap")?, whole("end_snap")?),
            begin: self.word("begin_time").and_then(crate::moment::moment),
            container: self
                .containers
                .first()
                .filter(|_| self.kind == Kind::AwrPdb)
                .map(|of| of.dbid.clone()),
        })
    }

    /// Whether anything in the report could not be read.
    pub fn has_errors(&self) -> bool {
        self.issues.iter().any(Issue::is_error)
    }

    /// The wait event of this name among foreground events, top events and all events, in this order. Names that text
    /// reports cut are found too.
    pub fn event(&self, name: &str) -> Option<&Event> {
        let lists = [&self.foreground_events, &self.top_events, &self.all_events];
        lists.into_iter().find_map(|list| list.iter().find(|event| self.is_event(&event.name, name)))
    }

    /// Whether a printed name, which may be cut, is the event `name`.
    pub(crate) fn is_event(&self, printed: &str, name: &str) -> bool {
        let may_be_cut = self.form == Form::Text && CUT_NAME.contains(&printed.len());
        printed == name || (may_be_cut && name.starts_with(printed))
    }
}

/// Widths of the columns of event names in text reports.
const CUT_NAME: std::ops::RangeInclusive<usize> = 24..=30;
