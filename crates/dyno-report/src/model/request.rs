//! Options of a report besides its runs.

use dyno_analyze::price::Prices;

/// Options that a format may need besides the report.
#[derive(Debug, Clone, Default)]
pub struct ReportRequest {
    /// Time of creation, as shown.
    pub made_at: String,
    /// Author named in print; absent if no name should appear.
    pub author: Option<String>,
    /// Title; without one the report uses its own.
    pub title: Option<String>,
    /// The only chart to draw, for pictures; without it all charts are drawn.
    pub chart: Option<String>,
    /// Prices of platforms; without them no costs are computed.
    pub prices: Option<Prices>,
}
