//! `dyno import results`: imports results of other tools and documents as run records, and records from reports.

mod lanes;
mod page;
mod progress;

use dyno_analyze::reconcile::Reconciler;
use dyno_import::results::{
    ColumnMapping, ImportContext, ImportLines, ImportMarks, LogRun, detect_dialect, log_records, read_log,
};
use dyno_import::{ImportFile, ImportKind};
use dyno_record::{AuditCheck, CheckStatus, Repository, RepositoryError, RunRecord};

use crate::cli::{CommonArgs, ImportResults};
use crate::console::Console;
use crate::context;
use crate::exit::{Exit, usage};
use progress::ImportProgress;

pub(super) fn run(common: &CommonArgs, args: &ImportResults, talk: &Console) -> anyhow::Result<Exit> {
    // Oracle's own reports have a separate reader, which knows their encodings and compression.
    if dyno_awr::is_report(&args.file) {
        return from_awr(common, args, talk);
    }
    let mut source = ImportFile::open(&args.file)?;
    if args.map.is_empty()
        && source.kind()? != ImportKind::Page
        && let Some((tool, runs)) = read_log(&mut source)?
    {
        return from_log(&source, tool, runs, common, args, talk);
    }
    match source.kind()? {
        ImportKind::Table => from_table(&mut source, common, args, talk),
        kind => from_page(&mut source, kind, common, args, talk),
    }
}

/// Maximum records shown; `dyno list` and `dyno show` show the others.
const SHOWN_MAX: usize = 1_000;

fn from_awr(common: &CommonArgs, args: &ImportResults, talk: &Console) -> anyhow::Result<Exit> {
    let file = args.file.display();
    if !args.map.is_empty() || args.product.is_some() || args.dry_run || !common.set.is_empty() {
        return Err(usage(
            format!(
                "{file} is an AWR or STATSPACK report, and --map, --product, --set and --dry-run are for tables"
            ),
            format!("omit them; `dyno awr {file}` shows the report"),
        ));
    }
    crate::commands::awr::store(common, &args.file, &args.marks, talk)
}

/// Imports whole records from a report, or a record saved to a file because the disk was full.
fn from_page(
    source: &mut ImportFile,
    kind: ImportKind,
    common: &CommonArgs,
    args: &ImportResults,
    talk: &Console,
) -> anyhow::Result<Exit> {
    if !args.map.is_empty() {
        return Err(usage("--map is for tables; a report or record is whole", "omit --map"));
    }
    let (mut rows, mut count) = (Vec::new(), 0);
    page::each(source, kind, args, |record| {
        count += 1;
        if rows.len() < SHOWN_MAX {
            rows.push(dyno_report::ResultRow::from(&record));
        }
        Ok(())
    })?;
    let stored = match args.dry_run {
        true => page::PageImportOutcome::default(),
        false => page::store(&context::repository(common)?, source, kind, args)?,
    };
    let existing_count = stored.existing_count;
    talk.json_each(|put| page::each(source, kind, args, |record| put(&record)).map(drop))?;
    talk.show(&dyno_report::result_table(&rows, &talk.style()))?;
    say_hidden_count(rows.len(), count, talk);
    let verb = if args.dry_run { "would be stored" } else { "stored" };
    let again =
        if existing_count > 0 { format!("; {existing_count} already existed") } else { String::new() };
    talk.say(&format!("{} records {verb}, each judged again{again}", count - existing_count));
    if stored.unread > 0 {
        talk.say(&format!("{} conclusions cannot be read and were skipped", stored.unread));
    }
    for name in &stored.conclusions {
        talk.say(&format!("the result of {name} is stored, too: `dyno show {name}`"));
    }
    Ok(Exit::Done)
}

