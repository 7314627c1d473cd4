//! Starts the hosts' parts of a run, and waits until all hosts have reached the targets.

use std::time::{Duration, Instant};

use dyno_drive::DriveJob;
use dyno_engine::{TargetError, TargetErrorKind};
use dyno_host::ProcessAddress;
use dyno_record::Host;

use crate::agent_inbox::AgentInbox;
use crate::coding::decode;
use crate::messages::AgentReply;
use crate::subjects::plain;
use crate::wire::Wire;

/// How long an agent may take to accept its part; before it answers it only reads the order.
const LEADS_MAX: Duration = Duration::from_secs(20);
/// How long hosts may take to reach the targets; identifying one target may take a minute.
const REACH_MAX: Duration = Duration::from_secs(180);

/// Sends each host its order; returns each host's machine and its agent's process.
///
/// # Errors
/// A host does not accept its part.
pub(crate) fn have_led(
    wire: &Wire,
    inbox: &AgentInbox,
    orders: Vec<(String, Vec<u8>)>,
) -> Result<Vec<(Host, ProcessAddress)>, TargetError> {
    let answers = wire.ask_each(orders, LEADS_MAX);
    let mut hosts = Vec::new();
    let mut refusals = Vec::new();
    for (answer, slot) in answers.into_iter().zip(&inbox.slots) {
        let name = &slot.member.name;
        match answer.map(|bytes| decode::<AgentReply>(&bytes)) {
            Some(Ok(AgentReply::Leads(host, process))) => hosts.push((*host, process)),
            Some(Ok(AgentReply::Refused(why))) => refusals.push(format!("{name} refuses: {}", plain(&why))),
            Some(_) => refusals.push(format!("{name} sent an unexpected answer")),
            None => refusals.push(format!("{name} did not answer within {} s", LEADS_MAX.as_secs())),
        }
    }
    if refusals.is_empty() {
        return Ok(hosts);
    }
    let words = format!("the run cannot start on all hosts: {}", refusals.join("; "));
    Err(TargetError::new(TargetErrorKind::Database, words))
}

/// Waits until all hosts have reached the targets of `job`. A silent host ends the wait.
pub(crate) fn wait_reached(
    inbox: &AgentInbox,
    job: &DriveJob<'_>,
    silence: Duration,
) -> Result<(), TargetError> {
    let until = Instant::now() + REACH_MAX;
    let refused = |words: String| Err(TargetError::new(TargetErrorKind::Database, words));
    loop {
        {
            let statuses = inbox.statuses.lock();
            for (status, slot) in statuses.iter().zip(&inbox.slots) {
                let name = &slot.member.name;
                if let Some(why) = status.worker_status.failure.as_ref().or(status.lost_reason.as_ref()) {
                    return refused(format!("the run cannot start on {name}: {why}"));
                }
                if slot.member.silent_for() >= silence {
                    return refused(format!("the driver host {name} no longer answers"));
                }
            }
            if statuses.iter().all(|agent| agent.reached) {
                return Ok(());
            }
            if Instant::now() >= until {
                let late = statuses.iter().zip(&inbox.slots).filter(|(entry, _)| !entry.reached);
                let names: Vec<&str> = late.map(|(_, agent_slot)| agent_slot.member.name.as_str()).collect();
                let seconds = REACH_MAX.as_secs();
                return refused(format!(
                    "no target was reached within {seconds} s from {}",
                    names.join(", ")
                ));
            }
        }
        if job.cancel.is_cancelled() {
            return Err(TargetError::new(TargetErrorKind::Cancelled, "stopped before the run began"));
        }
        inbox.wait(Duration::from_millis(100));
    }
}
