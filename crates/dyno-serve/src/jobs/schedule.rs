//! Decides which queued jobs start, and how a job continues after the end of a process.

use super::job::{JobState, ServeJob, conflicts_with};

/// The exit codes of the program that decide about a job's state.
const DONE: i32 = 0;
const INVALID: i32 = 1;
const INTERRUPTED: i32 = 130;
/// A study needs a restart of the machine before it can continue.
const REBOOT: i32 = 4;

/// Which queued jobs this server may start, no matter who queued them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QueuePolicy {
    /// No jobs: the server is read-only.
    Nothing,
    /// Only jobs that run no commands.
    WithoutCommands,
    /// All queued jobs, including those that run commands.
    Everything,
}

impl QueuePolicy {
    /// Returns the policy of a server with these options.
    pub(crate) fn of(read_only: bool, allow_commands: bool) -> Self {
        match (read_only, allow_commands) {
            (true, _) => Self::Nothing,
            (false, false) => Self::WithoutCommands,
            (false, true) => Self::Everything,
        }
    }

    /// Says why a queued job is not started; absent if it is.
    pub(crate) fn refusal(self, job: &ServeJob) -> Option<&'static str> {
        match self {
            Self::Nothing => {
                Some("this server is read-only (--read-only), so the job waits for another server")
            }
            Self::WithoutCommands if job.runs_commands => {
                Some("the job runs commands, so it waits for a server with --allow-commands")
            }
            Self::WithoutCommands | Self::Everything => None,
        }
    }
}

/// Marks the queued jobs that no other job delays as running, and returns them.
pub(super) fn start_ready<'a>(
    jobs: impl IntoIterator<Item = &'a mut ServeJob>,
    policy: QueuePolicy,
) -> Vec<ServeJob> {
    let mut open: Vec<&mut ServeJob> = jobs.into_iter().filter(|job| !job.state.is_over()).collect();
    // Running jobs first, then the queued ones in their order.
    open.sort_by(|a, b| {
        let key = |job: &ServeJob| (job.state == JobState::Queued, job.started_at.clone(), job.id.clone());
        key(a).cmp(&key(b))
    });
    let mut places: Vec<String> = Vec::new();
    let mut ready = Vec::new();
    for job in open {
        if job.state == JobState::Queued {
            // A job that this server may not start delays no others.
            if policy.refusal(job).is_some() {
                continue;
            }
            if !places.iter().any(|place| conflicts_with(place, &job.place)) {
                job.state = JobState::Running;
                ready.push(job.clone());
            }
        }
        // Later jobs do not overtake one that needs the whole machine; otherwise it could wait forever.
        places.push(job.place.clone());
    }
    ready
}

/// The state of a job after a process of it ended with `exit`, which is absent if it was killed. `None` if the next
/// step follows.
pub(super) fn state_after(exit: Option<i32>, is_last: bool, stop: bool) -> Option<JobState> {
    Some(match exit {
        Some(DONE) if !is_last && !stop => return None,
        Some(DONE) if !is_last => JobState::Stopped,
        Some(DONE) => JobState::Done,
        Some(INVALID) if is_last => JobState::Doubtful,
        Some(INTERRUPTED | REBOOT) => JobState::Stopped,
        None if stop => JobState::Stopped,
        None => JobState::Interrupted,
        Some(_) => JobState::Failed,
    })
}

#[cfg(test)]
mod tests {
    use super::super::job::{JobKind, MACHINE};
    use super::*;

    fn job(id: &str, state: JobState, place: &str) -> ServeJob {
        ServeJob {
            id: id.to_owned(),
            started_by: None,
            runs_commands: false,
            kind: JobKind::Run,
            target: String::new(),
            place: place.to_owned(),
            command: String::new(),
            started_at: "2026-01-01T00:00:00Z".to_owned(),
            ended_at: None,
            state,
            steps: vec![Vec::new()],
            step: 0,
            process: None,
            stop: false,
            exit: None,
        }
    }

    /// The ids of the jobs that start.
    fn started(jobs: &mut [ServeJob], policy: QueuePolicy) -> Vec<String> {
        start_ready(jobs, policy).into_iter().map(|job| job.id).collect()
    }

    #[test]
    fn queued_jobs_wait_for_jobs_at_their_place() {
        let mut jobs = [
            job("1", JobState::Running, "a"),
            job("2", JobState::Queued, "a"),
            job("4", JobState::Queued, "b"),
            job("3", JobState::Queued, "b"),
            job("5", JobState::Done, "c"),
            job("6", JobState::Queued, "c"),
        ];
        assert_eq!(started(&mut jobs, QueuePolicy::Everything), ["3", "6"]);
        assert_eq!(started(&mut jobs, QueuePolicy::Everything), [""; 0], "they run already");
        jobs[0].state = JobState::Failed;
        assert_eq!(started(&mut jobs, QueuePolicy::Everything), ["2"]);
    }

    #[test]
    fn job_of_whole_machine_runs_alone_and_is_not_overtaken() {
        let mut jobs = [
            job("1", JobState::Running, "a"),
            job("2", JobState::Queued, MACHINE),
            job("3", JobState::Queued, "b"),
        ];
        assert_eq!(started(&mut jobs, QueuePolicy::Everything), [""; 0]);
        jobs[0].state = JobState::Done;
        assert_eq!(started(&mut jobs, QueuePolicy::Everything), ["2"]);
        jobs[1].state = JobState::Stopped;
        assert_eq!(started(&mut jobs, QueuePolicy::Everything), ["3"]);
    }

    #[test]
    fn job_that_server_may_not_start_delays_no_others() {
        let mut jobs = [job("1", JobState::Queued, MACHINE), job("2", JobState::Queued, "a")];
        jobs[0].runs_commands = true;
        assert_eq!(started(&mut jobs, QueuePolicy::of(true, true)), [""; 0]);
        assert_eq!(started(&mut jobs, QueuePolicy::of(false, false)), ["2"]);
        jobs[1].state = JobState::Done;
        assert_eq!(started(&mut jobs, QueuePolicy::of(false, true)), ["1"]);
    }

    #[test]
    fn exit_code_decides_state_of_job() {
        for (exit, is_last, stop, state) in [
            (Some(0), false, false, None),
            (Some(0), false, true, Some(JobState::Stopped)),
            (Some(0), true, false, Some(JobState::Done)),
            (Some(1), true, false, Some(JobState::Doubtful)),
            (Some(1), false, false, Some(JobState::Failed)),
            (Some(2), true, false, Some(JobState::Failed)),
            (Some(4), true, false, Some(JobState::Stopped)),
            (Some(130), true, false, Some(JobState::Stopped)),
            (None, true, true, Some(JobState::Stopped)),
            (None, true, false, Some(JobState::Interrupted)),
        ] {
            assert_eq!(state_after(exit, is_last, stop), state, "{exit:?} {is_last} {stop}");
        }
    }
}
