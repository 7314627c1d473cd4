//! Options shared by several commands.

use clap::{Args, ValueEnum};
use dyno_campaign::Error;
use dyno_campaign::compare::ComparisonSettings;

/// Names under which runs can be found again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct MarkArgs {
    /// Variant of the platform being measured, such as `ext4`; compare takes variant:NAME.
    #[arg(long, value_name = "NAME", value_parser = mark)]
    pub(crate) variant: Option<String>,
    /// Tag by which runs can be found with tag:NAME; can be repeated.
    #[arg(long, value_name = "NAME", value_parser = mark)]
    pub(crate) tag: Vec<String>,
}

/// Separator between two cells of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Separator {
    Comma,
    Semicolon,
    Tab,
    Pipe,
}

/// Decimal mark of numbers in a table.
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

/// Notation of a table where the table itself does not show it.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct DialectArgs {
    /// Separator between two cells [default: the one with which all mapped columns are found].
    #[arg(long, value_name = "NAME")]
    pub(crate) separator: Option<Separator>,
    /// Decimal mark of numbers [default: detected from the mapped columns].
    #[arg(long, value_name = "NAME")]
    pub(crate) decimal_mark: Option<DecimalMark>,
    /// Order of day and month in dates such as 3/4/2026 [default: detected from the column's dates].
    #[arg(long, value_name = "ORDER")]
    pub(crate) date_order: Option<DateOrder>,
    /// Time zone of times without one: UTC, +02:00, Europe/Berlin.
    #[arg(long, value_name = "ZONE")]
    pub(crate) time_zone: Option<String>,
}

impl From<&MarkArgs> for dyno_campaign::RunLabels {
    fn from(marks: &MarkArgs) -> Self {
        Self { variant: marks.variant.clone(), tag: marks.tag.clone() }
    }
}

/// Validates a name for `tag:NAME` and `variant:NAME`: commas separate such names.
fn mark(name: &str) -> Result<String, String> {
    match name.trim() {
        "" => Err("a name must not be empty".to_owned()),
        name if name.contains(',') => {
            Err(format!("a name must not contain a comma: try {:?}", name.replace(',', "-")))
        }
        name => Ok(name.to_owned()),
    }
}

impl CompareRules {
    /// Builds the rules for judging a comparison.
    pub(crate) fn judge(&self) -> Result<ComparisonSettings, Error> {
        ComparisonSettings::new(&self.metric, self.margin, &self.gate)
    }
}

/// Rules by which runs are compared.
#[derive(Debug, Args)]
pub(crate) struct CompareRules {
    /// Measures to compare, most important first [default: load, latency, reads, redo and CPU].
    #[arg(long, value_name = "MEASURE", value_delimiter = ',')]
    pub(crate) metric: Vec<String>,
    /// Differences up to this percentage are not significant.
    #[arg(long, value_name = "PERCENT", default_value_t = dyno_analyze::compare::MARGIN_PCT)]
    pub(crate) margin: f64,
    /// Limit on the difference, such as "ops_per_s >= -3%"; can be repeated.
    #[arg(long, value_name = "LIMIT")]
    pub(crate) gate: Vec<String>,
}
