//! Reads a machine through OpenSSH's client, with the user's configuration. Nothing is installed there, and
//! nobody has to type a password. One connection stays open; a small shell loop on the other machine answers
//! each line with the files that it names.

mod command;
mod connect_error;
mod connection;
mod remote_files;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dyno_plan::HostUrl;

use super::{HostDescription, HostPlace, HostSource, Now, SourceError, SourceErrorKind, TimedHostSnapshot};
use crate::counted::{FILES, HostCounterReader, HostFileReader};
use crate::files::Root;
use crate::locate::Location;
use crate::tree::HostFileTree;
use connection::{SshAnswer, SshConnection};

/// The largest answer that is accepted, in bytes.
const COUNTERS_BYTES_MAX: usize = 4 << 20;
const FACTS_BYTES_MAX: usize = 16 << 20;
/// The most devices and interfaces that are counted separately.
const NAMES_MAX: usize = 1_000;
/// Files that are not read on other machines: the reading process is not this program.
const NOT_ASKED: [&str; 1] = ["proc/self/stat"];

/// A machine that is reached through a login.
pub(super) struct SshSource {
    connection: SshConnection,
    root: Root,
    counted: HostCounterReader,
    /// The files of a snapshot, as one request names them.
    files: String,
}

impl SshSource {
    pub(super) fn open(url: &HostUrl, now: &Now) -> Result<Self, SourceError> {
        Ok(Self::of(SshConnection::open(command::of(url), &url.to_string(), now)?))
    }

    fn of(connection: SshConnection) -> Self {
        let root = Root::Fetched(Arc::new(HostFileTree::default()));
        let counted = HostCounterReader::new(&[], None, NAMES_MAX);
        let files = files(&counted);
        Self { connection, root, counted, files }
    }
}

fn files(counted: &HostCounterReader) -> String {
    let wanted =
        |file: &&&str| !NOT_ASKED.contains(*file) && (counted.has_nfs() || **file != "proc/self/mountstats");
    FILES.iter().filter(wanted).map(|file| format!("/{file}")).collect::<Vec<_>>().join(" ")
}

impl HostSource for SshSource {
    fn describe(&mut self, places: &[HostPlace], patience: Duration) -> Result<HostDescription, SourceError> {
        let until = Instant::now() + patience;
        let left = || until.saturating_duration_since(Instant::now());
        let mut tree = HostFileTree::default();
        let answer = self.connection.ask("files", &remote_files::files(), FACTS_BYTES_MAX, left())?;
        remote_files::put_files(&mut tree, &answer.text);
        let answer = self.connection.ask("links", remote_files::LINKS, FACTS_BYTES_MAX, left())?;
        remote_files::put_links(&mut tree, &answer.text);
        let answer = self.connection.ask("names", remote_files::NAMES, FACTS_BYTES_MAX, left())?;
        remote_files::put_names(&mut tree, &answer.text);
        let answer = self.connection.ask("system", "", COUNTERS_BYTES_MAX, left())?;
        let ticks_per_s = remote_files::put_system(&mut tree, &answer.text);
        for (name, path) in places {
            let answer = self.connection.ask("place", path, COUNTERS_BYTES_MAX, left())?;
            if let Some(place) = remote_files::place(path, &answer.text) {
                tree.put_place(name, place);
            }
        }
        let missing = remote_files::missing(&tree, places, ticks_per_s);
        if !tree.exists("proc/stat") {
            return Err(self
                .connection
                .wrong(SourceErrorKind::Unsupported, "there is no /proc on it")
                .hint("counters are read on Linux only; for other systems use node-exporter://"));
        }
        self.root = Root::Fetched(Arc::new(tree));
        let located: Vec<Location> =
            places.iter().map(|(name, path)| Location::find(&self.root, name, path.as_ref())).collect();
        self.counted = HostCounterReader::new(&located, ticks_per_s, NAMES_MAX);
        self.files = files(&self.counted);
        let host = crate::facts::of_places(&self.root, &located);
        let boot = host.facts.get("boot_id").cloned();
        Ok(HostDescription { host, missing, boot })
    }

    fn clock(&mut self, patience: Duration) -> Result<TimedHostSnapshot, SourceError> {
        let answer = self.connection.ask("clock", "", COUNTERS_BYTES_MAX, patience)?;
        Ok(reading(&answer))
    }

    fn read(&mut self, patience: Duration) -> Result<TimedHostSnapshot, SourceError> {
        let answer = self.connection.ask("files", &self.files, COUNTERS_BYTES_MAX, patience)?;
        let mut texts = AnswerTexts(remote_files::by_file(&answer.text));
        let snapshot = self.counted.snapshot(&mut texts, &self.root);
        if snapshot.cpu.is_none() && snapshot.devices.is_empty() && snapshot.memory.is_none() {
            return Err(self
                .connection
                .wrong(SourceErrorKind::Nonsense, "it answers, but returns no counters")
                .hint("this user cannot read /proc there, or the login does not start a shell"));
        }
        Ok(TimedHostSnapshot { snapshot, ..reading(&answer) })
    }
}

fn reading(answer: &SshAnswer) -> TimedHostSnapshot {
    TimedHostSnapshot {
        asked_ns: answer.asked_ns,
        answered_ns: answer.answered_ns,
        far: answer.far,
        within_far: true,
        ..TimedHostSnapshot::default()
    }
}

/// The texts of one answer.
struct AnswerTexts(BTreeMap<String, String>);

impl HostFileReader for AnswerTexts {
    fn text(&mut self, file: &'static str) -> Option<&str> {
        self.0.get(file).map(String::as_str)
    }
}

#[cfg(test)]
mod tests;
