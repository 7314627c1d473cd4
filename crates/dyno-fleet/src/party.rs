//! The hosts of a run as one: steps that all of them take, and who of them is lost.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dyno_engine::Clock;

use crate::clocks::ask_clocks;
use crate::coding::{read, written};
use crate::ear::{Ear, Heard};
use crate::member::Member;
use crate::messages::{Answer, Ask, Step};
use crate::subjects::plain;
use crate::wire::Wire;

/// Exchanges by which clocks are known anew: the shortest of them counts.
const REFRESH: u32 = 12;
/// How long sessions that were broken off may take, with what is asked of their servers, and what is handed in to begin to come.
const HAND_IN_MAX: Duration = Duration::from_secs(30);
/// How much later than any message a standing may be told, which is told four times a second.
const REPORT_MAX: Duration = Duration::from_secs(5);
/// How long is waited for what is under way once the user is impatient.
const HURRY_MAX: Duration = Duration::from_secs(2);

/// The hosts of one run.
pub(crate) struct Party {
    pub(crate) wire: Arc<Wire>,
    pub(crate) run_id: String,
    pub(crate) ear: Arc<Ear>,
    pub(crate) clock: Arc<dyn Clock>,
    /// The number of whoever leads.
    pub(crate) leader: String,
    pub(crate) silence: Duration,
}

impl Party {
    /// Ranks that have not been lost.
    pub(crate) fn there(&self) -> Vec<usize> {
        let heard = self.ear.heard();
        (0..heard.len()).filter(|rank| heard[*rank].lost.is_none()).collect()
    }

    /// Sums up what those that are there have reported.
    pub(crate) fn sum(&self, of: impl Fn(&Heard) -> u32) -> u32 {
        self.ear.heard().iter().filter(|heard| heard.lost.is_none()).map(of).sum()
    }

    /// Has all that are there do a step, which may be another one for each; returns how much too late the last did, ns.
    pub(crate) fn step(&self, make: impl Fn(&Member) -> Result<Step, String>) -> u64 {
        let mut questions = Vec::new();
        let mut asked = Vec::new();
        for rank in self.there() {
            let member = &self.ear.seats[rank].member;
            match make(member) {
                Ok(step) => {
                    let ask =
                        written(&Ask::Do { leader: self.leader.clone(), run_id: self.run_id.clone(), step });
                    questions.push((member.subject.clone(), ask));
                    asked.push(rank);
                }
                Err(why) => self.ear.lose(rank, why),
            }
        }
        let answers = self.wire.ask_each(questions, self.silence);
        let mut late_max_ns = 0;
        for (rank, answer) in asked.into_iter().zip(answers) {
            match answer.map(|bytes| read::<Answer>(&bytes)) {
                Some(Ok(Answer::Done { late_ns })) => {
                    late_max_ns = late_max_ns.max(late_ns);
                    let mut heard = self.ear.heard();
                    heard[rank].late_ns = heard[rank].late_ns.max(late_ns);
                }
                Some(Ok(Answer::Refused(why))) => self.ear.lose(rank, plain(&why)),
                Some(_) => self.ear.lose(rank, "it answers what is not understood".to_owned()),
                None => {
                    let why = format!("no answer within {:.1} s", self.silence.as_secs_f64());
                    self.ear.lose(rank, why);
                }
            }
        }
        late_max_ns
    }

    /// Asks for clocks anew, shortly before a moment or after one: what is known of them ages.
    pub(crate) fn refresh_clocks(&self) {
        let there = self.there();
        let members = there.iter().map(|rank| self.ear.seats[*rank].member.as_ref());
        ask_clocks(&self.wire, &self.clock, &self.leader, members, REFRESH);
    }

    /// Notes whose sessions' standing has not been told for too long, though the agent answers.
    pub(crate) fn look_for_hanging(&self) {
        let heard = self.ear.heard();
        let hangs = |heard: &Heard| {
            heard.lost.is_none()
                && heard.reported.is_some_and(|reported| reported.elapsed() > self.silence + REPORT_MAX)
        };
        let hanging: Vec<usize> = (0..heard.len()).filter(|rank| hangs(&heard[*rank])).collect();
        drop(heard);
        for rank in hanging {
            self.ear.lose(rank, "its agent answers, and tells nothing of its sessions".to_owned());
        }
    }

    /// Notes who has been silent for too long.
    pub(crate) fn look_for_lost(&self) {
        for rank in self.there() {
            let silent_for = self.ear.seats[rank].member.silent_for();
            if silent_for >= self.silence {
                self.ear.lose(rank, silence_words(self.wire.is_connected(), silent_for));
            }
        }
    }

    /// Waits until all that are there have handed in, or will not.
    pub(crate) fn wait_handed(&self, drain: Duration, impatient: &dyn Fn() -> bool) {
        let mut until = Instant::now() + drain + HAND_IN_MAX;
        let mut hurried = false;
        loop {
            self.look_for_lost();
            let waits_for: Vec<usize> = {
                let heard = self.ear.heard();
                (0..heard.len())
                    .filter(|rank| heard[*rank].lost.is_none() && heard[*rank].handed.is_none())
                    .collect()
            };
            if waits_for.is_empty() {
                return;
            }
            if impatient() && !hurried {
                hurried = true;
                self.step(|_| Ok(Step::Hurry));
                until = until.min(Instant::now() + HURRY_MAX);
            }
            if Instant::now() >= until {
                for rank in waits_for {
                    self.ear.lose(rank, "it handed in nothing in time".to_owned());
                }
                return;
            }
            self.ear.wait(Duration::from_millis(50));
        }
    }
}

/// How the reason for the loss of a host begins where the NATS server is what was lost.
pub(crate) const NATS_LOST: &str = "the connection to the NATS server was lost";

/// Why a host that is silent for so long counts as lost.
fn silence_words(is_connected: bool, silent_for: Duration) -> String {
    let seconds = silent_for.as_secs_f64();
    match is_connected {
        true => format!("nothing was heard of it for {seconds:.1} s"),
        false => format!("{NATS_LOST}: nothing was heard of the driver hosts for {seconds:.1} s"),
    }
}

/// Why a run fails whose driver host, named `host`, was lost.
pub(crate) fn loss_words(host: &str, why: &str) -> String {
    match why.starts_with(NATS_LOST) {
        true => why.to_owned(),
        false => format!("{host} was lost: {why}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_nats_server_is_named_and_no_driver_host() {
        let silent_for = Duration::from_millis(2_500);
        let loss =
            |is_connected| loss_words("driver host 1 of 2 (a1)", &silence_words(is_connected, silent_for));
        assert_eq!(loss(true), "driver host 1 of 2 (a1) was lost: nothing was heard of it for 2.5 s");
        assert_eq!(
            loss(false),
            "the connection to the NATS server was lost: nothing was heard of the driver hosts for 2.5 s"
        );
    }
}
