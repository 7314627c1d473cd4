//! The job queue: one job at a time on each target; a job that needs the whole machine runs alone.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use super::child::{JobStopHandle, JobWorker};
use super::feed::JobEventFeed;
use super::job::{JobStart, JobState, ServeJob, conflicts_with};
use super::schedule::{QueuePolicy, start_ready, state_after};

/// How often the event files are read.
const LOOK: Duration = Duration::from_millis(200);

/// Maximum number of running and queued jobs; further ones are refused.
const OPEN_MAX: usize = 200;

/// All jobs of this server and of earlier servers with the same state folder.
#[derive(Debug)]
pub(crate) struct Jobs {
    directory: PathBuf,
    program: PathBuf,
    policy: QueuePolicy,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    jobs: BTreeMap<String, ServeJob>,
    /// Handles of the running jobs.
    handles: HashMap<String, JobStopHandle>,
    feeds: HashMap<String, Arc<JobEventFeed>>,
    /// Whether the server is stopping: running jobs continue, and no further job starts.
    is_closed: bool,
}

/// A request that controls a campaign in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Steering {
    /// Pause before the next run.
    Pause,
    /// Continue with the next run.
    Go,
    /// Stop the current run, and skip its point.
    Skip,
}

dyno_plan::names! {
    /// The name in requests, such as `pause`.
    Steering { Pause = "pause", Go = "go", Skip = "skip" }
}

/// Why a job cannot be started or stopped.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StopError {
    /// There is no job of that name.
    #[error("there is no job {0}")]
    None(String),
    /// The job has ended already.
    #[error("job {0} has ended")]
    Over(String),
    /// The queue is full.
    #[error("the queue already has {OPEN_MAX} jobs")]
    Full,
    /// An operation of the operating system failed.
    #[error("a system call failed: {0}")]
    Io(#[from] std::io::Error),
}

impl Jobs {
    /// Loads the jobs in `directory`. Running jobs are followed, jobs whose process has gone become
    /// interrupted, and queued jobs stay queued.
    pub(crate) fn open(
        directory: PathBuf,
        program: PathBuf,
        policy: QueuePolicy,
    ) -> std::io::Result<Arc<Self>> {
        if policy != QueuePolicy::Nothing {
            std::fs::create_dir_all(&directory)?;
        }
        let jobs: BTreeMap<_, _> =
            ServeJob::all(&directory)?.into_iter().map(|job| (job.id.clone(), job)).collect();
        let running: Vec<ServeJob> =
            jobs.values().filter(|job| job.state == JobState::Running).cloned().collect();
        let inner = Mutex::new(Inner { jobs, ..Inner::default() });
        let this = Arc::new(Self { directory, program, policy, inner });
        for job in running {
            let worker = job.process.as_ref().and_then(JobWorker::reattach);
            this.spawn_job_thread(job, worker)?;
        }
        this.start_ready_jobs();
        Ok(this)
    }

    /// Queues a job for the holder of the token `started_by`, and starts it if its target is free.
    pub(crate) fn start(self: &Arc<Self>, start: JobStart, started_by: &str) -> Result<ServeJob, StopError> {
        let job = {
            let mut inner = self.inner.lock();
            if inner.jobs.values().filter(|job| !job.state.is_over()).count() >= OPEN_MAX {
                return Err(StopError::Full);
            }
            let job = ServeJob::create(&self.directory, start, started_by)?;
            inner.jobs.insert(job.id.clone(), job.clone());
            job
        };
        self.start_ready_jobs();
        Ok(self.get(&job.id).unwrap_or(job))
    }

