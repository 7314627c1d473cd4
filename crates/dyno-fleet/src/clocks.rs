//! Measures the clocks of reserved agents and stores the answers.

use std::sync::Arc;
use std::time::Duration;

use dyno_engine::Clock;

use crate::clock::Exchange;
use crate::coding::{decode, encode};
use crate::member::FleetMember;
use crate::messages::{AgentReply, AgentRequest};
use crate::wire::Wire;

/// Measures the clock of each member `times` times, all members in parallel.
pub(crate) fn ask_clocks<'m>(
    wire: &Wire,
    clock: &Arc<dyn Clock>,
    leader: &str,
    members: impl Iterator<Item = &'m FleetMember> + Clone,
    times: u32,
) {
    let ask = encode(&AgentRequest::Clock(leader.to_owned()));
    let questions = members.clone().map(|member| (member.subject.clone(), ask.clone())).collect();
    let all = wire.ask_often(clock, questions, times, Duration::from_secs(2));
    for (member, answers) in members.zip(all) {
        for (asked_ns, answered_ns, bytes) in answers {
            note_clock(member, asked_ns, answered_ns, &bytes);
        }
    }
}

/// Stores one answer; ignores answers that carry no clock.
pub(crate) fn note_clock(member: &FleetMember, asked_ns: u64, answered_ns: u64, bytes: &[u8]) {
    if let Ok(AgentReply::Clock { heard_ns, said_ns }) = decode(bytes) {
        member.note(Exchange { asked_ns, heard_ns, said_ns, answered_ns });
    }
}
