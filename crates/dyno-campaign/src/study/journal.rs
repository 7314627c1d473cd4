//! What a study has done, on disk: a line of JSON for each event, written through before whatever follows it.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// The journal's name in the study's folder.
const NAME: &str = "journal";

/// What has to be undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Open {
    /// What is set up for the whole study.
    Setup,
    /// The leg of this place in the order.
    Leg(usize),
}

/// One event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum What {
    /// A process begins or goes on, on a machine that was started with this mark.
    Process { boot: String },
    /// From now on this has to be undone.
    Opened(Open),
    /// It is undone.
    Closed(Open),
    /// From now on there may be data of the study's on a target.
    Loading,
    /// The data of the study is gone.
    Unloaded,
    /// It was shown that a variant is in force, by these words.
    Verified { leg: usize, said: Vec<String> },
    /// A task was measured.
    Measured { leg: usize, task: usize, run: Option<String>, load_s: Option<f64>, rows: Option<u64> },
    /// A leg has been measured as a whole.
    Done { leg: usize },
    /// A leg failed.
    Failed { leg: usize, why: String },
    /// A leg of a variant that has failed before was not begun.
    LeftOut { leg: usize },
    /// The machine has to be started anew; it was started with this mark.
    Reboot { leg: usize, boot: String },
    /// It was, and the leg goes on; cut off now, it is begun anew, as the start that it had asked for is gone.
    Rebooted { leg: usize },
}

/// An event with its moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) at: String,
    pub(super) what: What,
}

/// The journal, which this process alone writes.
#[derive(Debug)]
pub(super) struct Journal {
    file: File,
}

impl Journal {
    /// Opens the journal in `folder`, made if it is not there; returns what it says.
    pub(super) fn open(folder: &Path) -> Result<(Self, Vec<Entry>), Error> {
        let path = folder.join(NAME);
        let failed =
            |error: std::io::Error| Error::because(format!("the journal {} failed", path.display()), error);
        let nofollow = rustix::fs::OFlags::NOFOLLOW.bits() as i32;
        let mut open = OpenOptions::new();
        open.read(true).append(true).create(true).mode(0o600).custom_flags(nofollow);
        // Commands that undo a change are in it: one that somebody else put there would run them as this user.
        dyno_record::private_file::check_folder(folder).map_err(failed)?;
        let mut file = open.open(&path).map_err(failed)?;
        dyno_record::private_file::check_own(&file).map_err(failed)?;
        // The lock goes with the process, whatever ends it.
        if let Err(error) = file.try_lock() {
            return Err(match error {
                std::fs::TryLockError::WouldBlock => Error::usage(
                    "another process is at work on this study",
                    "wait until it has ended, or end it",
                ),
                std::fs::TryLockError::Error(error) => failed(error),
            });
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let entries = read(&bytes).map_err(|line| {
            Error::usage(
                format!("line {line} of the journal {} cannot be read", path.display()),
                "undo by hand what its last lines say (`dyno study plan` shows the commands)",
            )
        })?;
        // A line that was cut off says nothing, and nothing was begun after it.
        if !bytes.is_empty() && !bytes.ends_with(b"\n") {
            file.write_all(b"\n").map_err(failed)?;
        }
        // The folder's entry for the file is to last as well.
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
        Ok((Self { file }, entries))
    }

    /// Notes `what`, on disk before this returns.
    pub(super) fn note(&mut self, what: What) -> Result<Entry, Error> {
        let entry = Entry { at: dyno_record::rfc3339(jiff::Timestamp::now()), what };
        let mut line = serde_json::to_vec(&entry)?;
        line.push(b'\n');
        let written = self.file.write_all(&line).and_then(|()| self.file.sync_data());
        written.map_err(|error| Error::because("the study's journal cannot be written", error))?;
        Ok(entry)
    }
}

/// The entries of a journal, or the number of the line that is none. Lines that a crash has cut off are left out: each stands where a
/// process ended.
fn read(bytes: &[u8]) -> Result<Vec<Entry>, usize> {
    let mut entries = Vec::new();
    let mut cut = None;
    for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')).filter(|(_, line)| !line.is_empty()) {
        match serde_json::from_slice::<Entry>(line) {
            Ok(entry) => {
                // What follows a cut line is the beginning of another process.
                if let Some(line) = cut.take()
                    && !matches!(entry.what, What::Process { .. })
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

    fn process() -> What {
        What::Process { boot: "b".to_owned() }
    }

    #[test]
    fn what_is_noted_is_read_again_up_to_a_line_that_was_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let (mut journal, entries) = Journal::open(folder.path()).unwrap();
        assert!(entries.is_empty());
        let noted = [
            process(),
            What::Opened(Open::Leg(3)),
            What::Measured { leg: 3, task: 0, run: None, load_s: Some(1.5), rows: Some(7) },
        ];
        let noted: Vec<Entry> = noted.into_iter().map(|what| journal.note(what).unwrap()).collect();
        assert!(Journal::open(folder.path()).unwrap_err().to_string().contains("another process"));
        drop(journal);
        let path = folder.path().join(NAME);
        let whole = std::fs::read(&path).unwrap();
        // Whatever the length at which a crash has cut it, what was whole is known, and it goes on.
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
    fn what_is_damaged_is_told_with_its_line() {
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
