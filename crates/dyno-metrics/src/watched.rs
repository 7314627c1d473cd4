//! The last interval of a watched database, in base units.

use std::borrow::Cow;

use dyno_drive::present::{ObservationEvent, ObservedInterval};

/// Suffix of a figure's name in results, suffix of its base unit, and the factor between the two.
const UNITS: [(&str, &str, f64); 4] = [
    ("_mb_per_s", "_bytes_per_second", 1e6),
    ("_per_s", "_per_second", 1.0),
    ("_pct", "_ratio", 0.01),
    ("_us", "_seconds", 1e-6),
];

/// What is known about the watched database.
#[derive(Debug, Default)]
pub(crate) struct WatchedMetrics {
    /// The last complete interval; absent before the first one.
    pub(crate) moment: Option<ObservedInterval>,
    /// Whether the database stopped answering and no interval has ended since.
    is_away: bool,
}

impl WatchedMetrics {
    /// Marks the database as unavailable and clears its figures, because they no longer describe the present.
    pub(crate) fn mark_away(&mut self) {
        self.is_away = true;
        if let Some(moment) = &mut self.moment {
            let (elapsed_s, total_s) = (moment.elapsed_s, moment.total_s);
            *moment = ObservedInterval { elapsed_s, total_s, ..ObservedInterval::default() };
        }
    }

    /// Updates the state from one event of the watch.
    pub(crate) fn apply_event(&mut self, event: &ObservationEvent) {
        match event {
            ObservationEvent::Interval(moment) => {
                *self = Self { moment: Some(ObservedInterval::clone(moment)), is_away: false }
            }
            ObservationEvent::Lost(_) => self.mark_away(),
            // The next interval carries the figures.
            ObservationEvent::Begun(_)
            | ObservationEvent::Back(_)
            | ObservationEvent::Anew(_)
            | ObservationEvent::Final(_) => {}
        }
    }

    /// Whether the database answers; true until the first failure.
    pub(crate) fn answers(&self) -> bool {
        !self.is_away && self.moment.as_ref().is_none_or(|moment| moment.point.is_some())
    }

    /// Returns each figure of the last interval: its name with the base unit, its name in results, and its
    /// value.
    pub(crate) fn figures(&self) -> Vec<(String, String, f64)> {
        let point = self.moment.iter().filter_map(|moment| moment.point.as_ref());
        let figures = point.flat_map(|point| &point.metrics);
        // `redo_mb_per_s` and `redo_bytes_per_s` are the same figure; the second already has the base unit.
        let mut all: Vec<(String, String, f64)> = Vec::new();
        for (name, value) in figures {
            let (based, factor) = base(name);
            if all.iter().all(|(known, ..)| *known != based) {
                all.push((based.into_owned(), name.clone(), value * factor));
            }
        }
        all
    }
}

/// Returns a figure's name with its base unit, and the factor for its value.
fn base(name: &str) -> (Cow<'_, str>, f64) {
    for (ends, unit, factor) in UNITS {
        if let Some(stem) = name.strip_suffix(ends) {
            return (format!("{stem}{unit}").into(), factor);
        }
    }
    (name.into(), 1.0)
}

#[cfg(test)]
mod tests {
    use dyno_drive::CumulativeCounters;
    use dyno_record::SeriesPoint;

    use super::*;

    fn interval(metrics: &[(&str, f64)]) -> ObservationEvent {
        let metrics = metrics.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let point = SeriesPoint { metrics, ..SeriesPoint::default() };
        ObservationEvent::Interval(Box::new(ObservedInterval {
            point: Some(point),
            waits: vec![("IO:DataFileRead".to_owned(), 1.5)],
            counters: Some(CumulativeCounters::default()),
            ..ObservedInterval::default()
        }))
    }

    #[test]
    fn exported_values_use_base_units_and_appear_once() {
        let mut watched = WatchedMetrics::default();
        watched.apply_event(&interval(&[
            ("commits_per_s", 12.0),
            ("cpu_busy_pct", 50.0),
            ("physical_read_latency_us", 250.0),
            ("redo_bytes_per_s", 2_000_001.0),
            ("redo_mb_per_s", 2.0),
            ("average_active_sessions", 3.0),
        ]));
        let exported = watched.figures();
        for (name, expected) in [
            ("commits_per_second", 12.0),
            ("cpu_busy_ratio", 0.5),
            ("physical_read_latency_seconds", 250e-6),
            ("redo_bytes_per_second", 2_000_001.0),
            ("average_active_sessions", 3.0),
        ] {
            let values: Vec<f64> =
                exported.iter().filter(|(known, ..)| known == name).map(|(_, _, value)| *value).collect();
            assert!(
                values.len() == 1 && (values[0] - expected).abs() < 1e-9,
                "{name}: {values:?} of {exported:?}"
            );
        }
        assert_eq!(exported.len(), 5, "{exported:?}");
    }

    #[test]
    fn figures_from_before_a_lost_connection_are_not_exported() {
        let mut watched = WatchedMetrics::default();
        assert!(watched.answers(), "nothing has been asked yet");
        watched.apply_event(&interval(&[("commits_per_s", 12.0)]));
        assert!(watched.answers() && watched.figures().len() == 1);
        watched.apply_event(&ObservationEvent::Lost("it was shut down".to_owned()));
        assert!(!watched.answers() && watched.figures().is_empty());
        let moment = watched.moment.as_ref().unwrap();
        assert!(moment.waits.is_empty() && moment.counters.is_none());
        let mut never = WatchedMetrics::default();
        never.apply_event(&ObservationEvent::Lost("it was shut down".to_owned()));
        assert!(!never.answers(), "it went away before its first interval was over");
    }
}
