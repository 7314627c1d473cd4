//! Parses times in metric exports and result tables. A time without a time zone needs one as an option, and
//! an ambiguous date needs the order of day and month.

use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};

use super::notation::DateOrder;
use crate::Error;

/// Seconds since 1970 for the years 2000 to 2100; a time outside is rejected.
const SECONDS: std::ops::Range<f64> = 946_684_800.0..4_102_444_800.0;

/// Parses a time zone as users write it: `UTC`, `+02:00`, `Europe/Berlin`.
fn zone(text: &str) -> Result<TimeZone, String> {
    let hint = "write UTC, an offset such as +02:00, or a name such as Europe/Berlin";
    if text.eq_ignore_ascii_case("utc") || text.eq_ignore_ascii_case("z") {
        return Ok(TimeZone::UTC);
    }
    if let Some(offset) = offset(text) {
        return Ok(TimeZone::fixed(offset));
    }
    TimeZone::get(text).map_err(|_| format!("unknown time zone {text:?}: {hint}"))
}

/// Parses an offset from UTC: `+02:00`, `-0530`, `+9`.
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

/// How a file writes its times, where the cell itself does not say it.
#[derive(Debug, Clone, Default)]
pub(crate) struct MomentStyle {
    /// Zone of times without one.
    pub(crate) zone: Option<TimeZone>,
    /// Order of day and month in `3/4/2026`.
    pub(crate) order: Option<DateOrder>,
}

impl MomentStyle {
    /// The style that the options `--time-zone` and `--date-order` state.
    pub(crate) fn new(time_zone: Option<&str>, order: Option<DateOrder>) -> Result<Self, Error> {
        let zone = time_zone.map(zone).transpose();
        let zone = zone.map_err(|problem| Error::input(format!("--time-zone: {problem}"), ""))?;
        Ok(Self { zone, order })
    }
}

/// Evidence in a cell for the order of day and month in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OrderEvidence {
    Shown(DateOrder),
    /// The date is valid in both orders: `3/4/2026`.
    Ambiguous,
}

/// The evidence in `text`; `None` if its date begins with the year, or if day and month are equal.
pub(crate) fn order_evidence(text: &str) -> Option<OrderEvidence> {
    let date = YearLast::read(text)?;
    match (date.first, date.second) {
        // In dates with points, the day always comes first.
        _ if date.separator == '.' => Some(OrderEvidence::Shown(DateOrder::DayMonth)),
        (first, 1..=12) if first > 12 => Some(OrderEvidence::Shown(DateOrder::DayMonth)),
        (1..=12, second) if second > 12 => Some(OrderEvidence::Shown(DateOrder::MonthDay)),
        (first, second) if first == second => None,
        _ => Some(OrderEvidence::Ambiguous),
    }
}

/// The time in a cell, in seconds since 1970.
pub(crate) fn seconds(text: &str, style: &MomentStyle) -> Result<f64, String> {
    let moment = moment(text, style)?;
    let seconds = moment.as_second() as f64 + f64::from(moment.subsec_nanosecond()) / 1e9;
    match SECONDS.contains(&seconds) {
        true => Ok(seconds),
        false => Err(format!("the time {text:?} is outside the years 2000 to 2100")),
    }
}

/// The time in a cell.
pub(crate) fn moment(text: &str, style: &MomentStyle) -> Result<Timestamp, String> {
    let wrong = || {
        format!(
            "{text:?} is not an unambiguous time; write it as 2026-11-25T08:00:00Z, 2026-11-25 08:00:00, or \
                in seconds since 1970"
        )
    };
    if let Some(moment) = since_1970(text) {
        return Ok(moment);
    }
    let (bare, written_zone) = match text.strip_suffix("UTC").or_else(|| text.strip_suffix("GMT")) {
        Some(bare) => (bare.trim_end(), Some(TimeZone::UTC)),
        None => (text, None),
    };
    let written = match YearLast::read(bare) {
        Some(date) => date.year_first(text, style.order)?,
        None => year_first(bare).ok_or_else(wrong)?,
    };
    let written = with_24_hours(&written).ok_or_else(wrong)?;
    if written_zone.is_none()
        && let Ok(moment) = written.parse::<Timestamp>()
    {
        return Ok(moment);
    }
    let civil: DateTime = written.parse().map_err(|_| wrong())?;
    let zone = written_zone.as_ref().or(style.zone.as_ref());
    let zone = zone.ok_or_else(|| format!("the time {text:?} has no time zone"))?;
    zone.to_ambiguous_timestamp(civil).unambiguous().map_err(|_| {
        format!("the time {text:?} is ambiguous or missing in its time zone, because clocks change there")
    })
}

