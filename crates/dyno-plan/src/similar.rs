//! "Did you mean": the known name that a misspelt one is nearest to.

/// A name longer than this is no slip of the keyboard, and comparing it costs time.
const LENGTH_MAX: usize = 40;

/// Steps from `a` to `b`: characters inserted, removed, replaced, or exchanged with their neighbour (the optimal
/// string alignment distance).
pub(crate) fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

/// The name of `known` that `text` is a slip away from, if there is one: at most a third of its characters differ.
pub(crate) fn closest<'a>(text: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if text.len() > LENGTH_MAX {
        return None;
    }
    let text = text.to_ascii_lowercase();
    known
        .into_iter()
        .map(|name| (distance(&text, name), name))
        .filter(|&(steps, name)| steps <= (name.len() / 3).max(1))
        .min_by_key(|&(steps, _)| steps)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_counted() {
        for (a, b, steps) in [
            ("", "", 0),
            ("abc", "abc", 0),
            ("", "abc", 3),
            ("schema", "schemas", 1),
            ("tiem", "time", 1),
            ("kitten", "sitting", 3),
            ("ca", "abc", 3),
            ("größe", "grosse", 3),
        ] {
            assert_eq!((distance(a, b), distance(b, a)), (steps, steps), "{a} {b}");
        }
    }

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
