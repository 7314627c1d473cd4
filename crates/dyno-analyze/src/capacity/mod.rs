//! What a platform can do against what is made of it: measured maxima beside present use, component by component.
//!
//! Only figures of the same name and unit are held against each other, and only where they are of the same thing on both sides; all
//! others are listed with the reason. A maximum that was not shown to be one (load could have risen further, or something else
//! limited it) is *at least* so much, and a share of it at most so much.
//!
//! | file | job |
//! | --- | --- |
//! | `part` | the components, their figures, and what shows that one was at its end |
//! | `ceiling` | the most that was measured of a figure, and the knee of that curve |
//! | `used` | peak, 95th percentile and mean of the same figure in present use |
//! | `growth` | whether peaks rise from day to day, and when they reach a limit |
//! | `platform` | whether both sides are of the same platform |

mod ceiling;
mod growth;
mod part;
mod platform;
#[cfg(test)]
mod tests;
mod used;

use std::collections::BTreeMap;

use dyno_record::RunRecord;
use serde::Serialize;

use crate::number::{figure, percent};
pub use ceiling::Ceiling;
pub use growth::{DAYS_MIN, Growth, growth};
pub use used::Used;

/// Shares of a limit in present use, %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Share {
    /// At the peak.
    pub peak: f64,
    /// 95 % of the time not above this; absent where that is not known.
    pub p95: Option<f64>,
    /// On average.
    pub mean: f64,
}

/// One component.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Its name: `random reads`.
    pub part: String,
    /// The figure of both sides, by its name in records.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// What was measured.
    pub ceiling: Ceiling,
    /// What is used.
    pub used: Used,
    /// Shares of the knee; absent where there is none.
    pub of_knee_pct: Option<Share>,
    /// Shares of the most that was measured: at most so much, where that is at least so much.
    pub of_most_pct: Share,
    /// Whether peaks rise, and when they reach the knee, or the most where there is no knee.
    pub growth: Growth,
    /// What has to be known of the figures.
    pub notes: Vec<String>,
}

/// All components.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Capacity {
    /// The answer in one sentence.
    pub line: String,
    /// On what it was measured.
    pub measured_on: String,
    /// What is used.
    pub used_on: String,
    /// In what both platforms differ, one sentence each.
    pub differ: Vec<String>,
    /// The components that can be compared, the fullest first; those whose limit was not shown to be one behind them.
    pub rows: Vec<Row>,
    /// Those that cannot, each with the reason.
    pub left_out: Vec<(String, String)>,
}

/// Holds what was `measured` against present `use_of` it. `keys` are the key figures of a suite's tests by their names.
pub fn capacity(measured: &[RunRecord], use_of: &[RunRecord], keys: &BTreeMap<String, String>) -> Capacity {
    let curves = ceiling::curves(measured);
    let both = platform::both(measured, use_of);
    let (mut rows, mut left_out) = (Vec::new(), Vec::new());
    for part in &part::PARTS {
        let row = both.fits(part).and_then(|()| {
            let ceiling = ceiling::ceiling(part, &curves, both.cpus_measured, keys)?;
            let used = used::used(part, use_of)?;
            row(part, ceiling, used, use_of)
        });
        match row {
            Ok(row) => rows.push(row),
            Err(why) => left_out.push((part.name.to_owned(), why)),
        }
    }
    left_out.push(("network".to_owned(), "no record tells of its traffic".to_owned()));
    rows.sort_by(|a: &Row, b| b.is_sure().cmp(&a.is_sure()).then(b.fullness().total_cmp(&a.fullness())));
    Capacity {
        line: line(&rows),
        measured_on: platform::words(measured),
        used_on: platform::words(use_of),
        differ: both.differ,
        rows,
        left_out,
    }
}

fn row(part: &part::Part, ceiling: Ceiling, used: Used, use_of: &[RunRecord]) -> Result<Row, String> {
    if ceiling.unit != used.unit {
        return Err(format!("it was measured in {}, and use is told in {}", ceiling.unit, used.unit));
    }
    let share = |limit: f64| Share {
        peak: 100.0 * used.peak / limit,
        p95: used.p95.map(|p95| 100.0 * p95 / limit),
        mean: 100.0 * used.mean / limit,
    };
    if !ceiling.is_most && used.peak > ceiling.most {
        return Err(format!(
            "use is {} {} at the peak, more than what was reached ({}), and that was not shown to be the most",
            figure(used.peak),
            used.unit,
            figure(ceiling.most)
        ));
    }
    let limit = ceiling.knee.or(ceiling.is_most.then_some(ceiling.most));
    Ok(Row {
        part: part.name.to_owned(),
        metric: part.metric.to_owned(),
        unit: used.unit.clone(),
        of_knee_pct: ceiling.knee.map(share),
        of_most_pct: share(ceiling.most),
        growth: growth(&used.days, limit),
        notes: used::notes(part, use_of, &ceiling),
        ceiling,
        used,
    })
}

impl Row {
    /// The share of the knee at the peak, or of the most where there is no knee, %.
    pub fn fullness(&self) -> f64 {
        self.of_knee_pct.as_ref().unwrap_or(&self.of_most_pct).peak
    }

    /// Whether that share is of a limit that was shown to be one; else it is at most so much.
    pub fn is_sure(&self) -> bool {
        self.ceiling.knee.is_some() || self.ceiling.is_most
    }

    /// What the shares are of: `knee`, `most`, `least known`.
    pub fn of(&self) -> &'static str {
        match (self.ceiling.knee, self.ceiling.is_most) {
            (Some(_), _) => "the knee",
            (None, true) => "the most",
            (None, false) => "what was reached",
        }
    }
}

fn line(rows: &[Row]) -> String {
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
    let soonest = rows.iter().filter_map(|row| Some((row, row.growth.left()?)));
    if let Some((row, left)) = soonest.min_by(|a, b| a.1.days.total_cmp(&b.1.days)) {
        line.push_str(&format!("; at the trend {} reaches its limit first, in {}", row.part, left.words()));
    }
    line
}
