//! The hosts of a run as a group: sends steps to all of them and detects lost hosts.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dyno_engine::Clock;

use crate::agent_inbox::{AgentInbox, AgentStatus};
use crate::clocks::ask_clocks;
use crate::coding::{decode, encode};
use crate::member::FleetMember;
use crate::messages::{AgentReply, AgentRequest, AgentStep};
use crate::subjects::plain;
use crate::wire::Wire;

/// Number of exchanges that measure a clock again; the shortest round trip counts.
const REFRESH: u32 = 12;
/// Time after the drain for sessions that did not end, for the server's information about them, and for the
/// hand-in to start.
const HAND_IN_MAX: Duration = Duration::from_secs(30);
/// How much longer than any message a status report may be missing; agents send it four times a second.
const REPORT_MAX: Duration = Duration::from_secs(5);
/// How long the controller waits for operations in progress once the user asks to hurry.
const HURRY_MAX: Duration = Duration::from_secs(2);

pub(crate) struct AgentGroup {
    pub(crate) wire: Arc<Wire>,
    pub(crate) run_id: String,
    pub(crate) inbox: Arc<AgentInbox>,
    pub(crate) clock: Arc<dyn Clock>,
    /// Id of the controller's process.
    pub(crate) leader: String,
    pub(crate) silence: Duration,
}

impl AgentGroup {
    /// Ranks of the hosts that are not lost.
    pub(crate) fn active_ranks(&self) -> Vec<usize> {
        let statuses = self.inbox.statuses.lock();
        (0..statuses.len()).filter(|rank| statuses[*rank].lost_reason.is_none()).collect()
    }

    /// Adds up a count over the hosts that are not lost.
    pub(crate) fn sum(&self, count_of: impl Fn(&AgentStatus) -> u32) -> u32 {
        self.inbox.statuses.lock().iter().filter(|heard| heard.lost_reason.is_none()).map(count_of).sum()
    }

    /// Sends a step, which `make` builds for each host, to all hosts that are not lost. Returns the longest
    /// delay of a host, ns.
    pub(crate) fn step(&self, make: impl Fn(&FleetMember) -> Result<AgentStep, String>) -> u64 {
        let mut questions = Vec::new();
        let mut requested_ranks = Vec::new();
        for rank in self.active_ranks() {
            let member = &self.inbox.slots[rank].member;
            match make(member) {
                Ok(step) => {
                    let ask = encode(&AgentRequest::Do {
                        leader: self.leader.clone(),
                        run_id: self.run_id.clone(),
                        step,
                    });
                    questions.push((member.subject.clone(), ask));
                    requested_ranks.push(rank);
                }
                Err(why) => self.inbox.mark_lost(rank, why),
            }
        }
        let answers = self.wire.ask_each(questions, self.silence);
        let mut late_max_ns = 0;
        for (rank, answer) in requested_ranks.into_iter().zip(answers) {
            match answer.map(|bytes| decode::<AgentReply>(&bytes)) {
                Some(Ok(AgentReply::Done { late_ns })) => {
                    late_max_ns = late_max_ns.max(late_ns);
                    let mut statuses = self.inbox.statuses.lock();
                    statuses[rank].late_ns = statuses[rank].late_ns.max(late_ns);
                }
                Some(Ok(AgentReply::Refused(why))) => self.inbox.mark_lost(rank, plain(&why)),
                Some(_) => self.inbox.mark_lost(rank, "it sent an unexpected answer".to_owned()),
                None => {
                    let why = format!("no answer within {:.1} s", self.silence.as_secs_f64());
                    self.inbox.mark_lost(rank, why);
                }
            }
        }
        late_max_ns
    }

    /// Measures the clocks again, close to an important moment: clock offsets become less certain with time.
    pub(crate) fn refresh_clocks(&self) {
        let active_ranks = self.active_ranks();
        let members = active_ranks.iter().map(|rank| self.inbox.slots[*rank].member.as_ref());
        ask_clocks(&self.wire, &self.clock, &self.leader, members, REFRESH);
    }

    /// Marks hosts as lost whose agent answers but has not reported its sessions for too long.
    pub(crate) fn mark_hanging(&self) {
        let statuses = self.inbox.statuses.lock();
        let hangs = |status: &AgentStatus| {
            status.lost_reason.is_none()
                && status.reported.is_some_and(|reported| reported.elapsed() > self.silence + REPORT_MAX)
        };
        let hanging: Vec<usize> = (0..statuses.len()).filter(|rank| hangs(&statuses[*rank])).collect();
        drop(statuses);
        for rank in hanging {
            self.inbox.mark_lost(rank, "its agent answers, but does not report on its sessions".to_owned());
        }
    }

    /// Marks hosts as lost that have been silent for too long.
    pub(crate) fn mark_silent(&self) {
        for rank in self.active_ranks() {
            let silent_for = self.inbox.slots[rank].member.silent_for();
            if silent_for >= self.silence {
                self.inbox.mark_lost(rank, silence_words(self.wire.is_connected(), silent_for));
            }
        }
    }

    /// Waits until every host has handed in its results or counts as lost.
    pub(crate) fn wait_handed(&self, drain: Duration, impatient: &dyn Fn() -> bool) {
        let mut until = Instant::now() + drain + HAND_IN_MAX;
        let mut hurried = false;
        loop {
            self.mark_silent();
            let waits_for: Vec<usize> = {
                let statuses = self.inbox.statuses.lock();
                (0..statuses.len())
                    .filter(|rank| {
                        statuses[*rank].lost_reason.is_none() && statuses[*rank].packed_results.is_none()
                    })
                    .collect()
            };
            if waits_for.is_empty() {
                return;
            }
            if impatient() && !hurried {
                hurried = true;
                self.step(|_| Ok(AgentStep::Hurry));
                until = until.min(Instant::now() + HURRY_MAX);
            }
            if Instant::now() >= until {
                for rank in waits_for {
                    self.inbox.mark_lost(rank, "it did not send its results in time".to_owned());
                }
                return;
            }
            self.inbox.wait(Duration::from_millis(50));
        }
    }
}

/// Prefix of the reason when the NATS server, not a host, was lost.
pub(crate) const NATS_LOST: &str = "the connection to the NATS server was lost";

/// Says why a host counts as lost that was silent for this long.
fn silence_words(is_connected: bool, silent_for: Duration) -> String {
    let seconds = silent_for.as_secs_f64();
    match is_connected {
        true => format!("no message from it for {seconds:.1} s"),
        false => format!("{NATS_LOST}: no message from the driver hosts for {seconds:.1} s"),
    }
}

/// Says why a run fails after it lost the driver host `host`.
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
    fn nats_server_loss_does_not_blame_driver_host() {
        let silent_for = Duration::from_millis(2_500);
        let loss =
            |is_connected| loss_words("driver host 1 of 2 (a1)", &silence_words(is_connected, silent_for));
        assert_eq!(loss(true), "driver host 1 of 2 (a1) was lost: no message from it for 2.5 s");
        assert_eq!(
            loss(false),
            "the connection to the NATS server was lost: no message from the driver hosts for 2.5 s"
        );
    }
}
