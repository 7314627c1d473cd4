//! Compares what a platform can do with what is used: measured maxima beside present use, component
//! by component.
//!
//! Only figures of the same name and unit are compared, and only where they describe the same thing
//! on both sides. All others are listed with the reason. A measured maximum may be no true maximum,
//! because the load could have risen further or something else limited it. Then it is *at least*
//! that high, and a share of it at most that large.
//!
//! | file | job |
//! | --- | --- |
//! | `part` | the components, their figures, and what shows that one was the limit |
//! | `ceiling` | the highest measured value of a figure, and the knee of that curve |
//! | `usage` | peak, 95th percentile and mean of the same figure in present use |
//! | `growth` | whether peaks rise from day to day, and when they reach a limit |
//! | `platform` | whether both sides are of the same platform |
//! | `next` | what the rules of next steps ask |

mod ceiling;
mod growth;
mod next;
mod part;
mod platform;
#[cfg(test)]
mod tests;
mod usage;

use std::collections::BTreeMap;

use dyno_record::RunRecord;
use serde::Serialize;

use crate::next::NextStep;
use crate::number::{figure, percent, span_s};
pub use ceiling::Ceiling;
pub use growth::{DAYS_MIN, Growth, growth};
pub use usage::Used;

/// Shares of a limit in present use, %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CapacityShare {
    pub peak: f64,
    /// The share that is not exceeded in 95 % of the time; absent where that is unknown.
    pub p95: Option<f64>,
    pub mean: f64,
}

/// One component: its measured maximum beside its present use.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CapacityRow {
    /// The component, for example `random reads`.
    pub part: String,
    /// The figure of both sides, by its name in records.
    pub metric: String,
    pub unit: String,
    pub ceiling: Ceiling,
    pub used: Used,
    /// Shares of the knee; absent without a knee.
    pub of_knee_pct: Option<CapacityShare>,
    /// Shares of the measured maximum: upper bounds where the true maximum may be higher.
    pub of_most_pct: CapacityShare,
    /// Whether peaks rise, and when they reach the knee, or the maximum where there is no knee.
    pub growth: Growth,
    /// What qualifies the figures, one sentence each.
    pub notes: Vec<String>,
}

/// All components that can be compared, and why the others cannot.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CapacityReport {
    /// The result in one sentence.
    pub line: String,
    /// The measured platform, in words.
    pub measured_on: String,
    /// The platform in use, in words.
    pub used_on: String,
    /// The differences between both platforms, one sentence each.
    pub differ: Vec<String>,
    /// Comparable components, the fullest first. Those whose limit was not shown to be a true
    /// maximum come last.
    pub rows: Vec<CapacityRow>,
    /// Components that cannot be compared, each with the reason.
    pub left_out: Vec<(String, String)>,
    /// What to do next; at most three steps.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<NextStep>,
}

/// Compares the `measured` maxima with the present `use_of` the platform. `keys` are the key
/// figures of a suite's tests, by test name.
pub fn capacity(
    measured: &[RunRecord],
    use_of: &[RunRecord],
    keys: &BTreeMap<String, String>,
) -> CapacityReport {
    let curves = ceiling::curves(measured);
    let platforms = platform::compare_platforms(measured, use_of);
    let (mut rows, mut left_out) = (Vec::new(), Vec::new());
    for part in &part::PARTS {
        let row = platforms.fits(part).and_then(|()| {
            let ceiling = ceiling::ceiling(part, &curves, platforms.cpus_measured, keys)?;
            let used = usage::used(part, use_of)?;
            row(part, ceiling, used, use_of)
        });
        match row {
            Ok(row) => rows.push(row),
            Err(why) => left_out.push((part.name.to_owned(), why)),
        }
    }
    left_out.push(("network".to_owned(), "no record reports its traffic".to_owned()));
    rows.sort_by(|a: &CapacityRow, b| {
        b.is_sure().cmp(&a.is_sure()).then(b.fullness().total_cmp(&a.fullness()))
    });
    let next = next::steps(&rows, &platforms.differ, measured, use_of);
    CapacityReport {
        next,
        line: line(&rows),
        measured_on: platform::words(measured),
        used_on: platform::words(use_of),
        differ: platforms.differ,
        rows,
        left_out,
    }
}

