//! Parses numbers as reports print them: thousands, decimal commas, suffixes, exponents, units of
//! time.
//!
//! A printed figure is a range: `16.4K` means only "between 16,350 and 16,450". Every parsed number
//! keeps the place value of its last digit, so calculations can choose the more precise source. A
//! number that cannot be read is an error with its text, never 0 and never a guess.

pub use dyno_analyze::reading::PrintedNumber;

/// The factor of the suffixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suffix {
    /// K, M, G, T, P in steps of 1,000: counts, times, requests.
    Decimal,
    /// In steps of 1,024: the columns of data volume.
    Binary,
}

/// Number of steps for a suffix.
fn steps(letter: u8) -> Option<i32> {
    Some(match letter.to_ascii_uppercase() {
        b'B' => 0,
        b'K' => 1,
        b'M' => 2,
        b'G' => 3,
        b'T' => 4,
        b'P' => 5,
        b'E' => 6,
        _ => return None,
    })
}

/// The decimal mark of a report, for cells where a single mark with three digits after it is
/// ambiguous.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Decimal {
    /// `1,234` is more than a thousand.
    #[default]
    Point,
    /// `1,234` is between one and two; `1.234` is more than a thousand.
    Comma,
}

/// Text that is no number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a number: {why}")]
pub struct NotANumber {
    /// The text in question, shortened.
    pub text: String,
    /// What is wrong with it.
    pub why: &'static str,
    /// Whether the report itself lacks the number: its column was too narrow, so it has `####`.
    pub overflow: bool,
    /// Whether it is the remainder of a number in a narrow column: digits without their unit, or a
    /// suffix without its digits.
    pub cut: bool,
}

/// Most characters of an unreadable text that an error repeats.
const SHOWN_MAX: usize = 60;

fn not_a_number(text: &str, why: &'static str) -> NotANumber {
    let overflow = text.starts_with('#');
    NotANumber { text: text.chars().take(SHOWN_MAX).collect(), why, overflow, cut: false }
}

fn cut(text: &str, why: &'static str) -> NotANumber {
    NotANumber { cut: true, ..not_a_number(text, why) }
}

/// Whether a cell has no value: blank, non-breaking blanks, `N/A`, a dash.
pub(crate) fn is_absent(text: &str) -> bool {
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\u{a0}');
    text.is_empty() || text.eq_ignore_ascii_case("n/a") || text == "-" || text == "--"
}

/// The number in a cell, or `None` where the cell has none.
pub(crate) fn number(
    text: &str,
    suffix: Suffix,
    decimal: Decimal,
) -> Result<Option<PrintedNumber>, NotANumber> {
    if is_absent(text) {
        return Ok(None);
    }
    if let Some(reading) = plain(text, decimal) {
        return Ok(Some(reading));
    }
    let (digits, rest) = leading(trim(text), decimal)?;
    let steps = match rest.trim_start().as_bytes() {
        [] => 0,
        [letter] => steps(*letter).ok_or_else(|| not_a_number(text, "the suffix is unknown"))?,
        _ => return Err(not_a_number(text, "something follows the digits")),
    };
    // Powers of ten go into the exponent, so the number is rounded only once.
    let (thousands, factor) = match suffix {
        Suffix::Decimal => (3 * steps, 1.0),
        Suffix::Binary => (0, 1024f64.powi(steps)),
    };
    let reading = digits.reading(thousands).ok_or_else(|| not_a_number(text, "it is out of range"))?;
    Ok(Some(PrintedNumber { value: reading.value * factor, step: reading.step * factor }))
}

/// Number of digits that floats hold exactly; powers of ten with as many digits are exact too.
const EXACT_DIGITS: usize = 15;

