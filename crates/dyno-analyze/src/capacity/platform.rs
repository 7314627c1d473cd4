//! Checks that both sides are of the same platform.

use std::collections::BTreeSet;

use dyno_record::{Host, RunRecord, counting::Transactions};

use super::part::{COMMIT, CPU, CapacityComponent};

/// What distinguishes the two sides.
pub(super) struct PlatformComparison {
    pub(super) differ: Vec<String>,
    pub(super) cpus_measured: u32,
    /// Why figures that depend on engine, block size or processors cannot be compared.
    engines: Option<String>,
    blocks: Option<String>,
    processors: Option<String>,
    /// Why the commit count also includes transactions that only read.
    commits: Option<String>,
}

/// Product and version of the databases with their host, for all records, each once.
pub(super) fn words(records: &[RunRecord]) -> String {
    let describe_record = |record: &RunRecord| {
        let host = database_host(record).map_or_else(String::new, |host| format!(" on {}", host_words(host)));
        format!("{}{host}", record.databases())
    };
    let all: BTreeSet<String> = records.iter().map(describe_record).collect();
    all.into_iter().collect::<Vec<_>>().join("; ")
}

fn host_words(host: &Host) -> String {
    match host.cpus {
        0 => host.name.clone(),
        cpus => format!("{} ({cpus} × {})", host.name, host.cpu_model).replace(" × )", " processors)"),
    }
}

/// The host of the database, as far as it is known.
fn database_host(record: &RunRecord) -> Option<&Host> {
    record.database_host()
}

fn distinct_values<T: Ord>(records: &[RunRecord], extract: impl Fn(&RunRecord) -> Option<T>) -> BTreeSet<T> {
    records.iter().filter_map(extract).collect()
}

pub(super) fn compare_platforms(measured: &[RunRecord], use_of: &[RunRecord]) -> PlatformComparison {
    let mut differ = Vec::new();
    let mut apart = |what: &str, extract: &dyn Fn(&RunRecord) -> Option<String>| {
        let (here, there) = (distinct_values(measured, extract), distinct_values(use_of, extract));
        let join = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(", ");
        let is_apart = !here.is_empty() && !there.is_empty() && here != there;
        let words = format!("{what}: measured {}, in use {}", join(&here), join(&there));
        is_apart.then(|| differ.push(words.clone()));
        is_apart.then_some(words)
    };
    let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let target = |record: &RunRecord| record.targets.first().cloned();
    let engines = apart("database", &|record| text(&target(record)?.identity.product));
    apart("version", &|record| text(&target(record)?.identity.version));
    let blocks = apart("block size", &|record| {
        Some(target(record)?.identity.block_size).filter(|size| *size > 0).map(|size| size.to_string())
    });
    apart("host", &|record| text(&database_host(record)?.name));
    let cpus = apart("processors", &|record| {
        Some(database_host(record)?.cpus).filter(|cpus| *cpus > 0).map(|cpus| cpus.to_string())
    });
    let models = apart("processor", &|record| text(&database_host(record)?.cpu_model));
    let cpus_measured = measured.iter().filter_map(|record| Some(database_host(record)?.cpus)).max();
    let reading = measured.iter().chain(use_of).find_map(counts_reading);
    PlatformComparison {
        differ,
        cpus_measured: cpus_measured.unwrap_or(0),
        engines,
        blocks,
        processors: cpus.or(models),
        commits: reading,
    }
}

/// Why a record's commits include those of reading transactions, if they do.
fn counts_reading(record: &RunRecord) -> Option<String> {
    let target = record.targets.first()?;
    let counts = |what: &str| {
        Some(format!(
            "{} counts {what} as a commit too, so redo syncs describe the commits of writes better",
            target.identity.product
        ))
    };
    match target.identity.counting.transactions {
        Transactions::Commits => None,
        Transactions::Calls | Transactions::Statements => counts("a transaction that only reads"),
        // A report has a separate figure for commits.
        Transactions::Unknown if record.imported.is_some() => None,
        Transactions::Unknown => counts("an unknown kind of transaction"),
    }
}

impl PlatformComparison {
    /// Why the figure of `part` differs in meaning between the sides, if it does.
    pub(super) fn fits(&self, part: &CapacityComponent) -> Result<(), String> {
        let not = |why: &Option<String>| match why {
            Some(why) => Err(format!("it does not mean the same on both sides: {why}")),
            None => Ok(()),
        };
        if !part.is_engine_independent {
            not(&self.engines)?;
        }
        if matches!(part.metric, "logical_reads_per_s" | "physical_reads_per_s") {
            not(&self.blocks)?;
        }
        if part.metric == COMMIT
            && let Some(why) = &self.commits
        {
            return Err(why.clone());
        }
        if part.metric == CPU {
            not(&self.processors)?;
        }
        Ok(())
    }
}
