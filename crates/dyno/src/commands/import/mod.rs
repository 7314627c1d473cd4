//! `dyno import`: results of other tools and documents as run records, and records out of reports.

mod csv;
mod map;
mod page;
mod record;

use std::io::Read as _;
use std::path::Path;

use anyhow::Context as _;
use dyno_record::{AuditCheck, CheckStatus, Repository, RepositoryError, RunRecord};
use dyno_target::data::mix;
use jiff::Timestamp;

use crate::cli::{self, Common};
use crate::context;
use crate::exit::{Exit, usage};
use crate::talk::Talk;
use map::{MapError, Mapping};

pub(super) fn run(common: &Common, args: &cli::Import, talk: &Talk) -> anyhow::Result<Exit> {
    // Oracle's own reports have a reader of their own, which knows their encodings and packings.
    if dyno_awr::is_report(&args.file) {
        return from_awr(common, args, talk);
    }
    let text = read(&args.file)?;
    if page::is_page(&text) || page::is_record(&text) {
        from_page(&text, common, args, talk)
    } else {
        from_table(&text, common, args, talk)
    }
}

/// AWR and STATSPACK reports.
fn from_awr(common: &Common, args: &cli::Import, talk: &Talk) -> anyhow::Result<Exit> {
    let file = args.file.display();
    if !args.map.is_empty() || args.product.is_some() || args.dry_run || !common.set.is_empty() {
        return Err(usage(
            format!(
                "{file} is an AWR or STATSPACK report, and --map, --product, --set and --dry-run are for tables"
            ),
            format!("leave them out; `dyno awr {file}` shows what it says"),
        ));
    }
    super::awr::store(common, &args.file, &args.marks, talk)
}

/// Whole records out of a report, or the one that a full disk kept out of the repository.
fn from_page(text: &str, common: &Common, args: &cli::Import, talk: &Talk) -> anyhow::Result<Exit> {
    let records = page::records(text, args)?;
    let there = if args.dry_run { 0 } else { page::store(&context::repository(common)?, &records)? };
    talk.json(&records)?;
    let rows: Vec<_> = records.iter().map(dyno_report::ResultRow::from).collect();
    talk.show(&dyno_report::result_table(&rows, &talk.style()))?;
    let done = if args.dry_run { "would be stored" } else { "stored" };
    let again = if there > 0 { format!("; {there} were there already") } else { String::new() };
    talk.say(&format!("{} records {done}, as they were measured{again}", records.len() - there));
    Ok(Exit::Done)
}

/// One record for each line of a table.
fn from_table(text: &str, common: &Common, args: &cli::Import, talk: &Talk) -> anyhow::Result<Exit> {
    let maps: Vec<Mapping> = args
        .map
        .iter()
        .map(|text| text.parse().map_err(|error: MapError| usage(error.to_string(), error.hint)))
        .collect::<anyhow::Result<_>>()?;
    let table = csv::read(text).map_err(|error| {
        usage(format!("{}: {error}", args.file.display()), "a table of comma-separated values is needed")
    })?;
    if maps.is_empty() {
        return Err(usage(
            "no --map says what the columns are",
            format!("the columns are {}; see `dyno import --help`", table.columns.join(", ")),
        ));
    }
    let now = Timestamp::now();
    let common_to_all = record::Common {
        file: args.file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
        sets: &common.set,
        variant: args.marks.variant.as_deref(),
        tags: &args.marks.tag,
        product: args.product.as_deref(),
        now,
        salt: mix(now.as_nanosecond() as u64 ^ u64::from(std::process::id())) as u16,
    };
    let mut records = record::records(&table, &maps, &common_to_all)?;
    if records.is_empty() {
        return Err(usage("no line of the table has a figure in a mapped column", "map other columns"));
    }
    let checks = dyno_analyze::reconcile::reconcile(&records.iter().collect::<Vec<_>>());
    records.iter_mut().for_each(|record| record.audit.extend(checks.iter().cloned()));
    if !args.dry_run {
        store(&context::repository(common)?, &records)?;
    }
    talk.json(&records)?;
    talk.show(&dyno_report::import_table(&records, &talk.style()))?;
    say(&checks, talk);
    let (done, count) = (if args.dry_run { "would be stored" } else { "stored" }, records.len());
    talk.say(&format!("{count} records {done}; none is audited, as nobody here measured them"));
    Ok(Exit::Done)
}

fn read(path: &Path) -> anyhow::Result<String> {
    let name = path.display();
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(|error| {
        usage(format!("{name} cannot be read: {error}"), "name a file of comma-separated values")
    })?;
    file.take(csv::FILE_BYTES_MAX + 1).read_to_end(&mut bytes).with_context(|| format!("reading {name}"))?;
    if bytes.len() as u64 > csv::FILE_BYTES_MAX {
        return Err(usage(format!("{name} is larger than 64 MiB"), "split it"));
    }
    String::from_utf8(bytes).map_err(|_| usage(format!("{name} is not UTF-8"), "convert it: iconv -t utf-8"))
}

/// Stores all records or, where one cannot be stored, none.
fn store(repository: &Repository, records: &[RunRecord]) -> anyhow::Result<()> {
    match repository.finish_all(records) {
        Err(error @ RepositoryError::Exists { .. }) => {
            Err(usage(error.to_string(), "start the import again: it draws other names"))
        }
        other => Ok(other.map(|_| ())?),
    }
}

/// What the columns say of each other; what disagrees comes as a warning.
fn say(checks: &[AuditCheck], talk: &Talk) {
    for check in checks {
        match check.status {
            CheckStatus::Warn | CheckStatus::Fail => talk.say(&format!("warning: {}", check.detail)),
            CheckStatus::Pass | CheckStatus::Skipped => talk.say(&format!("reconciled: {}", check.detail)),
        }
    }
}
