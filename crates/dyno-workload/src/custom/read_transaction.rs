//! Reads `[transaction.NAME]`.

use dyno_plan::Rate;
use dyno_record::{ALL, COMMIT, CONNECT, SLICE};

use super::expect::expect;
use super::fault::WorkloadError;
use super::folder::{Variants, WorkloadFolder};
use super::isolation::isolation;
use super::names::{NAME, is_name, shown};
use super::steps::{Reader, TransactionStep, sql};
use super::table::{TomlItem, TomlTable};
use super::transaction::{BulkFill, ThinkDistribution, Transaction};

/// The largest number of transactions in a workload; class numbers have 8 bits.
const TRANSACTIONS_MAX: usize = 100;
pub const WEIGHT_MAX: i64 = 1_000_000;
const RETRIES_MAX: i64 = 1_000;
/// Rows in one loading transaction: default and maximum.
const PART_ROWS: i64 = 1_000;
const PART_ROWS_MAX: i64 = 100_000_000;
/// The largest number of sessions for a transaction with its own rate.
const SESSIONS_MAX: i64 = 10_000;
/// The lowest and the highest rate of a transaction per second, the same as for a run.
const RATES: (f64, f64) = (0.001, 100_000_000.0);
/// The longest think time after a transaction, in seconds.
const THINK_S_MAX: u64 = 3_600;

/// Class names that every workload has.
const TAKEN: [&str; 4] = [ALL, COMMIT, SLICE, CONNECT];

/// Reads the transactions in `table`.
///
/// # Errors
/// A transaction is invalid, or there is none.
pub(super) fn transactions(
    folder: &WorkloadFolder,
    table: &TomlTable<'_>,
    reader: &Reader<'_>,
) -> Result<Vec<Transaction>, WorkloadError> {
    let items = table.items();
    if let Some(item) = items.get(TRANSACTIONS_MAX) {
        return Err(
            item.fault(format!("more than {TRANSACTIONS_MAX} transactions"), "split the workload in two")
        );
    }
    if items.is_empty() {
        return Err(table.fault("the workload has no transactions", "write [transaction.NAME]"));
    }
    items.iter().map(|item| transaction(folder, item, reader)).collect()
}

fn transaction(
    folder: &WorkloadFolder,
    item: &TomlItem<'_>,
    reader: &Reader<'_>,
) -> Result<Transaction, WorkloadError> {
    let name = item.own_name();
    if !is_name(name) || TAKEN.contains(&name) {
        let hint = format!("{NAME}; not {}", TAKEN.join(", "));
        return Err(item.unknown("not a valid name for a transaction", &[]).hint(hint));
    }
    let table = item.table("[transaction.NAME]")?;
    table.require_only(&[
        "weight",
        "rate",
        "sessions",
        "isolation",
        "sql",
        "steps",
        "commit",
        "retries",
        "think",
        "keying",
        "limit_p90",
        "expect",
        "pipeline",
        "definitions",
        "load",
        "part",
    ])?;
    let fills = fills(&table)?;
    let statements = table.get("sql").map(|item| sql(folder, &item)).transpose()?;
    let steps = table.get("steps").map(|item| reader.steps(&item, 1)).transpose()?;
    let steps = if fills.is_some() { Some(Vec::new()) } else { steps };
    if statements.is_none() && steps.is_none() {
        return Err(table.fault("the transaction has no statements", format!("write sql = \"{name}.sql\"")));
    }
    let isolation = table.get("isolation").map(|item| isolation(&item)).transpose()?;
    let is_single = match (&steps, &statements) {
        (Some(steps), _) => matches!(steps[..], [TransactionStep::Run { .. }]),
        (None, sql) => sql.iter().flat_map(Variants::all).all(|sql| sql.pieces.len() == 1),
    };
    let commits_each = fills.is_some() || commits_each_statement(&table, is_single)?;
    let definitions = table.get("definitions").map(|item| definitions(&item, commits_each)).transpose()?;
    let pipeline =
        table.get("pipeline").map(|item| pipeline(&item, commits_each)).transpose()?.unwrap_or_default();
    let weight = table.get("weight").map_or(Ok(1), |weight| weight.whole(0, WEIGHT_MAX))?.unsigned_abs();
    let (rate, sessions) = own_rate(&table)?;
    Ok(Transaction {
        definitions: definitions.unwrap_or_default(),
        pipeline,
        name: name.to_owned(),
        weight: if rate.is_some() { 0 } else { weight },
        rate,
        sessions,
        isolation: isolation.unwrap_or_default(),
        commits_each,
        retries: table.get("retries").map_or(Ok(0), |retries| retries.whole(0, RETRIES_MAX))? as u32,
        think: table
            .get("think")
            .map_or(Ok(ThinkDistribution::Between(0, 0)), |think| self::think(&think))?,
        keying_ns: table.get("keying").map_or(Ok(0), |keying| rest(&keying))?,
        limit_p90: table.get("limit_p90").map(|limit| limit.time()).transpose()?,
        expected_counts: table.get("expect").map(|said| expect(&said)).transpose()?.unwrap_or_default(),
        sql: statements,
        fills,
        steps,
        may_run: item.may_run(),
        source: item.source_text(),
    })
}

