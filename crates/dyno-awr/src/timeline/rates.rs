//! Converts everything in a report to rates per second of its interval, by name, for comparison
//! with other reports.

use std::collections::BTreeMap;

use crate::number::PrintedNumber;
use crate::report::AwrReport;
use crate::section_figures::section_figures;

/// The kind of a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AwrRateKind {
    /// A statement: seconds of elapsed time per second.
    Statement,
    /// A wait event of foreground sessions: seconds waited per second.
    Event,
    /// A part of the time model: seconds per second.
    Time,
    /// A segment in one of the lists of top segments, or a tablespace: what the list counts, per second.
    Segment,
    /// A statistic: its count per second.
    Counter,
    /// A total of a row of another section, per second: `latches.wait_s.cache buffers chains`.
    SectionTotal,
    /// A mean, a share or a size of a row of another section.
    SectionLevel,
}

impl AwrRateKind {
    /// All kinds, in the order of output.
    pub const ALL: [Self; 7] = [
        Self::Statement,
        Self::Event,
        Self::Time,
        Self::Segment,
        Self::Counter,
        Self::SectionTotal,
        Self::SectionLevel,
    ];

    /// The plural of the kind in sentences.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Statement => "statements",
            Self::Event => "events",
            Self::Time => "time model",
            Self::Segment => "segments",
            Self::Counter => "statistics",
            Self::SectionTotal => "sections",
            Self::SectionLevel => "section levels",
        }
    }

    /// Whether rates are seconds per second, which are parts of DB time or beside it.
    pub fn is_time(self) -> bool {
        matches!(self, Self::Statement | Self::Event | Self::Time)
    }

    /// Whether reports list only the top ones: an unlisted one may be anything below the last.
    pub fn is_top_list(self) -> bool {
        matches!(self, Self::Statement | Self::Segment)
    }
}

/// A database object that a rate belongs to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AwrObject {
    /// Owner, name and partition, preceded by the pluggable database where the report names it:
    /// `SALES:SHOP.ORDERS.P1`.
    pub name: String,
    /// The object type as printed: `TABLE`, `INDEX`.
    pub kind: String,
}

/// The subject that a rate describes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AwrRateSubject {
    pub kind: AwrRateKind,
    /// The statement's id, the event, the statistic, the section's figure and row; for a segment
    /// what is counted: `logical_reads`.
    pub name: String,
    /// The segment or the tablespace.
    pub object: Option<AwrObject>,
}

/// Rates by what they describe.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rates(pub BTreeMap<AwrRateSubject, PrintedNumber>);

/// Counters and parts of the time model that are DB time itself.
const DB_TIME: [&str; 3] = ["DB time", "total CPU time", "sql execute elapsed time"];

