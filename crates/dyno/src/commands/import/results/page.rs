//! Imports records from a report's page under their own names, and audits them again.

use std::io::Read as _;

use dyno_campaign::conclusions;
use dyno_import::{ImportFile, ImportKind};
use dyno_record::{Filter, RECORD_BYTES_MAX, Repository, RepositoryError, RunRecord};
use dyno_report::embedded::{Embedded, EmbeddedError};

use crate::cli::ImportResults;
use crate::exit::usage;

/// An error of reading a page or record, or of processing one of its records.
#[derive(Debug)]
enum PageReadError {
    Page(EmbeddedError),
    Other(anyhow::Error),
}

impl From<EmbeddedError> for PageReadError {
    fn from(error: EmbeddedError) -> Self {
        Self::Page(error)
    }
}

/// Passes each record of the page or file to `take`, with the marks of the command line; returns the
/// conclusions.
pub(super) fn each(
    source: &mut ImportFile,
    kind: ImportKind,
    args: &ImportResults,
    mut take: impl FnMut(RunRecord) -> anyhow::Result<()>,
) -> anyhow::Result<Embedded> {
    // The measurement was not observed here, so it is valid only if its figures still pass the audit.
    let mut marked = |record: RunRecord| take(dyno_analyze::rejudged(with_marks(record, args)));
    if kind == ImportKind::Record {
        return marked(one(source)?).map(|()| Embedded::default());
    }
    let read =
        dyno_report::embedded::each(source.reader()?, |record| marked(record).map_err(PageReadError::Other));
    match read {
        Ok(read) => Ok(read),
        Err(PageReadError::Other(error)) => Err(error),
        Err(PageReadError::Page(error)) => {
            Err(usage(format!("{}: {error}", source.name()), "name a page that `dyno report` wrote"))
        }
    }
}

fn one(source: &mut ImportFile) -> anyhow::Result<RunRecord> {
    let mut text = String::new();
    let read = source.reader()?.take(RECORD_BYTES_MAX + 1).read_to_string(&mut text);
    let wrong = |error: &dyn std::fmt::Display| {
        usage(
            format!("{}: {error}", source.name()),
            "name a record that Dyno wrote, a page of `dyno report`, or a table",
        )
    };
    read.map_err(|error| wrong(&error))?;
    RunRecord::from_json(text.trim_start_matches('\u{feff}')).map_err(|error| wrong(&error))
}

fn with_marks(mut record: RunRecord, args: &ImportResults) -> RunRecord {
    if args.marks.variant.is_some() {
        record.variant.clone_from(&args.marks.variant);
    }
    let new: Vec<_> = args.marks.tag.iter().filter(|tag| !record.tags.contains(tag)).cloned().collect();
    record.tags.extend(new);
    record
}

/// Result of storing the records.
#[derive(Debug, Default)]
pub(super) struct PageImportOutcome {
    /// Number of records that already existed.
    pub(super) existing_count: usize,
    /// Names of the stored conclusions.
    pub(super) conclusions: Vec<String>,
    /// Number of conclusions that this version cannot read.
    pub(super) unread: usize,
}

/// Stores all missing records, or none, and their conclusions.
pub(super) fn store(
    repository: &Repository,
    source: &mut ImportFile,
    kind: ImportKind,
    args: &ImportResults,
) -> anyhow::Result<PageImportOutcome> {
    let mut batch = repository.batch()?;
    let mut existing_count = 0;
    let concluded = each(source, kind, args, |record| {
        // A different record with the same name is an error; an equal one may differ in its spelling between
        // versions.
        match batch.add(&record) {
            Ok(is_new) => existing_count += usize::from(!is_new),
            Err(RepositoryError::Exists { .. })
                if repository.load(&record.id).is_ok_and(|stored| stored == record) =>
            {
                existing_count += 1;
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    })?;
    batch.commit()?;
    let mut stored = PageImportOutcome { existing_count, ..PageImportOutcome::default() };
    stored.unread = concluded.unread;
    for conclusion in concluded.conclusions {
        let runs = repository.list(&Filter { sweep: Some(conclusion.of.clone()), ..Filter::default() })?;
        if conclusions::take_over(repository, &conclusion, &runs)? {
            stored.conclusions.push(conclusion.of);
        }
    }
    Ok(stored)
}
