//! The conclusion of a sweep: the highest throughput, and for each ramp its petal, its fit and its
//! knees.

use serde::{Deserialize, Serialize};

use super::{Conclusion, ConclusionFigures};
use crate::answer::{CurveSummaries, CurveSummary};
use crate::attribution::mark;
use crate::knee::{self, knee};
use crate::number::{self, time_us};
use crate::petal;
use crate::points::{MeasuredPoint, Points, phrase};
use crate::scalability::scalability;

/// Seed of the intervals of a fit: equal data gives equal intervals.
const FIT_SEED: u64 = 1;
const MEASURE: &str = "ops_per_s";

/// A point on a ramp.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RampPoint {
    /// Number of sessions; not whole for a point of a fitted curve.
    pub sessions: f64,
    pub ops_per_s: f64,
}

/// The point with the highest throughput.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BestPoint {
    /// Each axis and its value at this point.
    pub settings: Vec<(String, String)>,
    pub sessions: u32,
    /// Operations per second: the median over its runs, up to the requested rate.
    pub ops_per_s: f64,
    /// 99th percentile of service time, µs.
    pub service_p99_us: Option<f64>,
    /// Number of runs at this point.
    pub runs: usize,
}

/// The result of one ramp.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RampSummary {
    /// What distinguishes the ramp; empty for a single one.
    pub name: String,
    /// The law that fits; absent where none does, or the data contradicts it.
    pub law: Option<String>,
    /// Share of the variance that the law explains.
    pub r_squared: Option<f64>,
    pub knee: Option<RampPoint>,
    /// The peak of the Universal Scalability Law.
    pub peak: Option<RampPoint>,
}

/// The figures of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SweepResult {
    /// Number of points with a result.
    pub points: usize,
    /// Number of runs without a result.
    pub left_out: usize,
    /// The highest throughput; absent where no run has a result.
    pub most: Option<BestPoint>,
    pub ramps: Vec<RampSummary>,
    /// The summary of each ramp, or of the points in a sweep without a ramp; it names the limit
    /// first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<CurveSummary>,
}

/// The conclusion of the sweep named `of`.
pub fn conclusion(campaign_id: &str, stopped: Option<String>, points: &Points) -> Conclusion {
    let CurveSummaries { curves: answers, next, .. } = CurveSummaries::of(points);
    let mut words: Vec<String> = of_ramps_or_best(&answers).map(CurveSummary::sentence).collect();
    let (ramps, of_ramps) = ramps(points);
    words.extend(of_ramps);
    let measures = petal::iops(points);
    let petals = petal::petals(points, measures);
    words.extend(petals.iter().filter(|petal| petal.points.len() > 1).map(|petal| petal.sentence(measures)));
    words.extend(petal::page_cache_words(points, measures.source));
    let sweep = SweepResult {
        points: points.points.len(),
        left_out: points.left_out.len(),
        most: most(points),
        ramps,
        answers,
    };
    Conclusion::new(campaign_id, stopped, line(&sweep), words, ConclusionFigures::Sweep(sweep))
        .followed_by(next)
}

fn line(sweep: &SweepResult) -> String {
    let Some(most) = &sweep.most else {
        return "no run has a result".to_owned();
    };
    let short_key = |key: &str| key.rsplit_once('.').map_or(key, |(_, own)| own).to_owned();
    let other_settings = most.settings.iter().filter(|(axis, _)| axis != crate::points::SESSIONS);
    let at: String = other_settings.map(|(axis, value)| format!(", {} {value}", short_key(axis))).collect();
    let p99 = most.service_p99_us.map_or_else(String::new, |us| format!("; p99 {}", time_us(us)));
    let with = number::sessions(f64::from(most.sessions));
    let is_marked =
        sweep.answers.iter().any(|answer| answer.marked && answer.capacity.value == most.ops_per_s);
    let rate = mark(phrase(MEASURE, most.ops_per_s), is_marked);
    format!("highest throughput: {rate} with {with}{at}{p99}")
}

fn most(points: &Points) -> Option<BestPoint> {
    let rate = |point: &&MeasuredPoint| point.capacity(MEASURE).unwrap_or(f64::NEG_INFINITY);
    let point = points.points.iter().max_by(|a, b| rate(a).total_cmp(&rate(b)))?;
    let settings = points.axes.iter().zip(&point.values);
    Some(BestPoint {
        settings: settings.map(|(axis, value)| (axis.path.clone(), value.text.clone())).collect(),
        sessions: point.sessions,
        ops_per_s: point.capacity(MEASURE)?,
        service_p99_us: point.get("service_p99_us"),
        runs: point.runs.len(),
    })
}

/// The summaries of curves with more than one point; without such a curve, the one with the highest
/// capacity.
fn of_ramps_or_best(answers: &[CurveSummary]) -> impl Iterator<Item = &CurveSummary> {
    let is_ramp = |answer: &&CurveSummary| answer.points > 1;
    let has_ramp = answers.iter().any(|answer| is_ramp(&answer));
    let most = answers.iter().max_by(|a, b| a.capacity.value.total_cmp(&b.capacity.value));
    answers.iter().filter(is_ramp).chain(most.filter(|_| !has_ramp))
}

/// Each ramp, and its fit and its knees in words.
fn ramps(points: &Points) -> (Vec<RampSummary>, Vec<String>) {
    let (mut ramps, mut words) = (Vec::new(), Vec::new());
    for curve in points.curves(points.load_axis()).into_iter().filter(|curve| curve.points.len() > 1) {
        let name = curve.name();
        let head = if name.is_empty() { String::new() } else { format!("{name}: ") };
        let loads = curve.loads(MEASURE, "service_mean_us");
        let fit = scalability(&loads, FIT_SEED);
        words.push(match &fit {
            Ok(fit) => format!("{head}{}", fit.sentence(MEASURE)),
            Err(error) => format!("{head}{error}"),
        });
        let knees = knee(&loads, &fit, None);
        let [kneedle, usl, _] = knees.sentences(MEASURE);
        words.push(format!("{head}{kneedle}"));
        if fit.is_ok() {
            words.push(format!("{head}{usl}"));
        }
        let shown = fit.as_ref().ok().map(|fit| (fit, fit.best())).filter(|(fit, best)| fit.shows(best));
        let ramp_point = |answer: &knee::KneeResult| {
            let point = answer.as_ref().ok()?;
            Some(RampPoint { sessions: point.sessions, ops_per_s: point.throughput })
        };
        ramps.push(RampSummary {
            name,
            law: shown.map(|(_, best)| best.law.name().to_owned()),
            r_squared: shown.map(|(_, best)| best.r_squared),
            knee: ramp_point(&knees.kneedle),
            peak: ramp_point(&knees.usl_peak),
        });
    }
    (ramps, words)
}
