//! The journal of changed server settings: one for each target, so that any later test there finds what an
//! interrupted one did not restore.

use std::path::PathBuf;

use dyno_engine::ServerSetting;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::files;
use crate::journal::{Journal, JournalEvent};
use crate::study;

/// An event of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SettingJournalEvent {
    /// A process opens the journal, to work on the target of this URL.
    Process { target: String },
    /// From now on these settings, as they were before, must be restored.
    Changed(ChangedSettings),
    /// The settings of the last change have their earlier values again.
    Restored,
}

/// Settings that a test changed, and what restoring them takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ChangedSettings {
    pub(super) before: Vec<ServerSetting>,
    /// The command that restarts the server; absent where none of the settings needs it.
    pub(super) restart: Option<String>,
}

impl JournalEvent for SettingJournalEvent {
    fn is_process(&self) -> bool {
        matches!(self, Self::Process { .. })
    }
}

/// The journal of one target, held by this process, and what an earlier one did not restore.
pub(super) struct SettingJournal {
    journal: Journal<SettingJournalEvent>,
    pub(super) open: Option<ChangedSettings>,
}

impl SettingJournal {
    /// Opens the journal of the target with this URL, and creates it if it is missing.
    pub(super) fn open(url: &str) -> Result<Self, Error> {
        let folder = folder(url).ok_or_else(|| {
            Error::usage(
                "the user's state directory is not known, so changed settings could not be restored after a crash",
                "set HOME or XDG_STATE_HOME",
            )
        })?;
        let failed =
            |error| Error::because(format!("the folder {} cannot be created", folder.display()), error);
        files::private_folder(&folder).map_err(failed)?;
        let (mut journal, entries) = Journal::open(&folder)?;
        let mut open = None;
        for entry in entries {
            match entry.what {
                SettingJournalEvent::Changed(changed) => open = Some(changed),
                SettingJournalEvent::Restored => open = None,
                SettingJournalEvent::Process { .. } => {}
            }
        }
        journal.note(SettingJournalEvent::Process { target: url.to_owned() })?;
        Ok(Self { journal, open })
    }

    /// Notes that `changed` must be restored, before the first change.
    pub(super) fn changed(&mut self, changed: ChangedSettings) -> Result<(), Error> {
        self.journal.note(SettingJournalEvent::Changed(changed.clone()))?;
        self.open = Some(changed);
        Ok(())
    }

    /// Notes that everything is restored.
    pub(super) fn restored(&mut self) -> Result<(), Error> {
        self.journal.note(SettingJournalEvent::Restored)?;
        self.open = None;
        Ok(())
    }
}

/// The folder of the journal of a target: its URL, without what file names may not have, and a hash of it.
fn folder(url: &str) -> Option<PathBuf> {
    const CHARS_MAX: usize = 60;
    let plain = |symbol: char| if symbol.is_ascii_alphanumeric() { symbol } else { '-' };
    let readable: String = url.chars().take(CHARS_MAX).map(plain).collect();
    // FNV-1a, which is the same in every version of the program.
    let hash = url.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    Some(study::home()?.with_file_name("settings").join(format!("{readable}-{hash:016x}")))
}
