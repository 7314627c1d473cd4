//! "Did you mean": the known name that a misspelt one is nearest to.

/// A name longer than this is no slip of the keyboard, and comparing it costs time.
const LENGTH_MAX: usize = 40;

/// The name of `known` that `text` is a slip away from, if there is one: at most a third of its characters differ.
pub fn closest<'a>(text: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if text.len() > LENGTH_MAX {
        return None;
    }
    let text = text.to_ascii_lowercase();
    known
        .into_iter()
        // Characters inserted, removed, replaced, or exchanged with their neighbour.
        .map(|name| (strsim::osa_distance(&text, name), name))
        .filter(|&(steps, name)| steps <= (name.len() / 3).max(1))
        .min_by_key(|&(steps, _)| steps)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_another_word_is_not() {
        let known = ["update_pct", "scan_pct", "rate"];
        assert_eq!(closest("updat_pct", known), Some("update_pct"));
        assert_eq!(closest("Update-Pct", known), Some("update_pct"));
        assert_eq!(closest("raet", known), Some("rate"));
        assert_eq!(closest("threads", known), None);
        assert_eq!(closest(&"update_pct".repeat(100_000), known), None);
    }
}
