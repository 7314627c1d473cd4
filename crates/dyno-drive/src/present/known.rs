//! What was learned so far: rates of intervals, stretches without a gap, the series.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dyno_host::HostDelta;
use dyno_record::{
    Chunk, CounterDelta, Counters, Gap, MarkKind, Metric, Overview, Reading, Series, SeriesPoint, Spread,
};

use super::looker::{Looked, Looker};
use super::spread::Gauge;
use super::{Moment, Present};
use crate::complete::Cumulative;
use crate::cover::Cover;
use crate::far::FarHost;
use crate::hosts::far_delta;
use crate::metrics::{self, Metrics, between};
use crate::observe::Taken;
use crate::samples::Samples;
use crate::vigil::Vigil;

/// Gaps that are told one by one.
const GAPS_MAX: usize = 200;
/// Waits of an interval that are told.
const WAITS_MAX: usize = 4;

/// All that is known.
pub(super) struct Known {
    same_host: bool,
    far: Option<Arc<FarHost>>,
    interval_ns: u64,
    pub(super) first: Taken,
    /// The begin of the stretch without a gap that is under way, and the last reading; nothing while the server is away.
    stretch: Option<(Taken, Taken)>,
    /// The last reading of all.
    pub(super) last: Taken,
    /// Sums of the stretches that are over, and their seconds.
    over: (Vec<Counters>, f64),
    pub(super) vigil: Vigil,
    pub(super) gaps: Vec<Gap>,
    pub(super) gaps_all: u64,
    why_away: String,
    gauges: BTreeMap<String, Gauge>,
    /// Those of the last interval, and of all.
    latest: Samples,
    pub(super) samples: Samples,
    pub(super) no_samples: Option<String>,
    series: Overview<SeriesPoint>,
    untold: Vec<SeriesPoint>,
    told: u64,
    /// Host counters over all, by the last stretch's observer.
    pub(super) cost: (u64, u64),
}

impl Known {
    pub(super) fn begin(present: &Present, looker: &Looker, first: Looked) -> Self {
        let taken = first.taken;
        let mut vigil = Vigil::default();
        vigil.begin(&taken);
        Self {
            same_host: present.identity.same_host,
            far: present.far.clone(),
            interval_ns: (present.interval_s * 1e9) as u64,
            stretch: Some((taken.clone(), taken.clone())),
            last: taken.clone(),
            first: taken,
            over: (Vec::new(), 0.0),
            vigil,
            gaps: Vec::new(),
            gaps_all: 0,
            why_away: String::new(),
            gauges: BTreeMap::new(),
            latest: Samples::default(),
            samples: Samples::default(),
            no_samples: looker.no_samples.clone(),
            series: Overview::new(present.series_points_max),
            untold: Vec::new(),
            told: 0,
            cost: (0, 0),
        }
    }

    /// What could not be read, each with its reason.
    pub(super) fn unread(&self) -> Vec<String> {
        let mut all: BTreeSet<String> = self.first.database.unread.values().cloned().collect();
        let lacks = |reading: &Reading| match reading {
            Reading::Absent(why) if why.contains("GRANT") => Some(why.clone()),
            _ => None,
        };
        all.extend(self.first.database.portable.values().filter_map(lacks));
        all.extend(self.no_samples.iter().map(|why| format!("sessions and their waits are not seen: {why}")));
        all.into_iter().collect()
    }

    /// When the interval of this number ends.
    pub(super) fn tick_ns(&self, index: u64) -> u64 {
        self.first.at_ns() + (index + 1) * self.interval_ns
    }

    /// Intervals that are over at `now_ns`.
    pub(super) fn intervals_over(&self, now_ns: u64) -> u64 {
        now_ns.saturating_sub(self.first.at_ns()) / self.interval_ns
    }

    fn since_s(&self, at_ns: u64) -> f64 {
        at_ns.saturating_sub(self.first.at_ns()) as f64 / 1e9
    }

    /// The next reading. Says why its interval has no figures, if it has none.
    pub(super) fn see(&mut self, looked: Looked) -> Option<String> {
        let Looked { taken, samples } = looked;
        self.latest = samples.clone();
        self.samples.add(samples);
        let Some((_, last)) = &self.stretch else {
            self.come_back(Looked { taken, samples: Samples::default() });
            return None;
        };
        let counters = between(last, &taken);
        let anew = anew(&counters);
        let index = self.intervals_over(taken.at_ns() + self.interval_ns / 4).max(1);
        self.vigil.see(&taken);
        match &anew {
            Some(why) => {
                let (from_ns, until_ns) = (last.at_ns(), taken.at_ns());
                self.note_gap(from_ns, until_ns, why);
                self.end_stretch();
                self.stretch = Some((taken.clone(), taken.clone()));
                self.fill(index, &BTreeMap::new());
            }
            None => {
                let figures = self.figures(&counters, last, &taken);
                if let Some((_, last)) = &mut self.stretch {
                    *last = taken.clone();
                }
                self.fill(index, &known_of(figures));
            }
        }
        self.last = taken;
        anew
    }

