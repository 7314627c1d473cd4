//! The sums as text.

use std::fmt;

use dyno_campaign::Event;
use prometheus_client::registry::Registry;

use crate::book::Shared;
use crate::expose::Exposed;

/// Sums of what a process has measured, as OpenMetrics text. Cheap to clone: all of them are one.
#[derive(Clone, Default)]
pub struct Metrics(Shared);

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

impl Metrics {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Something has happened.
    pub fn hear(&self, event: &Event) {
        self.0.book().hear(event);
    }

    /// All of it as OpenMetrics text, of the media type [`OPENMETRICS`](crate::OPENMETRICS).
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing into a string does not fail.
        let _ = prometheus_client::encoding::text::encode(&mut text, &self.registry());
        text
    }

    /// The same in the older format of Prometheus, of the media type [`PLAIN`](crate::PLAIN), for those who do not ask for the other.
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
