//! Outages: times in which sessions had lost the connection to their database.

use std::collections::BTreeMap;

use dyno_plan::keys::thousands;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Lost connections to one target with overlapping times. All times are in seconds after the window's begin, by the sessions'
/// clocks; times of the warm-up are negative.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outage {
    /// The number of the target, from 1; absent if the run has only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<usize>,
    /// When the first session noticed its lost connection.
    pub lost_s: f64,
    /// When every affected session had its first answer again; absent if one of them had none until the run's end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_back_s: Option<f64>,
    /// Number of sessions that lost their connection.
    pub sessions: u64,
    /// Number of lost connections; more than `sessions` if one session lost several.
    pub losses: u64,
    /// Times in which no session of the target received an answer; those below 0.1 s only if there is no longer one. Empty if
    /// other sessions received answers throughout.
    pub silences: Vec<Silence>,
    /// The longest time that one session was without an answer, in seconds.
    pub session_s_max: f64,
    /// The shortest detectable pause of a session that kept its connection, in seconds; shorter pauses count as answered.
    pub resolution_s: f64,
    /// Operations that failed because of it, by class.
    pub failed: BTreeMap<String, u64>,
    /// Operations that failed because of it, by the database's code.
    pub errors: BTreeMap<String, u64>,
    /// The part of them that lost the connection during a commit, so that it is unknown whether they committed.
    pub in_doubt: u64,
    /// Number of refused attempts to reconnect.
    pub refused: u64,
    /// The reason for the last refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// Throughput before the first loss; absent if no interval of the series ends before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Throughput>,
    /// Throughput after the last session was back; absent if no interval begins after that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Throughput>,
    /// Begin of the first interval after the first answer with at least 90 % of the throughput before the outage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovered_s: Option<f64>,
}

/// A time without any answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Silence {
    /// When the last answer before it arrived.
    pub last_answer_s: f64,
    /// When the first answer after it arrived; absent if none did until the run's end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_answer_s: Option<f64>,
    /// Its length in seconds; without a first answer, until the sessions stopped.
    pub length_s: f64,
}

/// Operations per second in a part of the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Throughput {
    /// Begin of this part, in seconds after the window's begin.
    pub from_s: f64,
    /// End of this part, in seconds after the window's begin.
    pub to_s: f64,
    /// Operations per second that succeeded.
    pub ops_per_s: f64,
}

impl Outage {
    /// The longest time without any answer.
    pub fn longest(&self) -> Option<&Silence> {
        self.silences.iter().max_by(|one, other| one.length_s.total_cmp(&other.length_s))
    }

