//! Sends the folders of a run's workloads to the agents that lack them.

use std::time::Duration;

use dyno_drive::DriveJob;
use dyno_engine::{TargetError, TargetErrorKind};
use dyno_workload::custom::SentFolders;

use crate::coding::{decode, encode_with_payload};
use crate::folders::{Folders, pack_folders};
use crate::member::FleetMember;
use crate::messages::{AgentReply, AgentRequest};
use crate::pieces::{TransferPiece, checksum, pieces};
use crate::subjects::plain;
use crate::wire::Wire;

/// How long an agent may take to acknowledge a piece before it is sent again, and how often it is sent.
const RECEIPT_MAX: Duration = Duration::from_secs(7);
const TIMES: u32 = 3;
/// Number of agents that receive a piece at the same time; each copy is held in memory.
const AT_ONCE: usize = 64;

pub(crate) struct FolderParcel {
    bytes: Vec<u8>,
    pub(crate) sum: String,
}

/// Packs the folders of a run's workloads; absent if the run uses only built-in workloads.
///
/// # Errors
/// There are more folders, or larger ones, than agents accept.
pub(crate) fn parcel(job: &DriveJob<'_>) -> Result<Option<FolderParcel>, TargetError> {
    let sides = job.plan.workload_shares().zip(&job.custom_workloads);
    let owns = sides.filter_map(|(side, own)| Some((side.folder?, own.as_ref())));
    let refused = |why: String| {
        TargetError::unsupported(format!("the workload's files cannot be sent to the driver hosts: {why}"))
            .hint("remove files that no transaction needs from the folder, or leave --hosts out".to_owned())
    };
    let folders = SentFolders::of(owns).map_err(|unfit| refused(unfit.to_string()))?;
    if folders.is_empty() {
        return Ok(None);
    }
    let bytes = pack_folders(&Folders(folders)).map_err(refused)?;
    Ok(Some(FolderParcel { sum: checksum(&bytes), bytes }))
}

/// Sends the folders to those of `members` that lack them.
///
/// # Errors
/// An agent refuses them, or the user cancelled.
pub(crate) fn send(
    (wire, leader): (&Wire, &str),
    parcel: &FolderParcel,
    members: &[&FleetMember],
    job: &DriveJob<'_>,
) -> Result<(), TargetError> {
    let lacking: Vec<&FleetMember> =
        members.iter().copied().filter(|member| !member.has_folders(&parcel.sum)).collect();
    for some in lacking.chunks(AT_ONCE) {
        for (piece, bytes) in pieces(&parcel.bytes) {
            if job.cancel.is_cancelled() {
                return Err(TargetError::new(TargetErrorKind::Cancelled, "stopped before the run began"));
            }
            send_piece(wire, leader, (&piece, bytes), some)?;
        }
        some.iter().for_each(|member| member.note_folders(&parcel.sum));
    }
    Ok(())
}

fn send_piece(
    wire: &Wire,
    leader: &str,
    (piece, bytes): (&TransferPiece, &[u8]),
    members: &[&FleetMember],
) -> Result<(), TargetError> {
    let TransferPiece { number, piece_count: of, sum } = piece.clone();
    let message =
        encode_with_payload(&AgentRequest::Folders { leader: leader.to_owned(), number, of, sum }, bytes);
    let mut without: Vec<&FleetMember> = members.to_vec();
    for _ in 0..TIMES {
        let questions = without.iter().map(|member| (member.subject.clone(), message.clone())).collect();
        let answers = wire.ask_each(questions, RECEIPT_MAX);
        let mut silent = Vec::new();
        for (member, answer) in without.into_iter().zip(answers) {
            match answer.map(|bytes| decode::<AgentReply>(&bytes)) {
                Some(Ok(AgentReply::Done { .. })) => {}
                Some(Ok(AgentReply::Refused(why))) => return Err(not_taken(member, &plain(&why))),
                Some(_) => return Err(not_taken(member, "it sent an unexpected answer")),
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

fn not_taken(member: &FleetMember, why: &str) -> TargetError {
    let words = format!("the driver host {} did not accept the workload's files: {why}", member.name);
    TargetError::new(TargetErrorKind::Database, words)
}
