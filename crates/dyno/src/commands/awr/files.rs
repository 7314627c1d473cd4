//! Selects report files and reads them in parallel, in order, with progress.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use dyno_awr::{AwrError, AwrReport, Issue, Measurement};
use parking_lot::Mutex;

use crate::console::Console;
use crate::exit::{Exit, usage};
use crate::progress::FilesProgress;

/// Extensions of report files in a directory; files named individually may have any name.
const ENDINGS: [&str; 7] = ["html", "htm", "txt", "lst", "out", "log", "rpt"];

/// Maximum depth of nested directories.
const DEPTH_MAX: u32 = 16;

/// A file longer than this is read alone among such files, so that memory holds only one of them.
const LONG: u64 = 32 * 1024 * 1024;

/// Total bytes of other files read concurrently; with many processors, shorter files count as long.
const AT_ONCE: u64 = 512 * 1024 * 1024;

/// Number of files read concurrently, and the length from which a file counts as long.
fn readers(processors: usize, files: usize) -> (usize, u64) {
    let readers = processors.min(files).max(1);
    (readers, LONG.min(AT_ONCE / readers as u64))
}

/// A file to read, and whether the user named it.
#[derive(Debug, Clone)]
pub(super) struct AwrInputFile {
    path: PathBuf,
    is_named: bool,
}

/// The files of the arguments; those in directories are ordered by name.
pub(super) fn input_files(arguments: &[PathBuf]) -> anyhow::Result<Vec<AwrInputFile>> {
    let mut files = Vec::new();
    for path in arguments {
        if path.is_dir() {
            let before = files.len();
            walk(path, 0, &mut files)?;
            if files.len() == before {
                let problem = format!("{} contains no reports", path.display());
                return Err(usage(
                    problem,
                    format!("names of reports end with .{}, optionally followed by .gz", ENDINGS.join(", .")),
                ));
            }
        } else {
            files.push(AwrInputFile { path: path.clone(), is_named: true });
        }
    }
    Ok(files)
}

fn walk(folder: &Path, depth: u32, files: &mut Vec<AwrInputFile>) -> anyhow::Result<()> {
    let cannot = |error: std::io::Error| usage(format!("{} cannot be read: {error}", folder.display()), "");
    let entries: Result<Vec<_>, _> = std::fs::read_dir(folder).map_err(cannot)?.collect();
    let mut paths: Vec<PathBuf> = entries.map_err(cannot)?.into_iter().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        // Links to directories could form a cycle.
        let is_folder = path.is_dir() && !path.is_symlink();
        if is_folder && depth < DEPTH_MAX {
            walk(&path, depth + 1, files)?;
        } else if path.is_file() && is_report_name(&path) {
            files.push(AwrInputFile { path, is_named: false });
        }
    }
    Ok(())
}

fn is_report_name(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let is_known = |name: &str| {
        name.rsplit_once('.').is_some_and(|(stem, ending)| !stem.is_empty() && ENDINGS.contains(&ending))
    };
    // Steps of a ramp end with their number of sessions: awr.txt.32.
    let numbered = name.rsplit_once('.').filter(|(_, ending)| ending.bytes().all(|b| b.is_ascii_digit()));
    is_known(name) || numbered.is_some_and(|(stem, _)| is_known(stem))
}

/// Result of reading, for the exit code.
#[derive(Debug, Default)]
pub(super) struct AwrReadOutcome {
    warnings: bool,
    unreadable: bool,
}

impl AwrReadOutcome {
    /// Records that a file could not be used.
    pub(super) fn fail(&mut self) {
        self.unreadable = true;
    }

    /// 0: all read; 1: with warnings; 2: some unreadable.
    pub(super) fn exit(&self) -> Exit {
        match (self.unreadable, self.warnings) {
            (true, _) => Exit::Usage,
            (false, true) => Exit::Invalid,
            (false, false) => Exit::Done,
        }
    }
}

/// Result of one file: the mapped value of each report, with its notes.
type FileRead<T> = Result<Vec<Result<(T, ReportNotes), AwrError>>, AwrError>;

/// Notes of a report, besides its mapped value.
struct ReportNotes {
    issues: Vec<Issue>,
    measurement: Option<Measurement>,
}

/// Measurements found in more than one file.
#[derive(Default)]
struct DuplicateMeasurements {
    first: BTreeMap<Measurement, String>,
    /// Two files with the same measurement, and the number of further ones.
    example: Option<(String, String)>,
    further_files: usize,
}

impl DuplicateMeasurements {
    fn add_measurement(&mut self, measurement: Option<Measurement>, file: &str) {
        let Some(measurement) = measurement else { return };
        match self.first.get(&measurement) {
            None => drop(self.first.insert(measurement, file.to_owned())),
            Some(_) if self.example.is_some() => self.further_files += 1,
            Some(first) => self.example = Some((first.clone(), file.to_owned())),
        }
    }

    /// Users may overlook that the text and HTML of one snapshot pair are one measurement.
    fn say_duplicates(&self, talk: &Console) {
        let Some((first, second)) = &self.example else { return };
        let more = if self.further_files > 0 {
            format!("; {} more files repeat others", self.further_files)
        } else {
            String::new()
        };
        talk.say(&format!(
            "{first} and {second} cover the same interval of one instance: one measurement, not two{more}"
        ));
    }
}