/// Parses the common form of a number without a copy: digits, optionally grouped by commas,
/// optionally with a point and more digits. Two exact floats and one division are rounded once, as
/// in the general parser. Everything else is left to that.
fn plain(text: &str, decimal: Decimal) -> Option<PrintedNumber> {
    let (mut mantissa, mut digits, mut fraction) = (0u64, 0usize, None);
    // Digits since the last comma, once there was one.
    let mut group = None;
    for byte in text.bytes() {
        match byte {
            b'0'..=b'9' => {
                mantissa = mantissa * 10 + u64::from(byte - b'0');
                digits += 1;
                if digits > EXACT_DIGITS {
                    return None;
                }
                match (&mut fraction, &mut group) {
                    (Some(count), _) | (None, Some(count)) => *count += 1,
                    (None, None) => {}
                }
            }
            b'.' if fraction.is_none() && digits > 0 && group.is_none_or(|count| count == 3) => {
                fraction = Some(0);
            }
            b',' if fraction.is_none()
                && group.map_or((1..=3).contains(&digits) && mantissa > 0, |count| count == 3) =>
            {
                group = Some(0);
            }
            _ => return None,
        }
    }
    let decimals: i32 = fraction.unwrap_or(0);
    let is_whole = digits > 0 && (fraction.is_some() || group.is_none_or(|count| count == 3));
    // Where the report writes decimals with a comma, a single mark has another meaning.
    let is_plain = decimal == Decimal::Point || (fraction.is_none() && group.is_none());
    (is_whole && is_plain)
        .then(|| PrintedNumber { value: mantissa as f64 / 10f64.powi(decimals), step: 10f64.powi(-decimals) })
}

/// The digits of a number, without its marks.
#[derive(Debug)]
struct Digits {
    negative: bool,
    whole: String,
    fraction: String,
    exponent: i32,
}

impl Digits {
    /// The number, times ten to the power of `more`; `None` beyond the range of floats.
    fn reading(&self, more: i32) -> Option<PrintedNumber> {
        let exponent = self.exponent + more;
        let sign = if self.negative { "-" } else { "" };
        let value: f64 = format!("{sign}{}.{}e{exponent}", self.whole, self.fraction).parse().ok()?;
        let last_digit = exponent - i32::try_from(self.fraction.len()).ok()?;
        value.is_finite().then(|| PrintedNumber { value, step: 10f64.powi(last_digit) })
    }
}

fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{a0}')
}

/// The number at the begin of `text`, and the rest.
fn leading(text: &str, decimal: Decimal) -> Result<(Digits, &str), NotANumber> {
    if text.starts_with('#') {
        return Err(not_a_number(text, "the report does not have it, since its column was too narrow"));
    }
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let is_mantissa = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '\'' | '\u{2019}');
    let end = unsigned.find(|c: char| !is_mantissa(c)).unwrap_or(unsigned.len());
    let (mantissa, rest) = unsigned.split_at(end);
    if !mantissa.bytes().any(|b| b.is_ascii_digit()) {
        let is_suffix = matches!(rest.trim().as_bytes(), [letter] if steps(*letter).is_some());
        return Err(if is_suffix {
            cut(text, "it has a suffix but no digits")
        } else {
            not_a_number(text, "it has no digits")
        });
    }
    let (whole, fraction) = split_mantissa(mantissa, decimal)
        .ok_or_else(|| not_a_number(text, "its separators do not group digits"))?;
    let (exponent, rest) = exponent(rest);
    Ok((Digits { negative, whole, fraction, exponent }, rest))
}

/// `E+08` at the start of `rest`. `E` alone is a suffix, not an exponent.
fn exponent(rest: &str) -> (i32, &str) {
    let Some(after) = rest.strip_prefix(['e', 'E']) else { return (0, rest) };
    let (sign, digits) = match after.as_bytes().first() {
        Some(b'+') => (1, &after[1..]),
        Some(b'-') => (-1, &after[1..]),
        _ => (1, after),
    };
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    match digits[..end].parse::<i32>() {
        // Beyond the range of floats, parsing the whole number reports that.
        Ok(value) => (sign * value.min(9_999), &digits[end..]),
        Err(_) => (0, rest),
    }
}

