//! The repository, for many requests at once: a few connections that are used by turns, and what is remembered of runs.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use dyno_record::{Filter, Repository, RunState, RunSummary, SweepState, SweepSummary};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::facts::Facts;
use crate::reply::Trouble;

/// How long a list is used again although something in it runs, whose end is not seen in the file.
const AGE_MAX: Duration = Duration::from_secs(2);

/// Runs of which it is remembered what their cards say.
const FACTS_MAX: usize = 50_000;

/// The repository.
#[derive(Debug)]
pub(crate) struct Store {
    path: PathBuf,
    idle: Mutex<Vec<Repository>>,
    readers: Semaphore,
    listed: Mutex<Option<(Stamp, Arc<Listed>)>>,
    facts: Mutex<HashMap<String, Arc<Facts>>>,
}

/// All runs and what they belong to, newest first.
#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) runs: Vec<RunSummary>,
    pub(crate) sweeps: Vec<SweepSummary>,
    read_at: Instant,
}

/// Whether the file has changed: length and time of it and of its log.
type Stamp = [Option<(u64, SystemTime)>; 2];

impl Store {
    pub(crate) fn new(path: PathBuf, readers: usize) -> Self {
        let (idle, listed, facts) = Default::default();
        Self { path, idle, readers: Semaphore::new(readers), listed, facts }
    }

    fn stamp(&self) -> Stamp {
        let mut log = self.path.clone().into_os_string();
        log.push("-wal");
        [self.path.clone(), log.into()].map(|path| {
            let file = std::fs::metadata(path).ok()?;
            Some((file.len(), file.modified().ok()?))
        })
    }

    /// A turn: so many may read at once.
    pub(crate) async fn turn(&self) -> Result<SemaphorePermit<'_>, Trouble> {
        self.readers.acquire().await.map_err(|_| Trouble::ended())
    }

    /// What `work` makes of the repository, by a connection that nobody else has.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&Repository) -> Result<T, Trouble>) -> Result<T, Trouble> {
        let idle = locked(&self.idle).pop();
        let repository = match idle {
            Some(repository) => repository,
            None => Repository::open_read_only(&self.path)?,
        };
        let made = work(&repository);
        locked(&self.idle).push(repository);
        made
    }

    /// All runs.
    pub(crate) fn listed(&self, repository: &Repository) -> Result<Arc<Listed>, Trouble> {
        let stamp = self.stamp();
        if let Some((of, listed)) = &*locked(&self.listed)
            && *of == stamp
            && (listed.is_settled() || listed.read_at.elapsed() < AGE_MAX)
        {
            return Ok(Arc::clone(listed));
        }
        let listed = Arc::new(Listed {
            runs: repository.list(&Filter::default())?,
            sweeps: repository.sweeps(None, usize::MAX)?,
            read_at: Instant::now(),
        });
        *locked(&self.listed) = Some((stamp, Arc::clone(&listed)));
        Ok(listed)
    }

    /// What the card of a run says that its summary does not.
    pub(crate) fn facts(&self, repository: &Repository, run: &RunSummary) -> Arc<Facts> {
        if let Some(known) = locked(&self.facts).get(&run.id) {
            return Arc::clone(known);
        }
        let facts = Arc::new(repository.load(&run.id).map(|record| Facts::of(&record)).unwrap_or_default());
        let is_final = !matches!(run.status, RunState::Running | RunState::Unknown);
        let mut known = locked(&self.facts);
        if is_final && known.len() < FACTS_MAX {
            known.insert(run.id.clone(), Arc::clone(&facts));
        }
        facts
    }
}

impl Listed {
    /// Whether nothing in it can end without the file being written.
    fn is_settled(&self) -> bool {
        self.runs.iter().all(|run| !matches!(run.status, RunState::Running | RunState::Unknown))
            && self
                .sweeps
                .iter()
                .all(|sweep| !matches!(sweep.status, SweepState::Running | SweepState::Unknown))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
