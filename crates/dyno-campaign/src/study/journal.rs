//! The journal of a study: one line of JSON for each event, written to disk before the next action.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// File name of the journal in the study's folder.
const NAME: &str = "journal";

/// A part of a study that must be reverted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StudyUndoScope {
    /// The setup of the whole study.
    Setup,
    /// The leg with this position in the order.
    Leg(usize),
}

/// An event of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StudyJournalEvent {
    /// A process starts or resumes the study; `boot` identifies the start of the machine.
    Process { boot: String },
    /// From now on this part must be reverted.
    Opened(StudyUndoScope),
    /// This part was reverted without errors.
    Closed(StudyUndoScope),
    /// From now on a target may contain data of the study.
    Loading,
    /// The data of the study was dropped.
    Unloaded,
    /// The verify commands showed that the variant is in force, with this output.
    Verified { leg: usize, said: Vec<String> },
    /// A task of a leg was measured.
    Measured { leg: usize, task: usize, run: Option<String>, load_s: Option<f64>, rows: Option<u64> },
    /// All tasks of a leg were measured.
    Done { leg: usize },
    /// A leg failed, for this reason.
    Failed { leg: usize, why: String },
    /// A leg was left out, because its variant failed before.
    LeftOut { leg: usize },
    /// The machine must be restarted; `boot` identifies its current start.
    Reboot { leg: usize, boot: String },
    /// The machine was restarted, and the leg continues. If interrupted now, the leg starts again, because it
    /// would need another restart.
    Rebooted { leg: usize },
}

/// An event with its time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct StudyJournalEntry {
    pub(super) at: String,
    pub(super) what: StudyJournalEvent,
}

/// The journal file, locked by this process.
#[derive(Debug)]
pub(super) struct Journal {
    file: File,
}

impl Journal {
    /// Opens the journal in `folder`, and creates it if it is missing; returns its entries.
    pub(super) fn open(folder: &Path) -> Result<(Self, Vec<StudyJournalEntry>), Error> {
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
                    Error::usage("another process is working on this study", "wait until it ends, or stop it")
                }
                std::fs::TryLockError::Error(error) => failed(error),
            });
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let entries = read(&bytes).map_err(|line| {
            Error::usage(
                format!("line {line} of the journal {} cannot be read", path.display()),
                "undo the steps in its last lines by hand (`dyno study plan` shows the commands)",
            )
        })?;
        // An incomplete line is removed; nothing was started after it.
        if !bytes.is_empty() && !bytes.ends_with(b"\n") {
            file.write_all(b"\n").map_err(failed)?;
        }
        // The folder's entry for the file must be durable, too.
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
        Ok((Self { file }, entries))
    }

    /// Appends an event; it is on disk when this returns.
    pub(super) fn note(&mut self, event: StudyJournalEvent) -> Result<StudyJournalEntry, Error> {
        let entry = StudyJournalEntry { at: dyno_record::rfc3339(jiff::Timestamp::now()), what: event };
        let mut line = serde_json::to_vec(&entry)?;
        line.push(b'\n');
        let written = self.file.write_all(&line).and_then(|()| self.file.sync_data());
        written.map_err(|error| Error::because("the study's journal cannot be written", error))?;
        Ok(entry)
    }
}

/// Parses the journal; an error is the number of an invalid line. Lines that a crash interrupted are left
/// out; each of them is the last line of a process.
fn read(bytes: &[u8]) -> Result<Vec<StudyJournalEntry>, usize> {
    let mut entries = Vec::new();
    let mut cut = None;
    for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')).filter(|(_, line)| !line.is_empty()) {
        match serde_json::from_slice::<StudyJournalEntry>(line) {
            Ok(entry) => {
                // After an incomplete line, another process must have started.
                if let Some(line) = cut.take()
                    && !matches!(entry.what, StudyJournalEvent::Process { .. })
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
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

    use super::*;

    fn process() -> StudyJournalEvent {
        StudyJournalEvent::Process { boot: "b".to_owned() }
    }

    #[test]
    fn journal_is_read_back_up_to_a_truncated_line() {
        let folder = tempfile::tempdir().unwrap();
        let (mut journal, entries) = Journal::open(folder.path()).unwrap();
        assert!(entries.is_empty());
        let noted = [
            process(),
            StudyJournalEvent::Opened(StudyUndoScope::Leg(3)),
            StudyJournalEvent::Measured { leg: 3, task: 0, run: None, load_s: Some(1.5), rows: Some(7) },
        ];
        let noted: Vec<StudyJournalEntry> =
            noted.into_iter().map(|what| journal.note(what).unwrap()).collect();
        assert!(Journal::open(folder.path()).unwrap_err().to_string().contains("another process"));
        drop(journal);
        let path = folder.path().join(NAME);
        let whole = std::fs::read(&path).unwrap();
        // Whatever the length at which a crash ends the file, all complete entries are read, and the journal
        // can be continued.
        for length in 0..=whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            let (mut journal, entries) = Journal::open(folder.path()).unwrap();
            assert_eq!(entries, noted[..entries.len()]);
            let is_whole = whole[..length].iter().filter(|byte| **byte == b'\n').count();
            assert!(entries.len() >= is_whole);
            journal.note(process()).unwrap();
            drop(journal);
            let (_, again) = Journal::open(folder.path()).unwrap();
            assert_eq!(again.len(), entries.len() + 1, "cut at {length}");
        }
    }

    #[test]
    fn damaged_journal_is_reported_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let (mut journal, _) = Journal::open(folder.path()).unwrap();
        journal.note(process()).unwrap();
        drop(journal);
        let path = folder.path().join(NAME);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{text}{{\"at\":\n{}", text.replace("process", "closed"))).unwrap();
        let error = Journal::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains("line 3") || error.contains("line 2"), "{error}");
    }
}