    /// A summary sentence: length, sessions, failed operations, and throughput before and after.
    pub fn sentence(&self) -> String {
        let target = self.target.map(|target| format!("target {target}: ")).unwrap_or_default();
        let mut words = match self.longest() {
            Some(silence) => {
                let until = match silence.first_answer_s {
                    Some(first_s) => {
                        format!("from {:.3} s to {first_s:.3} s of the window", silence.last_answer_s)
                    }
                    None => format!(
                        "at least, from {:.3} s of the window until its sessions stopped",
                        silence.last_answer_s
                    ),
                };
                let more = match self.silences.len() {
                    1 => String::new(),
                    times => format!(" (the longest of {times} times)"),
                };
                format!(
                    "{target}outage: no session had an answer for {:.3} s {until}{more}",
                    silence.length_s
                )
            }
            None => format!(
                "{target}connections lost at {:.3} s of the window while other sessions had answers: one session had none for {:.3} s",
                self.lost_s, self.session_s_max
            ),
        };
        words += &format!(
            "; sessions that lost their connection: {}; failed operations: {}; commits in doubt: {}",
            self.sessions,
            self.failed_operations(),
            self.in_doubt
        );
        let part = |part: &Throughput| {
            let rate = match part.ops_per_s {
                rate if rate >= 100.0 => thousands(rate.round() as u64),
                rate => format!("{rate:.1}"),
            };
            format!("{rate}/s ({:.1} s to {:.1} s)", part.from_s, part.to_s)
        };
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => {
                words += &format!("; throughput before {}, after {}", part(before), part(after));
            }
            (Some(before), None) => words += &format!("; throughput before {}", part(before)),
            (None, Some(after)) => words += &format!("; throughput after {}", part(after)),
            (None, None) => {}
        }
        if let Some(recovered_s) = self.recovered_s {
            words += &format!(
                "; throughput recovered to 90 % of its earlier value in the interval at \
                          {recovered_s:.1} s"
            );
        }
        words
    }

    /// Further details: error codes, refused attempts to reconnect, and the resolution.
    pub fn details(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let list = |counts: &BTreeMap<String, u64>| {
            counts.iter().map(|(name, times)| format!("{name} {times}")).collect::<Vec<_>>().join(", ")
        };
        if !self.failed.is_empty() {
            lines.push(format!("failed operations: {}; by code: {}", list(&self.failed), list(&self.errors)));
        }
        if let Some(refusal) = &self.refusal {
            lines
                .push(format!("{} attempts to connect were refused, the last with: {refusal}", self.refused));
        }
        match self.all_back_s {
            Some(back_s) => lines.push(format!(
                "the first loss was detected at {:.3} s, and every session received responses again by \
                 {back_s:.3} s",
                self.lost_s
            )),
            None => lines.push(format!(
                "the first loss was detected at {:.3} s, and not every session received responses again",
                self.lost_s
            )),
        }
        lines.push(format!(
            "times are those of the sessions' own responses; for sessions that kept their connection, pauses \
             below {:.3} s do not count as outages",
            self.resolution_s
        ));
        lines
    }

    /// Number of operations that failed because of it.
    pub fn failed_operations(&self) -> u64 {
        self.failed.values().fold(0, |sum, failed| sum.saturating_add(*failed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn silence(last_answer_s: f64, first_answer_s: Option<f64>, length_s: f64) -> Silence {
        Silence { last_answer_s, first_answer_s, length_s }
    }

    #[test]
    fn outage_sentence_names_longest_silence_and_both_rates() {
        let part = |from_s, ops_per_s| Some(Throughput { from_s, to_s: from_s + 5.0, ops_per_s });
        let outage = Outage {
            target: Some(2),
            sessions: 3,
            silences: vec![silence(1.0, Some(1.5), 0.5), silence(4.0, Some(7.25), 3.25)],
            failed: BTreeMap::from([("select".into(), 1), ("update".into(), 2)]),
            in_doubt: 1,
            before: part(0.0, 1_000.0),
            after: part(9.0, 990.0),
            recovered_s: Some(8.0),
            ..Outage::default()
        };
        assert_eq!(
            outage.sentence(),
            "target 2: outage: no session had an answer for 3.250 s from 4.000 s to 7.250 s of the window \
             (the longest of 2 times); sessions that lost their connection: 3; failed operations: 3; commits \
             in doubt: 1; throughput before 1,000/s (0.0 s to 5.0 s), after 990/s (9.0 s to 14.0 s); \
             throughput recovered to 90 % of its earlier value in the interval at 8.0 s"
        );
    }

    #[test]
    fn outage_sentence_covers_open_and_partial_outages() {
        let open = Outage { silences: vec![silence(4.0, None, 6.0)], ..Outage::default() };
        let words = "no session had an answer for 6.000 s at least, from 4.000 s of the window until its sessions stopped";
        assert!(open.sentence().contains(words), "{}", open.sentence());
        let partial = Outage { lost_s: 2.0, session_s_max: 0.25, ..Outage::default() };
        let words = "connections lost at 2.000 s of the window while other sessions had answers: one session had none for 0.250 s";
        assert!(partial.sentence().starts_with(words), "{}", partial.sentence());
    }
}
