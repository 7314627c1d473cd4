//! Which files to read, and reading them: one on each processor, in order, with progress.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};

use dyno_awr::{AwrError, AwrReport, Issue, Measurement};

use crate::exit::{Exit, usage};
use crate::progress::FilesProgress;
use crate::talk::Talk;

/// What the names of reports end with, in a directory; files that are named one by one may be called anything.
const ENDINGS: [&str; 7] = ["html", "htm", "txt", "lst", "out", "log", "rpt"];

/// Directories in directories that are looked into.
const DEPTH_MAX: u32 = 16;

/// A file longer than this is read while no other such file is, so that memory is bounded by one of them.
const LONG: u64 = 32 * 1024 * 1024;

/// Bytes of other files that are read at the same time; where there are many processors, shorter files are long ones.
const AT_ONCE: u64 = 512 * 1024 * 1024;

/// How many files are read at the same time, and how long one of them may be without being a long one.
fn readers(processors: usize, files: usize) -> (usize, u64) {
    let readers = processors.min(files).max(1);
    (readers, LONG.min(AT_ONCE / readers as u64))
}

/// A file to read, and whether somebody asked for it by name.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    path: PathBuf,
    named: bool,
}

/// The files that the arguments name, those of directories in the order of their names.
pub(super) fn wanted(arguments: &[PathBuf]) -> anyhow::Result<Vec<Wanted>> {
    let mut files = Vec::new();
    for path in arguments {
        if path.is_dir() {
            let before = files.len();
            walk(path, 0, &mut files)?;
            if files.len() == before {
                let problem = format!("{} holds no reports", path.display());
                return Err(usage(
                    problem,
                    format!("reports end with .{}, or .gz after it", ENDINGS.join(", .")),
                ));
            }
        } else {
            files.push(Wanted { path: path.clone(), named: true });
        }
    }
    Ok(files)
}

fn walk(folder: &Path, depth: u32, files: &mut Vec<Wanted>) -> anyhow::Result<()> {
    let cannot = |error: std::io::Error| usage(format!("{} cannot be read: {error}", folder.display()), "");
    let entries: Result<Vec<_>, _> = std::fs::read_dir(folder).map_err(cannot)?.collect();
    let mut paths: Vec<PathBuf> = entries.map_err(cannot)?.into_iter().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        // Links to directories could lead round in a circle.
        let is_folder = path.is_dir() && !path.is_symlink();
        if is_folder && depth < DEPTH_MAX {
            walk(&path, depth + 1, files)?;
        } else if path.is_file() && is_report_name(&path) {
            files.push(Wanted { path, named: false });
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
    // Steps of a ramp are numbered by their sessions: awr.txt.32.
    let numbered = name.rsplit_once('.').filter(|(_, ending)| ending.bytes().all(|b| b.is_ascii_digit()));
    is_known(name) || numbered.is_some_and(|(stem, _)| is_known(stem))
}

/// How reading went: what the exit code says.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    warnings: bool,
    unreadable: bool,
}

impl Outcome {
    /// Something could not be used.
    pub(super) fn fail(&mut self) {
        self.unreadable = true;
    }

    /// 0 all read, 1 with warnings, 2 some unreadable.
    pub(super) fn exit(&self) -> Exit {
        match (self.unreadable, self.warnings) {
            (true, _) => Exit::Usage,
            (false, true) => Exit::Invalid,
            (false, false) => Exit::Done,
        }
    }
}

/// What one file came to: what was made of each report, with its issues.
type FileRead<T> = Result<Vec<Result<(T, Noted), AwrError>>, AwrError>;

/// What of a report is told beside what was made of it.
struct Noted {
    issues: Vec<Issue>,
    measurement: Option<Measurement>,
}

/// Measurements that came in more than one file.
#[derive(Default)]
struct Twins {
    first: BTreeMap<Measurement, String>,
    /// Two files of one measurement, and how many more there are.
    found: Option<(String, String)>,
    more: usize,
}

impl Twins {
    fn see(&mut self, measurement: Option<Measurement>, file: &str) {
        let Some(measurement) = measurement else { return };
        match self.first.get(&measurement) {
            None => drop(self.first.insert(measurement, file.to_owned())),
            Some(_) if self.found.is_some() => self.more += 1,
            Some(first) => self.found = Some((first.clone(), file.to_owned())),
        }
    }

