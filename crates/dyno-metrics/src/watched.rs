//! The last interval of a database that is only looked at, in base units.

use std::borrow::Cow;

use dyno_drive::present::{Moment, Seen};

/// How names of figures end in results, how that unit's base is called, and what makes the one of the other.
const UNITS: [(&str, &str, f64); 4] = [
    ("_mb_per_s", "_bytes_per_second", 1e6),
    ("_per_s", "_per_second", 1.0),
    ("_pct", "_ratio", 0.01),
    ("_us", "_seconds", 1e-6),
];

/// What is known of it.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    /// The last interval that is over.
    pub(crate) moment: Option<Moment>,
    /// Whether it went away, and no interval has ended since.
    is_away: bool,
}

impl Watched {
    /// The database is away: figures of before are no figures of now.
    pub(crate) fn lose(&mut self) {
        self.is_away = true;
        if let Some(moment) = &mut self.moment {
            let (elapsed_s, total_s) = (moment.elapsed_s, moment.total_s);
            *moment = Moment { elapsed_s, total_s, ..Moment::default() };
        }
    }

    /// It goes on.
    pub(crate) fn hear(&mut self, seen: &Seen) {
        match seen {
            Seen::Interval(moment) => *self = Self { moment: Some(Moment::clone(moment)), is_away: false },
            Seen::Lost(_) => self.lose(),
            // The next interval tells more.
            Seen::Begun(_) | Seen::Back(_) | Seen::Anew(_) | Seen::Final(_) => {}
        }
    }

    /// Whether the database answers.
    pub(crate) fn answers(&self) -> bool {
        !self.is_away && self.moment.as_ref().is_none_or(|moment| moment.point.is_some())
    }

    /// Each figure of the last interval: its name with the base unit, the name that results have, and its value.
    pub(crate) fn figures(&self) -> Vec<(String, String, f64)> {
        let point = self.moment.iter().filter_map(|moment| moment.point.as_ref());
        let figures = point.flat_map(|point| &point.metrics);
        // `redo_mb_per_s` and `redo_bytes_per_s` are one figure; the second is the base.
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

/// A figure's name with its base unit, and what it is multiplied by.
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
    use dyno_drive::Cumulative;
    use dyno_record::SeriesPoint;

    use super::*;

    fn interval(metrics: &[(&str, f64)]) -> Seen {
        let metrics = metrics.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let point = SeriesPoint { metrics, ..SeriesPoint::default() };
        Seen::Interval(Box::new(Moment {
            point: Some(point),
            waits: vec![("IO:DataFileRead".to_owned(), 1.5)],
            counters: Some(Cumulative::default()),
            ..Moment::default()
        }))
    }

    #[test]
    fn figures_are_told_in_base_units_and_each_once() {
        let mut watched = Watched::default();
        watched.hear(&interval(&[
            ("commits_per_s", 12.0),
            ("cpu_busy_pct", 50.0),
            ("physical_read_latency_us", 250.0),
            ("redo_bytes_per_s", 2_000_001.0),
            ("redo_mb_per_s", 2.0),
            ("average_active_sessions", 3.0),
        ]));
        let told = watched.figures();
        for (name, expected) in [
            ("commits_per_second", 12.0),
            ("cpu_busy_ratio", 0.5),
            ("physical_read_latency_seconds", 250e-6),
            ("redo_bytes_per_second", 2_000_001.0),
            ("average_active_sessions", 3.0),
        ] {
            let of: Vec<f64> =
                told.iter().filter(|(known, ..)| known == name).map(|(_, _, value)| *value).collect();
            assert!(of.len() == 1 && (of[0] - expected).abs() < 1e-9, "{name}: {of:?} of {told:?}");
        }
        assert_eq!(told.len(), 5, "{told:?}");
    }

    #[test]
    fn what_was_seen_before_a_database_went_away_is_not_told_of_now() {
        let mut watched = Watched::default();
        assert!(watched.answers(), "nothing has been asked yet");
        watched.hear(&interval(&[("commits_per_s", 12.0)]));
        assert!(watched.answers() && watched.figures().len() == 1);
        watched.hear(&Seen::Lost("it was shut down".to_owned()));
        assert!(!watched.answers() && watched.figures().is_empty());
        let moment = watched.moment.as_ref().unwrap();
        assert!(moment.waits.is_empty() && moment.counters.is_none());
        let mut never = Watched::default();
        never.hear(&Seen::Lost("it was shut down".to_owned()));
        assert!(!never.answers(), "it went away before its first interval was over");
    }
}
