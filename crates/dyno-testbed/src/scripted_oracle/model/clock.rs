//! The model's clock: that of this machine, in UTC.

use std::time::{SystemTime, UNIX_EPOCH};

/// Year, month, day, hour, minute and second of a time in seconds since 1970.
fn parts(seconds: u64) -> [u64; 6] {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Days since 1 March of year 0, so that leap days are the last days of their years.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = 400 * era + year_of_era + u64::from(month <= 2);
    [year, month, day, second / 3_600, second / 60 % 60, second % 60]
}

fn now() -> [u64; 6] {
    parts(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()))
}

/// Current time in UTC as `2026-03-21 14:25:01`.
pub(super) fn dictionary_moment() -> String {
    let [year, month, day, hour, minute, second] = now();
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

/// Current time in UTC in RFC 3339 format: `2026-03-21T14:25:01Z`.
pub(super) fn iso_moment() -> String {
    format!("{}Z", dictionary_moment().replace(' ', "T"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_model_handles_leap_years() {
        assert_eq!(parts(0), [1970, 1, 1, 0, 0, 0]);
        assert_eq!(parts(951_827_696), [2000, 2, 29, 12, 34, 56]);
        assert_eq!(parts(1_774_103_101), [2026, 3, 21, 14, 25, 1]);
    }
}