fn row(
    part: &part::CapacityComponent,
    ceiling: Ceiling,
    used: Used,
    use_of: &[RunRecord],
) -> Result<CapacityRow, String> {
    if ceiling.unit != used.unit {
        return Err(format!("it was measured in {}, and use is reported in {}", ceiling.unit, used.unit));
    }
    let share = |limit: f64| CapacityShare {
        peak: 100.0 * used.peak / limit,
        p95: used.p95.map(|p95| 100.0 * p95 / limit),
        mean: 100.0 * used.mean / limit,
    };
    if !ceiling.is_most && used.peak > ceiling.most {
        return Err(format!(
            "use is {} {} at the peak, more than the highest measured value ({}), which was not shown to be \
             the maximum",
            figure(used.peak),
            used.unit,
            figure(ceiling.most)
        ));
    }
    let limit = ceiling.knee.or(ceiling.is_most.then_some(ceiling.most));
    Ok(CapacityRow {
        part: part.name.to_owned(),
        metric: part.metric.to_owned(),
        unit: used.unit.clone(),
        of_knee_pct: ceiling.knee.map(share),
        of_most_pct: share(ceiling.most),
        growth: growth(&used.days, limit),
        notes: usage::notes(part, use_of, &ceiling),
        ceiling,
        used,
    })
}

impl CapacityRow {
    /// The share of the knee at the peak, or of the maximum where there is no knee, %.
    pub fn fullness(&self) -> f64 {
        self.of_knee_pct.as_ref().unwrap_or(&self.of_most_pct).peak
    }

    /// Whether that share refers to a true maximum; otherwise it is an upper bound.
    pub fn is_sure(&self) -> bool {
        self.ceiling.knee.is_some() || self.ceiling.is_most
    }

    /// What the shares refer to: `knee`, `most`, `least known`.
    pub fn of(&self) -> &'static str {
        match (self.ceiling.knee, self.ceiling.is_most) {
            (Some(_), _) => "the knee",
            (None, true) => "the maximum",
            (None, false) => "the highest measured value",
        }
    }
}

fn line(rows: &[CapacityRow]) -> String {
    let Some(first) = rows.first() else { return "nothing can be compared".to_owned() };
    let mut line = format!(
        "{} first: {}{} % of {} ({} {}) at the peak, {}",
        first.part,
        if first.is_sure() { "" } else { "at most " },
        percent(first.fullness()),
        first.of(),
        figure(first.ceiling.knee.unwrap_or(first.ceiling.most)),
        first.unit,
        first.used.peak_words()
    );
    let soonest = rows.iter().filter_map(|row| Some((row, row.growth.days_to_limit()?)));
    if let Some((row, left)) = soonest.min_by(|a, b| a.1.days.total_cmp(&b.1.days)) {
        line.push_str(&format!("; at the trend {} reaches its limit first, in {}", row.part, left.words()));
    }
    if let Some((seconds, days)) = too_short(rows) {
        let days_word = if days == 1 { "day" } else { "days" };
        line.push_str(&format!(
            "; use covers too little time for a trend: {} on {days} {days_word}, at least {DAYS_MIN} are needed",
            span_s(seconds)
        ));
    }
    line
}

/// The longest use of a component, s, and its days, if no component has days enough for a trend.
pub(crate) fn too_short(rows: &[CapacityRow]) -> Option<(f64, usize)> {
    let uses = rows.iter().map(|row| match row.growth {
        Growth::TooFew { days } => Some((row.used.seconds, days)),
        _ => None,
    });
    let uses: Vec<(f64, usize)> = uses.collect::<Option<_>>()?;
    uses.into_iter().max_by(|a, b| a.1.cmp(&b.1).then(a.0.total_cmp(&b.0)))
}
