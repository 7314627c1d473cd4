//! Figures as JSON: numbers by name, one level deeper where a name has two parts.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use crate::number::PrintedNumber;
use crate::report::AwrFigure;

/// Figures and groups of figures by name.
pub(super) type AwrFigureTree<'r> = BTreeMap<&'r str, AwrFigureJson<'r>>;

/// A figure, or those whose names begin alike; absent ones are null.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum AwrFigureJson<'r> {
    Number(Option<AwrJsonNumber>),
    Group(BTreeMap<&'r str, Option<AwrJsonNumber>>),
}

/// The figures as a tree, which always has `names` and the names of each of `groups`.
pub(super) fn figure_tree<'r>(
    figures: &'r BTreeMap<String, AwrFigure>,
    names: &[&'r str],
    groups: &[(&'r str, &[&'r str])],
) -> AwrFigureTree<'r> {
    let mut tree: AwrFigureTree<'r> = names.iter().map(|name| (*name, AwrFigureJson::Number(None))).collect();
    let empty =
        |(group, names): &(&'r str, &[&'r str])| (*group, names.iter().map(|name| (*name, None)).collect());
    let mut groups: BTreeMap<&str, BTreeMap<&str, Option<AwrJsonNumber>>> =
        groups.iter().map(empty).collect();
    for (name, figure) in figures {
        match name.split_once('.') {
            Some((group, rest)) => {
                groups.entry(group).or_default().insert(rest, Some(figure.reading.into()));
            }
            None => {
                tree.insert(name, AwrFigureJson::Number(Some(figure.reading.into())));
            }
        }
    }
    tree.extend(groups.into_iter().map(|(name, group)| (name, AwrFigureJson::Group(group))));
    tree
}

/// Whole numbers up to this one are exact as floats.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// A value without its precision; whole numbers are written without a fraction.
#[derive(Clone, Copy)]
pub(super) struct AwrJsonNumber(pub(super) f64);

impl From<PrintedNumber> for AwrJsonNumber {
    fn from(number: PrintedNumber) -> Self {
        Self(number.value)
    }
}

impl Serialize for AwrJsonNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            whole if whole.fract() == 0.0 && whole.abs() < EXACT_MAX => {
                serializer.serialize_i64(whole as i64)
            }
            number => serializer.serialize_f64(number),
        }
    }
}

/// Writes a number without its precision.
pub(crate) fn serialize_value<S: Serializer>(
    number: &PrintedNumber,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    AwrJsonNumber::from(*number).serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_numbers_are_whole_when_possible() {
        let text = |number: f64| serde_json::to_string(&AwrJsonNumber(number)).unwrap();
        assert_eq!(text(3.0), "3");
        assert_eq!(text(-0.25), "-0.25");
        assert_eq!(text(1e300), "1e+300");
        assert_eq!(text(f64::NAN), "null");
    }
}
