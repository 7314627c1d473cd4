//! Records out of a report's page: under their own names, and judged again.

use std::io::Read as _;

use dyno_campaign::conclusions;
use dyno_record::{Filter, RECORD_BYTES_MAX, Repository, RepositoryError, RunRecord};
use dyno_report::embedded::{Embedded, EmbeddedError};

use super::source::{Kind, Source};
use crate::cli;
use crate::exit::usage;

/// A page or record that cannot be read, or what was to be done with one of its records.
#[derive(Debug)]
enum Stopped {
    Page(EmbeddedError),
    Other(anyhow::Error),
}

impl From<EmbeddedError> for Stopped {
    fn from(error: EmbeddedError) -> Self {
        Self::Page(error)
    }
}

/// Hands each record of the page or file to `take`, with the marks that the command line gives; returns what was concluded from
/// them.
pub(super) fn each(
    source: &mut Source,
    kind: Kind,
    args: &cli::Import,
    mut take: impl FnMut(RunRecord) -> anyhow::Result<()>,
) -> anyhow::Result<Embedded> {
    // Nobody here saw it measured: it is valid only where its figures still say so.
    let mut marked = |record: RunRecord| take(dyno_analyze::rejudged(with_marks(record, args)));
    if kind == Kind::Record {
        return marked(one(source)?).map(|()| Embedded::default());
    }
    let read = dyno_report::embedded::each(source.reader()?, |record| marked(record).map_err(Stopped::Other));
    match read {
        Ok(read) => Ok(read),
        Err(Stopped::Other(error)) => Err(error),
        Err(Stopped::Page(error)) => {
            Err(usage(format!("{}: {error}", source.name()), "name a page that `dyno report` wrote"))
        }
    }
}

fn one(source: &mut Source) -> anyhow::Result<RunRecord> {
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

fn with_marks(mut record: RunRecord, args: &cli::Import) -> RunRecord {
    if args.marks.variant.is_some() {
        record.variant.clone_from(&args.marks.variant);
    }
    let new: Vec<_> = args.marks.tag.iter().filter(|tag| !record.tags.contains(tag)).cloned().collect();
    record.tags.extend(new);
    record
}

/// What came of storing.
#[derive(Debug, Default)]
pub(super) struct Stored {
    /// Records that were there already.
    pub(super) there: usize,
    /// What was concluded from runs that belong together, by their name.
    pub(super) conclusions: Vec<String>,
    /// Conclusions that only other versions can read.
    pub(super) unread: usize,
}

/// Stores those that are not there yet, all of them or none, and what was concluded from them.
pub(super) fn store(
    repository: &Repository,
    source: &mut Source,
    kind: Kind,
    args: &cli::Import,
) -> anyhow::Result<Stored> {
    let mut batch = repository.batch()?;
    let mut there = 0;
    let concluded = each(source, kind, args, |record| {
        // Another record under the same name is an error; the same one may come twice, spelled by another version.
        match batch.add(&record) {
            Ok(is_new) => there += usize::from(!is_new),
            Err(RepositoryError::Exists { .. })
                if repository.load(&record.id).is_ok_and(|stored| stored == record) =>
            {
                there += 1;
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    })?;
    batch.commit()?;
    let mut stored = Stored { there, ..Stored::default() };
    stored.unread = concluded.unread;
    for conclusion in concluded.conclusions {
        let runs = repository.list(&Filter { sweep: Some(conclusion.of.clone()), ..Filter::default() })?;
        if conclusions::take_over(repository, &conclusion, &runs)? {
            stored.conclusions.push(conclusion.of);
        }
    }
    Ok(stored)
}
