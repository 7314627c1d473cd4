//! An axis in hours that shows times of day and dates.

use dyno_report::chart::{ChartAxis, Quantity};
use jiff::civil::DateTime;
use jiff::{ToSpan, Unit};

/// Maximum desired ticks; a chart omits those that do not fit.
const TICKS: f64 = 8.0;

/// Distances between ticks in minutes: fractions of a day, then days.
const STEPS: [i64; 15] =
    [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1_440, 2 * 1_440, 7 * 1_440, 14 * 1_440];

/// The axis for `hours` hours since `first`: ticks at round times, with the date at the first tick and at the
/// start of each day.
pub(super) fn axis(first: DateTime, hours: f64) -> ChartAxis {
    let rough = hours * 60.0 / TICKS;
    // For years of reports, ticks are weeks apart.
    let step = STEPS.into_iter().find(|step| *step as f64 >= rough).unwrap_or_else(|| {
        let fortnights = (rough / (14.0 * 1_440.0)).ceil();
        fortnights as i64 * 14 * 1_440
    });
    let date = first.strftime("%Y-%m-%d").to_string();
    ChartAxis::linear(&format!("time since {date}"), Quantity::Plain("")).named(ticks(first, hours, step))
}

/// Ticks every `step` minutes, counted from the midnight before `first`.
fn ticks(first: DateTime, hours: f64, step: i64) -> Vec<(f64, String)> {
    let midnight = first.date().to_datetime(jiff::civil::Time::midnight());
    let mut ticks = Vec::new();
    for number in 0.. {
        let Ok(at) = midnight.checked_add((number * step).minutes()) else { break };
        let Some(place) = hours_since(first, at) else { break };
        if place > hours {
            break;
        }
        if place < 0.0 {
            continue;
        }
        let begins_a_day = at.time() == jiff::civil::Time::midnight();
        let form = if begins_a_day || step >= 1_440 { "%m-%d" } else { "%H:%M" };
        ticks.push((place, at.strftime(form).to_string()));
    }
    ticks
}

/// Hours from `first` to `at`, without fractions of a second.
fn hours_since(first: DateTime, at: DateTime) -> Option<f64> {
    let since = at.since((Unit::Second, first)).ok()?;
    Some(since.total(Unit::Second).ok()? / 3_600.0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

    use super::*;

    fn texts(first: &str, hours: f64) -> Vec<String> {
        axis(first.parse().unwrap(), hours).named.into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn time_axis_ticks_are_at_round_times() {
        assert_eq!(
            texts("2024-03-05T10:30", 3.0),
            ["10:30", "11:00", "11:30", "12:00", "12:30", "13:00", "13:30"]
        );
        assert_eq!(
            texts("2024-03-05T17:20", 24.0),
            ["18:00", "21:00", "03-06", "03:00", "06:00", "09:00", "12:00", "15:00"]
        );
        assert_eq!(
            texts("2024-02-28T00:00", 72.0),
            ["02-28", "12:00", "02-29", "12:00", "03-01", "12:00", "03-02"]
        );
        assert_eq!(texts("2024-03-05T10:00", 0.0).len(), 1);
    }

    #[test]
    fn time_axis_ticks_are_few_and_within_range() {
        for minute in (0..500_000).step_by(4_999) {
            let first = jiff::civil::date(2024, 1, 1).at(0, 0, 0, 0).checked_add(minute.minutes()).unwrap();
            for hours in (0..40).map(|power| 0.01 * 1.5f64.powi(power)) {
                let ticks = axis(first, hours).named;
                assert!(ticks.len() <= TICKS as usize + 1, "{ticks:?}");
                assert!(ticks.is_sorted_by(|a, b| a.0 < b.0));
                assert!(ticks.iter().all(|(place, _)| (0.0..=hours).contains(place)));
            }
        }
    }
}
