//! The user's input: a plan file and options.

use std::io::Read as _;
use std::path::Path;

use crate::engine::Engines;
use crate::error::{Origin, PlanError, PlanErrorKind, PlanErrors};

/// The largest plan file in bytes. A plan has a few kilobytes; a larger file is something else.
pub const FILE_BYTES_MAX: usize = 1 << 20;

/// The user's input for one plan.
#[derive(Debug, Clone)]
pub struct PlanSource {
    /// The engines whose URLs the plan may use.
    pub engines: Engines,
    /// The plan file; absent if there is none.
    pub file: Option<PlanFile>,
    /// The texts of `--set` options, in order: `data.scale=80M`.
    pub sets: Vec<String>,
    /// The text of the `--target` option.
    pub target: Option<String>,
    /// The texts of further `--target` options.
    pub further_targets: Vec<String>,
    /// Tables of the file that other readers handle; they are not sections of a plan.
    pub others: &'static [&'static str],
}

impl PlanSource {
    /// An empty source for a plan that may use `engines`.
    pub fn of(engines: Engines) -> Self {
        Self { engines, file: None, sets: Vec::new(), target: None, further_targets: Vec::new(), others: &[] }
    }
}

/// A plan file that is read into memory.
#[derive(Debug, Clone)]
pub struct PlanFile {
    /// Its name, as errors show it.
    pub name: String,
    /// The full text of the file.
    pub text: String,
}

/// Words for the errors of one kind of file.
struct FileWords {
    /// The kind of file, in a sentence.
    what: &'static str,
    /// The hint if the file does not exist.
    missing: &'static str,
    /// The hint if the file cannot be read.
    unreadable: &'static str,
    /// The usual size of such a file, in words.
    size: &'static str,
}

impl PlanFile {
    /// Reads the file at `path`, at most [`FILE_BYTES_MAX`].
    ///
    /// # Errors
    /// It cannot be opened, is too large, or is not UTF-8.
    pub fn open(path: &Path) -> Result<Self, PlanErrors> {
        Self::open_as(
            path,
            &FileWords {
                what: "plan file",
                missing: "write one with `dyno init`, or give another file with --plan FILE",
                unreadable: "give another file with --plan FILE",
                size: "a plan is a TOML file of a few kilobytes",
            },
        )
    }

    /// Reads another tool's configuration at `path`, at most [`FILE_BYTES_MAX`].
    ///
    /// # Errors
    /// It cannot be opened, is too large, or is not UTF-8.
    pub fn open_configuration(path: &Path) -> Result<Self, PlanErrors> {
        Self::open_as(
            path,
            &FileWords {
                what: "configuration",
                missing: "give the slob.conf or pgio.conf to import",
                unreadable: "give a readable slob.conf or pgio.conf",
                size: "a configuration file has a few kilobytes",
            },
        )
    }

    /// Reads another file of the user at `path`, at most [`FILE_BYTES_MAX`]; `what` names its kind in errors.
    ///
    /// # Errors
    /// It cannot be opened, is too large, or is not UTF-8: then `hint` says what to do.
    pub fn open_input(path: &Path, what: &'static str, hint: &'static str) -> Result<Self, PlanErrors> {
        Self::open_as(path, &FileWords { what, missing: hint, unreadable: hint, size: hint })
    }

    /// Reads a CSV file of times and rates at `path`, at most [`FILE_BYTES_MAX`].
    ///
    /// # Errors
    /// It cannot be opened, is too large, or is not UTF-8.
    pub(crate) fn open_schedule(path: &Path) -> Result<Self, PlanErrors> {
        Self::open_as(
            path,
            &FileWords {
                what: "schedule",
                missing: "give a CSV of times and rates in workload.phases",
                unreadable: "give a readable CSV in workload.phases",
                size: "a schedule has at most 10,000 lines of TIME,RATE",
            },
        )
    }

    fn open_as(path: &Path, words: &FileWords) -> Result<Self, PlanErrors> {
        let name = path.display().to_string();
        let refuse = |line: Option<usize>, problem: String, hint: &str| {
            let origin = Origin::File { name: name.clone(), line, column: None };
            let hint = hint.to_owned();
            PlanError { kind: PlanErrorKind::File, origin, key: None, value: None, problem, hint }
        };
        let mut bytes = Vec::new();
        let limit = FILE_BYTES_MAX as u64 + 1;
        std::fs::File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes)).map_err(
            |error| {
                let hint = match error.kind() {
                    std::io::ErrorKind::NotFound => words.missing,
                    _ => words.unreadable,
                };
                refuse(None, format!("the {} cannot be read: {error}", words.what), hint)
            },
        )?;
        if bytes.len() > FILE_BYTES_MAX {
            return Err(refuse(None, "the file is larger than 1 MiB".into(), words.size).into());
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = 1 + good.iter().filter(|&&byte| byte == b'\n').count();
            refuse(Some(line), "the text is not UTF-8".into(), "save the file in UTF-8")
        })?;
        Ok(Self { name, text })
    }
}
