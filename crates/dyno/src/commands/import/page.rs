//! Records out of a report's page: as they were measured, under their own names.

use dyno_record::{Repository, RunRecord};

use crate::cli;
use crate::exit::usage;

/// Whether the file is a page and no table.
pub(super) fn is_page(text: &str) -> bool {
    let begin = text.trim_start_matches('\u{feff}').trim_start().get(..14).unwrap_or_default();
    begin.to_ascii_lowercase().starts_with("<!doctype html")
}

/// Whether the file is one record, as Dyno writes it where the repository takes none.
pub(super) fn is_record(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim_start().starts_with('{')
}

/// The records of the page or file, with the marks that the command line gives.
pub(super) fn records(text: &str, args: &cli::Import) -> anyhow::Result<Vec<RunRecord>> {
    if !args.map.is_empty() {
        return Err(usage("--map is for tables; a report or record is whole", "leave out --map"));
    }
    let file = args.file.display();
    let mut records = match is_record(text) {
        true => vec![RunRecord::from_json(text).map_err(|error| {
            usage(
                format!("{file}: {error}"),
                "name a record that Dyno wrote, a page of `dyno report`, or a table",
            )
        })?],
        false => dyno_report::embedded::records(text)
            .map_err(|error| usage(format!("{file}: {error}"), "name a page that `dyno report` wrote"))?,
    };
    for record in &mut records {
        if args.marks.variant.is_some() {
            record.variant.clone_from(&args.marks.variant);
        }
        for tag in args.marks.tag.iter().filter(|tag| !record.tags.contains(tag)).cloned().collect::<Vec<_>>()
        {
            record.tags.push(tag);
        }
    }
    Ok(records)
}

/// Stores those that are not there yet, all of them or none, and says how many were.
pub(super) fn store(repository: &Repository, records: &[RunRecord]) -> anyhow::Result<usize> {
    // Another record under the same name is an error; the same one may come twice.
    let is_there = |record: &&RunRecord| repository.load(&record.id).is_ok_and(|stored| stored == **record);
    let (there, new): (Vec<_>, Vec<_>) = records.iter().partition(is_there);
    let stored = repository.finish_all(new.iter().copied())?;
    Ok(there.len() + new.len() - stored)
}
