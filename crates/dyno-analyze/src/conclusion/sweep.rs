//! The answer of a sweep: the most that was reached, and of each ramp its petal, its fit and its knees.

use serde::{Deserialize, Serialize};

use super::{Conclusion, Figures};
use crate::answer::{Answer, Answers};
use crate::knee::{self, knee};
use crate::number::{self, time_us};
use crate::petal;
use crate::points::{Point, Points, phrase};
use crate::scalability::scalability;

/// Makes the intervals of a fit the same each time.
const FIT_SEED: u64 = 1;
const MEASURE: &str = "ops_per_s";

/// A point on a ramp.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RampPoint {
    /// Sessions.
    pub sessions: f64,
    /// Operations per second.
    pub ops_per_s: f64,
}

/// The highest throughput.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Most {
    /// Each axis and the value there.
    pub settings: Vec<(String, String)>,
    /// Sessions.
    pub sessions: u32,
    /// Operations per second: the median over its runs.
    pub ops_per_s: f64,
    /// 99th percentile of service time, µs.
    pub service_p99_us: Option<f64>,
    /// Its runs.
    pub runs: usize,
}

/// What is said of one ramp.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ramp {
    /// What sets it apart; empty for the only one.
    pub name: String,
    /// The law that fits; absent where none does, or the data contradicts it.
    pub law: Option<String>,
    /// Share of the variance that the law explains.
    pub r_squared: Option<f64>,
    /// The knee by Kneedle.
    pub knee: Option<RampPoint>,
    /// The peak of the Universal Scalability Law.
    pub peak: Option<RampPoint>,
}

/// The figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sweep {
    /// Points with a result.
    pub points: usize,
    /// Runs that are no result.
    pub left_out: usize,
    /// The highest throughput; absent where no run has a result.
    pub most: Option<Most>,
    /// Each ramp.
    pub ramps: Vec<Ramp>,
    /// The answer of each ramp, and of a sweep without one that of its points; what limits first of all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Answer>,
}

/// The conclusion of the sweep named `of`.
pub fn conclusion(of: &str, stopped: Option<String>, points: &Points) -> Conclusion {
    let answers = Answers::of(points).curves;
    let mut words: Vec<String> = of_ramps_or_best(&answers).map(Answer::sentence).collect();
    let (ramps, of_ramps) = ramps(points);
    words.extend(of_ramps);
    let measures = petal::iops(points);
    let petals = petal::petals(points, measures);
    words.extend(petals.iter().filter(|petal| petal.points.len() > 1).map(|petal| petal.sentence(measures)));
    words.extend(petal::page_cache_words(points, measures.source));
    let sweep = Sweep {
        points: points.points.len(),
        left_out: points.left_out.len(),
        most: most(points),
        ramps,
        answers,
    };
    Conclusion::new(of, stopped, line(&sweep), words, Figures::Sweep(sweep))
}

fn line(sweep: &Sweep) -> String {
    let Some(most) = &sweep.most else {
        return "no run has a result".to_owned();
    };
    let own = |key: &str| key.rsplit_once('.').map_or(key, |(_, own)| own).to_owned();
    let others = most.settings.iter().filter(|(axis, _)| axis != crate::points::SESSIONS);
    let at: String = others.map(|(axis, value)| format!(", {} {value}", own(axis))).collect();
    let p99 =
        most.service_p99_us.map_or_else(String::new, |us| format!("; 99 % of them within {}", time_us(us)));
    let with = number::sessions(f64::from(most.sessions));
    format!("at most {} with {with}{at}{p99}", phrase(MEASURE, most.ops_per_s))
}

fn most(points: &Points) -> Option<Most> {
    let rate = |point: &&Point| point.get(MEASURE).unwrap_or(f64::NEG_INFINITY);
    let point = points.points.iter().max_by(|a, b| rate(a).total_cmp(&rate(b)))?;
    let settings = points.axes.iter().zip(&point.values);
    Some(Most {
        settings: settings.map(|(axis, value)| (axis.path.clone(), value.text.clone())).collect(),
        sessions: point.sessions,
        ops_per_s: point.get(MEASURE)?,
        service_p99_us: point.get("service_p99_us"),
        runs: point.runs.len(),
    })
}

/// Those of curves that have more than one point; where none has, that of the most.
fn of_ramps_or_best(answers: &[Answer]) -> impl Iterator<Item = &Answer> {
    let is_ramp = |answer: &&Answer| answer.points > 1;
    let any = answers.iter().any(|answer| is_ramp(&answer));
    let most = answers.iter().max_by(|a, b| a.capacity.value.total_cmp(&b.capacity.value));
    answers.iter().filter(is_ramp).chain(most.filter(|_| !any))
}

/// Each ramp, and its fit and its knees in words.
fn ramps(points: &Points) -> (Vec<Ramp>, Vec<String>) {
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
        let found = knee(&loads, &fit, None);
        let [kneedle, usl, _] = found.sentences(MEASURE);
        words.push(format!("{head}{kneedle}"));
        if fit.is_ok() {
            words.push(format!("{head}{usl}"));
        }
        let shown = fit.as_ref().ok().map(|fit| (fit, fit.best())).filter(|(fit, best)| fit.shows(best));
        let ramp_point = |answer: &knee::Answer| {
            let point = answer.as_ref().ok()?;
            Some(RampPoint { sessions: point.sessions, ops_per_s: point.throughput })
        };
        ramps.push(Ramp {
            name,
            law: shown.map(|(_, best)| best.law.name().to_owned()),
            r_squared: shown.map(|(_, best)| best.r_squared),
            knee: ramp_point(&found.kneedle),
            peak: ramp_point(&found.usl_peak),
        });
    }
    (ramps, words)
}
