//! JSON values that borrow from a report, so nothing is copied before it is written.

use serde::{Serialize, Serializer};

use crate::number::PrintedNumber;

/// A value; the keys of objects are sorted alphabetically.
#[derive(Debug)]
pub(super) enum AwrJsonValue<'r> {
    Null,
    Whole(u64),
    Number(f64),
    Text(&'r str),
    List(Vec<AwrJsonValue<'r>>),
    Object(Vec<AwrJsonMember<'r>>),
}

/// One member of an object.
pub(super) type AwrJsonMember<'r> = (&'r str, AwrJsonValue<'r>);

/// Whole numbers up to this one are exact as floats.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

impl<'r> AwrJsonValue<'r> {
    /// An object; of several members with one name, the last one is kept.
    pub(super) fn object(mut entries: Vec<AwrJsonMember<'r>>) -> Self {
        entries.sort_by_key(|(name, _)| *name);
        entries.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                std::mem::swap(later, kept);
            }
            same
        });
        Self::Object(entries)
    }
}

impl Serialize for AwrJsonValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Whole(number) => serializer.serialize_u64(*number),
            // Whole numbers are written without a fraction.
            Self::Number(number) if number.fract() == 0.0 && number.abs() < EXACT_MAX => {
                serializer.serialize_i64(*number as i64)
            }
            Self::Number(number) => serializer.serialize_f64(*number),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(items) => serializer.collect_seq(items),
            Self::Object(entries) => serializer.collect_map(entries.iter().map(|(name, item)| (name, item))),
        }
    }
}

impl<'r> FromIterator<AwrJsonValue<'r>> for AwrJsonValue<'r> {
    fn from_iter<I: IntoIterator<Item = AwrJsonValue<'r>>>(items: I) -> Self {
        Self::List(items.into_iter().collect())
    }
}

impl<'r> From<&'r str> for AwrJsonValue<'r> {
    fn from(text: &'r str) -> Self {
        Self::Text(text)
    }
}

impl<'r> From<&'r String> for AwrJsonValue<'r> {
    fn from(text: &'r String) -> Self {
        Self::Text(text)
    }
}

impl From<u32> for AwrJsonValue<'_> {
    fn from(number: u32) -> Self {
        Self::Whole(number.into())
    }
}

impl From<u64> for AwrJsonValue<'_> {
    fn from(number: u64) -> Self {
        Self::Whole(number)
    }
}

impl From<PrintedNumber> for AwrJsonValue<'_> {
    fn from(reading: PrintedNumber) -> Self {
        Self::Number(reading.value)
    }
}

impl<'r, T: Into<AwrJsonValue<'r>>> From<Option<T>> for AwrJsonValue<'r> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_object_keeps_last_of_duplicate_members() {
        let object =
            AwrJsonValue::object(vec![("b", 1u32.into()), ("a", AwrJsonValue::Null), ("b", "x".into())]);
        assert_eq!(serde_json::to_string(&object).unwrap(), r#"{"a":null,"b":"x"}"#);
    }

    #[test]
    fn json_numbers_are_whole_when_possible() {
        let text = |number: f64| serde_json::to_string(&AwrJsonValue::Number(number)).unwrap();
        assert_eq!(text(3.0), "3");
        assert_eq!(text(-0.25), "-0.25");
        assert_eq!(text(1e300), "1e+300");
        assert_eq!(text(f64::NAN), "null");
    }
}
