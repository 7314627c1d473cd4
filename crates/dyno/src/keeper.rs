//! Keeps what a long run has measured so far, for the case that its process is killed.
//!
//! On a thread and a connection of its own: the coordinator must never wait for the repository's disk or for its lock.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use dyno_drive::{Event, Watch};
use dyno_plan::{Length, Plan};
use dyno_record::{Repository, RepositoryError, RunRecord, SeriesPoint};

/// Intervals that a window has at least, for any of it to be kept: they are final some sixty behind the one that is under way.
const INTERVALS_MIN: f64 = 120.0;
/// The least time between two writes.
const WRITE_EVERY: Duration = Duration::from_secs(10);

/// Watches a run for whoever watches it, and keeps its intervals.
pub(crate) struct Keeper<'a> {
    inner: &'a dyn Watch,
    points: Sender<Vec<SeriesPoint>>,
    thread: Option<JoinHandle<Result<(), RepositoryError>>>,
}

/// Whether runs of `plan` are long enough to be kept while they last.
pub(crate) fn is_long(plan: &Plan) -> bool {
    match plan.run.length() {
        Length::Time(time) => time.0.as_secs_f64() / plan.observe.interval.0.as_secs_f64() >= INTERVALS_MIN,
        Length::Ops(_) => true,
    }
}

impl<'a> Keeper<'a> {
    /// Begins with `draft`, the run's record without results, in the repository at `path`.
    pub(crate) fn start(draft: RunRecord, path: PathBuf, inner: &'a dyn Watch) -> Self {
        let (points, kept) = channel();
        let thread =
            std::thread::Builder::new().name("dyno-keeper".into()).spawn(move || keep(&draft, &path, &kept));
        Self { inner, points, thread: thread.ok() }
    }

    /// Ends; says why what should have been kept was not.
    pub(crate) fn finish(self) -> Option<String> {
        drop(self.points);
        match self.thread?.join() {
            Ok(Err(error)) => Some(error.to_string()),
            Ok(Ok(())) | Err(_) => None,
        }
    }
}

impl Watch for Keeper<'_> {
    fn event(&self, event: &Event) {
        if let Event::Final(points) = event {
            // A keeper that could not write has gone, and says so in the end.
            let _ = self.points.send(points.clone());
        }
        self.inner.event(event);
    }

    fn connected(&self) -> Result<(), String> {
        self.inner.connected()
    }

    fn drained(&self) -> Result<(), String> {
        self.inner.drained()
    }
}

fn keep(
    draft: &RunRecord,
    path: &std::path::Path,
    kept: &Receiver<Vec<SeriesPoint>>,
) -> Result<(), RepositoryError> {
    let mut written: Option<(Repository, Instant)> = None;
    let mut waiting = Vec::new();
    // The last ones are not written when the run ends: its record has them.
    while let Ok(points) = kept.recv() {
        waiting.extend(points);
        let repository = match written {
            Some((_, at)) if at.elapsed() < WRITE_EVERY => continue,
            Some((ref repository, _)) => repository,
            None => {
                let repository = Repository::open(path)?;
                repository.keep_draft(draft)?;
                &written.insert((repository, Instant::now())).0
            }
        };
        repository.keep_points(&draft.id, &waiting)?;
        waiting.clear();
        if let Some((_, at)) = &mut written {
            *at = Instant::now();
        }
    }
    Ok(())
}
