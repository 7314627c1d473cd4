//! The answer of a curve in one value: capacity, bend, limit, confidence, headroom.

mod all;
mod tone;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::doubts::{Doubt, Doubts};
use crate::knee::by_kneedle;
use crate::limited::{Confidence, Limited};
use crate::number::{percent, sessions};
use crate::points::{Curve, OPS, Point, phrase};

pub use all::{Answers, WithoutResult};
pub use tone::Tone;

/// Share by which repeats of a point may differ, %, before that makes an answer less sure.
const SPREAD_PCT: f64 = 20.0;
/// The same before it is called noisy.
const QUIET_PCT: f64 = 10.0;
/// Checks of the audit that are named one by one; the list has them all.
const NAMED_MAX: usize = 3;

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
    /// The variant of the platform that it is of, where the curves are of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// How many points it has.
    pub points: usize,
    /// How many runs these points are made of; 0 in conclusions of versions that did not count them.
    #[serde(default)]
    pub runs: usize,
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
    /// What may be thought of it at a glance.
    #[serde(default)]
    pub tone: Tone,
    /// Whether others had part in the measure, or that cannot be excluded.
    #[serde(default)]
    pub marked: bool,
    /// How far the repeats at the most lie apart, %; absent of a single run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread_pct: Option<f64>,
    /// Audit warnings of its runs, each check once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Doubt>,
}

/// The answer of a curve along sessions; none where no point has the measure.
pub fn answer(measure: &str, curve: &Curve<'_>) -> Option<Answer> {
    // More than the rate asks for is a backlog's or chance's, and no capacity.
    let within_rate = |point: &Point, value: f64| match point.limited().and_then(|limit| limit.asked_per_s) {
        Some(asked_per_s) if measure == OPS => value.min(asked_per_s),
        _ => value,
    };
    let known: Vec<(&Point, f64)> = curve
        .points
        .iter()
        .filter_map(|point| point.get(measure).map(|value| (*point, within_rate(point, value))))
        .collect();
    let (best, value) = known.iter().copied().reduce(|best, at| if at.1 > best.1 { at } else { best })?;
    let loads = curve.loads(measure, "service_mean_us");
    // A curve along the rate of an open loop has the same sessions everywhere.
    let rises = loads.windows(2).all(|pair| pair[0].sessions < pair[1].sessions);
    let bend = by_kneedle(&loads).ok().filter(|_| rises);
    let limit = best.limited()?;
    let mut doubts = Doubts::default();
    curve.points.iter().for_each(|point| doubts.join(&point.doubts));
    let spread_pct = best.estimates.get(measure).and_then(crate::points::Estimate::spread_pct);
    let (mut confidence, marked) = (limit.confidence, best.is_marked(measure));
    if spread_pct.is_some_and(|spread| spread > SPREAD_PCT) {
        confidence = confidence.min(Confidence::Likely);
    }
    let mut why = repeats(best, spread_pct);
    why.extend(doubted(&doubts));
    why.extend(limit.spoiled.iter().cloned());
    Some(Answer {
        name: curve.name(),
        variant: curve.variant(),
        points: known.len(),
        runs: doubts.runs,
        measure: measure.to_owned(),
        capacity: Place { sessions: best.sessions, value },
        bend: bend.map(|bend| Place { sessions: bend.sessions.round() as u32, value: bend.throughput }),
        headroom_pct: limit.used_pct.map(|used| (100.0 - used).max(0.0)),
        tone: tone(&doubts, &limit, spread_pct, marked),
        limit,
        confidence,
        why,
        marked,
        spread_pct,
        doubts: doubts.found(),
    })
}

/// How often the most was measured, and how far apart that lies.
fn repeats(best: &Point, spread_pct: Option<f64>) -> Vec<String> {
    let mut why = vec![match best.runs.len() {
        1 => "measured once".to_owned(),
        runs => format!("{runs} repeats"),
    }];
    why.extend(spread_pct.map(|spread| format!("they lie {} % apart", percent(spread))));
    why
}

/// What the audit says, in a sentence.
fn doubted(doubts: &Doubts) -> Option<String> {
    if doubts.imported == doubts.runs {
        return Some("nobody here audited these figures".to_owned());
    }
    let found = doubts.found();
    if found.is_empty() {
        return Some("no audit warnings".to_owned());
    }
    let mut named: Vec<String> = found.iter().take(NAMED_MAX).map(|doubt| doubt.words(doubts.runs)).collect();
    if found.len() > NAMED_MAX {
        named.push(format!("{} more checks", found.len() - NAMED_MAX));
    }
    Some(format!("audit warning: {}", named.join(", ")))
}

/// The colour: a reservation of any kind is one.
fn tone(doubts: &Doubts, limit: &Limited, spread_pct: Option<f64>, marked: bool) -> Tone {
    if doubts.imported > 0 {
        return Tone::Imported;
    }
    let is_noisy = spread_pct.is_some_and(|spread| spread > QUIET_PCT);
    let is_reserved = !doubts.found().is_empty() || doubts.interrupted > 0 || !limit.spoiled.is_empty();
    if is_noisy || is_reserved || marked { Tone::Warned } else { Tone::Good }
}

impl Answer {
    /// The answer in one sentence: `capacity 31,204 operations/s with 8 sessions; bends at 4 sessions; limited by …`.
    pub fn sentence(&self) -> String {
        let place = |at: &Place| sessions(f64::from(at.sessions));
        let head = if self.name.is_empty() { String::new() } else { format!("{}: ", self.name) };
        // The rate asked for was done: what the platform could do beyond it was not measured.
        let least = if self.limit.asked_per_s.is_some() { "at least " } else { "" };
        let capacity = format!(
            "capacity {least}{} with {}",
            phrase(&self.measure, self.capacity.value),
            place(&self.capacity)
        );
        let bend = match &self.bend {
            Some(bend) => format!("bends at {}", place(bend)),
            None => self.no_bend().to_owned(),
        };
        let headroom = match self.headroom_pct {
            Some(pct) => format!("; headroom {} %", percent(pct)),
            None => String::new(),
        };
        format!("{head}{capacity}; {bend}; {}{headroom}", self.limit.full())
    }

    /// Why there is no bend.
    pub fn no_bend(&self) -> &'static str {
        match self.points {
            0 | 1 => "one load was measured, so a bend is not known",
            _ => "no bend was found",
        }
    }

    /// How sure it is and what that rests on: `sure: 3 repeats; they lie 2.10 % apart; no audit warnings`.
    pub fn confidence_words(&self) -> String {
        format!("{}: {}", self.confidence.word(), self.why.join("; "))
    }
}
