//! Has hosts take up their parts of a run, and waits until they have reached its targets.

use std::time::{Duration, Instant};

use dyno_drive::Job;
use dyno_engine::{TargetError, TargetErrorKind};
use dyno_host::ProcessAddress;
use dyno_record::Host;

use crate::coding::read;
use crate::ear::Ear;
use crate::messages::Answer;
use crate::subjects::plain;
use crate::wire::Wire;

/// How long an agent may take to say whether it leads its part: it reads nothing but the order before.
const LEADS_MAX: Duration = Duration::from_secs(20);
/// How long hosts may take to reach the targets, which each may take a minute to tell what it is.
const REACH_MAX: Duration = Duration::from_secs(180);

/// Sends each host its order; returns the machines that lead their parts, with the processes of their agents.
///
/// # Errors
/// Not all of them do.
pub(crate) fn have_led(
    wire: &Wire,
    ear: &Ear,
    orders: Vec<(String, Vec<u8>)>,
) -> Result<Vec<(Host, ProcessAddress)>, TargetError> {
    let answers = wire.ask_each(orders, LEADS_MAX);
    let mut hosts = Vec::new();
    let mut refusals = Vec::new();
    for (answer, seat) in answers.into_iter().zip(&ear.seats) {
        let name = &seat.member.name;
        match answer.map(|bytes| read::<Answer>(&bytes)) {
            Some(Ok(Answer::Leads(host, process))) => hosts.push((*host, process)),
            Some(Ok(Answer::Refused(why))) => refusals.push(format!("{name} refuses: {}", plain(&why))),
            Some(_) => refusals.push(format!("{name} answers what is not understood")),
            None => refusals.push(format!("{name} did not answer within {} s", LEADS_MAX.as_secs())),
        }
    }
    if refusals.is_empty() {
        return Ok(hosts);
    }
    let words = format!("the run cannot be led from all hosts: {}", refusals.join("; "));
    Err(TargetError::new(TargetErrorKind::Database, words))
}

/// Waits until all hosts have reached the targets of `job`, which none may be kept from by another's silence.
pub(crate) fn wait_reached(ear: &Ear, job: &Job<'_>, silence: Duration) -> Result<(), TargetError> {
    let until = Instant::now() + REACH_MAX;
    let refused = |words: String| Err(TargetError::new(TargetErrorKind::Database, words));
    loop {
        {
            let heard = ear.heard();
            for (heard, seat) in heard.iter().zip(&ear.seats) {
                let name = &seat.member.name;
                if let Some(why) = heard.standing.failure.as_ref().or(heard.lost.as_ref()) {
                    return refused(format!("the run cannot be led from {name}: {why}"));
                }
                if seat.member.silent_for() >= silence {
                    return refused(format!("the driver host {name} is not heard of any more"));
                }
            }
            if heard.iter().all(|heard| heard.reached) {
                return Ok(());
            }
            if Instant::now() >= until {
                let late = heard.iter().zip(&ear.seats).filter(|(heard, _)| !heard.reached);
                let names: Vec<&str> = late.map(|(_, seat)| seat.member.name.as_str()).collect();
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
        ear.wait(Duration::from_millis(100));
    }
}
