//! Suggestions for misspelled names ("did you mean").

/// A longer name is not a typo, and comparing it takes time.
const LENGTH_MAX: usize = 40;

/// The name in `candidates` that is closest to `text`; `None` if more than a third of its characters differ.
pub fn closest<'a>(text: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if text.len() > LENGTH_MAX {
        return None;
    }
    let text = text.to_ascii_lowercase();
    candidates
        .into_iter()
        // Counts characters that are inserted, removed, replaced, or exchanged with their neighbor.
        .map(|name| (strsim::osa_distance(&text, name), name))
        .filter(|&(steps, name)| steps <= (name.len() / 3).max(1))
        .min_by_key(|&(steps, _)| steps)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typo_is_recognized_and_a_different_word_is_not() {
        let candidates = ["update_pct", "scan_pct", "rate"];
        assert_eq!(closest("updat_pct", candidates), Some("update_pct"));
        assert_eq!(closest("Update-Pct", candidates), Some("update_pct"));
        assert_eq!(closest("raet", candidates), Some("rate"));
        assert_eq!(closest("threads", candidates), None);
        assert_eq!(closest(&"update_pct".repeat(100_000), candidates), None);
    }
}
