//! The label of each check: the words that a person reads instead of its stable name.

/// Labels of checks whose name alone does not say what they check.
const LABELS: [(&str, &str); 21] = [
    ("counters_epoch", "counter reset"),
    ("counters_monotone", "monotonic counters"),
    ("counters_known", "complete counters"),
    ("data", "row positions"),
    ("db_time", "DB time"),
    ("edges", "window boundaries"),
    ("expected", "transaction cost"),
    ("gate_skew", "start skew"),
    ("heap_reads", "table block reads"),
    ("hot", "hot spot"),
    ("littles_law", "Little's law"),
    ("loaded", "rows loaded"),
    ("others", "background rows"),
    ("others_server", "background load on server"),
    ("others_sessions", "background sessions"),
    ("others_test_tables", "background rows in test tables"),
    ("rows_churned", "rows inserted and deleted"),
    ("rows_left", "leftover rows"),
    ("scan_path", "direct-path scans"),
    ("shape", "schema changes"),
    ("untimed", "operation times"),
];

/// The label of the check `name`: `Little's law`, `commits (whole run)`. Records and JSON contain the name.
pub fn check_label(name: &str) -> String {
    let (base, suffix) = match name.strip_suffix("_whole") {
        Some(base) => (base, " (whole run)"),
        None => (name, ""),
    };
    let label = LABELS.iter().find(|(known, _)| *known == base);
    label.map_or_else(|| base.replace('_', " "), |(_, label)| (*label).to_owned()) + suffix
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::check_names;

    #[test]
    fn every_check_has_its_own_label() {
        let labels: BTreeSet<String> = check_names().map(check_label).collect();
        assert_eq!(labels.len(), check_names().count(), "{labels:?}");
        assert!(labels.iter().all(|label| !label.is_empty() && !label.contains('_')), "{labels:?}");
    }

    #[test]
    fn label_table_names_existing_checks_only() {
        for (name, _) in LABELS {
            assert!(check_names().any(|check| check == name), "{name}");
        }
    }

    #[test]
    fn labels_are_words() {
        assert_eq!(check_label("littles_law"), "Little's law");
        assert_eq!(check_label("heap_reads_whole"), "table block reads (whole run)");
        assert_eq!(check_label("check_of_a_newer_version"), "check of a newer version");
    }
}
