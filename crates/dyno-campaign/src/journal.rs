//! A journal on disk: one line of JSON for each event, written before the next action. It shows what must be
//! reverted, however the process that wrote it ended.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::marker::PhantomData;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// File name of the journal in its folder.
const NAME: &str = "journal";

/// An event of a journal.
pub(crate) trait JournalEvent: Serialize + DeserializeOwned {
    /// Whether this is the first event that a process writes.
    fn is_process(&self) -> bool;
}

/// An event with its time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct JournalEntry<E> {
    pub(crate) at: String,
    pub(crate) what: E,
}

/// The journal file, locked by this process.
#[derive(Debug)]
pub(crate) struct Journal<E> {
    file: File,
    events: PhantomData<E>,
}

impl<E: JournalEvent> Journal<E> {
    /// Opens the journal in `folder`, and creates it if it is missing; returns its entries.
    pub(crate) fn open(folder: &Path) -> Result<(Self, Vec<JournalEntry<E>>), Error> {
        let path = folder.join(NAME);
        let failed = |error: std::io::Error| {
            Error::because(format!("the journal {} cannot be opened", path.display()), error)
        };
        let nofollow = rustix::fs::OFlags::NOFOLLOW.bits() as i32;
        let mut open = OpenOptions::new();
        open.read(true).append(true).create(true).mode(0o600).custom_flags(nofollow);
        // The journal contains revert commands. If other users could write it, those commands would run as
        // this user.
        dyno_record::private_file::check_folder(folder).map_err(failed)?;
        let mut file = open.open(&path).map_err(failed)?;
        dyno_record::private_file::check_own(&file).map_err(failed)?;
        // The operating system releases the lock when the process ends in any way.
        if let Err(error) = file.try_lock() {
            return Err(match error {
                std::fs::TryLockError::WouldBlock => {
                    Error::usage("another process is working on this", "wait until it ends, or stop it")
                }
                std::fs::TryLockError::Error(error) => failed(error),
            });
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let entries = read(&bytes).map_err(|line| {
            Error::usage(
                format!("line {line} of the journal {} cannot be read", path.display()),
                "undo the steps in its last lines by hand",
            )
        })?;
        // An incomplete line is removed; nothing was started after it.
        if !bytes.is_empty() && !bytes.ends_with(b"\n") {
            file.write_all(b"\n").map_err(failed)?;
        }
        // The folder's entry for the file must be durable, too.
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
        Ok((Self { file, events: PhantomData }, entries))
    }

    /// Appends an event; it is on disk when this returns.
    pub(crate) fn note(&mut self, event: E) -> Result<JournalEntry<E>, Error> {
        let entry = JournalEntry { at: dyno_record::rfc3339(jiff::Timestamp::now()), what: event };
        let mut line = serde_json::to_vec(&entry)?;
        line.push(b'\n');
        let written = self.file.write_all(&line).and_then(|()| self.file.sync_data());
        written.map_err(|error| Error::because("the journal cannot be written", error))?;
        Ok(entry)
    }
}

/// Parses the journal; an error is the number of an invalid line. Lines that a crash interrupted are left
/// out; each of them is the last line of a process.
fn read<E: JournalEvent>(bytes: &[u8]) -> Result<Vec<JournalEntry<E>>, usize> {
    let mut entries = Vec::new();
    let mut cut = None;
    for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')).filter(|(_, line)| !line.is_empty()) {
        match serde_json::from_slice::<JournalEntry<E>>(line) {
            Ok(entry) => {
                // After an incomplete line, another process must have started.
                if let Some(line) = cut.take()
                    && !entry.what.is_process()
                {
                    return Err(line);
                }
                entries.push(entry);
            }
            Err(_) if cut.is_none() => cut = Some(number),
            Err(_) => return Err(number),
        }
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    enum TestEvent {
        Process,
        Step { number: u32, text: Option<String> },
    }

    impl JournalEvent for TestEvent {
        fn is_process(&self) -> bool {
            *self == Self::Process
        }
    }

    fn process() -> TestEvent {
        TestEvent::Process
    }

    #[test]
    fn journal_is_read_back_up_to_a_truncated_line() {
        let folder = tempfile::tempdir().unwrap();
        let (mut journal, entries) = Journal::<TestEvent>::open(folder.path()).unwrap();
        assert!(entries.is_empty());
        let noted = [
            process(),
            TestEvent::Step { number: 3, text: None },
            TestEvent::Step { number: 4, text: Some("x".to_owned()) },
        ];
        let noted: Vec<JournalEntry<TestEvent>> =
            noted.into_iter().map(|what| journal.note(what).unwrap()).collect();
        assert!(
            Journal::<TestEvent>::open(folder.path()).unwrap_err().to_string().contains("another process")
        );
        drop(journal);
        let path = folder.path().join(NAME);
        let whole = std::fs::read(&path).unwrap();
        // Whatever the length at which a crash ends the file, all complete entries are read, and the journal
        // can be continued.
        for length in 0..=whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            let (mut journal, entries) = Journal::<TestEvent>::open(folder.path()).unwrap();
            assert_eq!(entries, noted[..entries.len()]);
            let is_whole = whole[..length].iter().filter(|byte| **byte == b'\n').count();
            assert!(entries.len() >= is_whole);
            journal.note(process()).unwrap();
            drop(journal);
            let (_, again) = Journal::<TestEvent>::open(folder.path()).unwrap();
            assert_eq!(again.len(), entries.len() + 1, "cut at {length}");
        }
    }

    #[test]
    fn damaged_journal_is_reported_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let (mut journal, _) = Journal::<TestEvent>::open(folder.path()).unwrap();
        journal.note(process()).unwrap();
        drop(journal);
        let path = folder.path().join(NAME);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{text}{{\"at\":\n{}", text.replace("Process", "Closed"))).unwrap();
        let error = Journal::<TestEvent>::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains("line 3") || error.contains("line 2"), "{error}");
    }
}
