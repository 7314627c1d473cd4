//! What is asked of a report beside its runs.

use dyno_analyze::price::Prices;

/// What a format may have to know beside the report.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// When the report is made, as it is shown.
    pub made_at: String,
    /// Who made it, as it stands on paper; nobody is named where nobody wants to be.
    pub author: Option<String>,
    /// What it is called; its own words where there is none.
    pub title: Option<String>,
    /// The one chart that is wanted, for pictures; all of them where there is none.
    pub chart: Option<String>,
    /// What platforms cost; nothing is reckoned where nobody says.
    pub prices: Option<Prices>,
}
