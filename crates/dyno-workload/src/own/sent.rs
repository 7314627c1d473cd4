//! The folders of workloads as another host sends them: texts, of which nothing is written to a disk and nothing read from one.
//!
//! They come from whoever can reach this host, so how many there are, how large and how deep is bounded, and their names lead nowhere.

use std::collections::BTreeMap;
use std::path::Path;

use thiserror::Error;

use super::fault::Fault;
use super::folder::{BYTES_MAX, Folder};
use super::inside::is_inside;
use super::workload::Own;

/// Folders at most.
const FOLDERS_MAX: usize = 64;
/// Files of all of them at most.
const FILES_MAX: usize = 1_000;
/// Bytes of all of them at most.
const ALL_BYTES_MAX: usize = 16 << 20;
/// Bytes of a name at most, and of what a plan calls a folder.
const NAME_BYTES_MAX: usize = 200;
const FOLDER_BYTES_MAX: usize = 4_096;
/// Folders in each other at most, with the file itself.
const DEPTH_MAX: usize = 8;

/// Folders by what the plan calls them, each with its files by their names in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SentFolders(BTreeMap<String, BTreeMap<String, String>>);

/// Why folders are not sent, or not taken.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Unfit {
    /// There are too many, or too many files in them.
    #[error("{folders} folders with {files} files, and {FOLDERS_MAX} with {FILES_MAX} are sent at most")]
    Many {
        /// Folders.
        folders: usize,
        /// Files of all of them.
        files: usize,
    },
    /// A file is too large, or all of them are.
    #[error("{bytes} bytes in {name}, and {most} are sent at most")]
    Large {
        /// The file, or words for all of them.
        name: String,
        /// How many bytes it has.
        bytes: usize,
        /// How many it may have.
        most: usize,
    },
    /// A name is none of a file inside a folder.
    #[error("{0:?} is no name of a file in a folder that is sent")]
    Name(String),
}

impl SentFolders {
    /// These folders.
    ///
    /// # Errors
    /// They are more or larger than folders of workloads are, or a name leads out of them.
    pub fn new(folders: BTreeMap<String, BTreeMap<String, String>>) -> Result<Self, Unfit> {
        let files: usize = folders.values().map(BTreeMap::len).sum();
        if folders.len() > FOLDERS_MAX || files > FILES_MAX {
            return Err(Unfit::Many { folders: folders.len(), files });
        }
        if let Some(folder) = folders.keys().find(|folder| folder.len() > FOLDER_BYTES_MAX) {
            return Err(Unfit::Name(folder.chars().take(NAME_BYTES_MAX).collect()));
        }
        let mut all_bytes = 0;
        for (name, text) in folders.values().flatten() {
            if !is_name(name) {
                return Err(Unfit::Name(name.chars().take(NAME_BYTES_MAX).collect()));
            }
            if text.len() as u64 > BYTES_MAX {
                return Err(Unfit::Large { name: name.clone(), bytes: text.len(), most: BYTES_MAX as usize });
            }
            all_bytes += name.len() + text.len();
        }
        match all_bytes > ALL_BYTES_MAX {
            true => Err(Unfit::Large {
                name: "all files of the workloads".to_owned(),
                bytes: all_bytes,
                most: ALL_BYTES_MAX,
            }),
            false => Ok(Self(folders)),
        }
    }

    /// What these workloads were read from, each in the folder that stands before it; those inside the program are everywhere.
    ///
    /// # Errors
    /// As [`SentFolders::new`].
    pub fn of<'a>(owns: impl Iterator<Item = (&'a str, &'a Own)>) -> Result<Self, Unfit> {
        let mut folders: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        for (folder, own) in owns.filter(|(folder, _)| !is_inside(Path::new(folder))) {
            let files = own.files().map(|(name, text)| (name.to_owned(), text.to_owned()));
            folders.entry(folder.to_owned()).or_default().extend(files);
        }
        Self::new(folders)
    }

    /// The folders.
    pub fn folders(&self) -> &BTreeMap<String, BTreeMap<String, String>> {
        &self.0
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The one that the plan calls `path`.
    pub(super) fn folder(&self, path: &Path) -> Result<Folder, Fault> {
        let files = path.to_str().and_then(|name| self.0.get(name)).ok_or_else(|| {
            let hint = "whoever leads sends the folders that its plan names";
            Fault::whole(path.display().to_string(), "this folder was not sent", hint)
        })?;
        Ok(Folder::sent(path, files.iter().map(|(name, text)| (name.as_str(), text.as_str()))))
    }
}

