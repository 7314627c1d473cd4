//! Wait events as JSON, and the distributions of their times.

use serde::Serialize;

use super::figures::AwrJsonNumber;
use crate::report::{AwrHistogramBand, AwrWaitEvent, EventHistogram};

#[derive(Serialize)]
pub(super) struct AwrEventJson<'r> {
    avg_wait: Option<AwrAverageJson<'r>>,
    event: &'r str,
    pct_db_time: Option<AwrJsonNumber>,
    time_raw: &'r str,
    time_s: Option<AwrJsonNumber>,
    wait_class: Option<&'r str>,
    waits: Option<AwrJsonNumber>,
    #[serde(flatten)]
    derived: Option<AwrDerivedEventJson>,
}

/// A mean as printed.
#[derive(Serialize)]
struct AwrAverageJson<'r> {
    raw: &'r str,
    unit: &'static str,
    value: AwrJsonNumber,
}

/// The place of an event, and its mean from the more precise source.
#[derive(Serialize)]
struct AwrDerivedEventJson {
    line: u32,
    mean_us: Option<AwrJsonNumber>,
    mean_us_step: Option<AwrJsonNumber>,
    timeouts_pct: Option<AwrJsonNumber>,
}

impl<'r> AwrEventJson<'r> {
    pub(super) fn of(event: &'r AwrWaitEvent) -> Self {
        let average = event.average.map(|average| AwrAverageJson {
            raw: &event.average_raw,
            unit: average.unit.name(),
            value: average.reading.into(),
        });
        Self {
            avg_wait: average,
            event: &event.name,
            pct_db_time: event.share_pct.map(Into::into),
            time_raw: &event.time_raw,
            time_s: event.time_s.map(Into::into),
            wait_class: event.class.as_deref(),
            waits: event.waits.map(Into::into),
            derived: None,
        }
    }

    fn with_source(event: &'r AwrWaitEvent) -> Self {
        let micros = |seconds: f64| AwrJsonNumber(seconds * 1e6);
        let derived = AwrDerivedEventJson {
            line: event.source.line,
            mean_us: event.mean_s().map(|mean| micros(mean.value)),
            mean_us_step: event.mean_s().map(|mean| micros(mean.step)),
            timeouts_pct: event.timeouts_pct.map(Into::into),
        };
        Self { derived: Some(derived), ..Self::of(event) }
    }
}

pub(super) fn with_sources(events: &[AwrWaitEvent]) -> Vec<AwrEventJson<'_>> {
    events.iter().map(AwrEventJson::with_source).collect()
}

#[derive(Serialize)]
pub(super) struct AwrHistogramJson<'r> {
    bands: &'r [AwrHistogramBand],
    event: &'r str,
    line: u32,
    waits: Option<AwrJsonNumber>,
}

impl<'r> AwrHistogramJson<'r> {
    pub(super) fn of(histogram: &'r EventHistogram) -> Self {
        let EventHistogram { event, waits, bands, source } = histogram;
        Self { bands, event, line: source.line, waits: waits.map(Into::into) }
    }
}
