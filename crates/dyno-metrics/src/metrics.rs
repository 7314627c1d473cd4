//! Renders the totals as OpenMetrics or Prometheus text.

use std::fmt;

use dyno_campaign::CampaignEvent;
use prometheus_client::registry::Registry;

use crate::expose::Exposed;
use crate::totals::SharedProgress;

/// Totals of what this process has measured, as OpenMetrics text. Clones share the same totals.
#[derive(Clone, Default)]
pub struct Metrics(SharedProgress);

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

impl Metrics {
    /// Creates metrics without any event.
    pub fn new() -> Self {
        Self::default()
    }

    /// Updates the totals from one campaign event.
    pub fn hear(&self, event: &CampaignEvent) {
        self.0.hear(event);
    }

    /// Returns all metrics as OpenMetrics text, media type [`OPENMETRICS`](crate::OPENMETRICS).
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = prometheus_client::encoding::text::encode(&mut text, &self.registry());
        text
    }

    /// Returns all metrics in Prometheus' older text format, media type [`PLAIN`](crate::PLAIN), for clients
    /// that do not request OpenMetrics.
    pub fn plain_text(&self) -> String {
        let mut text = String::new();
        // As above.
        let _ = prometheus_client::encoding::prometheus_text::encode(&mut text, &self.registry());
        text
    }

    fn registry(&self) -> Registry {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(Exposed(self.0.clone())));
        registry
    }
}
