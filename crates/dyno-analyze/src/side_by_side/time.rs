//! Time of the sessions by class of event and by event.

use std::collections::BTreeMap;

use dyno_record::{RunRecord, SAMPLED_ACTIVE, SeriesPoint, Unit, WAITING, Waits};

use super::load::US_PER_S;
use super::row::RowUnit;
use super::spec::{ComparedSides, RowSpec};
use crate::timed_events::{CPU, timed_events};

/// Events that are compared: the largest of either side.
const EVENTS_MAX: usize = 30;

/// Class and event.
type EventName = (String, String);

/// Where the time of events comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimeSource {
    /// The database times the events of all sessions.
    Timed,
    /// Samples of the run's own sessions.
    Sampled,
}

impl TimeSource {
    /// The source that all runs have.
    pub(super) fn of(sides: &ComparedSides<'_>) -> Option<Self> {
        [Self::Timed, Self::Sampled]
            .into_iter()
            .find(|source| sides.records().all(|record| source.events(record).is_some()))
    }

    /// Average sessions in each event.
    fn events(self, record: &RunRecord) -> Option<BTreeMap<EventName, f64>> {
        match (self, &record.waits) {
            (Self::Timed, _) => {
                let seconds = record.window.as_ref().map(|window| window.seconds).filter(|s| *s > 0.0)?;
                let name = |class: &str, event: &str| match event {
                    CPU => (CPU.to_owned(), CPU.to_owned()),
                    _ => (class.to_owned(), event.to_owned()),
                };
                let events = timed_events(record)?.into_iter();
                Some(events.map(|of| (name(&of.class, &of.event), of.seconds / seconds)).collect())
            }
            (Self::Sampled, Waits::Sampled { events, .. }) => {
                let name = |class: &str, event: &str| (class.to_owned(), event.to_owned());
                Some(events.iter().map(|of| (name(&of.class, &of.event), of.average_sessions)).collect())
            }
            (Self::Sampled, Waits::Absent { .. }) => None,
        }
    }

    /// Average sessions in the events that `chosen` accepts; 0 if the run had none of them.
    fn sessions(self, record: &RunRecord, chosen: impl Fn(&EventName) -> bool) -> Option<f64> {
        let events = self.events(record)?;
        Some(events.iter().filter(|(name, _)| chosen(name)).map(|(_, sessions)| sessions).sum())
    }

    /// A row of the events that `chosen` accepts.
    fn row<'s>(
        self,
        title: &str,
        name: &str,
        chosen: impl Fn(&EventName) -> bool + Clone + 's,
    ) -> RowSpec<'s> {
        let (in_run, of_share, in_interval) = (chosen.clone(), chosen.clone(), chosen);
        let share_pct = move |record: &RunRecord| {
            let all = self.sessions(record, |_| true).filter(|all| *all > 0.0)?;
            Some(100.0 * self.sessions(record, &of_share)? / all)
        };
        RowSpec {
            title: title.to_owned(),
            unit: RowUnit::Microseconds,
            factor: US_PER_S,
            is_per_work: true,
            share_pct: Some(Box::new(share_pct)),
            // Times of the database are those of all its sessions.
            metric: if self == Self::Timed { "database_active_sessions".into() } else { String::new() },
            interval: (self == Self::Sampled)
                .then(|| Box::new(move |point: &SeriesPoint| sampled(point, &in_interval)) as Box<_>),
            ..RowSpec::new(name, Unit::Sessions, move |record| self.sessions(record, &in_run))
        }
    }

    pub(super) fn by_class(self, sides: &ComparedSides<'_>) -> Vec<RowSpec<'static>> {
        let mut classes: Vec<String> = Vec::new();
        for (class, _) in self.largest(sides) {
            if !classes.contains(&class) {
                classes.push(class);
            }
        }
        let all = self.row("", "all classes", |_| true);
        let class = |class: String| self.row("", &class.clone(), move |(of, _)| *of == class);
        std::iter::once(all).chain(classes.into_iter().map(class)).collect()
    }

    pub(super) fn by_event(self, sides: &ComparedSides<'_>) -> Vec<RowSpec<'static>> {
        let row = |name: EventName| {
            let shown = match name.0.is_empty() || name.0 == name.1 {
                true => name.1.clone(),
                false => format!("{}: {}", name.0, name.1),
            };
            self.row("", &shown, move |of| *of == name)
        };
        self.largest(sides).into_iter().take(EVENTS_MAX).map(row).collect()
    }

    /// All events, by the largest number of sessions that any run has in them.
    fn largest(self, sides: &ComparedSides<'_>) -> Vec<EventName> {
        let mut all: BTreeMap<EventName, f64> = BTreeMap::new();
        for (name, sessions) in sides.records().filter_map(|record| self.events(record)).flatten() {
            let most = all.entry(name).or_default();
            *most = most.max(sessions);
        }
        let mut all: Vec<(EventName, f64)> = all.into_iter().collect();
        all.sort_by(|x, y| y.1.total_cmp(&x.1));
        all.into_iter().map(|(name, _)| name).collect()
    }
}

/// Sessions in these events over the samples of an interval; absent without samples.
fn sampled(point: &SeriesPoint, chosen: impl Fn(&EventName) -> bool) -> Option<f64> {
    point.metrics.get(SAMPLED_ACTIVE)?;
    let waiting = point.metrics.iter().filter_map(|(name, sessions)| {
        let (class, event) = name.strip_prefix(WAITING)?.split_once(':')?;
        Some(((class.to_owned(), event.to_owned()), *sessions))
    });
    Some(waiting.filter(|(name, _)| chosen(name)).map(|(_, sessions)| sessions).sum())
}
