//! Suggests generators by type, for comments in a draft that the user must complete.

/// A generator for a type in the database's own words; a generic one if the type is unknown.
pub(super) fn draw(type_name: Option<&str>) -> &'static str {
    let Some(of) = type_name else { return "{ uniform = [1, 1_000] }" };
    let lower_name = of.to_ascii_lowercase();
    let is = |words: &[&str]| words.iter().any(|word| lower_name.starts_with(word));
    if lower_name.ends_with("[]") {
        "{ choice = [\"{1,2,3}\", \"{4,5,6}\"], literal = true }"
    } else if is(&["int", "smallint", "bigint", "oid"]) && !lower_name.starts_with("interval") {
        "{ uniform = [1, 1_000] }"
    } else if is(&["numeric", "decimal", "money"]) {
        "{ decimal = [0.00, 100.00] }"
    } else if is(&["double", "real", "float"]) {
        "{ uniform = [0.0, 1.0] }"
    } else if is(&["timestamp"]) {
        "{ timestamp = [\"2026-01-01 00:00:00\", \"2026-12-31 23:59:59\"] }"
    } else if is(&["date"]) {
        "{ date = [\"2026-01-01\", \"2026-12-31\"] }"
    } else if is(&["uuid"]) {
        "{ uuid = 4 }"
    } else if is(&["bytea"]) {
        "{ bytes = [16, 64] }"
    } else if is(&["boolean"]) {
        "{ choice = [\"true\", \"false\"], literal = true }"
    } else if is(&["json"]) {
        "{ json = '{ \"a\": 1 }' }"
    } else if is(&["interval"]) {
        "{ choice = [\"1 day\", \"7 days\"], literal = true }"
    } else if is(&["text", "character", "varchar", "name"]) {
        "{ text = [8, 24] }"
    } else {
        "{ choice = [\"…\", \"…\"], literal = true }"
    }
}
