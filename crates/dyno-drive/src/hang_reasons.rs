//! Asks the servers why sessions hang, before Dyno interrupts them: the reason is not visible afterwards.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use dyno_engine::target::HungSessionReport;

use crate::job::DriveJob;

/// The longest wait for all answers: a server with hanging sessions may not answer this question either.
const PATIENCE: Duration = Duration::from_secs(3);

/// The targets' reports on the `hanging` sessions.
pub(crate) fn ask(job: &DriveJob<'_>, hanging: &[u32]) -> Vec<HungSessionReport> {
    let target_of = job.plan.target.assign(job.plan.sessions());
    let mut targets: Vec<usize> = hanging.iter().map(|number| target_of[*number as usize]).collect();
    targets.sort_unstable();
    targets.dedup();
    let (tell, told) = channel();
    for &at in &targets {
        let (target, tell) = (Arc::clone(&job.targets[at].target), tell.clone());
        let ask = move || {
            // Without an answer, the sessions are interrupted anyway.
            let _ = tell.send((at, target.stuck().ok().flatten()));
        };
        // This thread is never joined: it ends with the server's answer, or with the program.
        let _ = std::thread::Builder::new().name("dyno-stuck".to_owned()).spawn(ask);
    }
    drop(tell);
    let until = Instant::now() + PATIENCE;
    let mut answers = Vec::new();
    while let Ok(answer) = told.recv_timeout(until.saturating_duration_since(Instant::now())) {
        answers.push(answer);
    }
    answers.sort_by_key(|(at, _)| *at);
    let labelled = answers.into_iter().filter_map(|(at, stuck)| {
        let HungSessionReport { words, full } = stuck?;
        Some(HungSessionReport { words: format!("{}{words}", job.label(at)), full })
    });
    labelled.collect()
}
