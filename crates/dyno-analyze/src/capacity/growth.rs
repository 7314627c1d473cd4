//! Estimates the growth of daily peaks, and when they reach a limit.

use std::collections::BTreeMap;

use jiff::civil::Date;
use serde::Serialize;

use crate::compare::ratio::median;
use crate::number::count;

/// Fewest days for a trend.
pub const DAYS_MIN: usize = 7;
/// The normal quantile of a two-sided interval of 95 %.
const Z95: f64 = 1.959_964;
/// Days beyond which a date is reported only as later.
const FAR_DAYS: f64 = 3_650.0;
/// Most days used for the slope, the latest ones: it compares every pair.
const DAYS_MAX: usize = 1_000;

/// The growth of daily peaks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "trend")]
pub enum Growth {
    /// Too few days for a trend.
    TooFew { days: usize },
    /// No trend: the interval of the slope includes 0, so chance may cause it.
    None {
        /// The slope in units a day, and its 95 % interval.
        per_day: (f64, f64, f64),
    },
    /// The peaks fall; the whole interval of the slope is below 0.
    Falls {
        /// The slope in units a day, and its 95 % interval.
        per_day: (f64, f64, f64),
    },
    /// The peaks rise; the whole interval of the slope is above 0.
    Rises {
        /// The slope in units a day, and its 95 % interval.
        per_day: (f64, f64, f64),
        /// When they reach the limit; absent where no limit is known.
        left: Option<DaysToLimit>,
    },
}

/// Days until a limit is reached, counted from the last day.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DaysToLimit {
    /// Days at the estimated slope itself.
    pub days: f64,
    /// Days at the steepest and at the flattest slope of the interval.
    pub between: (f64, f64),
}

impl DaysToLimit {
    /// In words: `40 days (30 to 60)`.
    pub fn words(&self) -> String {
        let days = |days: f64| match days {
            days if days <= 0.0 => "0".to_owned(),
            days if days > FAR_DAYS => "more than ten years".to_owned(),
            days => count(days.round() as u64),
        };
        match self.days {
            left if left <= 0.0 => "0 days: it is reached".to_owned(),
            left if left > FAR_DAYS => "more than ten years".to_owned(),
            left => {
                format!("{} days ({} to {})", days(left), days(self.between.0), days(self.between.1))
            }
        }
    }
}

impl Growth {
    /// When the limit is reached; absent where that cannot be estimated.
    pub fn days_to_limit(&self) -> Option<DaysToLimit> {
        match self {
            Self::Rises { left, .. } => *left,
            _ => None,
        }
    }

    /// In words: `no trend`, `40 days (30 to 60)`, or `unknown` where there are too few days; the report's line
    /// says how many there are.
    pub fn words(&self) -> String {
        match self {
            Self::TooFew { .. } => "unknown".to_owned(),
            Self::None { .. } => "no trend".to_owned(),
            Self::Falls { .. } => "falls".to_owned(),
            Self::Rises { left: Some(left), .. } => left.words(),
            Self::Rises { left: None, .. } => "rises; the limit is unknown".to_owned(),
        }
    }
}

/// The slope of the daily peaks `days` (`2026-11-23` → peak), and when its line reaches `limit`.
/// The slope is the median of all pairs' slopes (Theil 1950, Sen 1968). Its interval is Sen's, from
/// the variance of Kendall's statistic, corrected for ties.
pub fn growth(days: &BTreeMap<String, f64>, limit: Option<f64>) -> Growth {
    let dated = days.iter().filter_map(|(day, peak)| Some((day.parse::<Date>().ok()?, *peak)));
    let dated: Vec<(Date, f64)> = dated.collect();
    let dated = &dated[dated.len().saturating_sub(DAYS_MAX)..];
    if dated.len() < DAYS_MIN {
        return Growth::TooFew { days: dated.len() };
    }
    let first = dated[0].0;
    let number = |day: Date| f64::from(day.since(first).map_or(0, |span| span.get_days()));
    let at: Vec<(f64, f64)> = dated.iter().map(|(day, peak)| (number(*day), *peak)).collect();
    let mut slopes = Vec::with_capacity(at.len() * (at.len() - 1) / 2);
    for (i, earlier) in at.iter().enumerate() {
        slopes.extend(at[i + 1..].iter().map(|later| (later.1 - earlier.1) / (later.0 - earlier.0)));
    }
    let slope = median(&mut slopes);
    slopes.sort_by(f64::total_cmp);
    let pairs = slopes.len() as f64;
    let reach = Z95 * variance(&at).sqrt();
    let place = |at: f64| slopes[(at.round().max(0.0) as usize).min(slopes.len() - 1)];
    let (low, high) = (place((pairs - reach) / 2.0 - 1.0), place((pairs + reach) / 2.0));
    let per_day = (slope, low, high);
    if low <= 0.0 && high >= 0.0 {
        return Growth::None { per_day };
    }
    if slope < 0.0 {
        return Growth::Falls { per_day };
    }
    let mut levels: Vec<f64> = at.iter().map(|(day, peak)| peak - slope * day).collect();
    let now = median(&mut levels) + slope * at[at.len() - 1].0;
    let left = limit.map(|limit| DaysToLimit {
        days: (limit - now) / slope,
        between: ((limit - now) / high, (limit - now) / low),
    });
    Growth::Rises { per_day, left }
}

/// The variance of Kendall's statistic, corrected for ties.
fn variance(at: &[(f64, f64)]) -> f64 {
    let weight = |n: f64| n * (n - 1.0) * (2.0 * n + 5.0);
    let mut sorted: Vec<f64> = at.iter().map(|(_, peak)| *peak).collect();
    sorted.sort_by(f64::total_cmp);
    let ties: f64 = sorted.chunk_by(|a, b| a == b).map(|tie| weight(tie.len() as f64)).sum();
    ((weight(at.len() as f64) - ties) / 18.0).max(0.0)
}
