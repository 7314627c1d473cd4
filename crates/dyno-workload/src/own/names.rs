//! Names that users give, and what may have been meant by one that is not known.

/// Whether `name` can be one of a statement, a draw, a number that is read, or a transaction.
pub(super) fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.len() <= 40 && name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.bytes().all(plain)
}

/// What such a name is made of.
pub(super) const NAME: &str = "a name has letters, digits and underscores, a letter first, 40 at most";

/// `did you mean …?`, or what there is: the way out for a name that is none of `known`.
pub(super) fn meant<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match dyno_plan::similar::closest(name, known.iter().copied()) {
        // Of names of a letter or two every other one is near.
        Some(near) if name.len() > 2 => format!("did you mean {near}?"),
        _ if known.is_empty() => String::new(),
        _ => format!("there are: {}", known.join(", ")),
    }
}

/// A user's text for an error: on one line, without what a terminal acts on, at most 60 characters.
pub(super) fn shown(text: &str) -> String {
    dyno_plan::terminal::spelled(text, 60)
}
