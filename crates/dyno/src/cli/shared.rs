//! Options shared by several commands.

use clap::Args;
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

impl From<&MarkArgs> for dyno_campaign::RunLabels {
    fn from(marks: &MarkArgs) -> Self {
        Self { variant: marks.variant.clone(), tag: marks.tag.clone(), options: Vec::new() }
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
