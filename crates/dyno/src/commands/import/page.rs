//! Records out of a report's page: as they were measured, under their own names.

use dyno_record::{Repository, RunRecord};

use crate::cli;
use crate::exit::usage;

/// Whether the file is a page and no table.
pub(super) fn is_page(text: &str) -> bool {
    let begin = text.trim_start_matches('\u{feff}').trim_start().get(..14).unwrap_or_default();
    begin.to_ascii_lowercase().starts_with("<!doctype html")
}

/// The records of the page, with the marks that the command line gives.
pub(super) fn records(text: &str, args: &cli::Import) -> anyhow::Result<Vec<RunRecord>> {
    if !args.map.is_empty() {
        return Err(usage("--map is for tables; a report holds whole records", "leave out --map"));
    }
    let mut records = dyno_report::embedded::records(text).map_err(|error| {
        usage(format!("{}: {error}", args.file.display()), "name a page that `dyno report` wrote")
    })?;
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

/// Stores those that are not there yet, and says how many were.
pub(super) fn store(repository: &Repository, records: &[RunRecord]) -> anyhow::Result<usize> {
    let mut there = 0;
    for record in records {
        // Another record under the same name is an error, which `finish` tells; the same one may come twice.
        if repository.load(&record.id).is_ok_and(|stored| stored == *record) {
            there += 1;
        } else {
            repository.finish(record)?;
        }
    }
    Ok(there)
}