/// Imports one record for each line of a table. The first pass checks columns against each other; the results
/// are part of every record. The second pass stores the records with only one line in memory.
fn from_table(
    source: &mut ImportFile,
    common: &CommonArgs,
    args: &ImportResults,
    talk: &Console,
) -> anyhow::Result<Exit> {
    let maps = args.map.iter().map(|text| text.parse()).collect::<Result<Vec<ColumnMapping>, _>>()?;
    let context = ImportContext::new("csv", source, marks(common, args));
    let (dialect, note) = detect_dialect(source, &maps, &(&args.dialect).into())?;
    if let Some(note) = note {
        talk.say(&note);
    }
    let mut table = ImportLines::new(source, &maps, &context, &dialect);
    let (mut reconciler, mut shown, mut count) = (Reconciler::default(), Vec::new(), 0);
    let progress = ImportProgress::new(talk, "read", None);
    table.each(|line| {
        count += line.len();
        progress.at(count);
        reconciler.add(line);
        shown.extend(line.iter().take(SHOWN_MAX.saturating_sub(shown.len())).cloned());
        Ok::<_, dyno_import::Error>(())
    })?;
    if count == 0 {
        return Err(usage("no line of the table has a figure in a mapped column", "map other columns"));
    }
    let checks = reconciler.checks();
    if !args.dry_run {
        let progress = ImportProgress::new(talk, "stored", Some(count));
        store(&context::repository(common)?, &mut table, &checks, &progress)?;
    }
    talk.json_each(|put| table.each(|line| with_checks(line, &checks).iter().try_for_each(&mut *put)))?;
    talk.show(&dyno_report::import_table(&shown, &talk.style()))?;
    say_hidden_count(shown.len(), count, talk);
    say(&checks, talk);
    let verb = if args.dry_run { "would be stored" } else { "stored" };
    talk.say(&format!("{count} records {verb}, not audited: Dyno did not measure them"));
    Ok(Exit::Done)
}

/// What the command line says about all records.
fn marks<'c>(common: &'c CommonArgs, args: &'c ImportResults) -> ImportMarks<'c> {
    ImportMarks {
        sets: &common.set,
        variant: args.marks.variant.as_deref(),
        tags: &args.marks.tag,
        product: args.product.as_deref(),
    }
}

/// Imports the results in the log of another tool, one record each.
fn from_log(
    source: &ImportFile,
    tool: &'static str,
    runs: Vec<LogRun>,
    common: &CommonArgs,
    args: &ImportResults,
    talk: &Console,
) -> anyhow::Result<Exit> {
    let context = ImportContext::new(tool, source, marks(common, args));
    let records = log_records(runs, &context)?;
    if !args.dry_run {
        let repository = context::repository(common)?;
        let mut batch = repository.batch()?;
        for record in &records {
            batch.add(record)?;
        }
        batch.commit()?;
    }
    talk.json_each(|put| records.iter().try_for_each(put))?;
    let shown = &records[..records.len().min(SHOWN_MAX)];
    talk.show(&dyno_report::import_table(shown, &talk.style()))?;
    say_hidden_count(shown.len(), records.len(), talk);
    let verb = if args.dry_run { "would be stored" } else { "stored" };
    let count = records.len();
    let results = if count == 1 { "result" } else { "results" };
    talk.say(&format!("{count} {results} of {tool} {verb}, not audited: Dyno did not measure them"));
    Ok(Exit::Done)
}

/// Notes that the table shows only a part of what was read.
fn say_hidden_count(shown: usize, count: usize, talk: &Console) {
    if count > shown {
        talk.say(&format!("the first {shown} of {count} records are shown"));
    }
}

/// The records of a line, with the column checks added.
fn with_checks<'l>(line: &'l mut [RunRecord], checks: &[AuditCheck]) -> &'l [RunRecord] {
    line.iter_mut().for_each(|record| record.audit.extend(checks.iter().cloned()));
    line
}

/// Stores all records, or none if one cannot be stored. They are read, packed and stored on separate threads.
fn store(
    repository: &Repository,
    table: &mut ImportLines<'_>,
    checks: &[AuditCheck],
    progress: &ImportProgress<'_>,
) -> anyhow::Result<()> {
    let mut batch = repository.batch()?;
    let mut count = 0;
    let read = |put: &mut dyn FnMut(RunRecord) -> anyhow::Result<()>| {
        table.each(|line| {
            with_checks(line, checks);
            line.drain(..).try_for_each(&mut *put)
        })
    };
    lanes::each_packed(read, |record| {
        count += 1;
        progress.at(count);
        batch.add_packed(record).map(|_| ()).map_err(|error| match error {
            RepositoryError::Exists { .. } => {
                usage(error.to_string(), "start the import again: it generates other names")
            }
            other => other.into(),
        })
    })?;
    batch.commit()?;
    Ok(())
}

/// Reports the column checks; contradictions appear as warnings.
fn say(checks: &[AuditCheck], talk: &Console) {
    for check in checks {
        match check.status {
            CheckStatus::Warn | CheckStatus::Fail => talk.say(&format!("warning: {}", check.detail)),
            CheckStatus::Pass | CheckStatus::Skipped => talk.say(&format!("reconciled: {}", check.detail)),
        }
    }
}