/// Reads which table it loads; a loading transaction has no other keys.
fn fills(table: &TomlTable<'_>) -> Result<Option<BulkFill>, WorkloadError> {
    let Some(load) = table.get("load") else {
        return match table.get("part") {
            None => Ok(None),
            Some(part) => {
                Err(part.fault("part applies only to a transaction that loads", "write load = \"TABLE\" too"))
            }
        };
    };
    let excluded_keys =
        ["sql", "steps", "rate", "sessions", "isolation", "commit", "think", "pipeline", "expect"];
    if let Some(other) = excluded_keys.into_iter().find_map(|key| table.get(key)) {
        let hint = format!("remove {}, or load", other.own_name());
        return Err(other.fault("a transaction that loads cannot have other steps or settings", hint));
    }
    let part = table.get("part").map_or(Ok(PART_ROWS), |part| part.whole(1, PART_ROWS_MAX))?;
    Ok(Some(BulkFill { table: load.text("the name of a described table")?, part: part.unsigned_abs() }))
}

/// Reads the transaction's own rate, if it has one, and the number of its sessions.
fn own_rate(table: &TomlTable<'_>) -> Result<(Option<Rate>, u32), WorkloadError> {
    let sessions = table.get("sessions");
    let Some(item) = table.get("rate") else {
        return match sessions {
            None => Ok((None, 1)),
            Some(sessions) => Err(sessions.fault(
                "sessions apply only to a transaction with its own rate",
                "write rate = \"100/s\" too; all other transactions share the sessions of \
                 run.sessions_per_schema",
            )),
        };
    };
    let rate = rate(&item)?;
    if let Some(weight) = table.get("weight") {
        let problem = "the transaction has its own rate, so a weight does not apply";
        return Err(weight.fault(problem, "remove weight or rate"));
    }
    if let Some(think) = table.get("think").or_else(|| table.get("keying")) {
        let problem = format!("transactions are due at {rate}, so think times do not apply");
        return Err(think.fault(problem, "remove think and keying, or rate"));
    }
    let sessions = sessions.map_or(Ok(1), |sessions| sessions.whole(1, SESSIONS_MAX))?;
    Ok((Some(rate), sessions as u32))
}

/// Reads a rate in the form `"100/s"`.
pub(super) fn rate(item: &TomlItem<'_>) -> Result<Rate, WorkloadError> {
    let rate: Result<Rate, _> = item.text("\"100/s\"")?.letters.parse();
    match rate {
        Ok(rate) if (RATES.0..=RATES.1).contains(&rate.0) => Ok(rate),
        Ok(rate) => {
            let problem = format!("{rate} is not from {} to {}", Rate(RATES.0), Rate(RATES.1));
            Err(item.fault(problem, ""))
        }
        Err(error) => Err(item.fault(error.to_string(), "")),
    }
}

/// Whether each statement commits separately; the default for a single statement.
fn commits_each_statement(table: &TomlTable<'_>, is_single: bool) -> Result<bool, WorkloadError> {
    let isolation = table.get("isolation");
    let commits_each = match table.get("commit") {
        None => is_single && isolation.is_none(),
        Some(commit) => match &*commit.text("\"each\" or \"end\"")?.letters {
            "each" => true,
            "end" => false,
            other => return Err(commit.fault(format!("{:?} is not known", shown(other)), "each or end")),
        },
    };
    let hint = "commit = \"end\" combines the statements into one transaction";
    let isolates = |item: &TomlItem<'_>| item.as_text().is_none_or(|text| &*text.letters != "platform");
    if commits_each && let Some(isolation) = isolation.filter(isolates) {
        let problem = "each statement commits separately, so there is nothing to isolate";
        return Err(isolation.fault(problem, hint));
    }
    Ok(commits_each)
}

/// Whether it contains DDL: engines commit such a statement separately in any case.
fn definitions(item: &TomlItem<'_>, commits_each: bool) -> Result<bool, WorkloadError> {
    match (item.flag()?, commits_each) {
        (true, false) => {
            let problem = "not every engine allows statements about tables in a transaction";
            Err(item.fault(problem, "write commit = \"each\""))
        }
        (definitions, _) => Ok(definitions),
    }
}

/// Whether requests are sent together. After a failure the server skips the rest, so they must be one
/// transaction.
fn pipeline(item: &TomlItem<'_>, commits_each: bool) -> Result<bool, WorkloadError> {
    match (item.flag()?, commits_each) {
        (true, true) => {
            let hint = "commit = \"end\" combines the statements into one transaction";
            Err(item.fault("each statement commits separately, so the next one waits for its result", hint))
        }
        (pipeline, _) => Ok(pipeline),
    }
}

/// Reads a length of time, in ns.
fn rest(item: &TomlItem<'_>) -> Result<u64, WorkloadError> {
    match item.time()? {
        time if time.as_secs() <= THINK_S_MAX => Ok(time.as_nanos() as u64),
        _ => Err(item.fault("longer than an hour", "write a shorter time")),
    }
}

/// Reads the think time after a transaction.
fn think(item: &TomlItem<'_>) -> Result<ThinkDistribution, WorkloadError> {
    if let Some(table) = item.as_table() {
        table.require_only(&["mean"])?;
        return Ok(ThinkDistribution::Exponential(rest(&table.need("mean", "mean = \"12s\"")?)?));
    }
    let ends = match item.as_list() {
        None => vec![item.clone()],
        Some(ends) if ends.len() == 2 => ends,
        Some(_) => return Err(item.fault("not a time, or two", "write \"100ms\" or [\"50ms\", \"150ms\"]")),
    };
    let times: Vec<u64> = ends.iter().map(rest).collect::<Result<_, _>>()?;
    let (low, high) = (times[0], times[times.len() - 1]);
    match low <= high {
        true => Ok(ThinkDistribution::Between(low, high)),
        false => Err(item.fault("the longer time comes first", "write the shorter one first")),
    }
}