/// Digits before and after the decimal mark, or `None` where the marks are invalid.
fn split_mantissa(mantissa: &str, decimal: Decimal) -> Option<(String, String)> {
    let is_mark = |c: char| !c.is_ascii_digit();
    let Some(last) = mantissa.rfind(is_mark) else { return Some((mantissa.to_owned(), String::new())) };
    let mark = mantissa[last..].chars().next()?;
    let before = &mantissa[..last];
    let after = &mantissa[last + mark.len_utf8()..];
    let alone = !before.contains(is_mark);
    let fraction = match mark {
        '.' | ',' if before.contains(mark) => false,
        // With two kinds of marks, the last one is the decimal mark.
        '.' | ',' if !alone => true,
        '.' | ',' => {
            let could_group = after.len() == 3 && (1..=3).contains(&before.len()) && before != "0";
            let is_decimal = (mark == ',') == (decimal == Decimal::Comma);
            !could_group || is_decimal
        }
        _ => false,
    };
    if fraction {
        Some((digits_of_groups(before)?, after.to_owned()))
    } else {
        Some((digits_of_groups(mantissa)?, String::new()))
    }
}

/// `1,234,567` without its marks, if all marks are the same and separate groups of three.
fn digits_of_groups(text: &str) -> Option<String> {
    let Some(mark) = text.chars().find(|c| !c.is_ascii_digit()) else { return Some(text.to_owned()) };
    let mut groups = text.split(mark);
    let first = groups.next()?;
    if first.is_empty() || first.len() > 3 || !first.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let mut digits = first.to_owned();
    for group in groups {
        if group.len() != 3 || !group.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        digits.push_str(group);
    }
    Some(digits)
}

/// A unit of time as reports print it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    Ns,
    Us,
    Ms,
    /// Centiseconds; in old STATSPACK reports only.
    Cs,
    S,
}

impl TimeUnit {
    /// The unit as reports write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ns => "ns",
            Self::Us => "us",
            Self::Ms => "ms",
            Self::Cs => "cs",
            Self::S => "s",
        }
    }

    /// Number of these units per second. It is a whole number, so a division rounds only once.
    pub fn per_second(self) -> f64 {
        match self {
            Self::Ns => 1e9,
            Self::Us => 1e6,
            Self::Ms => 1e3,
            Self::Cs => 1e2,
            Self::S => 1.0,
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        match name {
            // Narrow columns truncate the second letter; no report uses minutes.
            "ns" | "n" => Some(Self::Ns),
            "us" | "µs" | "μs" | "u" => Some(Self::Us),
            "ms" | "m" => Some(Self::Ms),
            "cs" => Some(Self::Cs),
            "s" | "sec" => Some(Self::S),
            _ => None,
        }
    }

    /// The unit in parentheses in a caption: `Avg wait (ms)`.
    pub fn of_caption(caption: &str) -> Option<Self> {
        let lower = caption.to_ascii_lowercase();
        let inside = lower.split('(').skip(1).filter_map(|part| part.split(')').next());
        inside.filter_map(|unit| Self::from_name(unit.trim())).last()
    }
}

/// A duration with the unit it was printed in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeReading {
    /// The number in the printed unit.
    pub reading: PrintedNumber,
    /// The printed unit, or the caption's.
    pub unit: TimeUnit,
}

impl TimeReading {
    /// The duration converted to seconds.
    pub fn seconds(&self) -> PrintedNumber {
        let units = self.unit.per_second();
        PrintedNumber { value: self.reading.value / units, step: self.reading.step / units }
    }
}

/// The time in a cell: `757.40us`, `52.86 s`, or a bare number in the caption's unit.
pub(crate) fn time(
    text: &str,
    caption: Option<TimeUnit>,
    decimal: Decimal,
) -> Result<Option<TimeReading>, NotANumber> {
    if is_absent(text) {
        return Ok(None);
    }
    let (digits, rest) = leading(trim(text), decimal)?;
    let rest = rest.trim();
    let (unit, thousands) = match (TimeUnit::from_name(rest), rest.as_bytes()) {
        (Some(unit), _) => (Some(unit), 0),
        (None, []) => (caption, 0),
        (None, [letter @ (b'K' | b'M' | b'G')]) => (caption, 3 * steps(*letter).unwrap_or(0)),
        _ => return Err(not_a_number(text, "the unit is unknown")),
    };
    let unit = unit.ok_or_else(|| cut(text, "neither it nor its caption names a unit"))?;
    let reading = digits.reading(thousands).ok_or_else(|| not_a_number(text, "it is out of range"))?;
    Ok(Some(TimeReading { reading, unit }))
}

