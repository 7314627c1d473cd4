//! The folder of a workload: reads each file once, with variants of SQL files for single engines.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::fault::{File, SourceText, WorkloadError};
use super::names::shown;

/// The file that defines the workload.
pub(super) const MAIN: &str = "workload.toml";

/// The file that defines the suite tests of the workload; runs do not depend on it.
pub(super) const TESTS: &str = "tests.toml";

/// The largest file in bytes: lists of words are the largest files.
pub(super) const BYTES_MAX: u64 = 4 << 20;

/// A folder whose files are read on demand.
pub(super) struct WorkloadFolder {
    path: PathBuf,
    /// The files of a folder that is not on disk; nothing is read from disk then.
    received_files: Option<BTreeMap<String, Arc<File>>>,
    read: RefCell<BTreeMap<String, Arc<File>>>,
}

/// An SQL file for all engines, and variants for single engines.
#[derive(Debug, Clone)]
pub(super) struct Variants<T> {
    /// The variant for every engine that has no variant of its own.
    pub(super) common: Option<T>,
    /// Variants for single engines, by the engine's name.
    pub(super) own: BTreeMap<String, T>,
}

impl<T> Default for Variants<T> {
    fn default() -> Self {
        Self { common: None, own: BTreeMap::new() }
    }
}

impl<T> Variants<T> {
    /// The variant that `engine` uses.
    pub(super) fn for_engine(&self, engine: &str) -> Option<&T> {
        self.own.get(engine).or(self.common.as_ref())
    }

    /// All variants, the common one first.
    pub(super) fn all(&self) -> impl Iterator<Item = &T> {
        self.common.iter().chain(self.own.values())
    }
}

