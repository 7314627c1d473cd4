//! The rows and tables of two sides next to each other.

use serde::{Deserialize, Serialize};

use crate::compare::ComparisonVerdict;
use crate::differences::ConfigDifference;

/// Probability up to which the intervals of two runs count as different.
pub const WINDOWS_SIGNIFICANCE: f64 = 0.01;

/// How the figures of a row are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowUnit {
    /// A plain number; the name of the row says of what.
    Number,
    Bytes,
    Microseconds,
    Percent,
}

/// One figure of both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedRow {
    /// What the rows around it have in common, for example the name of a class; mostly empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    pub name: String,
    pub unit: RowUnit,
    /// The first side: the median of its runs, over several points their geometric mean (the
    /// arithmetic mean if a point is nearly zero). Absent unless each run has the figure.
    pub a: Option<f64>,
    /// The second side.
    pub b: Option<f64>,
    /// The second side minus the first, in the unit.
    pub difference: Option<f64>,
    /// The same in percent of the first side; absent where that is nearly zero at a point.
    pub difference_pct: Option<f64>,
    /// The 95 % interval of the difference, %; absent with one run each.
    pub interval_pct: Option<(f64, f64)>,
    /// Probability of ranks at least as far apart if both sides are the same; absent with one run
    /// each.
    pub p: Option<f64>,
    /// With one run each: the same probability for the intervals inside the two runs. It says whether
    /// the two windows differ, not whether the platforms do. Absent if the intervals lack the figure,
    /// are too few, or depend on each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_windows: Option<f64>,
    pub verdict: ComparisonVerdict,
    /// Whether the figures include background activity: of the first side, of the second.
    pub marked: (bool, bool),
    /// Share of the table's total on either side, %; only for time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_pct: Option<(Option<f64>, Option<f64>)>,
    /// Whether the figure is nearly zero on both sides.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub near_zero: bool,
}

impl ComparedRow {
    /// Whether the sides differ by more than the margin, or only one side has the figure. It need not
    /// be significant.
    pub fn is_different(&self, margin_pct: f64) -> bool {
        match (self.a, self.b, self.difference_pct) {
            (None, None, _) => false,
            (Some(value), None, _) | (None, Some(value), _) => value != 0.0,
            (Some(_), Some(_), Some(pct)) => pct.abs() > margin_pct && !self.near_zero,
            (Some(a), Some(b), None) => a.to_bits() != b.to_bits() && !self.near_zero,
        }
    }

    /// Whether the runs show a difference.
    pub fn is_significant(&self) -> bool {
        use ComparisonVerdict::{Faster, Less, More, Slower};
        matches!(self.verdict, Faster | Slower | More | Less)
    }

    /// Whether the intervals inside the two runs differ; absent where they were not tested.
    pub fn windows_differ(&self) -> Option<bool> {
        self.p_windows.map(|p| p <= WINDOWS_SIGNIFICANCE)
    }
}

/// What a table is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TableGroup {
    /// The measures that are compared.
    Measures,
    /// The load profile per second.
    LoadPerSecond,
    /// The load profile per operation or transaction.
    LoadPerWork,
    /// Time of the sessions by class of event.
    TimeByClass,
    /// Time of the sessions by event.
    TimeByEvent,
    /// Rates and latencies of each class of operations.
    Classes,
    /// The top statements: calls, time and what a call touched.
    Statements,
    /// Activity of tables and indexes per unit of work.
    Relations,
    /// Other counters of the database.
    Counters,
}

/// A table of rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedTable {
    pub group: TableGroup,
    pub rows: Vec<ComparedRow>,
}

/// What figures per unit of work refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkUnit {
    Operation,
    /// Commits and rollbacks, where operations are not counted.
    Transaction,
}

impl WorkUnit {
    /// Its name: `operation`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Operation => "operation",
            Self::Transaction => "transaction",
        }
    }
}

/// All figures of two sides next to each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SideBySide {
    /// Points that both sides have.
    pub points: usize,
    /// Whether intervals and verdicts are those of a look of a sequential test.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub over_looks: bool,
    /// What figures per unit of work refer to; absent if neither is counted.
    pub per: Option<WorkUnit>,
    pub tables: Vec<ComparedTable>,
    /// The legend of the mark for these figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<String>,
    /// Settings and facts with the same values on both sides.
    pub equal: Vec<ConfigDifference>,
}

impl SideBySide {
    /// The rows of this table; empty if there is none.
    pub fn rows(&self, group: TableGroup) -> &[ComparedRow] {
        self.tables.iter().find(|table| table.group == group).map_or(&[], |table| &table.rows)
    }

    /// Rows that were tested with repeats, and those of them that differ significantly.
    pub fn tested(&self) -> (usize, usize) {
        let rows = || self.tables.iter().flat_map(|table| &table.rows).filter(|row| row.p.is_some());
        (rows().count(), rows().filter(|row| row.is_significant()).count())
    }

    /// Rows whose intervals inside single runs were tested.
    pub fn has_windows(&self) -> bool {
        self.tables.iter().flat_map(|table| &table.rows).any(|row| row.p_windows.is_some())
    }
}
