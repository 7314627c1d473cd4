//! Formats numbers for readers: the one formatter of all findings and reports.
//!
//! It is in this crate because a finding is a sentence with numbers in it, and a report must print
//! a figure in the same form everywhere. Thousands are separated by commas. The number of digits
//! follows the magnitude: what a benchmark can distinguish, not what a float holds. A missing
//! figure is [`ABSENT`].

/// What is shown in place of a missing figure.
pub const ABSENT: &str = "–";

/// Largest magnitude that is written out. Any larger database figure is an error and gets an
/// exponent.
const WRITTEN_OUT_MAX: f64 = 1e15;

/// Puts a comma between groups of three digits; `digits` are ASCII digits only.
fn group(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A whole number with separators: `6,029,701`.
pub fn count(value: u64) -> String {
    group(&value.to_string())
}

/// A whole number that may be negative: `-1,204`.
pub fn signed(value: i128) -> String {
    let sign = if value < 0 { "-" } else { "" };
    format!("{sign}{}", group(&value.unsigned_abs().to_string()))
}

/// A number of sessions in words: `1 session`, `1,024 sessions`. That of a fit may be fractional.
pub fn sessions(number: f64) -> String {
    let figure = fixed(number, 0);
    let word = if figure == "1" { "session" } else { "sessions" };
    format!("{figure} {word}")
}

/// A figure with a fixed number of decimals: `31,204.5`.
pub fn fixed(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return ABSENT.into();
    }
    if value.abs() >= WRITTEN_OUT_MAX {
        return format!("{value:.3e}");
    }
    let text = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let zero = text.bytes().all(|b| b == b'0' || b == b'.');
    let sign = if value < 0.0 && !zero { "-" } else { "" };
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{}{point}{fraction}", group(whole))
}

/// A figure with digits by its magnitude: `31,204`, `61.3`, `7.42`, `0.815`, `0.0031`, `0`.
pub fn figure(value: f64) -> String {
    fixed(value, decimals(value))
}

/// The number of decimals that [`figure`] prints.
pub fn decimals(value: f64) -> usize {
    match value.abs() {
        v if v == 0.0 || v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        v if v >= 0.9995 => 2,
        v if v >= 0.0995 => 3,
        _ => 4,
    }
}

/// The value rounded to the precision that repeats with this spread allow. It is the power of ten
/// of their distance, with two to four significant digits. A single run gives three digits.
pub fn rounded(value: f64, spread_pct: Option<f64>) -> f64 {
    if !value.is_finite() || value == 0.0 {
        return value;
    }
    let magnitude = value.abs().log10().floor() as i32;
    let digits = match spread_pct {
        Some(pct) if pct > 0.0 => {
            (magnitude - (value.abs() * pct / 100.0).log10().floor() as i32 + 1).clamp(2, 4)
        }
        Some(_) => 4,
        None => 3,
    };
    let lowest = magnitude - digits + 1;
    let step = 10f64.powi(lowest.abs());
    if lowest < 0 { (value * step).round() / step } else { (value / step).round() * step }
}

/// The value as [`figure`], or [`ABSENT`].
pub fn optional(value: Option<f64>) -> String {
    value.map_or_else(|| ABSENT.into(), figure)
}

/// A figure in few characters, for narrow columns: as [`figure`] below a million, then `6.03M`,
/// `68.9M`, `1.00G`.
pub fn compact(value: f64) -> String {
    for (suffix, size) in [("T", 1e12), ("G", 1e9), ("M", 1e6)] {
        // A value that `figure` would round up to the next suffix gets that suffix.
        if value.is_finite() && value.abs() >= size * 0.9995 && value.abs() < WRITTEN_OUT_MAX {
            return format!("{}{suffix}", figure(value / size));
        }
    }
    figure(value)
}

/// [`figure`] where that needs at most `columns` characters, else [`compact`].
pub fn within(value: f64, columns: usize) -> String {
    let full = figure(value);
    if full.chars().count() <= columns { full } else { compact(value) }
}

/// A share in percent, without the sign: `12.3`, `100`.
pub fn percent(value: f64) -> String {
    if value.abs() >= 99.95 || value == 0.0 { fixed(value, 0) } else { fixed(value, 1) }
}

/// A time given in microseconds, in a suitable unit: `61.3 µs`, `1.24 ms`, `12.0 s`.
pub fn time_us(value: f64) -> String {
    match value.abs() {
        v if v < 999.5 => format!("{} µs", figure(value)),
        v if v < 999_500.0 => format!("{} ms", figure(value / 1e3)),
        _ => format!("{} s", figure(value / 1e6)),
    }
}

/// [`time_us`] with two digits, for figures that change on a live display: `61 µs`, `210 µs`,
/// `1.2 ms`.
pub fn time_coarse_us(value: f64) -> String {
    let (scaled, unit) = match value.abs() {
        v if v < 999.5 => (value, "µs"),
        v if v < 999_500.0 => (value / 1e3, "ms"),
        _ => (value / 1e6, "s"),
    };
    let decimals = usize::from(scaled.abs() < 9.95 && scaled != 0.0);
    format!("{} {unit}", fixed(scaled, decimals))
}