/// Converts seconds, milliseconds, microseconds or nanoseconds since 1970. The number of digits determines
/// the unit, because the accepted years give each unit a distinct number of digits.
fn since_1970(text: &str) -> Option<Timestamp> {
    let (whole, fraction) = text.split_once(['.', ',']).unwrap_or((text, ""));
    let is_number = whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit());
    if !is_number || fraction.len() > 9 {
        return None;
    }
    let scale = match whole.len() {
        9..=10 => 1_000_000_000,
        13 => 1_000_000,
        16 => 1_000,
        19 => 1,
        _ => return None,
    };
    let part: i128 = format!("{fraction:0<9}").parse().ok()?;
    let duration = whole.parse::<i128>().ok()? * scale + part * scale / 1_000_000_000;
    let moment = Timestamp::from_duration(SignedDuration::try_from_nanos_i128(duration)?).ok()?;
    SECONDS.contains(&(moment.as_second() as f64)).then_some(moment)
}

/// Converts a date with the year first to hyphens.
fn year_first(text: &str) -> Option<String> {
    let date: String = text.chars().take(10).collect();
    let parts: Vec<&str> = date.split(['-', '/']).collect();
    let is_date = parts.len() == 3
        && parts[0].len() == 4
        && parts.iter().all(|part| part.bytes().all(|b| b.is_ascii_digit()));
    is_date.then(|| format!("{}{}", date.replace('/', "-"), text.get(10..).unwrap_or_default()))
}

/// A date with the year last, and the time after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct YearLast<'t> {
    first: u8,
    second: u8,
    year: u16,
    separator: char,
    time: &'t str,
}

impl<'t> YearLast<'t> {
    fn read(text: &'t str) -> Option<Self> {
        let end = text.find(['T', ' ']).unwrap_or(text.len());
        let (date, time) = text.split_at(end);
        let separator = date.chars().find(|character| !character.is_ascii_digit())?;
        let mut parts = date.split(separator);
        let (first, second, year) = (parts.next()?, parts.next()?, parts.next()?);
        let is_date = matches!(separator, '/' | '.' | '-')
            && parts.next().is_none()
            && (1..=2).contains(&first.len())
            && (1..=2).contains(&second.len())
            && year.len() == 4;
        if !is_date {
            return None;
        }
        let (first, second) = (first.parse().ok()?, second.parse().ok()?);
        Some(Self { first, second, year: year.parse().ok()?, separator, time })
    }

    /// Converts it to `2026-04-03 08:00`; `text` is the cell for errors.
    fn year_first(&self, text: &str, order: Option<DateOrder>) -> Result<String, String> {
        let order = match (order, order_evidence(text)) {
            (Some(order), _) | (None, Some(OrderEvidence::Shown(order))) => order,
            (None, None) => DateOrder::DayMonth,
            (None, Some(OrderEvidence::Ambiguous)) => {
                return Err(format!("the date {text:?} may mean two days"));
            }
        };
        let (day, month) = match order {
            DateOrder::DayMonth => (self.first, self.second),
            DateOrder::MonthDay => (self.second, self.first),
        };
        Ok(format!("{:04}-{month:02}-{day:02}{}", self.year, self.time))
    }
}

