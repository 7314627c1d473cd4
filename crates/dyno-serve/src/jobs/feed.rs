//! The events of a job for any number of viewers: read once from the file, and kept as lines.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dyno_campaign::{ProgressEvent, RunProgress};
use parking_lot::Mutex;
use tokio::sync::watch;

/// Maximum number of lines kept for later viewers: more than an hour at one line per second.
const KEPT_MAX: usize = 5_000;

/// Longest line that this program writes, bytes; longer ones are not parsed as a whole.
const LINE_BYTES_MAX: usize = 1 << 20;

/// The events read so far, shared by all viewers.
#[derive(Debug)]
pub(crate) struct JobEventFeed {
    read: Mutex<Read>,
    /// Number of lines so far; viewers wait until it rises.
    lines: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Read {
    file: Option<BufReader<File>>,
    path: PathBuf,
    /// The beginning of a line that is not complete yet.
    partial: String,
    kept: VecDeque<Arc<str>>,
    /// Number of lines that were dropped before the kept ones.
    before: u64,
    progress: RunProgress,
    is_over: bool,
}

impl JobEventFeed {
    /// Creates a feed of the file at `path`, which need not exist yet.
    pub(crate) fn of(path: &Path) -> Arc<Self> {
        let read = Read { path: path.to_owned(), ..Read::default() };
        Arc::new(Self { read: Mutex::new(read), lines: watch::Sender::new(0) })
    }

    /// Creates a feed of a finished job, with all events of the file.
    pub(crate) fn whole(path: &Path) -> Arc<Self> {
        let feed = Self::of(path);
        feed.read_on();
        feed.end();
        feed
    }

    /// Reads the lines that were appended since the last call.
    pub(crate) fn read_on(&self) {
        let count = self.read.lock().read_on();
        self.lines.send_if_modified(|lines| std::mem::replace(lines, count) != count);
    }

    /// Marks the feed as complete.
    pub(crate) fn end(&self) {
        self.read.lock().is_over = true;
        self.lines.send_modify(|_| ());
    }

    /// Returns the progress computed from the events.
    pub(crate) fn progress(&self) -> RunProgress {
        self.read.lock().progress.clone()
    }

    /// Creates a viewer that starts at line number `from`.
    pub(crate) fn follow(self: &Arc<Self>, from: u64) -> Follower {
        Follower { feed: Arc::clone(self), lines: self.lines.subscribe(), next: from }
    }
}

impl Read {
    fn read_on(&mut self) -> u64 {
        if self.file.is_none() {
            self.file = File::open(&self.path).ok().map(BufReader::new);
        }
        while let Some(file) = &mut self.file {
            match file.read_line(&mut self.partial) {
                Ok(bytes) if bytes > 0 => {}
                _ => break,
            }
            if !self.partial.ends_with('\n') && self.partial.len() < LINE_BYTES_MAX {
                break;
            }
            let line = std::mem::take(&mut self.partial);
            // Other text is skipped: a page receives only lines that this program wrote.
            if let Ok(event) = serde_json::from_str::<ProgressEvent>(&line) {
                // A page shows durations that the events contain, so no clock is needed.
                self.progress.apply(&event, 0.0);
                self.kept.push_back(line.trim_end().into());
                if self.kept.len() > KEPT_MAX {
                    self.kept.pop_front();
                    self.before += 1;
                }
            }
        }
        self.before + self.kept.len() as u64
    }
}

/// A viewer of a feed.
#[derive(Debug)]
pub(crate) struct Follower {
    feed: Arc<JobEventFeed>,
    lines: watch::Receiver<u64>,
    /// Number of the next line to return.
    next: u64,
}

impl Follower {
    /// Waits for new lines and returns them with their numbers; `None` once the feed is complete.
    pub(crate) async fn next(&mut self) -> Option<Vec<(u64, Arc<str>)>> {
        loop {
            self.lines.mark_unchanged();
            let (come, is_over) = self.take_new_lines();
            if !come.is_empty() {
                return Some(come);
            }
            if is_over || self.lines.changed().await.is_err() {
                return None;
            }
        }
    }

    fn take_new_lines(&mut self) -> (Vec<(u64, Arc<str>)>, bool) {
        let read = self.feed.read.lock();
        let from = self.next.max(read.before);
        let skip = usize::try_from(from - read.before).unwrap_or(usize::MAX);
        let lines: Vec<_> = (from..).zip(read.kept.iter().skip(skip).cloned()).collect();
        self.next = from + lines.len() as u64;
        (lines, read.is_over)
    }
}