/// A length of time given in seconds: `0.42 s`, `48 s`, `3 min 20 s`, `2 h 05 min`.
pub fn span_s(value: f64) -> String {
    if !value.is_finite() {
        return ABSENT.into();
    }
    let whole = value.max(0.0).round() as u64;
    match whole {
        0..=9 if value.max(0.0).fract() != 0.0 => format!("{} s", figure(value)),
        0..=9 => format!("{whole} s"),
        10..=119 => format!("{whole} s"),
        120..=7_199 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", count(whole / 3_600), whole % 3_600 / 60),
    }
}

/// A number of bytes in binary units, as used for sizes of memory and tables: `80.0 MiB`, `8 KiB`,
/// `512 B`.
pub fn bytes(value: u64) -> String {
    for (suffix, shift) in [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)] {
        if value >> shift > 0 {
            let scaled = value as f64 / (1u64 << shift) as f64;
            let text = if scaled.fract() == 0.0 { fixed(scaled, 0) } else { figure(scaled) };
            return format!("{text} {suffix}");
        }
    }
    format!("{value} B")
}

/// A number of bytes in decimal megabytes, as used for transfers: `937 MB`, `0.42 MB`.
pub fn megabytes(value: f64) -> String {
    format!("{} MB", figure(value / 1e6))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn repeats_spread_decides_digits_of_headline() {
        for (value, spread_pct, expected) in [
            (365_930.0, Some(6.0), 370_000.0),
            (365_930.0, Some(0.5), 366_000.0),
            (365_930.0, Some(0.0), 365_900.0),
            (365_930.0, Some(80.0), 370_000.0),
            (365_930.0, None, 366_000.0),
            (7.4163, Some(0.4), 7.42),
            (0.0, Some(5.0), 0.0),
            (-1_234.0, None, -1_230.0),
        ] {
            let shown = rounded(value, spread_pct);
            assert!((shown - expected).abs() < 1e-9, "{value} {spread_pct:?}: {shown}");
        }
    }

    #[test]
    fn number_of_digits_depends_on_magnitude() {
        let cases = [
            (0.0, "0"),
            (-0.0, "0"),
            (0.000_01, "0.0000"),
            (0.0031, "0.0031"),
            (0.815_4, "0.815"),
            (7.424, "7.42"),
            (9.996, "10.0"),
            (61.26, "61.3"),
            (99.96, "100"),
            (999.6, "1,000"),
            (31_204.4, "31,204"),
            (6_029_701.0, "6,029,701"),
            (-1_204.0, "-1,204"),
            (1e9, "1,000,000,000"),
            (f64::NAN, "–"),
            (f64::INFINITY, "–"),
            (1e18, "1.000e18"),
        ];
        for (value, text) in cases {
            assert_eq!(figure(value), text, "{value}");
        }
    }

    #[test]
    fn times_bytes_and_durations_choose_their_unit() {
        assert_eq!(time_us(61.3), "61.3 µs");
        assert_eq!(time_us(999.6), "1.00 ms");
        assert_eq!(time_us(1_240.0), "1.24 ms");
        assert_eq!(time_us(12_000_000.0), "12.0 s");
        assert_eq!(time_coarse_us(61.3), "61 µs");
        assert_eq!(time_coarse_us(2.14), "2.1 µs");
        assert_eq!(time_coarse_us(1_240.0), "1.2 ms");
        assert_eq!(bytes(512), "512 B");
        assert_eq!(bytes(8_192), "8 KiB");
        assert_eq!(bytes(85_000_000), "81.1 MiB");
        assert_eq!(span_s(0.42), "0.420 s");
        assert_eq!(span_s(48.2), "48 s");
        assert_eq!(span_s(200.0), "3 min 20 s");
        assert_eq!(span_s(7_500.0), "2 h 05 min");
        assert_eq!(compact(68_900_000.0), "68.9M");
        assert_eq!(compact(999_999_999.0), "1.00G");
        assert_eq!(compact(31_204.0), "31,204");
        assert_eq!(signed(-1_234_567), "-1,234,567");
    }

    proptest! {
        #[test]
        fn displayed_count_parses_back_to_same_value(value: u64) {
            prop_assert_eq!(count(value).replace(',', "").parse::<u64>().unwrap(), value);
        }

        #[test]
        fn displayed_values_are_within_one_percent(value in 1e-2f64..1e14) {
            let read: f64 = figure(value).replace(',', "").parse().unwrap();
            prop_assert!((read - value).abs() <= value * 0.01, "{} is shown as {}", value, read);
        }

        #[test]
        fn nothing_panics(value: f64, bytes_value: u64) {
            let _ = (compact(value), time_us(value), span_s(value), percent(value), megabytes(value), bytes(bytes_value));
        }
    }
}
