//! The repository for concurrent requests: a few shared connections, and cached summaries of runs.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use dyno_record::{Filter, Repository, RunState, RunSummary, SweepState, SweepSummary};
use parking_lot::Mutex;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::facts::CardFacts;
use crate::reply::HttpError;

/// How long a cached list with unfinished runs is reused: if such a process is killed, the file does not
/// change.
const AGE_MAX: Duration = Duration::from_secs(2);

/// Maximum number of runs whose card facts are cached.
const FACTS_MAX: usize = 50_000;

/// The repository's connections and caches.
#[derive(Debug)]
pub(crate) struct Store {
    path: PathBuf,
    idle: Mutex<Vec<Repository>>,
    readers: Semaphore,
    listed: Mutex<Option<(Stamp, Arc<RepositoryListing>)>>,
    facts: Mutex<HashMap<String, Arc<CardFacts>>>,
}

/// All runs and campaigns, newest first.
#[derive(Debug)]
pub(crate) struct RepositoryListing {
    pub(crate) runs: Vec<RunSummary>,
    pub(crate) sweeps: Vec<SweepSummary>,
    read_at: Instant,
}

/// Length and modification time of the repository file and its log, which show whether it has changed.
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

    /// Waits until one of the limited number of readers may start.
    pub(crate) async fn reader_permit(&self) -> Result<SemaphorePermit<'_>, HttpError> {
        self.readers.acquire().await.map_err(|_| HttpError::task_failed())
    }

    /// Calls `work` with a connection that no other request uses.
    pub(crate) fn with_repository<T>(
        &self,
        work: impl FnOnce(&Repository) -> Result<T, HttpError>,
    ) -> Result<T, HttpError> {
        let idle = self.idle.lock().pop();
        let repository = match idle {
            Some(repository) => repository,
            None => Repository::open_read_only(&self.path)?,
        };
        let made = work(&repository);
        self.idle.lock().push(repository);
        made
    }

    /// Returns all runs and campaigns, from the cache if that is current.
    pub(crate) fn listed(&self, repository: &Repository) -> Result<Arc<RepositoryListing>, HttpError> {
        let stamp = self.stamp();
        if let Some((of, listed)) = &*self.listed.lock()
            && *of == stamp
            && (listed.is_settled() || listed.read_at.elapsed() < AGE_MAX)
        {
            return Ok(Arc::clone(listed));
        }
        let listed = Arc::new(RepositoryListing {
            runs: repository.list(&Filter::default())?,
            sweeps: repository.sweeps(None, usize::MAX)?,
            read_at: Instant::now(),
        });
        *self.listed.lock() = Some((stamp, Arc::clone(&listed)));
        Ok(listed)
    }

    /// Returns what a run's card shows and its summary lacks.
    pub(crate) fn facts(&self, repository: &Repository, run: &RunSummary) -> Arc<CardFacts> {
        if let Some(cached) = self.facts.lock().get(&run.id) {
            return Arc::clone(cached);
        }
        let facts =
            Arc::new(repository.load(&run.id).map(|record| CardFacts::of(&record)).unwrap_or_default());
        let is_final = !matches!(run.status, RunState::Running | RunState::Unknown);
        let mut cache = self.facts.lock();
        if is_final && cache.len() < FACTS_MAX {
            cache.insert(run.id.clone(), Arc::clone(&facts));
        }
        facts
    }
}

impl RepositoryListing {
    /// Whether no entry can change its status without the file being written.
    fn is_settled(&self) -> bool {
        self.runs.iter().all(|run| !matches!(run.status, RunState::Running | RunState::Unknown))
            && self
                .sweeps
                .iter()
                .all(|sweep| !matches!(sweep.status, SweepState::Running | SweepState::Unknown))
    }
}
