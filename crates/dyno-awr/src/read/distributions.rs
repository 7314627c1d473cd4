//! Collects the distributions of wait times while a report's tables are read.

use std::collections::BTreeMap;

use crate::number::PrintedNumber;
use crate::report::{AwrHistogramBand, AwrSource, EventHistogram};

/// Events in the report's order, with all bands of all tables.
#[derive(Debug, Default)]
pub(crate) struct Histograms {
    events: Vec<EventHistogram>,
    /// Indexes of the events with a name. Text truncates names, so several events may share one.
    pub(super) by_name: BTreeMap<String, Vec<usize>>,
}

impl Histograms {
    /// Adds a table's data for the `number`th event of its name there, from 0.
    pub(super) fn add(
        &mut self,
        event: &str,
        number: usize,
        waits: Option<PrintedNumber>,
        bands: Vec<AwrHistogramBand>,
        source: impl FnOnce() -> AwrSource,
    ) {
        match self.by_name.get(event).and_then(|of_name| of_name.get(number)) {
            Some(&at) => {
                let existing = &mut self.events[at];
                existing.waits = existing.waits.or(waits);
                existing.bands.extend(bands);
            }
            None => {
                self.by_name.entry(event.to_owned()).or_default().push(self.events.len());
                self.events.push(EventHistogram { event: event.to_owned(), waits, bands, source: source() });
            }
        }
    }

    /// One distribution for each event.
    pub(crate) fn finish(self) -> Vec<EventHistogram> {
        let finest = |of: EventHistogram| EventHistogram { bands: finest(of.bands), ..of };
        self.events.into_iter().map(finest).collect()
    }
}

/// The bands that contain no finer ones.
pub(super) fn finest(mut bands: Vec<AwrHistogramBand>) -> Vec<AwrHistogramBand> {
    let end = |band: &AwrHistogramBand| band.below_us.unwrap_or(u64::MAX);
    bands.sort_by_key(|band| (band.from_us, end(band)));
    bands.dedup_by_key(|band| (band.from_us, band.below_us));
    let has_finer = |band: &AwrHistogramBand| {
        let inside = |other: &AwrHistogramBand| {
            other.from_us >= band.from_us && end(other) <= end(band) && other != band
        };
        bands
            .iter()
            .any(|other| inside(other) && (other.from_us, other.below_us) != (band.from_us, band.below_us))
    };
    bands.iter().filter(|band| !has_finer(band)).copied().collect()
}
