//! Sends the folders of a run's workloads to the agents that have not got them yet.

use std::time::Duration;

use dyno_drive::Job;
use dyno_engine::{TargetError, TargetErrorKind};
use dyno_workload::own::SentFolders;

use crate::coding::{read, written_with};
use crate::folders::{Folders, packed};
use crate::member::Member;
use crate::messages::{Answer, Ask};
use crate::pieces::{Piece, pieces, sum};
use crate::subjects::plain;
use crate::wire::Wire;

/// How long an agent may take to acknowledge a piece, before it is sent again, and how often it is sent.
const RECEIPT_MAX: Duration = Duration::from_secs(7);
const TIMES: u32 = 3;
/// Agents that are sent a piece at the same time: each copy of one waits in memory.
const AT_ONCE: usize = 64;

/// What is sent.
pub(crate) struct Parcel {
    bytes: Vec<u8>,
    pub(crate) sum: String,
}

/// The folders of a run's workloads, packed; nothing where it has none that agents lack.
///
/// # Errors
/// They are more, or larger, than agents take.
pub(crate) fn parcel(job: &Job<'_>) -> Result<Option<Parcel>, TargetError> {
    let sides = job.plan.sides().zip(&job.owns);
    let owns = sides.filter_map(|(side, own)| Some((side.folder?, own.as_ref())));
    let refused = |why: String| {
        TargetError::unsupported(format!("the workload's files cannot be sent to the driver hosts: {why}"))
            .hint("take out of the folder what no transaction needs, or leave --hosts out".to_owned())
    };
    let folders = SentFolders::of(owns).map_err(|unfit| refused(unfit.to_string()))?;
    if folders.is_empty() {
        return Ok(None);
    }
    let bytes = packed(&Folders(folders)).map_err(refused)?;
    Ok(Some(Parcel { sum: sum(&bytes), bytes }))
}

/// Sends them to those of `members` that have not got them.
///
/// # Errors
/// One does not take them; or the user has asked to stop.
pub(crate) fn send(
    (wire, leader): (&Wire, &str),
    parcel: &Parcel,
    members: &[&Member],
    job: &Job<'_>,
) -> Result<(), TargetError> {
    let lacking: Vec<&Member> = members.iter().copied().filter(|member| !member.has(&parcel.sum)).collect();
    for some in lacking.chunks(AT_ONCE) {
        for (piece, bytes) in pieces(&parcel.bytes) {
            if job.cancel.is_cancelled() {
                return Err(TargetError::new(TargetErrorKind::Cancelled, "stopped before the run began"));
            }
            send_piece(wire, leader, (&piece, bytes), some)?;
        }
        some.iter().for_each(|member| member.got(&parcel.sum));
    }
    Ok(())
}

fn send_piece(
    wire: &Wire,
    leader: &str,
    (piece, bytes): (&Piece, &[u8]),
    members: &[&Member],
) -> Result<(), TargetError> {
    let Piece { number, of, sum } = piece.clone();
    let message = written_with(&Ask::Folders { leader: leader.to_owned(), number, of, sum }, bytes);
    let mut without: Vec<&Member> = members.to_vec();
    for _ in 0..TIMES {
        let questions = without.iter().map(|member| (member.subject.clone(), message.clone())).collect();
        let answers = wire.ask_each(questions, RECEIPT_MAX);
        let mut silent = Vec::new();
        for (member, answer) in without.into_iter().zip(answers) {
            match answer.map(|bytes| read::<Answer>(&bytes)) {
                Some(Ok(Answer::Done { .. })) => {}
                Some(Ok(Answer::Refused(why))) => return Err(not_taken(member, &plain(&why))),
                Some(_) => return Err(not_taken(member, "it answers what is not understood")),
                None => silent.push(member),
            }
        }
        without = silent;
        if without.is_empty() {
            return Ok(());
        }
    }
    Err(not_taken(without[0], "it does not answer"))
}

fn not_taken(member: &Member, why: &str) -> TargetError {
    let words = format!("the driver host {} did not take the workload's files: {why}", member.name);
    TargetError::new(TargetErrorKind::Database, words)
}
