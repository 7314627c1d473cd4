//! The events of a job, for as many viewers as there are: read once from the file, kept as the lines that are sent.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dyno_campaign::Told;
use tokio::sync::watch;

use super::progress::Progress;

/// Lines that are kept for viewers who come late: more than an hour at one a second.
const KEPT_MAX: usize = 5_000;

/// A line longer than this is none of ours.
const LINE_BYTES_MAX: usize = 1 << 20;

/// What has been read so far.
#[derive(Debug)]
pub(crate) struct Feed {
    read: Mutex<Read>,
    /// The number of lines so far; viewers wait for it to rise.
    lines: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Read {
    file: Option<BufReader<File>>,
    path: PathBuf,
    /// A line that is not whole yet.
    partial: String,
    kept: VecDeque<Arc<str>>,
    /// How many came before those.
    before: u64,
    progress: Progress,
    is_over: bool,
}

impl Feed {
    /// Of the file at `path`, which need not be there yet.
    pub(crate) fn of(path: &Path) -> Arc<Self> {
        let read = Read { path: path.to_owned(), ..Read::default() };
        Arc::new(Self { read: Mutex::new(read), lines: watch::Sender::new(0) })
    }

    /// Of something that has ended: all of the file.
    pub(crate) fn whole(path: &Path) -> Arc<Self> {
        let feed = Self::of(path);
        feed.read_on();
        feed.end();
        feed
    }

    /// Reads what has come since.
    pub(crate) fn read_on(&self) {
        let count = self.locked().read_on();
        self.lines.send_if_modified(|lines| std::mem::replace(lines, count) != count);
    }

    /// Nothing more will come.
    pub(crate) fn end(&self) {
        self.locked().is_over = true;
        self.lines.send_modify(|_| ());
    }

    /// What it says, summed up.
    pub(crate) fn progress(&self) -> Progress {
        self.locked().progress.clone()
    }

    /// Follows it from line number `from` on.
    pub(crate) fn follow(self: &Arc<Self>, from: u64) -> Follower {
        Follower { feed: Arc::clone(self), lines: self.lines.subscribe(), next: from }
    }

    fn locked(&self) -> MutexGuard<'_, Read> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
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
            // What is not ours is nobody's: a page gets lines of this program only.
            if let Ok(told) = serde_json::from_str::<Told>(&line) {
                self.progress.see(&told);
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

/// One viewer.
#[derive(Debug)]
pub(crate) struct Follower {
    feed: Arc<Feed>,
    lines: watch::Receiver<u64>,
    /// The number of the line that comes next.
    next: u64,
}

impl Follower {
    /// The lines that have come, each with its number, waiting until there are some; nothing when no more will come.
    pub(crate) async fn next(&mut self) -> Option<Vec<(u64, Arc<str>)>> {
        loop {
            self.lines.mark_unchanged();
            let (come, is_over) = self.come();
            if !come.is_empty() {
                return Some(come);
            }
            if is_over || self.lines.changed().await.is_err() {
                return None;
            }
        }
    }

    fn come(&mut self) -> (Vec<(u64, Arc<str>)>, bool) {
        let read = self.feed.locked();
        let from = self.next.max(read.before);
        let skip = usize::try_from(from - read.before).unwrap_or(usize::MAX);
        let come: Vec<_> = (from..).zip(read.kept.iter().skip(skip).cloned()).collect();
        self.next = from + come.len() as u64;
        (come, read.is_over)
    }
}