    /// Rates between two readings.
    fn figures(&self, counters: &Counters, begin: &Taken, end: &Taken) -> Metrics {
        let seconds = end.at_ns().saturating_sub(begin.at_ns()) as f64 / 1e9;
        let mut figures = metrics::of_database(counters, &Cover::all(seconds));
        let delta = match &self.far {
            Some(far) => far_delta(far, begin, end).ok(),
            None => self.same_host.then(|| HostDelta::between(&begin.host, &end.host, seconds)),
        };
        if let Some(delta) = &delta {
            metrics::of_processors(&mut figures, Ok(delta));
            metrics::of_device(&mut figures, Ok(delta));
        }
        if self.latest.count > 0 {
            let value = self.latest.active as f64 / self.latest.count as f64;
            figures.insert(ACTIVE.to_owned(), Metric::Value { value, unit: dyno_record::Unit::Sessions });
        }
        figures
    }

    /// Points up to the one before `until`, with these figures: those of a server that hung stand for all of the time.
    fn fill(&mut self, until: u64, figures: &BTreeMap<String, f64>) {
        let seconds = self.interval_ns as f64 / 1e9;
        for index in self.series.intervals()..until {
            let at_s = index as f64 * seconds;
            for (name, value) in figures {
                self.gauges.entry(name.clone()).or_default().note(at_s, seconds, *value);
            }
            let point = SeriesPoint { at_s, seconds, metrics: figures.clone(), ..SeriesPoint::default() };
            self.series.push(point.clone());
            self.untold.push(point);
        }
    }

    /// The connection is lost.
    pub(super) fn lose(&mut self, looker: &Looker, why: &str) {
        self.leave(looker);
        self.end_stretch();
        self.why_away = why.to_owned();
        self.latest = Samples::default();
    }

    /// Notes what a looker has cost that is not asked any more.
    pub(super) fn leave(&mut self, looker: &Looker) {
        let (commits, looks) = looker.cost();
        self.cost.0 += commits;
        self.cost.1 += looks;
    }

    /// The first reading of a new connection; returns the seconds of which nothing is known.
    pub(super) fn come_back(&mut self, looked: Looked) -> f64 {
        let taken = looked.taken;
        let gap_s = taken.at_ns().saturating_sub(self.last.at_ns()) as f64 / 1e9;
        let why = std::mem::take(&mut self.why_away);
        self.note_gap(self.last.at_ns(), taken.at_ns(), &why);
        let index = self.intervals_over(taken.at_ns() + self.interval_ns / 4);
        self.fill(index, &BTreeMap::new());
        self.vigil.see(&taken);
        self.stretch = Some((taken.clone(), taken.clone()));
        self.last = taken;
        gap_s
    }

    fn note_gap(&mut self, from_ns: u64, until_ns: u64, why: &str) {
        self.gaps_all += 1;
        if self.gaps.len() < GAPS_MAX {
            let seconds = until_ns.saturating_sub(from_ns) as f64 / 1e9;
            self.gaps.push(Gap { at_s: self.since_s(from_ns), seconds, why: why.to_owned() });
        }
    }

    fn end_stretch(&mut self) {
        let Some((first, last)) = self.stretch.take() else { return };
        let seconds = last.at_ns().saturating_sub(first.at_ns()) as f64 / 1e9;
        if seconds > 0.0 {
            self.over.0.push(between(&first, &last));
            self.over.1 += seconds;
            if self.over.0.len() > 1 {
                self.over.0 = vec![sum(std::mem::take(&mut self.over.0))];
            }
        }
    }

    /// How it goes.
    pub(super) fn moment(&self, present: &Present) -> Moment {
        let point = self.series_last();
        let mut waits: Vec<(String, f64)> = match self.latest.count {
            0 => Vec::new(),
            count => {
                let one = |(wait, seen): (&dyno_engine::WaitSample, &u64)| {
                    let name = match wait.class == wait.event {
                        true => wait.event.clone(),
                        false => format!("{}:{}", wait.class, wait.event),
                    };
                    (name, *seen as f64 / count as f64)
                };
                self.latest.events.iter().map(one).collect()
            }
        };
        waits.sort_by(|a, b| b.1.total_cmp(&a.1));
        waits.truncate(WAITS_MAX);
        let elapsed_s = self.since_s(present.clock.now_ns());
        let counters =
            self.stretch.as_ref().map(|(_, last)| Cumulative::of(present.target.url(), &last.database));
        Moment { elapsed_s, total_s: present.length_s, point, waits, classes: self.classes(), counters }
    }

