//! Options that several commands have.

use clap::{Args, ValueEnum};
use dyno_campaign::Error;
use dyno_campaign::compare::Judge;

/// Names under which runs are found again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct Marks {
    /// The variant of the platform that is measured, such as `ext4`; compare takes variant:NAME.
    #[arg(long, value_name = "NAME", value_parser = mark)]
    pub(crate) variant: Option<String>,
    /// A mark to find runs again by tag:NAME; can be given many times.
    #[arg(long, value_name = "NAME", value_parser = mark)]
    pub(crate) tag: Vec<String>,
}

/// What stands between two cells of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Separator {
    Comma,
    Semicolon,
    Tab,
    Pipe,
}

/// What stands before the fraction of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DecimalMark {
    /// A point, with commas between thousands: 1,034.8
    Point,
    /// A comma, with points between thousands: 1.034,8
    Comma,
}

/// The order of day and month in `3/4/2026`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DateOrder {
    /// Day first: the third of April.
    DayMonth,
    /// Month first: the fourth of March.
    MonthDay,
}

/// How a table is written, where the table alone does not show it.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct DialectArgs {
    /// What stands between two cells [default: the separator with which all mapped columns are there].
    #[arg(long, value_name = "NAME")]
    pub(crate) separator: Option<Separator>,
    /// What stands before the fraction of a number [default: what the numbers of the mapped columns show].
    #[arg(long, value_name = "NAME")]
    pub(crate) decimal_mark: Option<DecimalMark>,
    /// The order of day and month in dates such as 3/4/2026 [default: what the dates of the column show].
    #[arg(long, value_name = "ORDER")]
    pub(crate) date_order: Option<DateOrder>,
    /// The time zone of times that name none: UTC, +02:00, Europe/Berlin.
    #[arg(long, value_name = "ZONE")]
    pub(crate) time_zone: Option<String>,
}

impl From<&Marks> for dyno_campaign::Marks {
    fn from(marks: &Marks) -> Self {
        Self { variant: marks.variant.clone(), tag: marks.tag.clone() }
    }
}

/// A name that `tag:NAME` and `variant:NAME` can find: commas stand between such names.
fn mark(name: &str) -> Result<String, String> {
    match name.trim() {
        "" => Err("a name must not be empty".to_owned()),
        name if name.contains(',') => Err(format!("a name has no comma: try {:?}", name.replace(',', "-"))),
        name => Ok(name.to_owned()),
    }
}

impl CompareRules {
    /// What judges by them.
    pub(crate) fn judge(&self) -> Result<Judge, Error> {
        Judge::new(&self.metric, self.margin, &self.gate)
    }
}

/// How runs are compared.
#[derive(Debug, Args)]
pub(crate) struct CompareRules {
    /// Measures to compare, the most important first [default: load, latency, reads, redo and CPU].
    #[arg(long, value_name = "MEASURE", value_delimiter = ',')]
    pub(crate) metric: Vec<String>,
    /// Differences up to this many percent are no matter.
    #[arg(long, value_name = "PERCENT", default_value_t = dyno_analyze::compare::MARGIN_PCT)]
    pub(crate) margin: f64,
    /// A limit that the difference has to hold, such as "ops_per_s >= -3%"; can be given many times.
    #[arg(long, value_name = "LIMIT")]
    pub(crate) gate: Vec<String>,
}
