//! Compares counters of the server with the work that it acknowledged to one session.

use std::time::Duration;

use dyno_record::AcceptanceFinding;

use super::{not_proved, proved, wrong};

/// One counter compared with the acknowledged work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CounterComparison {
    pub(super) name: &'static str,
    pub(super) expected: i64,
    /// The server's counter, or why it has none.
    pub(super) counted: Result<i64, String>,
    /// By how much the counter may be too low, because the platform loses some events.
    pub(super) missed: i64,
    /// By how much the counter may be too high.
    pub(super) more: i64,
    /// Whether a missing counter prevents the verdict "proved".
    pub(super) is_needed: bool,
}

impl CounterComparison {
    /// Counted minus expected; 0 if the difference is allowed, or nothing was counted.
    fn difference(&self) -> i64 {
        let Ok(counted) = self.counted else { return 0 };
        let difference = counted - self.expected;
        if (-self.missed..=self.more).contains(&difference) { 0 } else { difference }
    }
}

/// The comparisons of one attempt.
pub(super) struct Attempt {
    pub(super) comparisons: Vec<CounterComparison>,
    pub(super) delay: Duration,
}

impl Attempt {
    fn differences(&self) -> Vec<i64> {
        self.comparisons.iter().map(CounterComparison::difference).collect()
    }

    pub(super) fn agrees(&self) -> bool {
        self.differences().iter().all(|by| *by == 0)
    }
}

/// The finding over all attempts; it is enough if the last one agrees.
pub(super) fn judged(name: &str, attempts: &[Attempt]) -> AcceptanceFinding {
    let Some(last) = attempts.last() else { return not_proved(name, "nothing was tried") };
    let absent = |is_needed: bool| {
        let all = last.comparisons.iter().filter(move |one| one.is_needed == is_needed);
        let reasons = all.filter_map(|one| Some(format!("{}: {}", one.name, one.counted.as_ref().err()?)));
        reasons.collect::<Vec<_>>().join("; ")
    };
    let (lacks, misses) = (absent(true), absent(false));
    let words: Vec<String> = last.comparisons.iter().filter_map(words).collect();
    let words = format!("{} ({} ms until they agree)", words.join(", "), last.delay.as_millis());
    let is_below = |attempt: &Attempt| attempt.differences().iter().any(|by| *by < 0);
    let is_same = attempts.windows(2).all(|pair| pair[0].differences() == pair[1].differences());
    let finding = match last.agrees() {
        true if lacks.is_empty() && misses.is_empty() => proved(name, words),
        true if lacks.is_empty() => proved(name, format!("{words}; not counted: {misses}")),
        true => not_proved(name, format!("{words}; not counted: {lacks}")),
        false if attempts.iter().all(is_below) || (attempts.len() > 1 && is_same) => {
            wrong(name, format!("{}, in each of {} attempts", unequal(last), attempts.len()))
        }
        false => not_proved(name, format!("{}; other sessions also use this server", unequal(last)))
            .way_out("repeat it while no other session uses the server"),
    };
    let finding = finding
        .figure("attempts", attempts.len() as i64)
        .figure("delay_ms", i64::try_from(last.delay.as_millis()).unwrap_or(i64::MAX));
    last.comparisons.iter().fold(finding, |finding, one| {
        let finding = finding.figure(&format!("{}_expected", one.name), one.expected);
        match one.counted {
            Ok(counted) => finding.figure(&format!("{}_counted", one.name), counted),
            Err(_) => finding,
        }
    })
}

fn words(comparison: &CounterComparison) -> Option<String> {
    let counted = comparison.counted.as_ref().ok()?;
    Some(match comparison.more {
        i64::MAX => format!("{} {counted} for at least {}", comparison.name, comparison.expected),
        _ => format!("{} {counted} = {}", comparison.name, comparison.expected),
    })
}

fn unequal(attempt: &Attempt) -> String {
    let unequal = attempt.comparisons.iter().filter(|one| one.difference() != 0);
    let words = unequal.filter_map(|one| {
        let counted = one.counted.as_ref().ok()?;
        Some(format!("{} {counted} counted, {} acknowledged", one.name, one.expected))
    });
    words.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_record::AcceptanceVerdict::{self, NotProved, Proved, Wrong};

    fn verdict(counted: &[i64]) -> AcceptanceVerdict {
        let attempt = |&counted: &i64| Attempt {
            comparisons: vec![CounterComparison {
                name: "commits",
                expected: 60,
                counted: Ok(counted),
                missed: 0,
                more: 0,
                is_needed: true,
            }],
            delay: Duration::ZERO,
        };
        judged("client wait", &counted.iter().map(attempt).collect::<Vec<_>>()).verdict
    }

    #[test]
    fn repeatable_differences_are_wrong_others_not_proved() {
        assert_eq!(verdict(&[60]), Proved);
        assert_eq!(verdict(&[64, 60]), Proved);
        assert_eq!(verdict(&[64, 64, 64]), Wrong);
        assert_eq!(verdict(&[64, 71, 66]), NotProved);
        // Other activity cannot make a counter lower than the acknowledged work.
        assert_eq!(verdict(&[58, 59, 57]), Wrong);
        assert_eq!(verdict(&[58, 70, 62]), NotProved);
    }

    #[test]
    fn absent_counter_is_not_proof_where_it_is_needed() {
        let finding = |is_needed| {
            let counted = Err("off".to_owned());
            let comparison =
                CounterComparison { name: "rows", expected: 1, counted, missed: 0, more: 0, is_needed };
            judged("client wait", &[Attempt { comparisons: vec![comparison], delay: Duration::ZERO }])
        };
        assert_eq!((finding(true).verdict, finding(false).verdict), (NotProved, Proved));
        assert!(finding(true).observed.contains("not counted: rows: off"), "{}", finding(true).observed);
    }
}
