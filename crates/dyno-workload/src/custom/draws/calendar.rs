//! Reads and writes dates and times in SQL syntax, without time zones, like the databases' own types.

pub(super) const DAY_S: i64 = 86_400;

/// Number of characters of a date, and of a time.
pub(super) const DATE_LETTERS: usize = 10;
pub(super) const MOMENT_LETTERS: usize = 19;

/// Days from 1970-01-01 to a date of the Gregorian calendar. After H. Hinnant, *chrono-Compatible Low-Level
/// Date Algorithms*: years begin in March, so that the leap day is the last day.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Year, month and day of the given number of days after 1970-01-01.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// Parses a date in the form `2026-03-21`.
pub(super) fn read_day(text: &str) -> Option<i64> {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts[..] else { return None };
    let number = |part: &str, letters: usize| {
        let plain = part.len() == letters && part.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| part.parse::<i64>().ok()).flatten()
    };
    let whole = (number(year, 4)?, number(month, 2)?, number(day, 2)?);
    let days = days(whole.0, whole.1, whole.2);
    // A date such as February 30 converts to another day.
    (date(days) == whole).then_some(days)
}

/// Parses a time, `2026-03-21 14:25:01`, or a date for its first second.
pub(super) fn read_second(text: &str) -> Option<i64> {
    let (day, time) = text.split_once([' ', 'T']).unwrap_or((text, "00:00:00"));
    let parts: Option<Vec<i64>> = time
        .split(':')
        .map(|part| part.parse().ok().filter(|_| part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit())))
        .collect();
    let [hour, minute, second] = parts?[..] else { return None };
    let is_time = hour < 24 && minute < 60 && second < 60;
    is_time.then_some(read_day(day)? * DAY_S + hour * 3_600 + minute * 60 + second)
}

/// Writes the last digits of `number` that fit into `out`, with leading zeros.
#[inline]
fn digits(mut number: i64, out: &mut [u8]) {
    for place in out.iter_mut().rev() {
        *place = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

/// Writes a date, given as days after 1970-01-01.
#[inline]
pub(super) fn write_day(day: i64, out: &mut [u8]) {
    let (year, month, day) = date(day);
    digits(year, &mut out[..4]);
    out[4] = b'-';
    digits(month, &mut out[5..7]);
    out[7] = b'-';
    digits(day, &mut out[8..10]);
}

/// Writes a time, given as seconds after 1970-01-01.
#[inline]
pub(super) fn write_second(epoch_s: i64, out: &mut [u8]) {
    write_day(epoch_s.div_euclid(DAY_S), out);
    let of_day = epoch_s.rem_euclid(DAY_S);
    for (at, before, part) in
        [(11, b' ', of_day / 3_600), (14, b':', of_day / 60 % 60), (17, b':', of_day % 60)]
    {
        out[at - 1] = before;
        digits(part, &mut out[at..at + 2]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(epoch_s: i64) -> String {
        let mut out = [0; MOMENT_LETTERS];
        write_second(epoch_s, &mut out);
        String::from_utf8(out.to_vec()).expect("digits")
    }

    #[test]
    fn known_timestamps_are_formatted_correctly() {
        assert_eq!(written(0), "1970-01-01 00:00:00");
        assert_eq!(written(951_782_400), "2000-02-29 00:00:00");
        assert_eq!(written(1_774_103_101), "2026-03-21 14:25:01");
        assert_eq!(written(-1), "1969-12-31 23:59:59");
    }

    #[test]
    fn invalid_dates_are_not_parsed() {
        for text in
            ["2026-02-29", "2026-13-01", "2026-1-1", "26-01-01", "2026-01-01-01", "+026-01-01", "today"]
        {
            assert_eq!(read_day(text), None, "{text}");
        }
        assert_eq!(read_second("2026-03-21 24:00:00"), None);
        assert_eq!(read_second("2026-03-21"), read_second("2026-03-21T00:00:00"));
    }

    proptest! {
        #[test]
        fn written_timestamp_parses_back(second in -62_000_000_000i64..250_000_000_000) {
            prop_assert_eq!(read_second(&written(second)), Some(second));
        }
    }
}
