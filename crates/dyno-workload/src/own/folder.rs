//! The folder of a workload: its files, read once, and files of one engine beside the common ones.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::fault::{Fault, File, Text};
use super::names::shown;

/// The file that says what the others are.
pub(super) const MAIN: &str = "workload.toml";

/// The file that says what the tests of a suite with this workload are, which changes nothing that a run does.
pub(super) const TESTS: &str = "tests.toml";

/// Bytes of a file at most: lists of words are the largest.
pub(super) const BYTES_MAX: u64 = 4 << 20;

/// A folder, whose files are read when they are asked for.
pub(super) struct Folder {
    path: PathBuf,
    /// The files that were given, where it is on no disk: nothing is read from one then.
    given: Option<BTreeMap<String, Arc<File>>>,
    read: RefCell<BTreeMap<String, Arc<File>>>,
}

/// A file of SQL for all engines, and those for single ones.
#[derive(Debug, Clone)]
pub(super) struct Variants<T> {
    /// What fits every engine that has none of its own.
    pub(super) common: Option<T>,
    /// By the engine's name.
    pub(super) own: BTreeMap<String, T>,
}

impl<T> Default for Variants<T> {
    fn default() -> Self {
        Self { common: None, own: BTreeMap::new() }
    }
}

impl<T> Variants<T> {
    /// What `engine` is given.
    pub(super) fn of(&self, engine: &str) -> Option<&T> {
        self.own.get(engine).or(self.common.as_ref())
    }

    /// All of them.
    pub(super) fn all(&self) -> impl Iterator<Item = &T> {
        self.common.iter().chain(self.own.values())
    }
}

impl Folder {
    /// The folder at `path`.
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), given: None, read: RefCell::default() }
    }

    /// A folder with these files, which is on no disk. All of them count as read.
    pub(super) fn of(path: &Path, files: &[(impl AsRef<str>, impl AsRef<str>)]) -> Self {
        let folder = Self::sent(path, files.iter().map(|(name, text)| (name.as_ref(), text.as_ref())));
        let all = folder.given.clone().unwrap_or_default();
        Self { read: RefCell::new(all), ..folder }
    }

    /// The folder of another host, with the files that were read there.
    pub(super) fn sent<'a>(path: &Path, files: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let folder = Self::new(path);
        let file = |(name, text): (&str, &str)| {
            (name.to_owned(), Arc::new(File { name: folder.shown(name), text: text.to_owned() }))
        };
        let given = files.map(file).collect();
        Self { given: Some(given), ..folder }
    }

    /// The files that were asked for, by their names in the folder.
    pub(super) fn files(&self) -> BTreeMap<String, Arc<File>> {
        let read = self.read.borrow();
        read.iter()
            .filter(|(name, _)| *name != TESTS)
            .map(|(name, file)| (name.clone(), Arc::clone(file)))
            .collect()
    }

    /// SHA-256 of the files that were asked for, with their names in the folder.
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

    /// A file's name as faults show it.
    fn shown(&self, name: &str) -> String {
        self.path.join(name).display().to_string()
    }

    /// The file `workload.toml`.
    pub(super) fn main(&self) -> Result<Arc<File>, Fault> {
        if self.given.is_none() && !self.path.is_dir() {
            let problem = "there is no such folder";
            let hint = "name the folder of a workload; `dyno init --workload shop` writes one";
            return Err(Fault::whole(self.path.display().to_string(), problem, hint));
        }
        self.file(MAIN).map_err(|fault| match self.given.is_some() || self.path.join(MAIN).exists() {
            true => fault,
            false => {
                fault.hint("a workload is a folder with this file; `dyno init --workload shop` writes one")
            }
        })
    }

    /// The file `tests.toml`.
    pub(super) fn tests(&self) -> Result<Arc<File>, Fault> {
        self.file(TESTS)
    }

    /// What is in the file that `name` names.
    pub(super) fn open(&self, name: &Text) -> Result<Text, Fault> {
        self.is_inside(name)?;
        let told = |fault: Fault| name.fault(0, format!("{}: {}", fault.file, fault.problem), fault.hint);
        self.file(&name.letters).map(Text::file).map_err(told)
    }

    /// What is in the file of SQL that `name` names, and in those beside it with the name of an engine before the ending:
    /// `pay.mysql.sql` beside `pay.sql`.
    pub(super) fn sql(&self, name: &Text) -> Result<Variants<Text>, Fault> {
        self.is_inside(name)?;
        let path = Path::new(&*name.letters);
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let beside = path.parent().unwrap_or(Path::new(""));
        let mut own = BTreeMap::new();
        for file in self.names_in(beside) {
            let engine =
                file.strip_prefix(stem).and_then(|rest| rest.strip_prefix('.')?.strip_suffix(".sql"));
            if let Some(engine) = engine.filter(|engine| !engine.contains('.')) {
                let file = self.file(&beside.join(&file).to_string_lossy())?;
                own.insert(engine.to_owned(), Text::file(file));
            }
        }
        let there = match &self.given {
            Some(given) => given.contains_key(&*name.letters),
            None => self.path.join(path).exists(),
        };
        let common = if own.is_empty() || there { Some(self.open(name)?) } else { None };
        Ok(Variants { common, own })
    }

    fn names_in(&self, beside: &Path) -> Vec<String> {
        if let Some(given) = &self.given {
            let there = given.keys().map(Path::new).filter(|path| path.parent() == Some(beside));
            return there.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect();
        }
        let entries = std::fs::read_dir(self.path.join(beside)).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// Refuses a name that leads out of the folder, which may come from a stranger.
    fn is_inside(&self, name: &Text) -> Result<(), Fault> {
        let path = Path::new(&*name.letters);
        let plain = path.components().all(|part| matches!(part, Component::Normal(_)));
        match plain && !name.letters.is_empty() {
            true => Ok(()),
            false => {
                let problem = format!("{:?} is no file of the folder", shown(&name.letters));
                Err(name.fault(0, problem, "name a file in the folder of the workload"))
            }
        }
    }

    fn file(&self, name: &str) -> Result<Arc<File>, Fault> {
        if let Some(file) = self.read.borrow().get(name) {
            return Ok(Arc::clone(file));
        }
        let shown = self.shown(name);
        let refuse = |problem: String, hint: &str| Fault::whole(&shown, problem, hint);
        if let Some(given) = &self.given {
            let missing = || refuse("there is no such file in the folder".to_owned(), "");
            let file = Arc::clone(given.get(name).ok_or_else(missing)?);
            self.read.borrow_mut().insert(name.to_owned(), Arc::clone(&file));
            return Ok(file);
        }
        let path = self.path.join(name);
        let meta = std::fs::symlink_metadata(&path);
        let meta = meta.map_err(|error| refuse(format!("it cannot be read: {error}"), ""))?;
        if !meta.is_file() {
            // A link may lead to what is nobody's business, and a pipe never ends.
            return Err(refuse("it is no regular file".to_owned(), "put the file itself into the folder"));
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
                "a workload has files of some kilobytes",
            ));
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| refuse("the text is not UTF-8".to_owned(), "save the file in UTF-8"))?;
        let file = Arc::new(File { name: shown.clone(), text });
        self.read.borrow_mut().insert(name.to_owned(), Arc::clone(&file));
        Ok(file)
    }
}