/// Converts `2026-04-03 8:01 PM` to `2026-04-03 20:01`; `None` if AM or PM does not fit.
fn with_24_hours(text: &str) -> Option<String> {
    let Some((date, time)) = text.split_once([' ', 'T']) else { return Some(text.to_owned()) };
    let half = [("am", false), ("pm", true)].into_iter().find_map(|(name, is_afternoon)| {
        let (clock, end) = time.split_at_checked(time.len().checked_sub(2)?)?;
        end.eq_ignore_ascii_case(name).then(|| (clock.trim_end(), is_afternoon))
    });
    let (clock, is_afternoon) = match half {
        Some((clock, is_afternoon)) => (clock, Some(is_afternoon)),
        None => (time, None),
    };
    let (hour, rest) = clock.split_once(':').unwrap_or((clock, ""));
    if !(1..=2).contains(&hour.len()) || !hour.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(text.to_owned()).filter(|_| half.is_none());
    }
    let number: u8 = hour.parse().ok()?;
    let number = match (is_afternoon, number) {
        (None, number) => number,
        (Some(is_afternoon), 1..=12) => number % 12 + if is_afternoon { 12 } else { 0 },
        (Some(_), _) => return None,
    };
    Some(format!("{date}T{number:02}:{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: f64 = 1_795_593_600.0;

    fn style(zone: TimeZone) -> MomentStyle {
        MomentStyle { zone: Some(zone), order: None }
    }

    #[test]
    fn date_with_year_last_follows_day_month_order() {
        let style = |order| MomentStyle { zone: Some(TimeZone::UTC), order: Some(order) };
        let read = |text, order| moment(text, &style(order)).map(|moment| moment.to_string());
        assert_eq!(read("1/7/2020 20:01", DateOrder::MonthDay).unwrap(), "2020-01-07T20:01:00Z");
        assert_eq!(read("1/7/2020 20:01", DateOrder::DayMonth).unwrap(), "2020-07-01T20:01:00Z");
        assert_eq!(read("1-7-2020 12:01 AM", DateOrder::DayMonth).unwrap(), "2020-07-01T00:01:00Z");
        assert_eq!(read("1/7/2020", DateOrder::DayMonth).unwrap(), "2020-07-01T00:00:00Z");
        assert!(read("13/7/2020", DateOrder::MonthDay).is_err());
        for (text, evidence) in [
            ("13/7/2020", Some(OrderEvidence::Shown(DateOrder::DayMonth))),
            ("7/13/2020 1:00", Some(OrderEvidence::Shown(DateOrder::MonthDay))),
            ("1.7.2020", Some(OrderEvidence::Shown(DateOrder::DayMonth))),
            ("1/7/2020", Some(OrderEvidence::Ambiguous)),
            ("7/7/2020", None),
            ("2020/7/13", None),
            ("13/13/2020", None),
        ] {
            assert_eq!(order_evidence(text), evidence, "{text}");
        }
        assert_eq!(seconds("1598650497.25", &MomentStyle::default()), Ok(1_598_650_497.25));
    }

    #[test]
    fn timestamps_of_common_exports_are_read() {
        let utc = style(TimeZone::UTC);
        for text in [
            "25.11.2026 08:00",
            "11/25/2026 8:00",
            "11/25/2026 8:00:00 am",
            "1795593600000000",
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
            assert_eq!(seconds(text, &utc), Ok(AT), "{text}");
        }
        let berlin = style(zone("+01:00").unwrap());
        assert_eq!(seconds("2026-11-25 09:00:00", &berlin), Ok(AT));
        assert_eq!(seconds("2026-11-25T08:00:00Z", &berlin), Ok(AT), "it tells its own");
    }

    #[test]
    fn ambiguous_or_invalid_timestamp_is_refused() {
        let no_zone = MomentStyle::default();
        assert!(seconds("2026-11-25 08:00:00", &no_zone).unwrap_err().contains("no time zone"));
        for wrong in [
            "",
            "08:00",
            "01/02/2026 08:00",
            "13/13/2026 08:00",
            "11/25/26 08:00",
            "11/25/2026 13:00 PM",
            "2026-13-01 00:00",
            "7",
            "NaN",
            "17955936000000",
        ] {
            assert!(seconds(wrong, &style(TimeZone::UTC)).is_err(), "{wrong}");
        }
        assert!(seconds("1970-01-01T00:00:00Z", &no_zone).unwrap_err().contains("2000"));
        for wrong in ["", "Mars/Olympus", "+25:00", "+1:2:3:4", "CET+1"] {
            assert!(zone(wrong).is_err(), "{wrong}");
        }
        assert_eq!(zone("utc"), Ok(TimeZone::UTC));
        if let Ok(berlin) = zone("Europe/Berlin").map(style) {
            // Clocks are set back from 03:00 to 02:00.
            assert!(seconds("2026-10-25 02:30:00", &berlin).unwrap_err().contains("ambiguous"));
        }
    }
}
