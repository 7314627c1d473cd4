//! Asks reserved agents for their clocks, and notes what they answer.

use std::sync::Arc;
use std::time::Duration;

use dyno_engine::Clock;

use crate::clock::Exchange;
use crate::coding::{read, written};
use crate::member::Member;
use crate::messages::{Answer, Ask};
use crate::wire::Wire;

/// Asks these so many times for their clocks, all at the same time.
pub(crate) fn ask_clocks<'m>(
    wire: &Wire,
    clock: &Arc<dyn Clock>,
    leader: &str,
    members: impl Iterator<Item = &'m Member> + Clone,
    times: u32,
) {
    let ask = written(&Ask::Clock(leader.to_owned()));
    let questions = members.clone().map(|member| (member.subject.clone(), ask.clone())).collect();
    let all = wire.ask_often(clock, questions, times, Duration::from_secs(2));
    for (member, answers) in members.zip(all) {
        for (asked_ns, answered_ns, bytes) in answers {
            note_clock(member, asked_ns, answered_ns, &bytes);
        }
    }
}

/// Notes one answer; what is none of a clock means nothing.
pub(crate) fn note_clock(member: &Member, asked_ns: u64, answered_ns: u64, bytes: &[u8]) {
    if let Ok(Answer::Clock { heard_ns, said_ns }) = read(bytes) {
        member.note(Exchange { asked_ns, heard_ns, said_ns, answered_ns });
    }
}
