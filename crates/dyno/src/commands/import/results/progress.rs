//! Progress of a table import, with the remaining time.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::console::Console;

/// Interval between two progress lines.
const EVERY: Duration = Duration::from_secs(5);

/// Progress of one pass over a table.
pub(super) struct ImportProgress<'a> {
    talk: &'a Console,
    /// The action as a participle: `read`.
    verb: &'static str,
    /// Records of the whole pass; absent in the first pass, which counts them.
    total: Option<usize>,
    began: Instant,
    last_line: Cell<Instant>,
}

impl<'a> ImportProgress<'a> {
    pub(super) fn new(talk: &'a Console, verb: &'static str, total: Option<usize>) -> Self {
        let now = Instant::now();
        Self { talk, verb, total, began: now, last_line: Cell::new(now) }
    }

    /// This number of records is done.
    pub(super) fn at(&self, count: usize) {
        let now = Instant::now();
        if now - self.last_line.get() < EVERY {
            return;
        }
        self.last_line.set(now);
        self.talk.say(&words(self.verb, count, self.total, now - self.began));
    }
}

/// `120,000 of 3,000,000 records stored, 2m left`.
fn words(verb: &str, count: usize, total: Option<usize>, elapsed: Duration) -> String {
    let shown = dyno_report::number::count(count as u64);
    let Some(total) = total.filter(|total| *total >= count && count > 0) else {
        return format!("{shown} records {verb}");
    };
    let left_s = elapsed.as_secs_f64() / count as f64 * (total - count) as f64;
    let (all, left) = (dyno_report::number::count(total as u64), dyno_report::number::span_s(left_s.round()));
    format!("{shown} of {all} records {verb}, {left} left")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_shows_time_left_once_total_is_known() {
        let elapsed = Duration::from_secs(10);
        assert_eq!(words("read", 1_200, None, elapsed), "1,200 records read");
        let line = words("stored", 1_000, Some(3_000), elapsed);
        assert!(line.starts_with("1,000 of 3,000 records stored, "), "{line}");
        assert!(line.ends_with(" left"), "{line}");
        assert!(line.contains("20"), "{line}");
        assert_eq!(words("stored", 0, Some(3), elapsed), "0 records stored");
    }
}
