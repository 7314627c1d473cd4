//! Exports the measurements of a campaign to monitoring systems: Prometheus, Grafana and OpenTelemetry.
//!
//! A campaign's listener passes its [events](dyno_campaign::CampaignEvent) to the types of this crate. They
//! keep a few totals and send data on threads of their own. Nothing here runs on a session's thread, and the
//! conductor never waits for this crate.
//!
//! | part | job |
//! | --- | --- |
//! | [`Metrics`] | totals of the events as OpenMetrics text, to be served by any HTTP server or by [`Server`] |
//! | [`Server`] | answers `GET /metrics`, and nothing else |
//! | [`Annotator`] | marks the window of each run in Grafana |
//! | `otlp` | durations and a trace of each run to a collector (a cargo feature) |

mod annotate;
mod expose;
mod metrics;
mod names;
#[cfg(feature = "otlp")]
mod otlp;
mod post;
mod serve;
mod totals;
mod watched;

pub use annotate::Annotator;
pub use metrics::Metrics;
#[cfg(feature = "otlp")]
pub use otlp::Tracer;
pub use post::PostError;
pub use serve::{MetricsAccess, ServeMetricsError, Server};

/// The media type of [`Metrics::plain_text`].
pub const PLAIN: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The media type of [`Metrics::text`].
pub const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
