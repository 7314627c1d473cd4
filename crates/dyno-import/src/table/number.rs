//! Parses numbers as tables print them: with a decimal point or comma, and digits in groups of three.

use super::notation::DecimalMark;

/// Evidence in a cell for the decimal mark of its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DecimalMarkEvidence {
    /// The cell is a number only with this mark.
    Shown(DecimalMark),
    /// The cell is a different number with each mark: `1.234`, `1,234`. The value is the mark that it
    /// contains.
    Ambiguous(DecimalMark),
}

/// The evidence in `cell`; `None` if it is not a number, or the same number with each mark.
pub(crate) fn decimal_evidence(cell: &str) -> Option<DecimalMarkEvidence> {
    match (plain(cell, DecimalMark::Point), plain(cell, DecimalMark::Comma)) {
        (Some(point), Some(comma)) if point == comma => None,
        (Some(_), Some(_)) if cell.contains(',') => Some(DecimalMarkEvidence::Ambiguous(DecimalMark::Comma)),
        (Some(_), Some(_)) => Some(DecimalMarkEvidence::Ambiguous(DecimalMark::Point)),
        (Some(_), None) => Some(DecimalMarkEvidence::Shown(DecimalMark::Point)),
        (None, Some(_)) => Some(DecimalMarkEvidence::Shown(DecimalMark::Comma)),
        (None, None) => None,
    }
}

/// The number in `cell`; `None` if it is not a number with this decimal mark.
pub(crate) fn number(cell: &str, decimal: DecimalMark) -> Option<f64> {
    plain(cell, decimal)?.parse().ok().filter(|number: &f64| number.is_finite())
}

/// The number in `cell` with a decimal point and without groups: `1,034.8` becomes `1034.8`.
pub(crate) fn plain(cell: &str, decimal: DecimalMark) -> Option<String> {
    let (sign, digits) = match cell.strip_prefix(['-', '\u{2212}']) {
        Some(digits) => ("-", digits),
        None => ("", cell.strip_prefix('+').unwrap_or(cell)),
    };
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (digits, None),
    };
    if exponent.is_some_and(|exponent| !is_digits(exponent.strip_prefix(['-', '+']).unwrap_or(exponent))) {
        return None;
    }
    let (whole, fraction) = mantissa.split_once(decimal.character()).unwrap_or((mantissa, ""));
    let whole = match whole.chars().find(|character| !character.is_ascii_digit()) {
        None => whole.to_owned(),
        Some(mark) if exponent.is_none() => without_groups(whole, mark, decimal)?,
        Some(_) => return None,
    };
    let is_number =
        !(whole.is_empty() && fraction.is_empty()) && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let point = if fraction.is_empty() { "" } else { "." };
    let exponent = exponent.map(|exponent| format!("e{exponent}")).unwrap_or_default();
    is_number.then(|| format!("{sign}{whole}{point}{fraction}{exponent}"))
}

/// Removes the group marks of `1,034`; `None` if a group does not have three digits.
fn without_groups(whole: &str, mark: char, decimal: DecimalMark) -> Option<String> {
    let is_mark =
        matches!(mark, '.' | ',' | ' ' | '\'' | '_' | '\u{a0}' | '\u{202f}' | '\u{2009}' | '\u{2019}');
    if !is_mark || mark == decimal.character() {
        return None;
    }
    let (first, rest) = whole.split_once(mark)?;
    let is_first = is_digits(first) && first.len() <= 3 && !first.starts_with('0');
    let are_groups = rest.split(mark).all(|group| group.len() == 3 && is_digits(group));
    (is_first && are_groups).then(|| whole.replace(mark, ""))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::DecimalMark::{Comma, Point};
    use super::DecimalMarkEvidence::{Ambiguous, Shown};
    use super::*;

    #[test]
    fn number_is_parsed_by_decimal_mark_of_its_table() {
        for (cell, by_point, by_comma) in [
            ("1234", Some(1234.0), Some(1234.0)),
            ("-12.5", Some(-12.5), None),
            ("\u{2212}12,5", None, Some(-12.5)),
            ("1,034.8", Some(1034.8), None),
            ("1.034,8", None, Some(1034.8)),
            ("1.234", Some(1.234), Some(1234.0)),
            ("1,234", Some(1234.0), Some(1.234)),
            ("1 034 567", Some(1_034_567.0), Some(1_034_567.0)),
            ("1'034.5", Some(1034.5), None),
            ("1\u{a0}034,5", None, Some(1034.5)),
            ("0.123", Some(0.123), None),
            ("1.5e3", Some(1500.0), None),
            (".5", Some(0.5), None),
            ("12,34,567", None, None),
            ("1,034,56", None, None),
            ("1,0345", None, Some(1.0345)),
            ("1.2.3", None, None),
            ("1 2", None, None),
            ("12 ms", None, None),
            ("", None, None),
            (".", None, None),
            ("-", None, None),
            ("nan", None, None),
            ("inf", None, None),
            ("1e999", None, None),
            ("1,034e3", None, Some(1034.0)),
        ] {
            assert_eq!((number(cell, Point), number(cell, Comma)), (by_point, by_comma), "{cell:?}");
        }
    }

    #[test]
    fn decimal_mark_is_detected_unless_number_is_ambiguous() {
        for (cell, evidence) in [
            ("1234", None),
            ("1 234", None),
            ("x", None),
            ("1,034.8", Some(Shown(Point))),
            ("12,5", Some(Shown(Comma))),
            ("1.234.567", Some(Shown(Comma))),
            ("0.123", Some(Shown(Point))),
            ("1.234", Some(Ambiguous(Point))),
            ("1,234", Some(Ambiguous(Comma))),
            ("-999,000", Some(Ambiguous(Comma))),
        ] {
            assert_eq!(decimal_evidence(cell), evidence, "{cell:?}");
        }
    }
}
