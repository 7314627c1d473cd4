//! The summary of a curve in one value: capacity, knee, bottleneck, confidence, headroom.

mod all;
mod tone;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::audit_warnings::{AuditWarning, AuditWarnings};
use crate::knee::by_kneedle;
use crate::limited::{Bottleneck, Confidence};
use crate::next::{CurveEvidence, NextStep, after_curve};
use crate::number::{percent, sessions};
use crate::points::{MeasuredCurve, MeasuredPoint, phrase};

pub use all::{CurveSummaries, RunsWithoutResult};
pub use tone::Tone;

/// Spread of a point's repeats, %, above which the confidence drops.
const SPREAD_PCT: f64 = 20.0;
/// Spread of a point's repeats, %, above which the result is called noisy.
const QUIET_PCT: f64 = 10.0;
/// Most audit checks that the summary names; the audit list has all of them.
const NAMED_MAX: usize = 3;

/// A point on a curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    pub sessions: u32,
    /// The measure at that number of sessions.
    pub value: f64,
}

/// The summary of one curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CurveSummary {
    /// What distinguishes this curve from the others; empty for a single curve.
    pub name: String,
    /// The variant of the platform, where the curves belong to several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    pub points: usize,
    /// Number of runs behind these points; 0 in records of versions that did not count them.
    #[serde(default)]
    pub runs: usize,
    /// The measure, for example `ops_per_s`.
    pub measure: String,
    /// The point with the highest throughput; of a search, among the loads that keep its limits.
    pub capacity: CurvePoint,
    /// The limits of a search, which the capacity keeps: `p99 <= 2ms`; absent elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
    /// Where more sessions add less than they do on average (Kneedle); absent where there is no
    /// such point.
    pub bend: Option<CurvePoint>,
    /// What limited the point with the highest throughput.
    pub limit: Bottleneck,
    /// The limit's own confidence, lowered where repeats differ much.
    pub confidence: Confidence,
    /// The reasons for the confidence, one sentence each.
    pub why: Vec<String>,
    /// What is left of the limiting component, %; absent where it has no measure.
    pub headroom_pct: Option<f64>,
    /// The color in which the summary is shown.
    #[serde(default)]
    pub tone: Tone,
    /// Whether the measure includes background activity, or that cannot be excluded.
    #[serde(default)]
    pub marked: bool,
    /// Spread of the repeats at the highest point, %; absent for a single run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread_pct: Option<f64>,
    /// Audit warnings of its runs, each check once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<AuditWarning>,
    /// What to do next; those of all curves are in [`CurveSummaries::next`].
    #[serde(skip)]
    pub next: Vec<NextStep>,
}

/// The summary of a curve along sessions; `None` where no point counts that has the measure. Only
/// points that `counts` accepts are capacity; all points shape the curve.
pub fn answer(
    measure: &str,
    curve: &MeasuredCurve<'_>,
    counts: impl Fn(&MeasuredPoint) -> bool,
) -> Option<CurveSummary> {
    let measured_points: Vec<(&MeasuredPoint, f64)> =
        curve.points.iter().filter_map(|point| Some((*point, point.capacity(measure)?))).collect();
    let candidates = measured_points.iter().copied().filter(|(point, _)| counts(point));
    let (best, value) = candidates.reduce(|best, at| if at.1 > best.1 { at } else { best })?;
    let loads = curve.loads(measure, "service_mean_us");
    // A curve along the rate of an open loop has the same number of sessions at each point.
    let rises = loads.windows(2).all(|pair| pair[0].sessions < pair[1].sessions);
    let bend = by_kneedle(&loads).ok();
    let limit = best.limited()?;
    let mut doubts = AuditWarnings::default();
    curve.points.iter().for_each(|point| doubts.merge(&point.doubts));
    let spread_pct = best.estimates.get(measure).and_then(crate::points::Estimate::spread_pct);
    let (mut confidence, marked) = (limit.confidence, best.is_marked(measure));
    if spread_pct.is_some_and(|spread| spread > SPREAD_PCT) {
        confidence = confidence.min(Confidence::Likely);
    }
    let evidence = CurveEvidence {
        // Along a rate, or where a rate was reached, the number of sessions says nothing.
        loads: match rises && limit.asked_per_s.is_none() {
            true => measured_points.iter().map(|(point, value)| (point.sessions, *value)).collect(),
            false => Vec::new(),
        },
        repeats: best.runs.len(),
        spread_pct,
        bend: bend.map(|bend| bend.sessions.round() as u32),
    };
    let next = match doubts.imported {
        0 => after_curve(&evidence, &best.next),
        _ => Vec::new(),
    };
    let mut why = repeat_sentences(best, spread_pct);
    why.extend(warning_sentence(&doubts));
    why.extend(limit.spoiled.iter().cloned());
    Some(CurveSummary {
        name: curve.name(),
        variant: curve.variant(),
        points: measured_points.len(),
        runs: doubts.runs,
        measure: measure.to_owned(),
        capacity: CurvePoint { sessions: best.sessions, value },
        within: None,
        bend: bend.map(|bend| CurvePoint { sessions: bend.sessions.round() as u32, value: bend.throughput }),
        headroom_pct: limit.used_pct.map(|used| (100.0 - used).max(0.0)),
        tone: tone(&doubts, &limit, spread_pct, marked),
        limit,
        confidence,
        why,
        marked,
        spread_pct,
        doubts: doubts.by_severity(),
        next,
    })
}

