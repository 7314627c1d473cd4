//! The answer of a curve in one value: capacity, bend, limit, confidence, headroom.

use serde::{Deserialize, Serialize};

use crate::knee::by_kneedle;
use crate::limited::{Confidence, Limited};
use crate::number::{percent, sessions};
use crate::points::{Curve, Point, phrase};

/// Share by which repeats of a point may differ, %, before that makes an answer less sure.
const SPREAD_PCT: f64 = 20.0;

/// A place on a curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// Sessions.
    pub sessions: u32,
    /// The measure there.
    pub value: f64,
}

/// The answer of a curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// What sets the curve apart; empty for the only one.
    pub name: String,
    /// How many points it has.
    pub points: usize,
    /// What is measured: `ops_per_s`.
    pub measure: String,
    /// The most that was reached.
    pub capacity: Place,
    /// Where more sessions begin to pay less than on average (Kneedle); absent where there is no such place.
    pub bend: Option<Place>,
    /// What limited at the most.
    pub limit: Limited,
    /// How sure all of it is: the limit's own confidence, less where repeats lie far apart.
    pub confidence: Confidence,
    /// What confidence rests on, one sentence each.
    pub why: Vec<String>,
    /// What is left of what limits, %; absent where that has no measure.
    pub headroom_pct: Option<f64>,
}

/// The answer of a curve along sessions; none where no point has the measure.
pub fn answer(measure: &str, curve: &Curve<'_>) -> Option<Answer> {
    let known: Vec<(&Point, f64)> =
        curve.points.iter().filter_map(|point| Some((*point, point.get(measure)?))).collect();
    let (best, value) = known.iter().copied().reduce(|best, at| if at.1 > best.1 { at } else { best })?;
    let loads = curve.loads(measure, "service_mean_us");
    // A curve along the rate of an open loop has the same sessions everywhere.
    let rises = loads.windows(2).all(|pair| pair[0].sessions < pair[1].sessions);
    let bend = by_kneedle(&loads).ok().filter(|_| rises);
    let limit = best.limited()?;
    let mut why = vec![match best.runs.len() {
        1 => "measured once".to_owned(),
        runs => format!("{runs} repeats"),
    }];
    let mut confidence = limit.confidence;
    if let Some(spread) = best.estimates.get(measure).and_then(crate::points::Estimate::spread_pct) {
        why.push(format!("they lie {} % apart", percent(spread)));
        if spread > SPREAD_PCT {
            confidence = confidence.min(Confidence::Likely);
        }
    }
    why.extend(limit.spoiled.iter().cloned());
    Some(Answer {
        name: curve.name(),
        points: known.len(),
        measure: measure.to_owned(),
        capacity: Place { sessions: best.sessions, value },
        bend: bend.map(|bend| Place { sessions: bend.sessions.round() as u32, value: bend.throughput }),
        headroom_pct: limit.used_pct.map(|used| (100.0 - used).max(0.0)),
        limit,
        confidence,
        why,
    })
}

impl Answer {
    /// The answer in one sentence: `capacity 31,204 operations/s with 8 sessions; bends at 4 sessions; limited by …`.
    pub fn sentence(&self) -> String {
        let place = |at: &Place| sessions(f64::from(at.sessions));
        let head = if self.name.is_empty() { String::new() } else { format!("{}: ", self.name) };
        let capacity =
            format!("capacity {} with {}", phrase(&self.measure, self.capacity.value), place(&self.capacity));
        let bend = match &self.bend {
            Some(bend) => format!("bends at {}", place(bend)),
            None => "no bend was found".to_owned(),
        };
        let headroom = match self.headroom_pct {
            Some(pct) => format!("; headroom {} %", percent(pct)),
            None => String::new(),
        };
        format!("{head}{capacity}; {bend}; {}{headroom}", self.limit.full())
    }
}

#[cfg(test)]
mod tests {
    use dyno_record::{Metric, RunRecord, Unit, Waits};

    use super::*;
    use crate::fixture;
    use crate::limited::Component;
    use crate::points::{SESSIONS, points};

    /// A run on processors that are busy to `busy_pct`, whose sessions wait for nothing that is known.
    fn run(sessions: u32, ops_per_s: f64, busy_pct: f64) -> RunRecord {
        let mut record = fixture::postgres();
        record.id = format!("run-{sessions}-{ops_per_s}");
        record.plan.run.sessions_per_schema = sessions;
        record.gate.sessions = sessions;
        record.ops.remove("commit");
        record.waits = Waits::Absent { absent: "nobody looked".into() };
        record.metrics.insert("ops_per_s".into(), Metric::Value { value: ops_per_s, unit: Unit::PerSecond });
        let counters = &mut record.hosts[0].counters;
        let capacity_s = counters["processors.capacity_s"];
        let busy_s = capacity_s * busy_pct / 100.0;
        counters.extend([("processors.busy_s".into(), busy_s), ("server.cpu_s".into(), busy_s * 0.9)]);
        record
    }

    fn answer_of(records: &[RunRecord]) -> Answer {
        let points = points(records);
        let curves = points.curves(SESSIONS);
        answer("ops_per_s", &curves[0]).unwrap()
    }

    #[test]
    fn a_curve_has_capacity_bend_limit_confidence_and_headroom() {
        let ramp = [
            run(1, 1_000.0, 20.0),
            run(2, 1_900.0, 40.0),
            run(4, 3_600.0, 80.0),
            run(8, 4_000.0, 96.0),
            run(16, 3_900.0, 97.0),
        ];
        let answer = answer_of(&ramp);
        assert_eq!(answer.capacity, Place { sessions: 8, value: 4_000.0 });
        assert_eq!(answer.bend, Some(Place { sessions: 4, value: 3_600.0 }));
        assert_eq!((answer.limit.by, answer.confidence), (Component::Cpu, Confidence::Sure));
        assert_eq!(answer.headroom_pct.map(f64::round), Some(4.0));
        let said = answer.sentence();
        let begins = "capacity 4,000 operations/s with 8 sessions; bends at 4 sessions; limited by the CPU: ";
        assert!(said.starts_with(begins) && said.ends_with("; headroom 4.0 %"), "{said}");
        let json = serde_json::to_string(&answer).unwrap();
        assert_eq!(serde_json::from_str::<Answer>(&json).unwrap().sentence(), said);
    }

    #[test]
    fn repeats_that_lie_apart_or_disagree_are_less_sure() {
        let sure = [run(4, 1_000.0, 97.0), run(4, 1_010.0, 97.0)];
        assert_eq!(answer_of(&sure).confidence, Confidence::Sure);
        let mut apart = sure.clone();
        apart[1] = run(4, 2_000.0, 97.0);
        assert_eq!(answer_of(&apart).confidence, Confidence::Likely);
        let mut other = sure;
        other[1] = run(4, 1_010.0, 30.0);
        let answer = answer_of(&other);
        assert_eq!((answer.limit.by, answer.confidence), (Component::Cpu, Confidence::Likely));
        assert!(answer.why.iter().any(|why| why == "1 of 2 runs say otherwise: unknown"), "{:?}", answer.why);
    }
}
