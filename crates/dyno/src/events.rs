//! Events of a campaign for another program: one JSON object a line, in a file that this program appends to.
//!
//! Sessions and the coordinator never wait for that file: a thread of its own writes it, and where it cannot keep up, lines are
//! left out. Progress of loads comes from many threads and thousands of times a second; it is told once a second.
//!
//! The other program may ask something back, in a file of that name with `.ask` behind it: `pause`, `go` or `skip`. The same thread
//! looks for it, and takes it away when it has heard. Requests of other users are ignored.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use dyno_campaign::{Error, Event, Listener, LoadEvent, Steer, Told};
use dyno_engine::Secret;
use dyno_plan::TargetUrl;
use dyno_record::event_file;

use crate::exit::{Exit, usage};

/// Lines that wait to be written; an interval is one, so this is more than an hour.
const WAITING_MAX: usize = 4_096;

/// How often it is looked whether something is asked.
const LOOK: Duration = Duration::from_millis(200);

/// The file, and who writes it.
#[derive(Debug)]
pub(crate) struct EventLog {
    lines: Option<SyncSender<Told>>,
    /// Returns how many lines it could not write, and why not.
    writer: Option<JoinHandle<Lost>>,
    path: PathBuf,
    /// Lines that found no room while the writer was behind.
    skipped: AtomicU64,
    /// Rows of the load's phase so far.
    rows: AtomicU64,
    began: Instant,
    /// The last second, since `began`, in which the progress of a load was told.
    told_s: AtomicU64,
    /// Whom to ask what is asked.
    steer: Arc<Mutex<Option<Steer>>>,
}

impl EventLog {
    /// Appends to the file at `path`, which is created for its user alone where it is missing. What another user could have put
    /// there is refused.
    pub(crate) fn append(path: &Path) -> anyhow::Result<Self> {
        let file = event_file::open_to_append(path).map_err(|error| {
            usage(format!("{} cannot be written: {error}", path.display()), "name another file with --events")
        })?;
        let (lines, told) = sync_channel(WAITING_MAX);
        let steer = Arc::new(Mutex::new(None));
        let asked = Asked { path: format!("{}.ask", path.display()).into(), steer: Arc::clone(&steer) };
        let write = move || write(file, &told, &asked);
        let writer = std::thread::Builder::new().name("events".into()).spawn(write)?;
        Ok(Self {
            lines: Some(lines),
            writer: Some(writer),
            path: path.to_owned(),
            skipped: AtomicU64::new(0),
            rows: AtomicU64::new(0),
            began: Instant::now(),
            told_s: AtomicU64::new(0),
            steer,
        })
    }

    /// What is asked goes to `steer`.
    pub(crate) fn obey(&self, steer: &Steer) {
        *self.steer.lock().unwrap_or_else(PoisonError::into_inner) = Some(steer.clone());
    }

    fn hear(&self, event: &Event) {
        match event {
            Event::Load(LoadEvent::Phase(..)) => self.rows.store(0, Ordering::Relaxed),
            Event::Load(LoadEvent::Advance(rows, _)) => return self.advance(*rows),
            _ => {}
        }
        Told::of(event).into_iter().for_each(|told| self.tell(told));
    }

    fn advance(&self, rows: u64) {
        let rows = self.rows.fetch_add(rows, Ordering::Relaxed) + rows;
        let second = self.began.elapsed().as_secs();
        if self.told_s.swap(second, Ordering::Relaxed) != second {
            self.tell(Told::Loaded { rows });
        }
    }

    /// One line.
    pub(crate) fn tell(&self, told: Told) {
        if let Some(lines) = &self.lines
            && lines.try_send(told).is_err()
        {
            self.skipped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Writes how the program ends, and waits until all is written. What is missing in the file is returned in words.
    pub(crate) fn end(mut self, exit: Exit) -> Option<String> {
        if let Some(lines) = self.lines.take() {
            // It has to be there, so this one waits for room.
            let _ = lines.send(Told::End { exit: exit as i32 });
        }
        let lost = self.writer.take().and_then(|writer| writer.join().ok()).unwrap_or_default();
        let skipped = self.skipped.load(Ordering::Relaxed);
        let problem = match lost.error {
            Some(error) => format!("{} lines were not written: {error}", lost.lines + skipped),
            None if skipped > 0 => {
                format!("{skipped} lines were left out, because the file could not keep up")
            }
            None => return None,
        };
        Some(format!("{} (--events) is incomplete: {problem}", self.path.display()))
    }
}

/// Lines that could not be written.
#[derive(Debug, Default)]
struct Lost {
    lines: u64,
    /// Why the first could not.
    error: Option<std::io::Error>,
}

/// Writes line by line; a file that takes no more is no reason to end a run.
fn write(mut file: File, told: &Receiver<Told>, asked: &Asked) -> Lost {
    let mut lost = Lost::default();
    // Part of a line may stand at the end of the file, and the next one begins behind it.
    let mut is_broken = false;
    loop {
        match told.recv_timeout(LOOK) {
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
        asked.hear();
    }
}

/// What the other program asks.
struct Asked {
    path: PathBuf,
    steer: Arc<Mutex<Option<Steer>>>,
}

impl Asked {
    fn hear(&self) {
        let steer = self.steer.lock().unwrap_or_else(PoisonError::into_inner);
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

/// A listener whose events go to a file, too.
pub(crate) struct Logged<'a> {
    pub(crate) log: &'a EventLog,
    pub(crate) listener: &'a dyn Listener,
}

impl Listener for Logged<'_> {
    fn event(&self, event: Event) {
        self.log.hear(&event);
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
