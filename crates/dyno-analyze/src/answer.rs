//! The answer of a curve in one value: capacity, bend, limit, confidence, headroom.

use serde::{Deserialize, Serialize};

use crate::knee::{SENSITIVITY, kneedle};
use crate::limited::{Confidence, Limited};
use crate::number::{percent, sessions};
use crate::points::{Point, phrase};

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

/// The answer of a curve whose points are in order of sessions; none where no point has the measure.
pub fn answer(name: &str, measure: &str, points: &[&Point]) -> Option<Answer> {
    let known: Vec<(&Point, f64)> =
        points.iter().filter_map(|point| Some((*point, point.get(measure)?))).collect();
    let (best, value) = known.iter().copied().reduce(|best, at| if at.1 > best.1 { at } else { best })?;
    let loads: Vec<f64> = known.iter().map(|(point, _)| f64::from(point.sessions)).collect();
    let values: Vec<f64> = known.iter().map(|(_, value)| *value).collect();
    let bend = kneedle(&loads, &values, SENSITIVITY).and_then(|at| known.get(at));
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
        name: name.to_owned(),
        points: known.len(),
        measure: measure.to_owned(),
        capacity: Place { sessions: best.sessions, value },
        bend: bend.map(|(point, value)| Place { sessions: point.sessions, value: *value }),
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
            Some(pct) => format!("; headroom {} % of it", percent(pct)),
            None => String::new(),
        };
        format!("{head}{capacity}; {bend}; {}{headroom}", self.limit.full())
    }
}
