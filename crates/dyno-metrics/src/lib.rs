//! What a campaign measures, for those who watch databases by other means.
//!
//! Everything here is fed with the [events](dyno_campaign::Event) of a campaign by its listener. What is kept of them is a few
//! sums; what is sent is sent on threads of its own. Nothing here runs on a thread of a session, and nothing waits on the
//! coordinator's.
//!
//! | part | job |
//! | --- | --- |
//! | [`Metrics`] | sums of what was heard, as OpenMetrics text: to be mounted anywhere, or served by [`Server`] |
//! | [`Server`] | answers `GET /metrics`, and nothing else |
//! | [`Annotator`] | marks the window of each run in Grafana |
//! | `otlp` | durations and a trace of each run to a collector (a cargo feature) |

mod annotate;
mod book;
mod expose;
mod metrics;
mod names;
#[cfg(feature = "otlp")]
mod otlp;
mod post;
mod serve;
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