/// Counts which decimal mark a report uses, from cells that have only one interpretation.
#[derive(Debug, Default)]
pub(crate) struct DecimalEvidence {
    point: u32,
    comma: u32,
}

impl DecimalEvidence {
    /// Counts the evidence of one cell.
    pub(crate) fn observe(&mut self, text: &str) {
        let text = text.trim();
        let marks = text.bytes().filter(|b| matches!(b, b'.' | b',')).count();
        if marks == 0 || !text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b',')) {
            return;
        }
        let (Some(last), Some(first)) = (text.rfind(['.', ',']), text.find(['.', ','])) else { return };
        let (mark, after) = (text.as_bytes()[last], text.len() - last - 1);
        let mixed = text.as_bytes()[first] != mark;
        let certain = if marks == 1 { after != 3 || last == 0 || last > 3 } else { mixed };
        // `1,234,567` and `1.234.567`: the other mark is the decimal one.
        let grouped = marks > 1 && !mixed;
        match (mark, certain, grouped) {
            (b'.', true, _) | (b',', _, true) => self.point += 1,
            (b',', true, _) | (b'.', _, true) => self.comma += 1,
            _ => {}
        }
    }

    /// The decimal mark. A report that mixes both prints thousands with commas, and some columns in
    /// the session's own format. A single comma with three digits is then a thousands separator.
    pub(crate) fn decide(&self) -> Decimal {
        if self.comma > 0 && self.point == 0 { Decimal::Comma } else { Decimal::Point }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> f64 {
        number(text, Suffix::Decimal, Decimal::Point).unwrap().unwrap().value
    }

    #[test]
    fn awr_numbers_are_read_in_every_notation() {
        let cases = [
            ("393,267.0", 393_267.0),
            (".9", 0.9),
            ("9,180.73", 9_180.73),
            ("16.4K", 16_400.0),
            (" 938.9K ", 938_900.0),
            ("4.8E+08", 4.8e8),
            ("1.E+03", 1_000.0),
            ("9.2233720368547758E+18", 9.223_372_036_854_776e18),
            ("-7.27", -7.27),
            ("\u{a0}12\u{a0}", 12.0),
            ("98,3", 98.3),
            (",5", 0.5),
            ("0,125", 0.125),
            ("1.234.567,8", 1_234_567.8),
            ("1'234'567.5", 1_234_567.5),
            ("1,234,567", 1_234_567.0),
        ];
        for (text, value) in cases {
            assert_eq!(read(text), value, "{text}");
        }
    }

    proptest! {
        #[test]
        fn fast_number_parser_agrees_with_full_parser(text in "[0-9]{0,4}(,[0-9]{2,4}){0,3}(\\.[0-9]{0,5})?") {
            for decimal in [Decimal::Point, Decimal::Comma] {
                if let Some(short) = plain(&text, decimal) {
                    let (digits, rest) = leading(&text, decimal).unwrap();
                    prop_assert_eq!(rest, "");
                    let long = digits.reading(0).unwrap();
                    prop_assert_eq!((short.value, short.step), (long.value, long.step), "{}", text);
                }
            }
        }
    }

    #[test]
    fn number_suffixes_scale_by_1000_or_1024() {
        assert_eq!(read("2G"), 2e9);
        assert_eq!(read("521.8K"), 521_800.0);
        let bytes = |text| number(text, Suffix::Binary, Decimal::Point).unwrap().unwrap().value;
        assert_eq!(bytes(".16M"), 0.16 * 1_048_576.0);
        assert_eq!(bytes("162.8G"), 162.8 * 1_073_741_824.0);
        assert_eq!(bytes("57.7T"), 57.7 * 1024f64.powi(4));
    }

    #[test]
    fn number_step_is_the_value_of_its_last_digit() {
        let step = |text| number(text, Suffix::Decimal, Decimal::Point).unwrap().unwrap().step;
        assert_eq!(step("9"), 1.0);
        assert!((step("16.4K") - 100.0).abs() < 1e-9);
        assert!((step("4.8E+08") - 1e7).abs() < 1e-6);
        assert!((step("393,267.0") - 0.1).abs() < 1e-12);
    }

    #[test]
    fn decimal_mark_of_report_resolves_ambiguous_numbers() {
        let comma = |text| number(text, Suffix::Decimal, Decimal::Comma).unwrap().unwrap().value;
        assert_eq!(read("1,234"), 1_234.0);
        assert_eq!(comma("1,234"), 1.234);
        assert_eq!(comma("1.234"), 1_234.0);
        assert_eq!(comma("1.5"), 1.5);
    }

    #[test]
    fn invalid_number_is_an_error_and_missing_one_is_absent() {
        for text in ["#######", "abc", "1,23,456", "12x", "1.2.3", "--5", "1e99999", "4,567.8,9", "12 34"] {
            assert!(number(text, Suffix::Decimal, Decimal::Point).is_err(), "{text}");
        }
        for text in ["", "  ", "\u{a0}", "N/A", "n/a", "-"] {
            assert_eq!(number(text, Suffix::Decimal, Decimal::Point), Ok(None), "{text:?}");
        }
    }

    #[test]
    fn times_use_printed_unit_or_unit_of_caption() {
        let read = |text, caption| time(text, caption, Decimal::Point).unwrap().unwrap();
        let glued = read("757.40us", None);
        assert_eq!((glued.reading.value, glued.unit), (757.4, TimeUnit::Us));
        assert!((read("52.86 s", None).seconds().value - 52.86).abs() < 1e-12);
        assert_eq!(read(".00ns", None).reading.value, 0.0);
        assert_eq!(read("9", TimeUnit::of_caption("Avg wait (ms)")).seconds().value, 0.009);
        assert_eq!(read("1.2K", Some(TimeUnit::Ms)).reading.value, 1_200.0);
        assert_eq!(read("1230.91m", None).unit, TimeUnit::Ms);
        assert!(time("9", None, Decimal::Point).is_err());
        assert!(time("9 furlongs", None, Decimal::Point).is_err());
        assert_eq!(time("\u{a0}", None, Decimal::Point), Ok(None));
    }

    #[test]
    fn decimal_mark_is_decided_from_all_cells() {
        let decide = |cells: &[&str]| {
            let mut evidence = DecimalEvidence::default();
            cells.iter().for_each(|cell| evidence.observe(cell));
            evidence.decide()
        };
        assert_eq!(decide(&["1.234,5", "0,3", "1.234"]), Decimal::Comma);
        assert_eq!(decide(&["1,234.5", "0.3"]), Decimal::Point);
        assert_eq!(decide(&["1,234.5", "98,3"]), Decimal::Point);
        assert_eq!(decide(&["1,234"]), Decimal::Point);
    }

    proptest! {
        #[test]
        fn unit_parsers_never_panic_on_any_text(text in ".{0,40}") {
            let _ = number(&text, Suffix::Binary, Decimal::Comma);
            let _ = time(&text, Some(TimeUnit::Ms), Decimal::Point);
        }

        #[test]
        fn counts_with_thousands_separators_are_read_exactly(value in 0u64..1_000_000_000_000_000) {
            let digits = value.to_string();
            let mut printed = String::new();
            for (i, digit) in digits.chars().enumerate() {
                if i > 0 && (digits.len() - i).is_multiple_of(3) {
                    printed.push(',');
                }
                printed.push(digit);
            }
            prop_assert_eq!(read(&printed), value as f64);
        }
    }
}