    /// Asks a running job to stop and to keep measured runs; removes a queued job from the queue.
    pub(crate) fn stop(self: &Arc<Self>, id: &str) -> Result<(), StopError> {
        let mut inner = self.inner.lock();
        let Inner { jobs, handles, .. } = &mut *inner;
        let job = jobs.get_mut(id).ok_or_else(|| StopError::None(id.to_owned()))?;
        match job.state {
            JobState::Queued => {
                (job.state, job.ended_at) = (JobState::Stopped, Some(dyno_record::now_rfc3339()));
            }
            JobState::Running => {
                if let Some(handle) = handles.get(id) {
                    handle.interrupt()?;
                }
            }
            _ => return Err(StopError::Over(id.to_owned())),
        }
        job.stop = true;
        Ok(job.save(&self.directory)?)
    }

    /// Asks the campaign of a job to pause (`pause`), to continue (`go`), or to skip the current point
    /// (`skip`).
    pub(crate) fn steer(&self, id: &str, word: Steering) -> Result<(), StopError> {
        let job = self.get(id).ok_or_else(|| StopError::None(id.to_owned()))?;
        if job.state != JobState::Running {
            return Err(StopError::Over(id.to_owned()));
        }
        let mut file = job.events(&self.directory).into_os_string();
        file.push(".ask");
        let mut new = file.clone();
        new.push(".new");
        std::fs::write(&new, word.name())?;
        Ok(std::fs::rename(new, file)?)
    }

    /// Returns all jobs, newest first.
    pub(crate) fn all(&self) -> Vec<ServeJob> {
        let mut all: Vec<ServeJob> = self.inner.lock().jobs.values().cloned().collect();
        all.sort_by(|a, b| (&b.started_at, &b.id).cmp(&(&a.started_at, &a.id)));
        all
    }

    /// Returns the job with this id; absent if there is none.
    pub(crate) fn get(&self, id: &str) -> Option<ServeJob> {
        self.inner.lock().jobs.get(id).cloned()
    }

    /// Returns the event feed of a job.
    pub(crate) fn feed(&self, job: &ServeJob) -> Arc<JobEventFeed> {
        let open_feed = self.inner.lock().feeds.get(&job.id).cloned();
        open_feed.unwrap_or_else(|| match job.state.is_over() {
            true => JobEventFeed::whole(&job.events(&self.directory)),
            false => JobEventFeed::of(&job.events(&self.directory)),
        })
    }