    /// Sessions of the last interval by class of what they waited for.
    fn classes(&self) -> Option<Vec<(String, f64)>> {
        let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
        for (wait, seen) in &self.latest.events {
            *sums.entry(&wait.class).or_default() += seen;
        }
        let count = self.latest.count;
        let mean = |(class, seen): (&str, u64)| (class.to_owned(), seen as f64 / count as f64);
        let mut classes: Vec<(String, f64)> = sums.into_iter().map(mean).collect();
        classes.sort_by(|a, b| b.1.total_cmp(&a.1));
        (count > 0).then_some(classes)
    }

    /// The last interval; nothing of it where the server is away.
    fn series_last(&self) -> Option<SeriesPoint> {
        self.stretch.as_ref().and_then(|_| self.untold.last().cloned())
    }

    /// What has been added to the series since this was last asked.
    pub(super) fn told(&mut self) -> Option<Chunk> {
        let points = std::mem::take(&mut self.untold);
        let first = self.told;
        self.told += points.len() as u64;
        (!points.is_empty()).then_some(Chunk { part: 0, first, points })
    }

    /// Ends after so many intervals.
    pub(super) fn end(&mut self, intervals: u64) -> Option<Chunk> {
        if self.stretch.is_none() && !self.why_away.is_empty() {
            let (why, until_ns) = (std::mem::take(&mut self.why_away), self.tick_ns(intervals.max(1) - 1));
            self.note_gap(self.last.at_ns(), until_ns, &why);
        }
        self.fill(intervals, &BTreeMap::new());
        self.end_stretch();
        self.vigil.end(&self.last);
        self.told()
    }

    /// Counters over all stretches, and their seconds.
    pub(super) fn counters(&mut self) -> (Counters, f64) {
        let mut counters = self.over.0.pop().unwrap_or_default();
        self.vigil.tell_window(&mut counters);
        (counters, self.over.1)
    }

    /// The series and the spreads of its figures.
    pub(super) fn series(&mut self, interval_s: f64) -> (Series, BTreeMap<String, Spread>) {
        let spreads = std::mem::take(&mut self.gauges).into_iter();
        let spreads = spreads.filter_map(|(name, gauge)| Some((name, gauge.spread()?))).collect();
        let series = std::mem::replace(&mut self.series, Overview::new(0));
        (series.into_series(interval_s), spreads)
    }
}

/// Sessions at work, from samples.
pub(super) const ACTIVE: &str = "average_active_sessions";

fn known_of(figures: Metrics) -> BTreeMap<String, f64> {
    figures.into_iter().filter_map(|(name, metric)| Some((name, metric.value()?))).collect()
}

/// Why counters between two readings tell nothing: they started anew.
fn anew(counters: &Counters) -> Option<String> {
    let change = counters.changed(MarkKind::Epoch).next().map(|change| change.name.clone());
    let name = change.or_else(|| counters.falls.first().map(|fall| fall.name.clone()))?;
    Some(format!("counters started anew: {name}"))
}

/// What counters moved by over several stretches. Where they began and ended says nothing any more.
fn sum(stretches: Vec<Counters>) -> Counters {
    let mut stretches = stretches.into_iter();
    let mut all = stretches.next().unwrap_or_default();
    for one in stretches {
        for (counter, moved) in one.portable {
            let sum = match (all.portable.get(&counter), &moved) {
                (Some(CounterDelta::Moved { delta, unit, .. }), CounterDelta::Moved { delta: more, .. }) => {
                    let delta = delta.saturating_add(*more);
                    CounterDelta::Moved { begin: 0, end: delta.max(0) as u64, delta, unit: *unit }
                }
                (Some(absent @ CounterDelta::Absent { .. }), _) => absent.clone(),
                _ => moved,
            };
            all.portable.insert(counter, sum);
        }
        for (name, moved) in one.native {
            *all.native.entry(name).or_default() += moved;
        }
        // Percentiles of several stretches do not follow from theirs.
        all.latencies.clear();
        all.own.clear();
        all.elsewhere.clear();
        all.unread.extend(one.unread);
    }
    all
}