    /// That text and HTML of one pair of snapshots are no two measurements is easily overlooked.
    fn tell(&self, talk: &Talk) {
        let Some((first, second)) = &self.found else { return };
        let more =
            if self.more > 0 { format!("; {} more files repeat others", self.more) } else { String::new() };
        talk.say(&format!(
            "{first} and {second} are of one interval of one instance: one measurement, not two{more}"
        ));
    }
}

/// Reads all files. `map` makes of each report what is needed of it, in the reading thread, so that not all reports are
/// held at once; `take` gets that in the order of the files. Says on stderr what could not be read.
pub(super) fn read<T: Send>(
    files: &[Wanted],
    talk: &Talk,
    map: impl Fn(AwrReport) -> T + Sync,
    mut take: impl FnMut(T) -> anyhow::Result<()>,
) -> anyhow::Result<Outcome> {
    let progress = FilesProgress::new(talk, files.len());
    let next = AtomicUsize::new(0);
    let alone = Mutex::new(());
    let (send, receive) = mpsc::channel::<(usize, FileRead<T>)>();
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let (readers, longest) = readers(processors, files.len());
    let mut outcome = Outcome::default();
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
        let mut twins = Twins::default();
        let mut shown = 0;
        for (index, read) in receive {
            waiting.insert(index, read);
            while let Some(read) = waiting.remove(&shown) {
                progress.advance(&files[shown].path);
                let name = files[shown].path.display().to_string();
                for (item, measurement) in told(&files[shown], read, &mut outcome, talk, &progress) {
                    twins.see(measurement, &name);
                    take(item)?;
                }
                shown += 1;
            }
        }
        anyhow::Ok(twins)
    })?;
    progress.finish();
    twins.tell(talk);
    Ok(outcome)
}

/// As [`read`], with all that was made of the reports.
pub(super) fn collect<T: Send>(
    files: &[Wanted],
    talk: &Talk,
    map: impl Fn(AwrReport) -> T + Sync,
) -> anyhow::Result<(Vec<T>, Outcome)> {
    let mut all = Vec::new();
    let outcome = read(files, talk, map, |one| {
        all.push(one);
        Ok(())
    })?;
    Ok((all, outcome))
}

fn read_one<T>(path: &Path, longest: u64, alone: &Mutex<()>, map: &impl Fn(AwrReport) -> T) -> FileRead<T> {
    let is_long = std::fs::metadata(path).is_ok_and(|metadata| metadata.len() > longest);
    let _alone = is_long.then(|| alone.lock().unwrap_or_else(PoisonError::into_inner));
    let reports = dyno_awr::read_file(path)?;
    let one = |report: AwrReport| {
        let noted = Noted { measurement: report.measurement(), issues: report.issues.clone() };
        (map(report), noted)
    };
    Ok(reports.into_iter().map(|report| report.map(one)).collect())
}

/// Issues of one file that are told without `--verbose`.
const TOLD_MAX: usize = 5;

/// Says what is wrong with a file, and hands on what was read of it.
fn told<T>(
    file: &Wanted,
    read: FileRead<T>,
    outcome: &mut Outcome,
    talk: &Talk,
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
            // What lies beside reports in a directory is no fault.
            Err(AwrError::NoReport) if !file.named => {
                lines.push((false, format!("{name}: no report; skipped")));
            }
            Err(error @ AwrError::OtherReport { .. }) if !file.named => {
                lines.push((false, format!("{name}: {error}; skipped")));
            }
            Err(error) => lines.push((true, format!("{name}: {error}"))),
        }
    }
    // Errors first: of many lines only some are told.
    lines.sort_by_key(|(is_error, _)| !is_error);
    let shown = if talk.verbose { lines.len() } else { TOLD_MAX };
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
    fn every_processor_reads_a_file_and_memory_stays_bounded() {
        assert_eq!(readers(8, 1_000), (8, LONG));
        assert_eq!(readers(8, 3), (3, LONG));
        assert_eq!(readers(128, 1_000), (128, AT_ONCE / 128));
        assert_eq!(readers(2, 0), (1, LONG));
    }
}
