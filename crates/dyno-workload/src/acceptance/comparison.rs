//! Counters of the server compared with what one session was acknowledged.

use std::time::Duration;

use dyno_record::AcceptanceFinding;

use super::{not_proved, proved, wrong};

/// One counter against what was acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Comparison {
    pub(super) name: &'static str,
    pub(super) expected: i64,
    /// The server's figure, or why it has none.
    pub(super) counted: Result<i64, String>,
    /// How much less the counter may show, because the platform loses some.
    pub(super) missed: i64,
    /// How much more the counter may show.
    pub(super) more: i64,
    /// Whether nothing is proved where the counter is absent.
    pub(super) is_needed: bool,
}

impl Comparison {
    /// Counted without expected; 0 within what is allowed, and where nothing is counted.
    fn difference(&self) -> i64 {
        let Ok(counted) = self.counted else { return 0 };
        let difference = counted - self.expected;
        if (-self.missed..=self.more).contains(&difference) { 0 } else { difference }
    }
}

/// The result of one attempt.
pub(super) struct Attempt {
    pub(super) comparisons: Vec<Comparison>,
    pub(super) delay: Duration,
}

impl Attempt {
    fn differences(&self) -> Vec<i64> {
        self.comparisons.iter().map(Comparison::difference).collect()
    }

    pub(super) fn agrees(&self) -> bool {
        self.differences().iter().all(|by| *by == 0)
    }
}

/// The finding about all attempts, of which only the last may agree.
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
        false => not_proved(name, format!("{}; others work on this server, too", unequal(last)))
            .way_out("repeat it while nobody else works on the server"),
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

fn words(one: &Comparison) -> Option<String> {
    let counted = one.counted.as_ref().ok()?;
    Some(match one.more {
        i64::MAX => format!("{} {counted} for at least {}", one.name, one.expected),
        _ => format!("{} {counted} = {}", one.name, one.expected),
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
            comparisons: vec![Comparison {
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
    fn differences_that_come_back_are_wrong_and_others_are_not_proved() {
        assert_eq!(verdict(&[60]), Proved);
        assert_eq!(verdict(&[64, 60]), Proved);
        assert_eq!(verdict(&[64, 64, 64]), Wrong);
        assert_eq!(verdict(&[64, 71, 66]), NotProved);
        // Nobody else makes a counter miss what was acknowledged.
        assert_eq!(verdict(&[58, 59, 57]), Wrong);
        assert_eq!(verdict(&[58, 70, 62]), NotProved);
    }

    #[test]
    fn a_counter_that_is_absent_proves_nothing_where_it_is_needed() {
        let finding = |is_needed| {
            let counted = Err("off".to_owned());
            let one = Comparison { name: "rows", expected: 1, counted, missed: 0, more: 0, is_needed };
            judged("client wait", &[Attempt { comparisons: vec![one], delay: Duration::ZERO }])
        };
        assert_eq!((finding(true).verdict, finding(false).verdict), (NotProved, Proved));
        assert!(finding(true).observed.contains("not counted: rows: off"), "{}", finding(true).observed);
    }
}
