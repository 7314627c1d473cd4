//! Names and times of runs in their one spelling.

use jiff::Timestamp;

/// A run's name: its start in UTC and four random hex digits, `20260321-142501-7f3a`. Names sort by time.
pub type RunId = String;

/// A run's name from its start time and sixteen random bits: `20260321-142501-7f3a`.
///
/// Two runs that start in the same second collide once in 65,536 cases;
/// [`Repository::begin`](crate::repository::Repository::begin) then returns an error, and the caller draws another number.
pub fn new_run_id(now: Timestamp, random: u16) -> RunId {
    format!("{}-{random:04x}", now.strftime("%Y%m%d-%H%M%S"))
}

/// The longest name, in characters.
pub const NAME_CHARS_MAX: usize = 200;

/// Whether `name` is a valid name of a run or campaign. Every import refuses names that look like a selector (`last`,
/// `tag:x`, `last~2`, a list), that a terminal would act on, or that are too long.
pub fn is_name(name: &str) -> bool {
    let plain = |c: char| {
        c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '+' | '#' | '$' | '@' | '/' | ' ' | '(' | ')')
    };
    let edge = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || matches!(c, ')' | '_'));
    name != "last"
        && name.chars().count() <= NAME_CHARS_MAX
        && name.chars().all(plain)
        && edge(name.chars().next())
        && edge(name.chars().next_back())
}

/// A time as records spell it: RFC 3339 in UTC with six decimals, so that the text sorts by time.
pub fn rfc3339(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()
}

/// The current time as records spell it.
pub fn now_rfc3339() -> String {
    rfc3339(Timestamp::now())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn run_id_is_utc_start_and_four_digits() {
        let at: Timestamp = "2026-03-21T15:25:01.999999999+01:00".parse().unwrap();
        assert_eq!(new_run_id(at, 0x7f3a), "20260321-142501-7f3a");
        assert_eq!(new_run_id(at, 5), "20260321-142501-0005");
        assert_eq!(rfc3339(at), "2026-03-21T14:25:01.999999Z");
    }

    #[test]
    fn run_name_that_is_selector_or_not_plain_text_is_refused() {
        for name in ["20260321-142501-7f3a", "sweep-20260321-142501-7f3a", "awr-DB1-1-100-101", "a"] {
            assert!(is_name(name), "{name}");
        }
        let long = "x".repeat(NAME_CHARS_MAX + 1);
        for name in [
            "",
            "last",
            "last~1",
            "tag:x",
            "variant:x",
            "a,b",
            "-a",
            "a ",
            "a\u{1b}[31m",
            "a\nb",
            "../x",
            &long,
        ] {
            assert!(!is_name(name), "{name:?}");
        }
    }

    proptest! {
        #[test]
        fn timestamp_text_sorts_in_time_order(a in 0i64..4_000_000_000_000_000, b in 0i64..4_000_000_000_000_000) {
            let (at_a, at_b) = (Timestamp::from_microsecond(a).unwrap(), Timestamp::from_microsecond(b).unwrap());
            prop_assert_eq!(rfc3339(at_a).cmp(&rfc3339(at_b)), a.cmp(&b));
            prop_assert_eq!(rfc3339(at_a).parse::<Timestamp>().unwrap(), at_a);
        }
    }
}
