//! The distributions of a report while its tables are read.

use std::collections::BTreeMap;

use crate::number::Reading;
use crate::report::{Band, EventHistogram, Source};

/// Events in the order in which the report has them first, with all bands of all tables.
#[derive(Debug, Default)]
pub(crate) struct Histograms {
    events: Vec<EventHistogram>,
    /// Where the events of a name are: text cuts names, and what was cut may have told them apart.
    pub(super) by_name: BTreeMap<String, Vec<usize>>,
}

impl Histograms {
    /// Adds what a table says of the event that is the `number`th of its name there, from 0.
    pub(super) fn add(
        &mut self,
        event: &str,
        number: usize,
        waits: Option<Reading>,
        bands: Vec<Band>,
        source: impl FnOnce() -> Source,
    ) {
        match self.by_name.get(event).and_then(|of_name| of_name.get(number)) {
            Some(&at) => {
                let known = &mut self.events[at];
                known.waits = known.waits.or(waits);
                known.bands.extend(bands);
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

/// The bands that have no finer ones inside.
pub(super) fn finest(mut bands: Vec<Band>) -> Vec<Band> {
    let end = |band: &Band| band.below_us.unwrap_or(u64::MAX);
    bands.sort_by_key(|band| (band.from_us, end(band)));
    bands.dedup_by_key(|band| (band.from_us, band.below_us));
    let has_finer = |band: &Band| {
        let inside = |other: &Band| other.from_us >= band.from_us && end(other) <= end(band) && other != band;
        bands
            .iter()
            .any(|other| inside(other) && (other.from_us, other.below_us) != (band.from_us, band.below_us))
    };
    bands.iter().filter(|band| !has_finer(band)).copied().collect()
}
