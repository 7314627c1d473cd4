//! Names that users choose, and suggestions for unknown names.

pub(super) use dyno_plan::error::shown;

/// Whether `name` is valid for a statement, a generator, a number that is read, or a transaction.
pub fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.len() <= 40 && name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.bytes().all(plain)
}

/// The rule for names, as errors state it.
pub(super) const NAME: &str = "a name has letters, digits and underscores, starts with a letter, and has at \
                               most 40 characters";

/// The hint for a name that is not in `candidates`: `did you mean …?`, or the list of known names.
pub fn meant<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    let candidate_names: Vec<&str> = candidates.into_iter().collect();
    match similar_name(name, &candidate_names) {
        Some(near) => format!("did you mean {near}?"),
        None if candidate_names.is_empty() => String::new(),
        None => format!("available: {}", candidate_names.join(", ")),
    }
}

/// The most similar candidate. `None` for a name of one or two characters, which is similar to every other
/// short name.
pub(super) fn similar_name<'a>(name: &str, candidates: &[&'a str]) -> Option<&'a str> {
    if name.len() > 2 { dyno_plan::similar::closest(name, candidates.iter().copied()) } else { None }
}
