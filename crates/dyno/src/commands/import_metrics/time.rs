//! Times as exports of metrics write them. One that does not tell its time zone needs one, and one that may mean two days is refused.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};

/// Seconds of the years from 2000 to 2100: what is outside is no time of a measurement.
const SECONDS: std::ops::Range<f64> = 946_684_800.0..4_102_444_800.0;

/// A time zone as the user writes it: `UTC`, `+02:00`, `Europe/Berlin`.
pub(super) fn zone(text: &str) -> Result<TimeZone, String> {
    let hint = "write UTC, an offset such as +02:00, or a name such as Europe/Berlin";
    if text.eq_ignore_ascii_case("utc") || text.eq_ignore_ascii_case("z") {
        return Ok(TimeZone::UTC);
    }
    if let Some(offset) = offset(text) {
        return Ok(TimeZone::fixed(offset));
    }
    TimeZone::get(text).map_err(|_| format!("there is no time zone {text:?}: {hint}"))
}

/// `+02:00`, `-0530`, `+9`.
fn offset(text: &str) -> Option<Offset> {
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let rest = &text[1..];
    let digits = if rest.matches(':').count() > 1 { String::new() } else { rest.replace(':', "") };
    if digits.is_empty() || digits.len() > 4 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (hours, minutes) = if digits.len() > 2 { digits.split_at(digits.len() - 2) } else { (&*digits, "0") };
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    (hours <= 14 && minutes < 60).then(|| Offset::from_seconds(sign * (hours * 3_600 + minutes * 60)).ok())?
}

/// What a cell says of a time, s since 1970; `zone` is that of times which name none.
pub(super) fn seconds(text: &str, zone: Option<&TimeZone>) -> Result<f64, String> {
    let found = since_1970(text, zone)?;
    match SECONDS.contains(&found) {
        true => Ok(found),
        false => Err(format!("the time {text:?} is not of the years from 2000 to 2100")),
    }
}

fn since_1970(text: &str, zone: Option<&TimeZone>) -> Result<f64, String> {
    let wrong = || {
        format!(
            "{text:?} is no time that has one meaning; write it as 2026-11-25T08:00:00Z, 2026-11-25 08:00:00, or in seconds since 1970"
        )
    };
    if let Some(number) = of_number(text) {
        return Ok(number);
    }
    let (bare, told) = match text.strip_suffix("UTC").or_else(|| text.strip_suffix("GMT")) {
        Some(bare) => (bare.trim_end(), Some(TimeZone::UTC)),
        None => (text, None),
    };
    let written = year_first(bare).ok_or_else(wrong)?;
    if told.is_none()
        && let Ok(moment) = written.parse::<Timestamp>()
    {
        return Ok(of(moment));
    }
    let civil: DateTime = written.parse().map_err(|_| wrong())?;
    let zone = told.as_ref().or(zone).ok_or_else(|| format!("the time {text:?} tells no time zone"))?;
    let moment = zone.to_ambiguous_timestamp(civil).unambiguous();
    let moment = moment.map_err(|_| {
        format!("the time {text:?} is there twice or not at all in that time zone, where clocks are put back or forth")
    })?;
    Ok(of(moment))
}

fn of(moment: Timestamp) -> f64 {
    moment.as_nanosecond() as f64 / 1e9
}

/// Seconds or milliseconds since 1970.
fn of_number(text: &str) -> Option<f64> {
    let whole = text.split('.').next()?;
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number: f64 = text.parse().ok().filter(|_| is_number)?;
    match whole.len() {
        9..=10 => Some(number),
        13 => Some(number / 1e3),
        _ => None,
    }
}

/// The same with hyphens in its date, where the year comes first: of `01/02/2026` nobody knows the day.
fn year_first(text: &str) -> Option<String> {
    let date: String = text.chars().take(10).collect();
    let parts: Vec<&str> = date.split(['-', '/']).collect();
    let is_date = parts.len() == 3
        && parts[0].len() == 4
        && parts.iter().all(|part| part.bytes().all(|b| b.is_ascii_digit()));
    is_date.then(|| format!("{}{}", date.replace('/', "-"), text.get(10..).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: f64 = 1_795_593_600.0;

    #[test]
    fn times_of_the_usual_exports() {
        let utc = TimeZone::UTC;
        for text in [
            "2026-11-25T08:00:00Z",
            "2026-11-25T08:00:00+00:00",
            "2026-11-25T10:00:00.000+02:00",
            "2026-11-25 08:00:00 UTC",
            "2026/11/25 08:00:00",
            "2026-11-25 08:00",
            "2026-11-25T08:00:00",
            "1795593600",
            "1795593600.0",
            "1795593600000",
        ] {
            assert_eq!(seconds(text, Some(&utc)), Ok(AT), "{text}");
        }
        let berlin = zone("+01:00").unwrap();
        assert_eq!(seconds("2026-11-25 09:00:00", Some(&berlin)), Ok(AT));
        assert_eq!(seconds("2026-11-25T08:00:00Z", Some(&berlin)), Ok(AT), "it tells its own");
    }

    #[test]
    fn what_has_no_one_meaning_is_refused() {
        assert!(seconds("2026-11-25 08:00:00", None).unwrap_err().contains("no time zone"));
        for wrong in
            ["", "08:00", "01/02/2026 08:00", "25.11.2026", "2026-13-01 00:00", "7", "NaN", "17955936000000"]
        {
            assert!(seconds(wrong, Some(&TimeZone::UTC)).is_err(), "{wrong}");
        }
        assert!(seconds("1970-01-01T00:00:00Z", None).unwrap_err().contains("2000"));
        for wrong in ["", "Mars/Olympus", "+25:00", "+1:2:3:4", "CET+1"] {
            assert!(zone(wrong).is_err(), "{wrong}");
        }
        assert_eq!(zone("utc"), Ok(TimeZone::UTC));
        if let Ok(berlin) = zone("Europe/Berlin") {
            // Clocks go back from 03:00 to 02:00.
            assert!(seconds("2026-10-25 02:30:00", Some(&berlin)).unwrap_err().contains("twice"));
        }
    }
}
