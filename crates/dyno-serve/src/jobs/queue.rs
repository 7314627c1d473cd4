//! What was started, in its order: one at a time on a target, the others wait; what takes the whole machine has it alone.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::child::{Handle, Worker};
use super::feed::Feed;
use super::job::{Job, JobState, Start, hinders};

/// How often new events are looked for.
const LOOK: Duration = Duration::from_millis(200);

/// Started and waiting at most; more are refused.
const OPEN_MAX: usize = 200;

/// The exit codes of the program that jobs are judged by.
const DONE: i32 = 0;
const INVALID: i32 = 1;
const INTERRUPTED: i32 = 130;
/// A study goes on once the machine was started anew.
const REBOOT: i32 = 4;

/// Everything that was started from this server and those before it.
#[derive(Debug)]
pub(crate) struct Jobs {
    directory: PathBuf,
    program: PathBuf,
    policy: QueuePolicy,
    inner: Mutex<Inner>,
}

/// What this server may start of what waits in its queue, whoever put it there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QueuePolicy {
    /// Nothing: the server only reads.
    Nothing,
    /// Jobs that run no commands.
    WithoutCommands,
    /// All jobs.
    Everything,
}

impl QueuePolicy {
    /// The policy of a server with these options.
    pub(crate) fn of(read_only: bool, allow_commands: bool) -> Self {
        match (read_only, allow_commands) {
            (true, _) => Self::Nothing,
            (false, false) => Self::WithoutCommands,
            (false, true) => Self::Everything,
        }
    }

    /// Why a queued job is not started; absent where it is.
    pub(crate) fn refusal(self, job: &Job) -> Option<&'static str> {
        match self {
            Self::Nothing => Some("this server only reads (--read-only), so the job waits for another one"),
            Self::WithoutCommands if job.runs_commands => {
                Some("the job runs commands, so it waits for a server with --allow-commands")
            }
            Self::WithoutCommands | Self::Everything => None,
        }
    }
}

#[derive(Debug, Default)]
struct Inner {
    jobs: BTreeMap<String, Job>,
    /// Of those that are at work.
    handles: HashMap<String, Handle>,
    feeds: HashMap<String, Arc<Feed>>,
    /// The server ends: what runs goes on, and nothing more is begun.
    is_closed: bool,
}

/// What may be asked of runs that belong together while they go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Steering {
    /// No next run begins.
    Pause,
    /// The next one begins after all.
    Go,
    /// The run under way is broken off, and its point left out.
    Skip,
}

dyno_plan::names! {
    /// As it is asked: `pause`.
    Steering { Pause = "pause", Go = "go", Skip = "skip" }
}

/// Why something cannot be stopped or started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StopError {
    /// There is none of that name.
    #[error("there is no job {0}")]
    None(String),
    /// It has ended.
    #[error("job {0} has ended")]
    Over(String),
    /// Too many wait already.
    #[error("{OPEN_MAX} jobs are waiting already")]
    Full,
    /// What the system refuses.
    #[error("the system refuses it: {0}")]
    Io(#[from] std::io::Error),
}

impl Jobs {
    /// Finds again what is in `directory`: what still runs is followed, what is gone is told as interrupted, what waits goes on
    /// waiting.
    pub(crate) fn open(
        directory: PathBuf,
        program: PathBuf,
        policy: QueuePolicy,
    ) -> std::io::Result<Arc<Self>> {
        if policy != QueuePolicy::Nothing {
            std::fs::create_dir_all(&directory)?;
        }
        let jobs: BTreeMap<_, _> =
            Job::all(&directory)?.into_iter().map(|job| (job.id.clone(), job)).collect();
        let running: Vec<Job> = jobs.values().filter(|job| job.state == JobState::Running).cloned().collect();
        let inner = Mutex::new(Inner { jobs, ..Inner::default() });
        let this = Arc::new(Self { directory, program, policy, inner });
        for job in running {
            let worker = job.process.as_ref().and_then(Worker::again);
            this.follow(job, worker)?;
        }
        this.kick();
        Ok(this)
    }

