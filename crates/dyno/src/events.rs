//! Writes events of a campaign for another program: one JSON object per line, appended to a file.
//!
//! Sessions and the coordinator never wait for the file: a separate thread writes it, and if it cannot keep
//! up, lines are dropped. Progress of loads comes from many threads thousands of times a second; it is
//! written once a second.
//!
//! The other program can send requests in a second file, whose name has `.ask` appended: `pause`, `go` or
//! `skip`. The same thread polls for it, and removes it after reading. Requests of other users are ignored.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use dyno_campaign::{CampaignControl, CampaignEvent, Error, Listener, LoadEvent, ProgressEvent};
use dyno_engine::Secret;
use dyno_plan::TargetUrl;
use dyno_record::event_file;
use parking_lot::Mutex;

use crate::exit::{Exit, usage};

/// Maximum lines waiting to be written; an interval is one line, so this is more than an hour.
const QUEUE_MAX: usize = 4_096;

/// Interval between two checks for a request.
const REQUEST_POLL_INTERVAL: Duration = Duration::from_millis(200);

/// The events file and its writer thread.
#[derive(Debug)]
pub(crate) struct EventLog {
    lines: Option<SyncSender<ProgressEvent>>,
    /// Returns the number of lines that it could not write, and the reason.
    writer: Option<JoinHandle<WriteFailures>>,
    path: PathBuf,
    /// Lines dropped while the writer was behind.
    skipped: AtomicU64,
    /// Rows of the load's current phase so far.
    rows: AtomicU64,
    began: Instant,
    /// The last second since `began` in which load progress was written.
    last_load_event_s: AtomicU64,
    steer: Arc<Mutex<Option<CampaignControl>>>,
}

impl EventLog {
    /// Appends to the file at `path`; a missing file is created for its user only. A file that another user
    /// could have put there is refused.
    pub(crate) fn append(path: &Path) -> anyhow::Result<Self> {
        let file = event_file::open_to_append(path).map_err(|error| {
            usage(format!("{} cannot be written: {error}", path.display()), "name another file with --events")
        })?;
        let (lines, told) = sync_channel(QUEUE_MAX);
        let steer = Arc::new(Mutex::new(None));
        let request_file =
            RequestFile { path: format!("{}.ask", path.display()).into(), steer: Arc::clone(&steer) };
        let write = move || write(file, &told, &request_file);
        let writer = std::thread::Builder::new().name("events".into()).spawn(write)?;
        Ok(Self {
            lines: Some(lines),
            writer: Some(writer),
            path: path.to_owned(),
            skipped: AtomicU64::new(0),
            rows: AtomicU64::new(0),
            began: Instant::now(),
            last_load_event_s: AtomicU64::new(0),
            steer,
        })
    }

    pub(crate) fn set_steer(&self, steer: &CampaignControl) {
        *self.steer.lock() = Some(steer.clone());
    }

    fn record_event(&self, event: &CampaignEvent) {
        match event {
            CampaignEvent::Load(LoadEvent::Phase(..)) => self.rows.store(0, Ordering::Relaxed),
            CampaignEvent::Load(LoadEvent::Advance(rows, _)) => return self.advance(*rows),
            _ => {}
        }
        ProgressEvent::of(event)
            .into_iter()
            .filter(ProgressEvent::is_written)
            .for_each(|event| self.enqueue(event));
    }

    fn advance(&self, rows: u64) {
        let rows = self.rows.fetch_add(rows, Ordering::Relaxed) + rows;
        let elapsed_s = self.began.elapsed().as_secs();
        if self.last_load_event_s.swap(elapsed_s, Ordering::Relaxed) != elapsed_s {
            self.enqueue(ProgressEvent::Loaded { rows });
        }
    }

    pub(crate) fn enqueue(&self, event: ProgressEvent) {
        if let Some(lines) = &self.lines
            && lines.try_send(event).is_err()
        {
            self.skipped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Writes how the program ends, and waits until all lines are written. Returns a sentence about missing
    /// lines.
    pub(crate) fn end(mut self, exit: Exit) -> Option<String> {
        if let Some(lines) = self.lines.take() {
            // The last line must not be dropped, so this waits for room.
            let _ = lines.send(ProgressEvent::End { exit: exit as i32 });
        }
        let lost = self.writer.take().and_then(|writer| writer.join().ok()).unwrap_or_default();
        let skipped = self.skipped.load(Ordering::Relaxed);
        let problem = match lost.error {
            Some(error) => format!("{} lines were not written: {error}", lost.lines + skipped),
            None if skipped > 0 => {
                format!("{skipped} lines were skipped because writing to the file was too slow")
            }
            None => return None,
        };
        Some(format!("{} (--events) is incomplete: {problem}", self.path.display()))
    }
}

/// Lines that could not be written.
#[derive(Debug, Default)]
struct WriteFailures {
    lines: u64,
    /// Error of the first failure.
    error: Option<std::io::Error>,
}

/// Writes line by line; a write error does not end the run.
fn write(mut file: File, events: &Receiver<ProgressEvent>, request_file: &RequestFile) -> WriteFailures {
    let mut lost = WriteFailures::default();
    // A partial line may be at the end of the file; the next one must begin on a new line.
    let mut is_broken = false;
    loop {
        match events.recv_timeout(REQUEST_POLL_INTERVAL) {
            Ok(told) => {
                let Ok(mut line) = serde_json::to_vec(&told) else { continue };
                line.push(b'\n');
                if is_broken {
                    line.insert(0, b'\n');
                }
                match file.write_all(&line) {
                    Ok(()) => is_broken = false,
                    Err(error) => {
                        is_broken = true;
                        lost.lines += 1;
                        lost.error.get_or_insert(error);
                    }
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return lost,
        }
        request_file.apply_request();
    }
}

/// The file with the other program's requests.
struct RequestFile {
    path: PathBuf,
    steer: Arc<Mutex<Option<CampaignControl>>>,
}

impl RequestFile {
    fn apply_request(&self) {
        let steer = self.steer.lock();
        let Some(steer) = &*steer else { return };
        let Some(word) = event_file::read_request(&self.path) else { return };
        let _ = std::fs::remove_file(&self.path);
        match word.as_str() {
            "pause" => steer.pause(true),
            "go" => steer.pause(false),
            "skip" => steer.skip(),
            _ => {}
        }
    }
}

/// An event listener that also writes to the file.
pub(crate) struct LoggingListener<'a> {
    pub(crate) log: &'a EventLog,
    pub(crate) listener: &'a dyn Listener,
}

impl Listener for LoggingListener<'_> {
    fn event(&self, event: CampaignEvent) {
        self.log.record_event(&event);
        self.listener.event(event);
    }

    fn password(&self, url: &TargetUrl) -> Result<Option<Secret>, Error> {
        self.listener.password(url)
    }

    fn allows(&self, commands: &[(&str, &str)]) -> Result<bool, Error> {
        self.listener.allows(commands)
    }

    fn allows_writes(&self, url: &str, ways: &[String]) -> Result<bool, Error> {
        self.listener.allows_writes(url, ways)
    }
}
