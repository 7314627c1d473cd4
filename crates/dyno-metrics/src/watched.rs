//! The last interval of an observed database, in base units.

use std::borrow::Cow;

use dyno_campaign::{RunPhase, RunProgress};
use dyno_watch::ObservedInterval;

/// Suffix of a figure's name in results, suffix of its base unit, and the factor between the two.
const UNITS: [(&str, &str, f64); 4] = [
    ("_mb_per_s", "_bytes_per_second", 1e6),
    ("_per_s", "_per_second", 1.0),
    ("_pct", "_ratio", 0.01),
    ("_us", "_seconds", 1e-6),
];

/// Whether the process observes a database.
pub(crate) fn is_watch(progress: &RunProgress) -> bool {
    progress.phase == RunPhase::Watching || progress.observed.is_some() || progress.away.is_some()
}

/// Whether the observed database answers; true until the first failure.
pub(crate) fn answers(progress: &RunProgress) -> bool {
    let has_point = progress.observed.as_ref().is_none_or(|observed| observed.point.is_some());
    progress.away.is_none() && has_point
}

/// Returns each figure of the last interval: its name with the base unit, its name in results, and its value.
pub(crate) fn figures(observed: &ObservedInterval) -> Vec<(String, String, f64)> {
    let figures = observed.point.iter().flat_map(|point| &point.metrics);
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
    use dyno_campaign::CampaignEvent;
    use dyno_observe::CumulativeCounters;
    use dyno_record::SeriesPoint;
    use dyno_watch::ObservationEvent;

    use super::*;

    fn observe(progress: &mut RunProgress, event: ObservationEvent) {
        progress.hear(&CampaignEvent::Seen(event), 0.0);
    }

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

    fn figures_of(progress: &RunProgress) -> Vec<(String, String, f64)> {
        progress.observed.as_deref().map(figures).unwrap_or_default()
    }

    #[test]
    fn exported_values_use_base_units_and_appear_once() {
        let mut progress = RunProgress::default();
        observe(
            &mut progress,
            interval(&[
                ("commits_per_s", 12.0),
                ("cpu_busy_pct", 50.0),
                ("physical_read_latency_us", 250.0),
                ("redo_bytes_per_s", 2_000_001.0),
                ("redo_mb_per_s", 2.0),
                ("average_active_sessions", 3.0),
            ]),
        );
        let exported = figures_of(&progress);
        for (name, expected) in [
            ("commits_per_second", 12.0),
            ("cpu_busy_ratio", 0.5),
            ("physical_read_latency_seconds", 250e-6),
            ("redo_bytes_per_second", 2_000_001.0),
            ("average_active_sessions", 3.0),
        ] {
            let values: Vec<f64> =
                exported.iter().filter(|(known, ..)| known == name).map(|(_, _, value)| *value).collect();
            assert!(values.len() == 1, "{name}: {values:?} of {exported:?}");
            assert!((values[0] - expected).abs() < 1e-9, "{name}: {values:?} of {exported:?}");
        }
        assert_eq!(exported.len(), 5, "{exported:?}");
    }

    #[test]
    fn figures_from_before_a_lost_connection_are_not_exported() {
        let lost = || ObservationEvent::Lost("it was shut down".to_owned());
        let mut progress = RunProgress::default();
        assert!(answers(&progress), "nothing has been asked yet");
        assert!(!is_watch(&progress), "nothing has been asked yet");
        observe(&mut progress, interval(&[("commits_per_s", 12.0)]));
        assert!(answers(&progress));
        assert!(is_watch(&progress));
        assert!(figures_of(&progress).len() == 1);
        observe(&mut progress, lost());
        assert!(!answers(&progress));
        assert!(figures_of(&progress).is_empty());
        let observed = progress.observed.as_ref().unwrap();
        assert!(observed.waits.is_empty());
        assert!(observed.counters.is_none());
        observe(&mut progress, ObservationEvent::Back(3.0));
        assert!(!answers(&progress), "no interval has ended since");
        let mut never = RunProgress::default();
        observe(&mut never, lost());
        assert!(!answers(&never), "it went away before its first interval was over");
    }
}