impl WorkloadFolder {
    /// The folder on disk at `path`.
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), received_files: None, read: RefCell::default() }
    }

    /// A folder with these files that is not on disk. All files count as read.
    pub(super) fn from_files(path: &Path, files: &[(impl AsRef<str>, impl AsRef<str>)]) -> Self {
        let folder =
            Self::from_sent_files(path, files.iter().map(|(name, text)| (name.as_ref(), text.as_ref())));
        let all = folder.received_files.clone().unwrap_or_default();
        Self { read: RefCell::new(all), ..folder }
    }

    /// The folder of another host, with the files that were read there.
    pub(super) fn from_sent_files<'a>(path: &Path, files: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let folder = Self::new(path);
        let file = |(name, text): (&str, &str)| {
            (name.to_owned(), Arc::new(File { name: folder.shown(name), text: text.to_owned() }))
        };
        let received = files.map(file).collect();
        Self { received_files: Some(received), ..folder }
    }

    /// The files that were read, by their names in the folder.
    pub(super) fn files(&self) -> BTreeMap<String, Arc<File>> {
        let read = self.read.borrow();
        read.iter()
            .filter(|(name, _)| *name != TESTS)
            .map(|(name, file)| (name.clone(), Arc::clone(file)))
            .collect()
    }

    /// SHA-256 of the files that were read, including their names.
    pub(super) fn digest(&self) -> String {
        let mut hash = Sha256::new();
        for (name, file) in self.read.borrow().iter().filter(|(name, _)| *name != TESTS) {
            for text in [name, &file.text] {
                hash.update((text.len() as u64).to_le_bytes());
                hash.update(text);
            }
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// A file's name as errors show it.
    fn shown(&self, name: &str) -> String {
        self.path.join(name).display().to_string()
    }

    pub(super) fn main(&self) -> Result<Arc<File>, WorkloadError> {
        if self.received_files.is_none() && !self.path.is_dir() {
            let problem = "the folder does not exist";
            let hint = "give the folder of a workload; `dyno init --workload shop` writes one";
            return Err(WorkloadError::whole(self.path.display().to_string(), problem, hint));
        }
        self.file(MAIN).map_err(|fault| {
            match self.received_files.is_some() || self.path.join(MAIN).exists() {
                true => fault,
                false => fault
                    .hint("a workload is a folder with this file; `dyno init --workload shop` writes one"),
            }
        })
    }

    pub(super) fn tests(&self) -> Result<Arc<File>, WorkloadError> {
        self.file(TESTS)
    }

    /// The text of the file `name`.
    pub(super) fn open(&self, name: &SourceText) -> Result<SourceText, WorkloadError> {
        self.require_inside(name)?;
        let at_reference =
            |fault: WorkloadError| name.fault(0, format!("{}: {}", fault.file, fault.problem), fault.hint);
        self.file(&name.letters).map(SourceText::file).map_err(at_reference)
    }

    /// The text of the SQL file `name` and of its variants, whose names have an engine before the extension:
    /// `pay.mysql.sql` next to `pay.sql`.
    pub(super) fn sql(&self, name: &SourceText) -> Result<Variants<SourceText>, WorkloadError> {
        self.require_inside(name)?;
        let path = Path::new(&*name.letters);
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let beside = path.parent().unwrap_or(Path::new(""));
        let mut engine_texts = BTreeMap::new();
        for file in self.names_in(beside) {
            let engine =
                file.strip_prefix(stem).and_then(|rest| rest.strip_prefix('.')?.strip_suffix(".sql"));
            if let Some(engine) = engine.filter(|engine| !engine.contains('.')) {
                let file = self.file(&beside.join(&file).to_string_lossy())?;
                engine_texts.insert(engine.to_owned(), SourceText::file(file));
            }
        }
        let common_exists = match &self.received_files {
            Some(given) => given.contains_key(&*name.letters),
            None => self.path.join(path).exists(),
        };
        let common = if engine_texts.is_empty() || common_exists { Some(self.open(name)?) } else { None };
        Ok(Variants { common, own: engine_texts })
    }

    fn names_in(&self, beside: &Path) -> Vec<String> {
        if let Some(given) = &self.received_files {
            let paths = given.keys().map(Path::new).filter(|path| path.parent() == Some(beside));
            return paths.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect();
        }
        let entries = std::fs::read_dir(self.path.join(beside)).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// Refuses a name outside the folder, because the workload may come from a stranger.
    fn require_inside(&self, name: &SourceText) -> Result<(), WorkloadError> {
        let path = Path::new(&*name.letters);
        let plain = path.components().all(|part| matches!(part, Component::Normal(_)));
        match plain && !name.letters.is_empty() {
            true => Ok(()),
            false => {
                let problem = format!("{:?} is not a file in the folder", shown(&name.letters));
                Err(name.fault(0, problem, "name a file in the folder of the workload"))
            }
        }
    }

    fn file(&self, name: &str) -> Result<Arc<File>, WorkloadError> {
        if let Some(file) = self.read.borrow().get(name) {
            return Ok(Arc::clone(file));
        }
        let shown = self.shown(name);
        let refuse = |problem: String, hint: &str| WorkloadError::whole(&shown, problem, hint);
        if let Some(given) = &self.received_files {
            let missing = || refuse("the file does not exist in the folder".to_owned(), "");
            let file = Arc::clone(given.get(name).ok_or_else(missing)?);
            self.read.borrow_mut().insert(name.to_owned(), Arc::clone(&file));
            return Ok(file);
        }
        let path = self.path.join(name);
        let meta = std::fs::symlink_metadata(&path);
        let meta = meta.map_err(|error| refuse(format!("it cannot be read: {error}"), ""))?;
        if !meta.is_file() {
            // A link could lead to private files, and a pipe might never end.
            return Err(refuse("it is not a regular file".to_owned(), "put the file itself into the folder"));
        }
        let canonical = |path: &Path| path.canonicalize().ok();
        if canonical(&path).zip(canonical(&self.path)).is_none_or(|(path, folder)| !path.starts_with(folder))
        {
            return Err(refuse("it is not in the folder".to_owned(), "put the file itself into the folder"));
        }
        let mut bytes = Vec::new();
        let read =
            std::fs::File::open(&path).and_then(|file| file.take(BYTES_MAX + 1).read_to_end(&mut bytes));
        read.map_err(|error| refuse(format!("it cannot be read: {error}"), ""))?;
        if bytes.len() as u64 > BYTES_MAX {
            return Err(refuse(
                "it is larger than 4 MiB".to_owned(),
                "files of a workload have a few kilobytes",
            ));
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| refuse("the text is not UTF-8".to_owned(), "save the file in UTF-8"))?;
        let file = Arc::new(File { name: shown.clone(), text });
        self.read.borrow_mut().insert(name.to_owned(), Arc::clone(&file));
        Ok(file)
    }
}