    /// Starts something for the holder of the token called `started_by`, or lets it wait.
    pub(crate) fn start(self: &Arc<Self>, start: Start, started_by: &str) -> Result<Job, StopError> {
        let job = {
            let mut inner = self.locked();
            if inner.jobs.values().filter(|job| !job.state.is_over()).count() >= OPEN_MAX {
                return Err(StopError::Full);
            }
            let job = Job::create(&self.directory, start, started_by)?;
            inner.jobs.insert(job.id.clone(), job.clone());
            job
        };
        self.kick();
        Ok(self.get(&job.id).unwrap_or(job))
    }

    /// Asks a job to stop and to keep what was measured; one that waits is taken out.
    pub(crate) fn stop(self: &Arc<Self>, id: &str) -> Result<(), StopError> {
        let mut inner = self.locked();
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

    /// Asks runs that belong together to rest (`pause`), to go on (`go`), or to leave the point under way out (`skip`).
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

    /// All, the newest first.
    pub(crate) fn all(&self) -> Vec<Job> {
        let mut all: Vec<Job> = self.locked().jobs.values().cloned().collect();
        all.sort_by(|a, b| (&b.started_at, &b.id).cmp(&(&a.started_at, &a.id)));
        all
    }

    /// One of them.
    pub(crate) fn get(&self, id: &str) -> Option<Job> {
        self.locked().jobs.get(id).cloned()
    }

    /// The events of a job.
    pub(crate) fn feed(&self, job: &Job) -> Arc<Feed> {
        let found = self.locked().feeds.get(&job.id).cloned();
        found.unwrap_or_else(|| match job.state.is_over() {
            true => Feed::whole(&job.events(&self.directory)),
            false => Feed::of(&job.events(&self.directory)),
        })
    }

    /// Why a job that waits is not started by this server.
    pub(crate) fn refusal(&self, job: &Job) -> Option<&'static str> {
        self.policy.refusal(job).filter(|_| job.state == JobState::Queued)
    }

    /// How many wait before this one on the same target.
    pub(crate) fn before(&self, job: &Job) -> usize {
        let inner = self.locked();
        let is_before = |other: &&Job| {
            hinders(&other.place, &job.place)
                && !other.state.is_over()
                && (&other.started_at, &other.id) < (&job.started_at, &job.id)
        };
        inner.jobs.values().filter(is_before).count()
    }

