//! Collects the results of a run, and checks those of other hosts.

use dyno_workload::Classes;
use serde::{Deserialize, Serialize};

use crate::count_max::COUNT_MAX;
use crate::job::DriveJob;
use crate::session::{FoldedSessions, SessionResult};
use crate::thread_result::ThreadResult;

/// The most kinds of errors in one session's results, from any host.
const ERRORS_MAX: usize = 1_000;

/// The measurements of a run's sessions, and the counts of their threads.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Results {
    pub(crate) sessions: Vec<SessionResult>,
    pub(crate) threads: Vec<ThreadResult>,
}

/// The dimensions of a run; results from other hosts are checked against them.
#[derive(Debug, Clone)]
pub struct ResultShape {
    pub(crate) targets: usize,
    pub(crate) classes: Classes,
    /// Number of parts of a run with phases.
    pub(crate) parts: usize,
    pub(crate) interval_ns: u64,
}

impl ResultShape {
    /// The dimensions of `job`.
    pub fn of(job: &DriveJob<'_>) -> Self {
        Self {
            targets: job.targets.len(),
            classes: job.classes(),
            parts: crate::phased::ends_ns(job.plan).map_or(0, |ends_ns| ends_ns.len()),
            interval_ns: (job.plan.observe.interval.0.as_nanos() as u64).max(1),
        }
    }
}

impl Results {
    /// Adds results of other sessions.
    pub fn add(&mut self, other: Self) {
        self.sessions.extend(other.sessions);
        self.threads.extend(other.threads);
    }

    /// Converts all times to another clock.
    pub fn on_clock(&mut self, map: &dyn Fn(u64) -> u64) {
        for session in &mut self.sessions {
            let moments = &mut session.moments;
            moments.last_ns = map(moments.last_ns);
            let marks = session.marks.iter_mut().flat_map(|marks| [&mut marks.low, &mut marks.high]);
            let marked = marks.flatten().map(|mark| &mut mark.at_ns);
            let edges = moments.edge_ns.iter_mut().flatten();
            let many = session.many.iter_mut().flat_map(|many| many.moments_mut());
            if let Some(answers) = &mut session.answers {
                answers.on_clock(map);
            }
            for at_ns in moments.start_ns.iter_mut().chain(edges).chain(marked).chain(many) {
                *at_ns = map(*at_ns);
            }
        }
    }

    /// The first and the last time at which a session began its first operation.
    pub fn started_ns(&self) -> Option<(u64, u64)> {
        let mut many = FoldedSessions::default();
        self.sessions.iter().for_each(|session| many.add(&session.many()));
        many.starts_ns
    }

    /// Operations in the window, of all classes.
    pub fn operations(&self, shape: &ResultShape) -> u64 {
        let operations_of = |thread: &ThreadResult| -> u64 {
            let counts = shape.classes.operations().filter_map(|class| thread.classes.get(class.index()));
            counts.map(|class| class.count).sum()
        };
        self.threads.iter().map(operations_of).sum()
    }

    /// Whether these can be the results of `sessions` sessions of a run with this shape; they may come from
    /// another host.
    ///
    /// # Errors
    /// A description of the implausible part.
    pub fn check(&self, shape: &ResultShape, sessions: usize) -> Result<(), String> {
        let (targets, classes, parts) = (shape.targets, shape.classes.count(), shape.parts);
        let not = |is: bool, problem: &str| if is { Err(problem.to_owned()) } else { Ok(()) };
        let counted =
            |session: &SessionResult| session.many.as_ref().map_or(1, |many| many.sessions as usize);
        let session_count: usize = self.sessions.iter().map(counted).sum();
        not(
            session_count > sessions || self.sessions.len() > sessions,
            "results of more sessions than it has",
        )?;
        not(self.threads.len() > targets * (sessions + 1), "results of more threads than it has")?;
        for session in &self.sessions {
            not(session.target >= targets, "results of a target that does not exist")?;
            let is_apart = |many: &FoldedSessions| {
                let most = u32::try_from(sessions).unwrap_or(u32::MAX);
                let counts = [many.started, many.spans.1, many.late[0], many.late[1]];
                counts.iter().all(|count| *count <= most) && many.spans.0.is_finite()
            };
            not(
                !session.many.as_ref().is_none_or(|many| is_apart(many)),
                "counts of more sessions than it has",
            )?;
            let is_sound = session.answers.as_ref().is_none_or(|answers| answers.is_sound(sessions, classes));
            not(!is_sound, "an impossible number of lost connections")?;
            not(session.errors.len() > ERRORS_MAX, "more kinds of errors than a session can meet")?;
            not(session.window_ops > COUNT_MAX, "impossible counts")?;
            not(!session.served_by.is_plausible(), "an impossible name of an instance")?;
            let marked = session.marks.iter().flat_map(|marks| [&marks.low, &marks.high]).flatten();
            for life in marked.map(|mark| &mark.life).chain([&session.life]) {
                not(life.ops.len() != classes, "results of other classes of operations")?;
                not(!life.is_countable(), "impossible counts")?;
            }
        }
        for thread in &self.threads {
            not(thread.target >= targets, "results of a target that does not exist")?;
            not(!thread.served_by.is_plausible(), "an impossible name of an instance")?;
            not(!thread.phases.is_empty() && thread.phases.len() != parts, "results of other phases")?;
            let of_phases = thread.phases.iter().map(|phase| &phase.classes);
            for each in of_phases.chain([&thread.classes]) {
                not(!each.is_empty() && each.len() != classes, "results of other classes of operations")?;
                not(each.iter().any(|class| !class.is_countable()), "impossible counts")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use dyno_record::Histogram;
    use proptest::prelude::*;

    use super::*;
    use crate::packed::Packed;
    use crate::tally::LatencyTally;
    use crate::thread_result::ClassResult;

    /// The results of one thread of a host with these latencies.
    fn thread(latencies_ns: &[u64]) -> ThreadResult {
        let mut tally = LatencyTally::precise();
        latencies_ns.iter().for_each(|&latency| tally.record(latency));
        let class = ClassResult {
            count: latencies_ns.len() as u64,
            service: Packed::of(&tally),
            ..ClassResult::default()
        };
        ThreadResult { classes: vec![class], ..ThreadResult::default() }
    }

    proptest! {
        #[test]
        fn merged_hosts_have_exact_percentiles_of_all_samples(
            hosts in prop::collection::vec(
                prop::collection::vec(prop::collection::vec(1u64..100_000_000_000, 0..60), 1..4), 1..9),
        ) {
            let (mut merged, mut exact) = (Results::default(), Histogram::new());
            for host in &hosts {
                let handed = Results { sessions: Vec::new(), threads: host.iter().map(|one| thread(one)).collect() };
                // In serialized form, as sent between hosts.
                merged.add(serde_json::from_slice(&serde_json::to_vec(&handed).unwrap()).unwrap());
                host.iter().flatten().for_each(|&latency| exact.record_ns(latency));
            }
            let mut all = Histogram::new();
            merged.threads.iter().for_each(|thread| thread.classes[0].service.add_to(&mut all));
            let buckets = |histogram: &Histogram| -> Vec<(u64, u64)> {
                let recorded = histogram.inner().iter_recorded();
                recorded.map(|value| (value.value_iterated_to(), value.count_at_value())).collect()
            };
            prop_assert_eq!(buckets(&all), buckets(&exact));
        }
    }
}