    /// Says why this server does not start a queued job; absent if it may start it.
    pub(crate) fn refusal(&self, job: &ServeJob) -> Option<&'static str> {
        self.policy.refusal(job).filter(|_| job.state == JobState::Queued)
    }

    /// Number of jobs on the same target that are queued before this one.
    pub(crate) fn before(&self, job: &ServeJob) -> usize {
        let inner = self.inner.lock();
        let is_before = |other: &&ServeJob| {
            conflicts_with(&other.place, &job.place)
                && !other.state.is_over()
                && (&other.started_at, &other.id) < (&job.started_at, &job.id)
        };
        inner.jobs.values().filter(is_before).count()
    }

    /// Returns the last lines of the output of a job's processes.
    pub(crate) fn output_tail(&self, job: &ServeJob, lines: usize) -> Vec<String> {
        use std::io::{Read as _, Seek as _, SeekFrom};
        const BYTES: u64 = 16 << 10;
        let read = || -> std::io::Result<Vec<u8>> {
            let mut file = std::fs::File::open(job.talk(&self.directory))?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(BYTES)))?;
            let mut bytes = Vec::new();
            file.take(BYTES).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let text = String::from_utf8_lossy(&read().unwrap_or_default()).into_owned();
        let all: Vec<&str> = text.lines().collect();
        all[all.len().saturating_sub(lines)..].iter().map(|line| dyno_report::text::clean(line)).collect()
    }

    /// Returns the job's plan file; absent if it has none.
    pub(crate) fn plan(&self, job: &ServeJob) -> Option<String> {
        std::fs::read_to_string(self.directory.join(&job.id).join("plan.toml")).ok()
    }

    /// Stops starting jobs; running ones continue without this server.
    pub(crate) fn close(&self) {
        self.inner.lock().is_closed = true;
    }

    /// Starts all queued jobs that no other job delays.
    fn start_ready_jobs(self: &Arc<Self>) {
        let ready: Vec<ServeJob> = {
            let mut inner = self.inner.lock();
            if inner.is_closed {
                return;
            }
            start_ready(inner.jobs.values_mut(), self.policy)
        };
        for job in ready {
            let id = job.id.clone();
            if let Err(error) = self.spawn_job_thread(job, None) {
                self.end(&id, JobState::Failed, None, Some(&error.to_string()));
            }
        }
    }

    /// Runs a job to its end on a thread of its own; `worker` is the process of the current step if it is
    /// still running.
    fn spawn_job_thread(self: &Arc<Self>, job: ServeJob, worker: Option<JobWorker>) -> std::io::Result<()> {
        let feed = JobEventFeed::of(&job.events(&self.directory));
        self.inner.lock().feeds.insert(job.id.clone(), Arc::clone(&feed));
        let this = Arc::clone(self);
        let lead = move || this.run_job(job, worker, &feed);
        std::thread::Builder::new().name("job".into()).spawn(lead).map(|_| ())
    }

    fn run_job(self: &Arc<Self>, mut job: ServeJob, mut worker: Option<JobWorker>, feed: &JobEventFeed) {
        let mut was_begun = job.process.is_some();
        let (state, exit, error) = loop {
            // The policy of this server also applies to later steps of a job.
            if !was_begun && worker.is_none() && self.policy.refusal(&job).is_some() {
                break (JobState::Interrupted, None, None);
            }
            let exit = match (worker.take(), was_begun) {
                (Some(worker), _) => self.wait(&job.id, worker, feed),
                // The process ended while no server was running.
                (None, true) => None,
                (None, false) => match self.begin(&mut job) {
                    Ok(worker) => self.wait(&job.id, worker, feed),
                    Err(error) => break (JobState::Failed, None, Some(error.to_string())),
                },
            };
            feed.read_on();
            // A process reports its own exit code as an event, unless it was killed.
            let exit = feed.progress().exits.get(job.step).copied().or(exit);
            let stop = self.get(&job.id).is_some_and(|job| job.stop);
            let is_last = job.step + 1 == job.steps.len();
            match state_after(exit, is_last, stop) {
                Some(state) => break (state, exit, None),
                None => (job.step, job.process, was_begun) = (job.step + 1, None, false),
            }
        };
        feed.end();
        self.end(&job.id, state, exit, error.as_deref());
        self.start_ready_jobs();
    }

    /// Starts the process of the next step.
    fn begin(&self, job: &mut ServeJob) -> std::io::Result<JobWorker> {
        let mut args = job.steps.get(job.step).cloned().unwrap_or_default();
        args.extend(["--events".to_owned(), job.events(&self.directory).to_string_lossy().into_owned()]);
        let worker = JobWorker::spawn(&self.program, &args, &job.talk(&self.directory))?;
        job.process = Some(worker.process.clone());
        let mut inner = self.inner.lock();
        if let Some(known) = inner.jobs.get_mut(&job.id) {
            (known.step, known.process) = (job.step, job.process.clone());
            known.save(&self.directory)?;
        }
        Ok(worker)
    }

    /// Waits for the end of a process, and reads its events meanwhile.
    fn wait(&self, id: &str, worker: JobWorker, feed: &JobEventFeed) -> Option<i32> {
        if let Ok(handle) = worker.handle() {
            let mut inner = self.inner.lock();
            // The user may have asked to stop before the process existed.
            if inner.jobs.get(id).is_some_and(|job| job.stop) {
                let _ = handle.interrupt();
            }
            inner.handles.insert(id.to_owned(), handle);
        }
        while !worker.wait(LOOK) {
            feed.read_on();
        }
        self.inner.lock().handles.remove(id);
        worker.exit()
    }

    fn end(&self, id: &str, state: JobState, exit: Option<i32>, error: Option<&str>) {
        let mut inner = self.inner.lock();
        inner.feeds.remove(id);
        let Some(job) = inner.jobs.get_mut(id) else { return };
        (job.state, job.exit) = (state, exit);
        job.ended_at = Some(dyno_record::now_rfc3339());
        if let Some(error) = error {
            let _ = std::fs::write(job.talk(&self.directory), format!("error: {error}\n"));
        }
        // If this fails, the state can be derived from the events again.
        let _ = job.save(&self.directory);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::job::{JobKind, MACHINE};
    use super::*;

    fn open(directory: &Path, policy: QueuePolicy) -> Arc<Jobs> {
        Jobs::open(directory.to_owned(), "/bin/sh".into(), policy).unwrap()
    }

    /// A job whose steps are scripts.
    fn start(scripts: &[&str]) -> JobStart {
        let step = |script: &&str| vec!["-c".to_owned(), (*script).to_owned()];
        JobStart {
            kind: JobKind::Run,
            target: "db".to_owned(),
            place: MACHINE.to_owned(),
            plan: Some("[run]\n".to_owned()),
            command: "dyno run".to_owned(),
            steps: scripts.iter().map(step).collect(),
            runs_commands: true,
        }
    }

    fn ended(jobs: &Jobs, id: &str) -> ServeJob {
        loop {
            let job = jobs.get(id).unwrap();
            if job.state.is_over() {
                return job;
            }
            std::thread::yield_now();
        }
    }

    #[test]
    fn queued_job_survives_restart_and_can_be_stopped_once() {
        let folder = tempfile::tempdir().unwrap();
        let jobs = open(folder.path(), QueuePolicy::WithoutCommands);
        let [first, second] = [(); 2].map(|()| jobs.start(start(&["exit 0"]), "me").unwrap());
        assert_eq!((first.state, jobs.before(&second)), (JobState::Queued, 1));
        assert!(jobs.refusal(&first).unwrap().contains("--allow-commands"));
        drop(jobs);
        let jobs = open(folder.path(), QueuePolicy::WithoutCommands);
        assert_eq!(jobs.all().len(), 2);
        assert_eq!(jobs.plan(&first).as_deref(), Some("[run]\n"));
        assert!(matches!(jobs.steer(&first.id, Steering::Pause), Err(StopError::Over(_))));
        jobs.stop(&first.id).unwrap();
        let stopped = jobs.get(&first.id).unwrap();
        assert_eq!((stopped.state, stopped.started_by.as_deref()), (JobState::Stopped, Some("me")));
        assert!(stopped.ended_at.is_some());
        assert_eq!(jobs.before(&second), 0);
        assert!(matches!(jobs.stop(&first.id), Err(StopError::Over(_))));
        assert!(matches!(jobs.stop("none"), Err(StopError::None(_))));
    }

    #[test]
    fn job_runs_its_steps_in_order_until_one_fails() {
        let folder = tempfile::tempdir().unwrap();
        let jobs = open(folder.path(), QueuePolicy::Everything);
        let good = jobs.start(start(&["echo first", "echo second; exit 1"]), "me").unwrap();
        let bad = jobs.start(start(&["echo wrong; exit 2", "echo never"]), "me").unwrap();
        let doubtful = ended(&jobs, &good.id);
        assert_eq!((doubtful.state, doubtful.exit, doubtful.step), (JobState::Doubtful, Some(1), 1));
        assert_eq!(jobs.output_tail(&doubtful, 9), ["first", "second"]);
        let failed = ended(&jobs, &bad.id);
        assert_eq!((failed.state, failed.exit, failed.step), (JobState::Failed, Some(2), 0));
        assert_eq!(jobs.output_tail(&failed, 9), ["wrong"]);
        jobs.close();
        let waiting = jobs.start(start(&["exit 0"]), "me").unwrap();
        assert_eq!(waiting.state, JobState::Queued, "a closed queue starts nothing");
    }
}
