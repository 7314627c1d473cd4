//! Workload folders that another host sends: texts in memory, never written to or read from disk.
//!
//! Anyone who can reach this host can send them. Their number, size and depth are therefore limited, and
//! their names cannot leave the folder.

use std::collections::BTreeMap;
use std::path::Path;

use thiserror::Error;

use super::embedded::is_inside;
use super::fault::WorkloadError;
use super::folder::{BYTES_MAX, WorkloadFolder};
use super::workload::CustomWorkload;

/// The largest number of folders.
const FOLDERS_MAX: usize = 64;
/// The largest number of files over all folders.
const FILES_MAX: usize = 1_000;
/// The largest number of bytes over all files.
const ALL_BYTES_MAX: usize = 16 << 20;
/// The longest name of a file or folder, in bytes.
const NAME_BYTES_MAX: usize = 200;
const FOLDER_BYTES_MAX: usize = 4_096;
/// The deepest nesting of folders, including the file itself.
const DEPTH_MAX: usize = 8;

/// Folders by their names in the plan, each with its files by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SentFolders(BTreeMap<String, BTreeMap<String, String>>);

/// Why folders cannot be sent or received.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SentFolderError {
    /// There are too many folders or files.
    #[error("{folders} folders with {files} files; at most {FOLDERS_MAX} with {FILES_MAX} can be sent")]
    Many {
        folders: usize,
        /// Number of files over all folders.
        files: usize,
    },
    /// A file is too large, or all files together are.
    #[error("{bytes} bytes in {name}; at most {most} can be sent")]
    Large {
        /// The file, or a word for all files.
        name: String,
        /// The actual size in bytes.
        bytes: usize,
        /// The largest allowed size in bytes.
        most: usize,
    },
    /// A name is not that of a file inside a folder.
    #[error("{0:?} is not a valid file name in a folder that is sent")]
    Name(String),
}

impl SentFolders {
    /// Checks and stores these folders.
    ///
    /// # Errors
    /// There are too many or too large files, or a name leaves its folder.
    pub fn new(folders: BTreeMap<String, BTreeMap<String, String>>) -> Result<Self, SentFolderError> {
        let files: usize = folders.values().map(BTreeMap::len).sum();
        if folders.len() > FOLDERS_MAX || files > FILES_MAX {
            return Err(SentFolderError::Many { folders: folders.len(), files });
        }
        if let Some(folder) = folders.keys().find(|folder| folder.len() > FOLDER_BYTES_MAX) {
            return Err(SentFolderError::Name(folder.chars().take(NAME_BYTES_MAX).collect()));
        }
        let mut all_bytes = 0;
        for (name, text) in folders.values().flatten() {
            if !is_name(name) {
                return Err(SentFolderError::Name(name.chars().take(NAME_BYTES_MAX).collect()));
            }
            if text.len() as u64 > BYTES_MAX {
                return Err(SentFolderError::Large {
                    name: name.clone(),
                    bytes: text.len(),
                    most: BYTES_MAX as usize,
                });
            }
            all_bytes += name.len() + text.len();
        }
        match all_bytes > ALL_BYTES_MAX {
            true => Err(SentFolderError::Large {
                name: "all files of the workloads".to_owned(),
                bytes: all_bytes,
                most: ALL_BYTES_MAX,
            }),
            false => Ok(Self(folders)),
        }
    }

    /// The files from which these workloads were read, by folder; embedded workloads are left out, because
    /// every host has them.
    ///
    /// # Errors
    /// The same as for [`SentFolders::new`].
    pub fn of<'a>(
        owns: impl Iterator<Item = (&'a str, &'a CustomWorkload)>,
    ) -> Result<Self, SentFolderError> {
        let mut folders: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        for (folder, own) in owns.filter(|(folder, _)| !is_inside(Path::new(folder))) {
            let files = own.files().map(|(name, text)| (name.to_owned(), text.to_owned()));
            folders.entry(folder.to_owned()).or_default().extend(files);
        }
        Self::new(folders)
    }

    pub fn folders(&self) -> &BTreeMap<String, BTreeMap<String, String>> {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The folder that the plan calls `path`.
    pub(super) fn folder(&self, path: &Path) -> Result<WorkloadFolder, WorkloadError> {
        let files = path.to_str().and_then(|name| self.0.get(name)).ok_or_else(|| {
            let hint = "the controller sends only the folders in its plan";
            WorkloadError::whole(path.display().to_string(), "this folder was not sent", hint)
        })?;
        Ok(WorkloadFolder::from_sent_files(
            path,
            files.iter().map(|(name, text)| (name.as_str(), text.as_str())),
        ))
    }
}