    /// The last lines that its processes said.
    pub(crate) fn talk(&self, job: &Job, lines: usize) -> Vec<String> {
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

    /// Its plan file.
    pub(crate) fn plan(&self, job: &Job) -> Option<String> {
        std::fs::read_to_string(self.directory.join(&job.id).join("plan.toml")).ok()
    }

    /// Nothing more is begun; what runs goes on without this server.
    pub(crate) fn close(&self) {
        self.locked().is_closed = true;
    }

    fn locked(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins what waits for nobody.
    fn kick(self: &Arc<Self>) {
        let ready: Vec<Job> = {
            let mut inner = self.locked();
            if inner.is_closed {
                return;
            }
            let is_at_work = |job: &&Job| job.state == JobState::Running;
            let mut places: Vec<String> =
                inner.jobs.values().filter(is_at_work).map(|job| job.place.clone()).collect();
            let waiting = inner.jobs.values_mut().filter(|job| job.state == JobState::Queued);
            let mut ready = Vec::new();
            let mut waiting: Vec<&mut Job> = waiting.collect();
            waiting.sort_by(|a, b| (&a.started_at, &a.id).cmp(&(&b.started_at, &b.id)));
            for job in waiting {
                // One that may not run here keeps nobody waiting.
                if self.policy.refusal(job).is_some() {
                    continue;
                }
                if !places.iter().any(|place| hinders(place, &job.place)) {
                    job.state = JobState::Running;
                    ready.push(job.clone());
                }
                // One that waits for the whole machine is not overtaken, or it would wait for ever.
                places.push(job.place.clone());
            }
            ready
        };
        for job in ready {
            let id = job.id.clone();
            if let Err(error) = self.follow(job, None) {
                self.end(&id, JobState::Failed, None, Some(&error.to_string()));
            }
        }
    }

    /// Leads a job to its end on a thread of its own; `worker` is the process of its step that still lives.
    fn follow(self: &Arc<Self>, job: Job, worker: Option<Worker>) -> std::io::Result<()> {
        let feed = Feed::of(&job.events(&self.directory));
        self.locked().feeds.insert(job.id.clone(), Arc::clone(&feed));
        let this = Arc::clone(self);
        let lead = move || this.lead(job, worker, &feed);
        std::thread::Builder::new().name("job".into()).spawn(lead).map(|_| ())
    }

    fn lead(self: &Arc<Self>, mut job: Job, mut worker: Option<Worker>, feed: &Feed) {
        let mut was_begun = job.process.is_some();
        let (state, exit, error) = loop {
            // A step that begins later is bound by what this server may start, as the first one is.
            if !was_begun && worker.is_none() && self.policy.refusal(&job).is_some() {
                break (JobState::Interrupted, None, None);
            }
            let exit = match (worker.take(), was_begun) {
                (Some(worker), _) => self.wait(&job.id, worker, feed),
                // Its process ended while no server was there.
                (None, true) => None,
                (None, false) => match self.begin(&mut job) {
                    Ok(worker) => self.wait(&job.id, worker, feed),
                    Err(error) => break (JobState::Failed, None, Some(error.to_string())),
                },
            };
            feed.read_on();
            // A process says itself how it ends; only one that was killed does not.
            let exit = feed.progress().exits.get(job.step).copied().or(exit);
            let stop = self.get(&job.id).is_some_and(|job| job.stop);
            let is_last = job.step + 1 == job.steps.len();
            match exit {
                Some(DONE) if !is_last && !stop => {
                    (job.step, job.process, was_begun) = (job.step + 1, None, false);
                }
                Some(DONE) if !is_last => break (JobState::Stopped, exit, None),
                Some(DONE) => break (JobState::Done, exit, None),
                Some(INVALID) if is_last => break (JobState::Doubtful, exit, None),
                Some(INTERRUPTED | REBOOT) => break (JobState::Stopped, exit, None),
                None if stop => break (JobState::Stopped, exit, None),
                None => break (JobState::Interrupted, exit, None),
                Some(_) => break (JobState::Failed, exit, None),
            }
        };
        feed.end();
        self.end(&job.id, state, exit, error.as_deref());
        self.kick();
    }

    /// Begins the process of the next step.
    fn begin(&self, job: &mut Job) -> std::io::Result<Worker> {
        let mut args = job.steps.get(job.step).cloned().unwrap_or_default();
        args.extend(["--events".to_owned(), job.events(&self.directory).to_string_lossy().into_owned()]);
        let worker = Worker::begin(&self.program, &args, &job.talk(&self.directory))?;
        job.process = Some(worker.process.clone());
        let mut inner = self.locked();
        if let Some(known) = inner.jobs.get_mut(&job.id) {
            (known.step, known.process) = (job.step, job.process.clone());
            known.save(&self.directory)?;
        }
        Ok(worker)
    }

    /// Waits for the end of a process, and reads its events meanwhile.
    fn wait(&self, id: &str, worker: Worker, feed: &Feed) -> Option<i32> {
        if let Ok(handle) = worker.handle() {
            let mut inner = self.locked();
            // Somebody may have asked before there was anything to stop.
            if inner.jobs.get(id).is_some_and(|job| job.stop) {
                let _ = handle.interrupt();
            }
            inner.handles.insert(id.to_owned(), handle);
        }
        while !worker.wait(LOOK) {
            feed.read_on();
        }
        self.locked().handles.remove(id);
        worker.exit()
    }

    fn end(&self, id: &str, state: JobState, exit: Option<i32>, error: Option<&str>) {
        let mut inner = self.locked();
        inner.feeds.remove(id);
        let Some(job) = inner.jobs.get_mut(id) else { return };
        (job.state, job.exit) = (state, exit);
        job.ended_at = Some(dyno_record::now_rfc3339());
        if let Some(error) = error {
            let _ = std::fs::write(job.talk(&self.directory), format!("error: {error}\n"));
        }
        // Its state can be found out again from its events, should this not be written.
        let _ = job.save(&self.directory);
    }
}