/// Whether this can be the name of a file in a folder, or in a folder in that: parts with `/` between them, none of which leads anywhere else.
fn is_name(name: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && part != "." && part != "..";
    name.len() <= NAME_BYTES_MAX
        && !name.chars().any(|c| c.is_control() || c == '\\')
        && name.split('/').count() <= DEPTH_MAX
        && name.split('/').all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::own::Choice;

    const FILES: [(&str, &str); 5] = [
        ("workload.toml", "name = \"w\"\n[transaction.ask]\nsql = \"sql/ask.sql\"\n"),
        ("sql/ask.sql", "SELECT 1;\n"),
        ("sql/ask.mysql.sql", "SELECT 2;\n"),
        ("tests.toml", "nothing = 1\n"),
        ("nobody.txt", "asks for this"),
    ];

    fn texts(files: &[(&str, &str)]) -> BTreeMap<String, String> {
        files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    fn sent(files: &[(&str, &str)]) -> Result<SentFolders, Unfit> {
        SentFolders::new(BTreeMap::from([("w".to_owned(), texts(files))]))
    }

    #[test]
    fn a_folder_that_was_sent_is_the_same_workload_and_has_only_what_was_read() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("w");
        for (name, text) in FILES {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let own = Own::read(&folder).unwrap();
        let name = folder.to_str().unwrap().to_owned();
        let sent = SentFolders::of([(name.as_str(), &own), ("@tpcb", &own)].into_iter()).unwrap();
        let names: Vec<&str> = sent.folders().values().flatten().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["sql/ask.mysql.sql", "sql/ask.sql", "workload.toml"]);
        // On the other host there is no such folder.
        drop(parent);
        let there = Own::read_sent(&folder, &sent, Choice::default()).unwrap();
        assert_eq!(there.facts().version(), own.facts().version());
        assert_eq!(there.engines().collect::<Vec<_>>(), ["mysql"]);
        assert_eq!(SentFolders::of([(name.as_str(), &there)].into_iter()).unwrap(), sent);
    }

    #[test]
    fn nothing_of_this_host_is_read_for_another() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ask.sql"), "SELECT 'of this host'").unwrap();
        let main = [("workload.toml", "name = \"w\"\n[transaction.ask]\nsql = \"ask.sql\"\n")];
        let name = folder.path().to_str().unwrap().to_owned();
        let sent = SentFolders::new(BTreeMap::from([(name, texts(&main))])).unwrap();
        let fault = Own::read_sent(folder.path(), &sent, Choice::default()).unwrap_err();
        assert!(fault.problem.contains("no such file"), "{fault}");
        std::fs::write(folder.path().join("workload.toml"), main[0].1).unwrap();
        let fault = Own::read_sent(folder.path(), &SentFolders::default(), Choice::default()).unwrap_err();
        assert!(fault.problem.contains("not sent"), "{fault}");
        Own::read_sent(Path::new("@tpcb"), &SentFolders::default(), Choice::default()).unwrap();
    }

    #[test]
    fn names_lead_nowhere_else() {
        for name in [
            "",
            ".",
            "..",
            "/etc/passwd",
            "../a",
            "a/../b",
            "a//b",
            "a/",
            "./a",
            "a\nb",
            "a\0",
            "a\\b",
            "\u{1b}[2J",
        ] {
            assert_eq!(sent(&[(name, "x")]), Err(Unfit::Name(name.to_owned())), "{name:?}");
        }
        assert!(sent(&[(&"a/".repeat(DEPTH_MAX), "x")]).is_err());
        assert!(sent(&[(&"a".repeat(NAME_BYTES_MAX + 1), "x")]).is_err());
        assert!(sent(&[("a.b/c-d/größe.sql", "x"), ("..a", "x")]).is_ok());
    }

    #[test]
    fn numbers_and_sizes_are_bounded() {
        let many: Vec<String> = (0..=FILES_MAX).map(|number| format!("{number}.sql")).collect();
        let many: Vec<(&str, &str)> = many.iter().map(|name| (name.as_str(), "")).collect();
        assert!(sent(&many[1..]).is_ok());
        assert!(matches!(sent(&many), Err(Unfit::Many { .. })));
        let large = "x".repeat(BYTES_MAX as usize);
        assert!(sent(&[("a", &large)]).is_ok());
        assert!(sent(&[("a", &format!("{large}x"))]).unwrap_err().to_string().contains("in a, and"));
        let all = [("a", large.as_str()), ("b", &large), ("c", &large), ("d", &large)];
        assert!(matches!(sent(&all), Err(Unfit::Large { .. })), "with their names they are above the limit");
        let folders = (0..=FOLDERS_MAX).map(|number| (number.to_string(), texts(&[])));
        assert!(matches!(SentFolders::new(folders.collect()), Err(Unfit::Many { .. })));
        let name = BTreeMap::from([("a".repeat(FOLDER_BYTES_MAX + 1), texts(&[]))]);
        assert!(SentFolders::new(name).is_err());
    }
}