/// Whether it is a valid name of a file in a folder or in its subfolders: parts separated by `/`, none of
/// which leaves the folder.
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
    use crate::custom::WorkloadChoice;

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

    fn sent(files: &[(&str, &str)]) -> Result<SentFolders, SentFolderError> {
        SentFolders::new(BTreeMap::from([("w".to_owned(), texts(files))]))
    }

    #[test]
    fn sent_workload_folder_is_equal_and_has_only_files_read() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("w");
        for (name, text) in FILES {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let custom_workload = CustomWorkload::read(&folder).unwrap();
        let name = folder.to_str().unwrap().to_owned();
        let sent =
            SentFolders::of([(name.as_str(), &custom_workload), ("@tpcb", &custom_workload)].into_iter())
                .unwrap();
        let names: Vec<&str> = sent.folders().values().flatten().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["sql/ask.mysql.sql", "sql/ask.sql", "workload.toml"]);
        // The other host does not have this folder.
        drop(parent);
        let received_workload = CustomWorkload::read_sent(&folder, &sent, WorkloadChoice::default()).unwrap();
        assert_eq!(received_workload.facts().version(), custom_workload.facts().version());
        assert_eq!(received_workload.engines().collect::<Vec<_>>(), ["mysql"]);
        assert_eq!(SentFolders::of([(name.as_str(), &received_workload)].into_iter()).unwrap(), sent);
    }

    #[test]
    fn sent_workload_never_reads_files_of_this_host() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ask.sql"), "SELECT 'of this host'").unwrap();
        let main = [("workload.toml", "name = \"w\"\n[transaction.ask]\nsql = \"ask.sql\"\n")];
        let name = folder.path().to_str().unwrap().to_owned();
        let sent = SentFolders::new(BTreeMap::from([(name, texts(&main))])).unwrap();
        let fault = CustomWorkload::read_sent(folder.path(), &sent, WorkloadChoice::default()).unwrap_err();
        assert!(fault.problem.contains("does not exist"), "{fault}");
        std::fs::write(folder.path().join("workload.toml"), main[0].1).unwrap();
        let fault =
            CustomWorkload::read_sent(folder.path(), &SentFolders::default(), WorkloadChoice::default())
                .unwrap_err();
        assert!(fault.problem.contains("not sent"), "{fault}");
        CustomWorkload::read_sent(Path::new("@tpcb"), &SentFolders::default(), WorkloadChoice::default())
            .unwrap();
    }

    #[test]
    fn sent_file_names_cannot_escape_the_folder() {
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
            assert_eq!(sent(&[(name, "x")]), Err(SentFolderError::Name(name.to_owned())), "{name:?}");
        }
        assert!(sent(&[(&"a/".repeat(DEPTH_MAX), "x")]).is_err());
        assert!(sent(&[(&"a".repeat(NAME_BYTES_MAX + 1), "x")]).is_err());
        assert!(sent(&[("a.b/c-d/größe.sql", "x"), ("..a", "x")]).is_ok());
    }

    #[test]
    fn sent_folders_limit_file_count_and_size() {
        let many: Vec<String> = (0..=FILES_MAX).map(|number| format!("{number}.sql")).collect();
        let many: Vec<(&str, &str)> = many.iter().map(|name| (name.as_str(), "")).collect();
        assert!(sent(&many[1..]).is_ok());
        assert!(matches!(sent(&many), Err(SentFolderError::Many { .. })));
        let large = "x".repeat(BYTES_MAX as usize);
        assert!(sent(&[("a", &large)]).is_ok());
        assert!(sent(&[("a", &format!("{large}x"))]).unwrap_err().to_string().contains("in a; at most"));
        let all = [("a", large.as_str()), ("b", &large), ("c", &large), ("d", &large)];
        assert!(
            matches!(sent(&all), Err(SentFolderError::Large { .. })),
            "with their names they are above the limit"
        );
        let folders = (0..=FOLDERS_MAX).map(|number| (number.to_string(), texts(&[])));
        assert!(matches!(SentFolders::new(folders.collect()), Err(SentFolderError::Many { .. })));
        let name = BTreeMap::from([("a".repeat(FOLDER_BYTES_MAX + 1), texts(&[]))]);
        assert!(SentFolders::new(name).is_err());
    }
}