impl Rates {
    /// All rates of a report; empty where its interval has no length.
    pub fn of(report: &AwrReport) -> Self {
        let mut rates = BTreeMap::new();
        let Some(seconds) = report.value("elapsed_min").map(|min| min * 60.0).filter(|s| *s > 0.0) else {
            return Self(rates);
        };
        let per_s = |of: PrintedNumber| PrintedNumber { value: of.value / seconds, step: of.step / seconds };
        let named = |what, name: &str| AwrRateSubject { kind: what, name: name.to_owned(), object: None };
        for (name, figure) in &report.figures {
            let Some((group, name)) = name.split_once('.').filter(|(_, name)| !DB_TIME.contains(name)) else {
                continue;
            };
            match group {
                "instance_activity_per_s" => {
                    rates.insert(named(AwrRateKind::Counter, name), figure.reading);
                }
                // The printed rate comes later in the order of names, and takes precedence if there
                // is one.
                "instance_activity" => {
                    rates.insert(named(AwrRateKind::Counter, name), per_s(figure.reading));
                }
                "time_model_s" => {
                    rates.insert(named(AwrRateKind::Time, name), per_s(figure.reading));
                }
                _ => {}
            }
        }
        let foreground = [&report.foreground_events, &report.all_events];
        let events = foreground.into_iter().find(|events| !events.is_empty()).into_iter().flatten();
        // Idle events have no share of DB time.
        let waited = events.filter(|event| event.share_pct.is_some());
        for event in waited {
            let Some(time) = event.time_s else { continue };
            // The list of top events has more digits.
            let finer =
                report.top_events.iter().find(|top| top.name == event.name).and_then(|top| top.time_s);
            let time = finer.filter(|finer| finer.step < time.step).unwrap_or(time);
            rates.insert(named(AwrRateKind::Event, &event.name), per_s(time));
        }
        for statement in report.statements.iter().flat_map(|list| &list.statements) {
            if let Some(elapsed) = statement.figures.get("elapsed_s") {
                rates.insert(named(AwrRateKind::Statement, &statement.id), per_s(*elapsed));
            }
        }
        for of in section_figures(report) {
            let kind = if of.per_s { AwrRateKind::SectionTotal } else { AwrRateKind::SectionLevel };
            rates.insert(named(kind, &format!("{}.{}.{}", of.section, of.figure, of.row)), of.reading);
        }
        for tablespace in &report.tablespaces {
            let pdb = tablespace.pdb.as_ref().map_or_else(String::new, |pdb| format!("{pdb}:"));
            let object = AwrObject { name: pdb + &tablespace.name, kind: "TABLESPACE".to_owned() };
            for (figure, list) in [("reads", "tablespace_reads"), ("writes", "tablespace_writes")] {
                let Some(count) = tablespace.figures.get(figure) else { continue };
                let thing =
                    AwrRateSubject { object: Some(object.clone()), ..named(AwrRateKind::Segment, list) };
                rates.insert(thing, per_s(*count));
            }
        }
        for list in &report.segments {
            for segment in &list.segments {
                let Some(value) = segment.value else { continue };
                let parts = [&segment.owner, &segment.name, &segment.subobject];
                let parts: Vec<&str> =
                    parts.into_iter().map(|part| part.trim()).filter(|part| !part.is_empty()).collect();
                let pdb = segment.pdb.as_ref().map_or_else(String::new, |pdb| format!("{pdb}:"));
                let object = AwrObject { name: pdb + &parts.join("."), kind: segment.kind.clone() };
                rates.insert(
                    AwrRateSubject { object: Some(object), ..named(AwrRateKind::Segment, &list.order) },
                    per_s(value),
                );
            }
        }
        Self(rates)
    }
}

/// Statistics that are commonly examined first.
const WELL_KNOWN: [&str; 48] = [
    "CPU used by this session",
    "DBWR checkpoints",
    "SQL*Net roundtrips to/from client",
    "bytes received via SQL*Net from client",
    "bytes sent via SQL*Net to client",
    "branch node splits",
    "cell physical IO interconnect bytes",
    "consistent changes",
    "consistent gets",
    "data blocks consistent reads - undo records applied",
    "db block changes",
    "db block gets",
    "dirty buffers inspected",
    "enqueue waits",
    "execute count",
    "free buffer requested",
    "gc cr blocks received",
    "gc current blocks received",
    "index fast full scans (full)",
    "leaf node splits",
    "lob reads",
    "lob writes",
    "logons cumulative",
    "opened cursors cumulative",
    "parse count (failures)",
    "parse count (hard)",
    "parse count (total)",
    "parse time elapsed",
    "physical read total IO requests",
    "physical read total bytes",
    "physical reads",
    "physical reads direct",
    "physical reads direct temporary tablespace",
    "physical write total IO requests",
    "physical write total bytes",
    "physical writes",
    "physical writes direct temporary tablespace",
    "queries parallelized",
    "recursive calls",
    "redo size",
    "session logical reads",
    "sorts (disk)",
    "sorts (rows)",
    "table fetch by rowid",
    "table fetch continued row",
    "table scan rows gotten",
    "user commits",
    "user rollbacks",
];

/// Whether a statistic is one of the commonly examined.
pub(super) fn is_well_known(name: &str) -> bool {
    WELL_KNOWN.contains(&name)
}
