//! Keeps what a long run has measured so far: for the case that its process is killed, and because its record holds an overview
//! only where the series is longer than a record should be.
//!
//! On a thread and a connection of its own: the coordinator must never wait for the repository's disk or for its lock.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use dyno_drive::Watch;
use dyno_plan::{Length, Plan};
use dyno_record::{Chunk, Repository, RepositoryError, RunRecord, SeriesWriter};

use crate::event::{Event, Warning};
use crate::lead::Lead;

/// Intervals that a window has at least, for any of it to be kept: they are final some sixty behind the one that is under way.
const INTERVALS_MIN: f64 = 120.0;
/// The least time between two writes.
const WRITE_EVERY: Duration = Duration::from_secs(10);
/// What waits for the thread at most, while it waits for a lock or for a disk.
const QUEUE: usize = 4_096;

/// Watches a run for whoever watches it, and keeps its intervals.
pub(crate) struct Keeper<'a> {
    inner: &'a dyn Watch,
    lead: &'a Lead<'a>,
    queue: SyncSender<Message>,
    /// Intervals that found the queue full.
    given_up: AtomicU64,
    /// Why nothing could be stored, until it is told.
    trouble: Arc<Mutex<Option<String>>>,
    thread: Option<JoinHandle<Option<String>>>,
}

/// What the thread is told.
enum Message {
    Final(Chunk),
    Late(Chunk),
    /// Nothing more comes, and all of it is to be stored.
    Flush,
}

/// Whether runs of `plan` are long enough to be kept while they last.
pub(crate) fn is_long(plan: &Plan) -> bool {
    match plan.run.length() {
        Length::Time(time) => time.0.as_secs_f64() / plan.observe.interval.0.as_secs_f64() >= INTERVALS_MIN,
        Length::Ops(_) => true,
    }
}

/// Says in a record whose series is an overview why the full one is not whole.
pub(crate) fn note(record: &mut RunRecord, lacks: Option<&String>) {
    let own = record.targets.iter_mut().filter_map(|target| Some(&mut target.own.as_deref_mut()?.series));
    for full in own.chain([&mut record.series]).filter_map(|series| series.full.as_mut()) {
        full.lacks = lacks.cloned();
    }
}

impl<'a> Keeper<'a> {
    /// Begins with `draft`, the run's record without results, in the repository at `path`.
    pub(crate) fn start(draft: RunRecord, path: PathBuf, inner: &'a dyn Watch, lead: &'a Lead<'a>) -> Self {
        let (queue, told) = sync_channel(QUEUE);
        let trouble = Arc::new(Mutex::new(None));
        let its_trouble = Arc::clone(&trouble);
        let thread = std::thread::Builder::new().name("dyno-keeper".into()).spawn(move || {
            Store { writer: SeriesWriter::new(draft.id.clone()), draft, path, repository: None }
                .keep(&told, &its_trouble)
        });
        Self { inner, lead, queue, given_up: AtomicU64::new(0), trouble, thread: thread.ok() }
    }

    /// Ends; `all` that it was told is to be stored, or the last of it is in the run's record and need not be. Says why what
    /// should have been stored is not.
    pub(crate) fn finish(self, all: bool) -> Option<String> {
        self.tell_trouble();
        if all {
            // A thread that is gone says so below.
            let _ = self.queue.send(Message::Flush);
        }
        drop(self.queue);
        let why = match self.thread.map(JoinHandle::join) {
            Some(Ok(why)) => why,
            Some(Err(_)) | None => Some("the thread that stores it did not run".to_owned()),
        };
        let given_up = self.given_up.into_inner();
        let late = || format!("{given_up} intervals came while nothing could be written");
        why.or_else(|| (given_up > 0).then(late))
    }

    fn send(&self, message: Message, intervals: usize) {
        if self.queue.try_send(message).is_err() {
            self.given_up.fetch_add(intervals as u64, Ordering::Relaxed);
        }
    }

    /// Tells once that nothing can be stored for now; here, since the thread must not write over the progress.
    fn tell_trouble(&self) {
        let why = self.trouble.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(why) = why {
            self.lead.tell(Event::Warning(Warning::NotKept(why)));
        }
    }
}

impl Watch for Keeper<'_> {
    fn event(&self, event: &dyno_drive::Event) {
        match event {
            dyno_drive::Event::Final(chunk) => self.send(Message::Final(chunk.clone()), chunk.points.len()),
            dyno_drive::Event::Late(chunk) => self.send(Message::Late(chunk.clone()), 0),
            dyno_drive::Event::Interval(_) => self.tell_trouble(),
            _ => {}
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

/// The thread's side.
struct Store {
    writer: SeriesWriter,
    draft: RunRecord,
    path: PathBuf,
    /// Open once something was to be stored, and the draft is in it.
    repository: Option<Repository>,
}

impl Store {
    /// Stores what it is told until nothing more comes; says why it could not.
    fn keep(mut self, told: &Receiver<Message>, trouble: &Mutex<Option<String>>) -> Option<String> {
        let mut next: Option<Instant> = None;
        let mut is_told = false;
        let mut why = None;
        loop {
            let flush = match told.recv_timeout(WRITE_EVERY) {
                Ok(Message::Final(chunk)) => {
                    self.writer.add(chunk);
                    false
                }
                Ok(Message::Late(chunk)) => {
                    self.writer.add_late(chunk);
                    false
                }
                Ok(Message::Flush) => true,
                Err(RecvTimeoutError::Timeout) => continue,
                // The last ones are not written where nobody asks for it: the record has them.
                Err(RecvTimeoutError::Disconnected) => break,
            };
            let is_due = next.is_none_or(|next| Instant::now() >= next);
            if !flush && !is_due {
                continue;
            }
            why = self.write().err().map(|error| error.to_string());
            next = Some(Instant::now() + WRITE_EVERY);
            if let Some(why) = why.as_ref().filter(|_| !is_told) {
                *trouble.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.clone());
                is_told = true;
            }
        }
        let lost = self.writer.lost();
        why.or_else(|| (lost > 0).then(|| format!("{lost} intervals came while nothing could be written")))
    }

    fn write(&mut self) -> Result<(), RepositoryError> {
        let repository = match self.repository.take() {
            Some(repository) => repository,
            None => open(&self.path, &self.draft)?,
        };
        let written = self.writer.write(&repository);
        self.repository = Some(repository);
        written
    }
}

fn open(path: &Path, draft: &RunRecord) -> Result<Repository, RepositoryError> {
    let repository = Repository::open(path)?;
    repository.keep_draft(draft)?;
    Ok(repository)
}