/// How often the highest point was measured, and how far these runs differ.
fn repeat_sentences(best: &MeasuredPoint, spread_pct: Option<f64>) -> Vec<String> {
    let mut why = vec![match best.runs.len() {
        1 => "measured once".to_owned(),
        runs => format!("{runs} repeats"),
    }];
    why.extend(spread_pct.map(|spread| format!("spread {} %", percent(spread))));
    why
}

/// The audit warnings in one sentence.
fn warning_sentence(doubts: &AuditWarnings) -> Option<String> {
    if doubts.imported == doubts.runs {
        return Some("these figures are not audited".to_owned());
    }
    let audit_warnings = doubts.by_severity();
    if audit_warnings.is_empty() {
        return Some("no audit warnings".to_owned());
    }
    let mut named: Vec<String> =
        audit_warnings.iter().take(NAMED_MAX).map(|doubt| doubt.words(doubts.runs)).collect();
    if audit_warnings.len() > NAMED_MAX {
        let more = audit_warnings.len() - NAMED_MAX;
        named.push(format!("{more} more {}", if more == 1 { "check" } else { "checks" }));
    }
    Some(format!("audit warning: {}", named.join(", ")))
}

/// The tone: any reservation lowers it.
fn tone(doubts: &AuditWarnings, limit: &Bottleneck, spread_pct: Option<f64>, marked: bool) -> Tone {
    if doubts.imported > 0 {
        return Tone::Imported;
    }
    let is_noisy = spread_pct.is_some_and(|spread| spread > QUIET_PCT);
    let is_reserved = !doubts.by_severity().is_empty() || doubts.interrupted > 0 || !limit.spoiled.is_empty();
    if is_noisy || is_reserved || marked { Tone::Warned } else { Tone::Good }
}

impl CurveSummary {
    /// What lowers the tone besides audit warnings and the bottleneck, in a few words each.
    pub fn reservations(&self) -> Vec<String> {
        let spread = self.spread_pct.filter(|spread| *spread > QUIET_PCT);
        let spread = spread.map(|spread| format!("repeats differ by {} %", percent(spread)));
        let marked = self.marked.then(|| "may include other load or be slowed by it".to_owned());
        spread.into_iter().chain(marked).collect()
    }

    /// The summary in one sentence:
    /// `capacity 31,204 operations/s with 8 sessions; knee at 4 sessions; limited by …`.
    pub fn sentence(&self) -> String {
        let place = |at: &CurvePoint| sessions(f64::from(at.sessions));
        let head = if self.name.is_empty() { String::new() } else { format!("{}: ", self.name) };
        // The requested rate was reached: the capacity beyond it was not measured.
        let least = if self.limit.asked_per_s.is_some() { "at least " } else { "" };
        let capacity = format!(
            "capacity {least}{} with {}{}",
            phrase(&self.measure, self.capacity.value),
            place(&self.capacity),
            self.within_words()
        );
        let bend = match &self.bend {
            Some(bend) => format!("knee at {}", place(bend)),
            None => format!("knee {}", self.no_bend()),
        };
        let headroom = match self.headroom_pct {
            Some(pct) => format!("; headroom {} %", percent(pct)),
            None => String::new(),
        };
        format!("{head}{capacity}; {bend}; {}{headroom}", self.limit.full())
    }

    /// The limits that the capacity keeps, after its number of sessions; empty where there are none.
    pub fn within_words(&self) -> String {
        self.within.as_ref().map_or_else(String::new, |limits| format!(", within {limits}"))
    }

    /// Why there is no knee, after the word "knee".
    pub fn no_bend(&self) -> &'static str {
        match self.points {
            0 | 1 => "unknown: only one load was measured",
            2 => "unknown: two loads are too few",
            _ => "none found in the measured range",
        }
    }

    /// The confidence with its reasons:
    /// `certain: 3 repeats; spread 2.1 %; no audit warnings`.
    pub fn confidence_words(&self) -> String {
        format!("{}: {}", self.confidence.word(), self.why.join("; "))
    }
}
