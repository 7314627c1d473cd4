//! Compares values of server settings, which servers show in units of their own.

/// Whether a setting has the expected value: equal text, ignoring case, an equal number, or an equal size.
pub(crate) fn is_same_setting(actual: &str, wanted: &str) -> bool {
    let size = |text: &str| text.parse::<dyno_plan::Bytes>().ok().map(|bytes| bytes.to_string());
    let number = |text: &str| text.parse::<f64>().ok();
    let switch = |text: &str| match text.to_ascii_lowercase().as_str() {
        "on" | "true" | "yes" | "1" => Some(true),
        "off" | "false" | "no" | "0" => Some(false),
        _ => None,
    };
    actual.eq_ignore_ascii_case(wanted)
        || (number(actual).is_some() && number(actual) == number(wanted))
        || (size(actual).is_some() && size(actual) == size(wanted))
        || (switch(actual).is_some() && switch(actual) == switch(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_match_ignoring_case_and_size_unit() {
        assert!(is_same_setting("on", "ON"));
        assert!(is_same_setting("128MB", "128MB"));
        assert!(!is_same_setting("128MB", "64MB"));
        assert!(is_same_setting("1024M", "1G"));
        assert!(is_same_setting("134217728", "128M"));
        assert!(is_same_setting("0.9", "0.90"));
        assert!(is_same_setting("ON", "1"));
        assert!(!is_same_setting("OFF", "on"));
        assert!(!is_same_setting("4MB", "on"));
    }
}
