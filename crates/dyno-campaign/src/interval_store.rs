//! Stores the intervals of a long run while it lasts. They survive if the process is killed, and the record
//! of a long run contains only an overview of them.
//!
//! Uses its own thread and connection, because the conductor must never wait for the repository's disk or
//! lock.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use dyno_drive::RunListener;
use dyno_plan::{Length, Plan};
use dyno_record::{Repository, RepositoryError, RunRecord, SeriesChunk, SeriesWriter};
use parking_lot::Mutex;

use crate::campaign_context::CampaignContext;
use crate::event::{CampaignEvent, Warning};

/// Minimum number of intervals of a window to be stored. An interval is final only about sixty intervals
/// later.
const INTERVALS_MIN: f64 = 120.0;
/// Minimum time between two writes.
const WRITE_EVERY: Duration = Duration::from_secs(10);
/// Maximum number of queued messages, while the thread waits for a lock or a disk.
const QUEUE: usize = 4_096;

/// Forwards a run's events, and stores its intervals.
pub(crate) struct IntervalStoreListener<'a> {
    inner: &'a dyn RunListener,
    ctx: &'a CampaignContext<'a>,
    queue: SyncSender<Message>,
    /// Number of intervals dropped because the queue was full.
    dropped_intervals: AtomicU64,
    /// Why intervals could not be stored; empty once it was reported.
    trouble: Arc<Mutex<Option<String>>>,
    thread: Option<JoinHandle<Option<String>>>,
}

/// A message to the storing thread.
enum Message {
    Final(SeriesChunk),
    Late(SeriesChunk),
    /// The run has ended; all remaining intervals are to be stored.
    Flush,
}

/// Whether runs of `plan` are long enough that their intervals are stored while they last.
pub(crate) fn is_long(plan: &Plan) -> bool {
    match plan.run.length() {
        Length::Time(time) => time.0.as_secs_f64() / plan.observe.interval.0.as_secs_f64() >= INTERVALS_MIN,
        Length::Ops(_) => true,
    }
}

/// Notes in a record with an overview why the full series is incomplete.
pub(crate) fn note_incomplete_series(record: &mut RunRecord, lacks: Option<&String>) {
    let target_series =
        record.targets.iter_mut().filter_map(|target| Some(&mut target.own.as_deref_mut()?.series));
    for full in target_series.chain([&mut record.series]).filter_map(|series| series.full.as_mut()) {
        full.lacks = lacks.cloned();
    }
}

impl<'a> IntervalStoreListener<'a> {
    /// Starts with `draft`, the run's record without results, in the repository at `path`.
    pub(crate) fn start(
        draft: RunRecord,
        path: PathBuf,
        inner: &'a dyn RunListener,
        ctx: &'a CampaignContext<'a>,
    ) -> Self {
        let (queue, receiver) = sync_channel(QUEUE);
        let trouble = Arc::new(Mutex::new(None));
        let its_trouble = Arc::clone(&trouble);
        let thread = std::thread::Builder::new().name("dyno-keeper".into()).spawn(move || {
            Store { writer: SeriesWriter::new(draft.id.clone()), draft, path, repository: None }
                .store_until_closed(&receiver, &its_trouble)
        });
        Self { inner, ctx, queue, dropped_intervals: AtomicU64::new(0), trouble, thread: thread.ok() }
    }

    /// Ends the thread. With `all`, the remaining intervals are stored; otherwise the run's record contains
    /// them. Returns why intervals are missing.
    pub(crate) fn finish(self, all: bool) -> Option<String> {
        self.report_trouble();
        if all {
            // If the thread has ended, the result below says so.
            let _ = self.queue.send(Message::Flush);
        }
        drop(self.queue);
        let why = match self.thread.map(JoinHandle::join) {
            Some(Ok(why)) => why,
            Some(Err(_)) | None => Some("the thread that stores intervals did not run".to_owned()),
        };
        let given_up = self.dropped_intervals.into_inner();
        let late = || format!("{given_up} intervals were dropped because they could not be written");
        why.or_else(|| (given_up > 0).then(late))
    }

    fn send(&self, message: Message, intervals: usize) {
        if self.queue.try_send(message).is_err() {
            self.dropped_intervals.fetch_add(intervals as u64, Ordering::Relaxed);
        }
    }

    /// Reports once that nothing can be stored now. The thread itself must not print over the progress
    /// display.
    fn report_trouble(&self) {
        let why = self.trouble.lock().take();
        if let Some(why) = why {
            self.ctx.emit(CampaignEvent::Warning(Warning::NotKept(why)));
        }
    }
}

impl RunListener for IntervalStoreListener<'_> {
    fn event(&self, event: &dyno_drive::RunEvent) {
        match event {
            dyno_drive::RunEvent::Final(chunk) => {
                self.send(Message::Final(chunk.clone()), chunk.points.len());
            }
            dyno_drive::RunEvent::Late(chunk) => self.send(Message::Late(chunk.clone()), 0),
            dyno_drive::RunEvent::Interval(_) => self.report_trouble(),
            _ => {}
        }
        self.inner.event(event);
    }

    fn connected(&self) -> Result<(), String> {
        self.inner.connected()
    }

    fn window_begins(&self) {
        self.inner.window_begins();
    }

    fn window_ended(&self) {
        self.inner.window_ended();
    }

    fn drained(&self) -> Result<(), String> {
        self.inner.drained()
    }
}

/// The state of the storing thread.
struct Store {
    writer: SeriesWriter,
    draft: RunRecord,
    path: PathBuf,
    /// Opened at the first write, which also stores the draft.
    repository: Option<Repository>,
}

impl Store {
    /// Stores intervals until the queue is closed; returns why some could not be stored.
    fn store_until_closed(
        mut self,
        messages: &Receiver<Message>,
        trouble: &Mutex<Option<String>>,
    ) -> Option<String> {
        let mut next: Option<Instant> = None;
        let mut is_told = false;
        let mut why = None;
        loop {
            let flush = match messages.recv_timeout(WRITE_EVERY) {
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
                // Without a flush the last intervals are not written, because the record contains them.
                Err(RecvTimeoutError::Disconnected) => break,
            };
            let is_due = next.is_none_or(|next| Instant::now() >= next);
            if !flush && !is_due {
                continue;
            }
            why = self.write().err().map(|error| error.to_string());
            next = Some(Instant::now() + WRITE_EVERY);
            if let Some(why) = why.as_ref().filter(|_| !is_told) {
                *trouble.lock() = Some(why.clone());
                is_told = true;
            }
        }
        let lost = self.writer.lost();
        why.or_else(|| {
            (lost > 0).then(|| format!("{lost} intervals were dropped because they could not be written"))
        })
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