/// Reads all files. `map` reduces each report in the reading thread, so that memory does not hold all
/// reports; `take` receives the results in file order. Files that cannot be read are reported on stderr.
pub(super) fn read<T: Send>(
    files: &[AwrInputFile],
    talk: &Console,
    map: impl Fn(AwrReport) -> T + Sync,
    mut take: impl FnMut(T) -> anyhow::Result<()>,
) -> anyhow::Result<AwrReadOutcome> {
    let progress = FilesProgress::new(talk, files.len());
    let next = AtomicUsize::new(0);
    let alone = Mutex::new(());
    let (send, receive) = mpsc::channel::<(usize, FileRead<T>)>();
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let (readers, longest) = readers(processors, files.len());
    let mut outcome = AwrReadOutcome::default();
    let twins = std::thread::scope(|scope| {
        for _ in 0..readers {
            let (send, next, alone, map) = (send.clone(), &next, &alone, &map);
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(file) = files.get(index) else { return };
                    if send.send((index, read_one(&file.path, longest, alone, map))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(send);
        let mut waiting = BTreeMap::new();
        let mut twins = DuplicateMeasurements::default();
        let mut shown = 0;
        for (index, read) in receive {
            waiting.insert(index, read);
            while let Some(read) = waiting.remove(&shown) {
                progress.advance(&files[shown].path);
                let name = files[shown].path.display().to_string();
                for (item, measurement) in report_file(&files[shown], read, &mut outcome, talk, &progress) {
                    twins.add_measurement(measurement, &name);
                    take(item)?;
                }
                shown += 1;
            }
        }
        anyhow::Ok(twins)
    })?;
    progress.finish();
    twins.say_duplicates(talk);
    Ok(outcome)
}

/// Like [`read`], and returns all results.
pub(super) fn collect<T: Send>(
    files: &[AwrInputFile],
    talk: &Console,
    map: impl Fn(AwrReport) -> T + Sync,
) -> anyhow::Result<(Vec<T>, AwrReadOutcome)> {
    let mut all = Vec::new();
    let outcome = read(files, talk, map, |one| {
        all.push(one);
        Ok(())
    })?;
    Ok((all, outcome))
}

fn read_one<T>(path: &Path, longest: u64, alone: &Mutex<()>, map: &impl Fn(AwrReport) -> T) -> FileRead<T> {
    let is_long = std::fs::metadata(path).is_ok_and(|metadata| metadata.len() > longest);
    let _alone = is_long.then(|| alone.lock());
    let reports = dyno_awr::read_file(path)?;
    let with_notes = |report: AwrReport| {
        let noted = ReportNotes { measurement: report.measurement(), issues: report.issues.clone() };
        (map(report), noted)
    };
    Ok(reports.into_iter().map(|report| report.map(with_notes)).collect())
}

/// Maximum issues of one file that are shown without `--verbose`.
const ISSUES_SHOWN_MAX: usize = 5;

/// Reports the issues of a file, and passes on what was read.
fn report_file<T>(
    file: &AwrInputFile,
    read: FileRead<T>,
    outcome: &mut AwrReadOutcome,
    talk: &Console,
    progress: &FilesProgress<'_>,
) -> Vec<(T, Option<Measurement>)> {
    let name = file.path.display().to_string();
    let mut items = Vec::new();
    let mut lines: Vec<(bool, String)> = Vec::new();
    for report in read.unwrap_or_else(|error| vec![Err(error)]) {
        match report {
            Ok((item, noted)) => {
                lines.extend(noted.issues.iter().map(|issue| (issue.is_error(), issue.line_of(&name))));
                items.push((item, noted.measurement));
            }
            // Other files next to reports in a directory are not an error.
            Err(AwrError::NoReport) if !file.is_named => {
                lines.push((false, format!("{name}: not a report; skipped")));
            }
            Err(error @ AwrError::OtherReport { .. }) if !file.is_named => {
                lines.push((false, format!("{name}: {error}; skipped")));
            }
            Err(error) => lines.push((true, format!("{name}: {error}"))),
        }
    }
    // Errors come first, because only some of many lines are shown.
    lines.sort_by_key(|(is_error, _)| !is_error);
    let shown = if talk.verbose { lines.len() } else { ISSUES_SHOWN_MAX };
    progress.suspend(|| {
        for (is_error, line) in lines.iter().take(shown) {
            match is_error {
                true => talk.error(line, ""),
                false => talk.say(&format!("warning: {line}")),
            }
        }
        if lines.len() > shown {
            talk.say(&format!("warning: {name}: {} more; --verbose shows all", lines.len() - shown));
        }
    });
    outcome.unreadable |= lines.iter().any(|(is_error, _)| *is_error);
    outcome.warnings |= !lines.is_empty();
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn awr_reader_count_follows_cpus_with_bounded_memory() {
        assert_eq!(readers(8, 1_000), (8, LONG));
        assert_eq!(readers(8, 3), (3, LONG));
        assert_eq!(readers(128, 1_000), (128, AT_ONCE / 128));
        assert_eq!(readers(2, 0), (1, LONG));
    }
}
