//! Steps along a curve of sessions: which loads would show its knee, its peak or its spread.

use super::{FoundStep, NextRule};
use crate::number::{percent, sessions};

/// How a command begins that sweeps sessions.
pub(super) const SWEEP_SESSIONS: &str = "dyno sweep --set sweep.sessions=";
/// Rise from the last load but one to the last, %, above which throughput still rises.
const RISES_PCT: f64 = 5.0;
/// Spread of repeats, %, above which more repeats are needed.
const SPREAD_PCT: f64 = 10.0;
/// Loads that a fit of scalability needs.
pub(super) const FIT_LOADS: usize = 6;
/// Repeats for a point with a large spread, and for one that was measured once.
const REPEATS: (usize, usize) = (5, 3);
/// Where sweeps, their loads and their repeats are described.
const SWEEPS: &str = "docs/guides/sweeps.md";
const ANALYSIS: &str = "docs/concepts/analysis.md";

/// A curve along sessions; without loads where it runs along a rate.
#[derive(Debug, Clone, Default)]
pub(crate) struct CurveEvidence {
    /// Sessions and throughput of each load, by rising sessions.
    pub(crate) loads: Vec<(u32, f64)>,
    /// Runs of the best point.
    pub(crate) repeats: usize,
    /// Spread of the best point, %.
    pub(crate) spread_pct: Option<f64>,
    /// Sessions at the knee; absent where none was found.
    pub(crate) bend: Option<u32>,
}

type CurveRule = NextRule<fn(&CurveEvidence) -> Option<FoundStep>>;

pub(super) const RULES: &[CurveRule] = &[
    NextRule {
        name: "no_peak_yet",
        evidence: "throughput of a ramp is highest at its last load, and 5 % higher than at the one before",
        source: ANALYSIS,
        find: no_peak_yet,
    },
    NextRule {
        name: "spread",
        evidence: "repeats of the best point differ by more than 10 %",
        source: SWEEPS,
        find: spread,
    },
    NextRule {
        name: "knee_between_points",
        evidence: "between the knee and the loads beside it is room for another load",
        source: ANALYSIS,
        find: knee_between_points,
    },
    NextRule {
        name: "too_few_loads",
        evidence: "a ramp has fewer than 6 loads, so no scalability law can be fitted",
        source: ANALYSIS,
        find: too_few_loads,
    },
    NextRule {
        name: "measured_once",
        evidence: "a ramp without repeats: its spread is unknown",
        source: SWEEPS,
        find: measured_once,
    },
    NextRule {
        name: "one_load",
        evidence: "only one number of sessions was measured",
        source: ANALYSIS,
        find: one_load,
    },
];

/// A command that sweeps these numbers of sessions.
pub(super) fn sweep_of(loads: &[u32]) -> String {
    let list: Vec<String> = loads.iter().map(u32::to_string).collect();
    format!("{SWEEP_SESSIONS}{}", list.join(","))
}

fn list(loads: &[u32]) -> String {
    loads.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

impl CurveEvidence {
    fn numbers(&self) -> Vec<u32> {
        self.loads.iter().map(|(sessions, _)| *sessions).collect()
    }

    /// The step between two numbers of sessions: all are multiples of it, as those of several schemas
    /// must be.
    fn unit(&self) -> u32 {
        fn divisor(a: u32, b: u32) -> u32 {
            if b == 0 { a } else { divisor(b, a % b) }
        }
        self.numbers().into_iter().fold(0, divisor).max(1)
    }

    /// The multiple of the unit next to the geometric mean of two loads; `None` if there is none
    /// between them.
    fn between(&self, low: u32, high: u32) -> Option<u32> {
        let unit = self.unit();
        let mean = (f64::from(low) * f64::from(high)).sqrt();
        let middle = (mean / f64::from(unit)).round() as u32 * unit;
        (middle > low && middle < high).then_some(middle)
    }
}

fn no_peak_yet(curve: &CurveEvidence) -> Option<FoundStep> {
    let [.., (_, before), (last, most)] = curve.loads.as_slice() else { return None };
    let is_best = curve.loads.iter().all(|(_, value)| value <= most);
    let rises_pct = 100.0 * (most / before - 1.0);
    (is_best && *before > 0.0 && rises_pct >= RISES_PCT).then(|| {
        let further = [last * 2, last * 4];
        let sentence = format!(
            "throughput still rises at {} (+{} %); sweep sessions {} to find the knee",
            sessions(f64::from(*last)),
            percent(rises_pct),
            list(&further)
        );
        (sentence, Some(sweep_of(&[&[*last], &further[..]].concat())))
    })
}

fn spread(curve: &CurveEvidence) -> Option<FoundStep> {
    let pct = curve.spread_pct.filter(|pct| *pct > SPREAD_PCT && curve.repeats < REPEATS.0)?;
    let sentence =
        format!("repeats of the best point differ by {} %; measure {} of each", percent(pct), REPEATS.0);
    Some((sentence, Some(format!("{} --set sweep.repeats={}", sweep_of(&curve.numbers()), REPEATS.0))))
}

fn knee_between_points(curve: &CurveEvidence) -> Option<FoundStep> {
    let bend = curve.bend?;
    let place = curve.loads.iter().position(|(sessions, _)| *sessions == bend)?;
    let (low, high) = (curve.loads.get(place.checked_sub(1)?)?.0, curve.loads.get(place + 1)?.0);
    let loads: Vec<u32> =
        [curve.between(low, bend), curve.between(bend, high)].into_iter().flatten().collect();
    (!loads.is_empty()).then(|| {
        let sentence =
            format!("the knee lies between {low} and {high} sessions; measure {} to narrow it", list(&loads));
        (sentence, Some(sweep_of(&loads)))
    })
}

fn too_few_loads(curve: &CurveEvidence) -> Option<FoundStep> {
    let mut loads = curve.numbers();
    let measured = loads.len();
    if !(2..FIT_LOADS).contains(&measured) {
        return None;
    }
    while loads.len() < FIT_LOADS {
        // The widest gap first; where none has room, beyond the last load.
        let gaps = loads.windows(2).filter_map(|pair| {
            Some((f64::from(pair[1]) / f64::from(pair[0]), curve.between(pair[0], pair[1])?))
        });
        let widest = gaps.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, middle)| middle);
        loads.push(widest.unwrap_or(loads[loads.len() - 1] * 2));
        loads.sort_unstable();
    }
    let sentence = format!("{measured} loads were measured; {FIT_LOADS} allow a fit of scalability");
    Some((sentence, Some(sweep_of(&loads))))
}

fn measured_once(curve: &CurveEvidence) -> Option<FoundStep> {
    (curve.repeats == 1 && curve.loads.len() > 1).then(|| {
        let sentence = format!("each load was measured once; {} repeats show the spread", REPEATS.1);
        (sentence, Some(format!("{} --set sweep.repeats={}", sweep_of(&curve.numbers()), REPEATS.1)))
    })
}

fn one_load(curve: &CurveEvidence) -> Option<FoundStep> {
    let [(load, _)] = curve.loads.as_slice() else { return None };
    let loads = [*load, load * 2, load * 4, load * 8];
    let sentence = "one load was measured; a ramp of sessions shows the knee".to_owned();
    (*load > 0).then(|| (sentence, Some(sweep_of(&loads))))
}
