//! Operation counts that most runs do not have.

use dyno_record::{ALL, OpStats, RunRecord, Status};

use crate::number::count;
use crate::style::{Paint, Style};
use crate::text::{indent, wrap};

/// Maximum lines of a caveat.
const CAVEAT_LINES_MAX: usize = 4;

/// A count: its column head, and how to read it.
pub(crate) type ExtraCount = (&'static str, fn(&OpStats) -> u64);

/// Retries and commits in doubt, if the run has any.
pub(crate) fn extra_counts(record: &RunRecord) -> Vec<ExtraCount> {
    let all: [ExtraCount; 2] = [("retries", |ops| ops.retries), ("in doubt", |ops| ops.in_doubt)];
    all.into_iter().filter(|(_, of)| record.ops.values().any(|ops| of(ops) > 0)).collect()
}

/// The counts of the window as a sentence for the result of a run; `None` if there are none.
pub(crate) fn extra_words(record: &RunRecord) -> Option<String> {
    let all = record.ops.get(ALL)?;
    let mut words = Vec::new();
    if all.retries > 0 {
        words.push(format!("{} attempts were rolled back by the database and retried", count(all.retries)));
    }
    if all.in_doubt > 0 {
        let doubt = "operations lost their connection during a commit, and whether they committed is unknown";
        words.push(format!("{} {doubt}", count(all.in_doubt)));
    }
    (!words.is_empty()).then(|| format!("in the window {}", words.join("; ")))
}

/// Caveats of the result as lines for the terminal: what makes commits cheaper, retries, and commits in
/// doubt.
pub fn caveats(record: &RunRecord, style: &Style) -> String {
    let inner = Style { width: style.columns().saturating_sub(2), ..*style };
    // The answer of a valid run already names them.
    let outages = if record.status == Status::Valid { Vec::new() } else { record.outage_sentences() };
    let words = record.durability_caveats().into_iter().chain(outages).chain(extra_words(record));
    let lines = words.flat_map(|words| wrap(&words, inner.columns(), CAVEAT_LINES_MAX));
    indent(&lines.map(|line| format!("{}\n", style.paint(Paint::Warn, &line))).collect::<String>())
}

#[cfg(test)]
mod tests {
    use dyno_analyze::fixture;

    use super::*;
    use crate::content::show::show;

    #[test]
    fn retries_and_commits_in_doubt_appear_in_output() {
        let mut record = fixture::postgres();
        let style = Style { width: 160, ..Style::default() };
        assert_eq!(caveats(&record, &style), "");
        assert!(!show(&record, &style).contains("retries"));
        for name in ["all", "update"] {
            let ops = record.ops.get_mut(name).unwrap();
            (ops.retries, ops.in_doubt) = (304, 2);
        }
        let words = caveats(&record, &style);
        assert!(words.contains("in the window 304 attempts were rolled back by the database"), "{words}");
        assert!(words.contains("2 operations lost their connection during a commit"), "{words}");
        let text = show(&record, &style);
        assert!(text.contains("retries"), "{text}");
        assert!(text.contains("in doubt"), "{text}");
        assert!(text.contains("304"), "{text}");
    }

    #[test]
    fn non_durable_commits_are_a_caveat_of_the_result() {
        let mut record = fixture::postgres();
        let caveat = "fsync = off: a crash can destroy the data".to_owned();
        record.targets[0].identity.not_durable = vec![caveat.clone()];
        let words = caveats(&record, &Style { width: 160, ..Style::default() });
        assert!(words.contains("commits are not durable"), "{words}");
        assert!(words.contains(&caveat), "{words}");
    }
}
