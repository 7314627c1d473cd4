//! `[transaction.NAME]`: from what a user wrote to transactions.

use dyno_plan::Rate;
use dyno_record::{ALL, COMMIT, CONNECT, SLICE};

use super::expect::expect;
use super::fault::Fault;
use super::folder::{Folder, Variants};
use super::isolation::isolation;
use super::names::{NAME, is_name, shown};
use super::steps::{Reader, Step, sql};
use super::table::{Item, Table};
use super::transaction::{Fills, Think, Transaction};

/// Transactions of a workload at most; classes are numbered in 8 bits.
const TRANSACTIONS_MAX: usize = 100;
pub(super) const WEIGHT_MAX: i64 = 1_000_000;
const RETRIES_MAX: i64 = 1_000;
/// Rows of one transaction that loads: without being said, and at most.
const PART_ROWS: i64 = 1_000;
const PART_ROWS_MAX: i64 = 100_000_000;
/// Sessions of a transaction with a rate at most.
const SESSIONS_MAX: i64 = 10_000;
/// The lowest rate of one and the highest, per second: as of a run.
const RATES: (f64, f64) = (0.001, 100_000_000.0);
/// The longest rest behind a transaction, s.
const THINK_S_MAX: u64 = 3_600;

/// Names of classes that every workload has.
const TAKEN: [&str; 4] = [ALL, COMMIT, SLICE, CONNECT];

/// The transactions of `table`.
///
/// # Errors
/// One is wrong, or there is none.
pub(super) fn transactions(
    folder: &Folder,
    table: &Table<'_>,
    reader: &Reader<'_>,
) -> Result<Vec<Transaction>, Fault> {
    let items = table.items();
    if let Some(item) = items.get(TRANSACTIONS_MAX) {
        return Err(
            item.fault(format!("more than {TRANSACTIONS_MAX} transactions"), "make two workloads of it")
        );
    }
    if items.is_empty() {
        return Err(table.fault("there is no transaction", "write [transaction.NAME]"));
    }
    items.iter().map(|item| transaction(folder, item, reader)).collect()
}

fn transaction(folder: &Folder, item: &Item<'_>, reader: &Reader<'_>) -> Result<Transaction, Fault> {
    let name = item.own_name();
    if !is_name(name) || TAKEN.contains(&name) {
        let hint = format!("{NAME}; not {}", TAKEN.join(", "));
        return Err(item.unknown("no name for a transaction", &[]).hint(hint));
    }
    let table = item.table("[transaction.NAME]")?;
    table.only(&[
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
        return Err(table.fault("it does nothing", format!("write sql = \"{name}.sql\"")));
    }
    let isolation = table.get("isolation").map(|item| isolation(&item)).transpose()?;
    let is_single = match (&steps, &statements) {
        (Some(steps), _) => matches!(steps[..], [Step::Run { .. }]),
        (None, sql) => sql.iter().flat_map(Variants::all).all(|sql| sql.pieces.len() == 1),
    };
    let each = fills.is_some() || each(&table, is_single)?;
    let definitions = table.get("definitions").map(|item| definitions(&item, each)).transpose()?;
    let pipeline = table.get("pipeline").map(|item| pipeline(&item, each)).transpose()?.unwrap_or_default();
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
        each,
        retries: table.get("retries").map_or(Ok(0), |retries| retries.whole(0, RETRIES_MAX))? as u32,
        think: table.get("think").map_or(Ok(Think::Between(0, 0)), |think| self::think(&think))?,
        keying_ns: table.get("keying").map_or(Ok(0), |keying| rest(&keying))?,
        limit_p90: table.get("limit_p90").map(|limit| limit.time()).transpose()?,
        said: table.get("expect").map(|said| expect(&said)).transpose()?.unwrap_or_default(),
        sql: statements,
        fills,
        steps,
        may_run: item.may_run(),
        here: item.here(),
    })
}

/// What it loads, if that is what it does: nothing else goes with it then.
fn fills(table: &Table<'_>) -> Result<Option<Fills>, Fault> {
    let Some(load) = table.get("load") else {
        return match table.get("part") {
            None => Ok(None),
            Some(part) => {
                Err(part.fault("parts are of a transaction that loads", "write load = \"TABLE\" too"))
            }
        };
    };
    let others = ["sql", "steps", "rate", "sessions", "isolation", "commit", "think", "pipeline", "expect"];
    if let Some(other) = others.into_iter().find_map(|key| table.get(key)) {
        let hint = format!("take out {}, or load", other.own_name());
        return Err(other.fault("a transaction that loads does nothing else", hint));
    }
    let part = table.get("part").map_or(Ok(PART_ROWS), |part| part.whole(1, PART_ROWS_MAX))?;
    Ok(Some(Fills { table: load.text("the name of a described table")?, part: part.unsigned_abs() }))
}

/// The rate of a transaction, if it has one of its own, and the sessions that do it.
fn own_rate(table: &Table<'_>) -> Result<(Option<Rate>, u32), Fault> {
    let sessions = table.get("sessions");
    let Some(item) = table.get("rate") else {
        return match sessions {
            None => Ok((None, 1)),
            Some(sessions) => Err(sessions.fault(
                "sessions of its own are for a transaction with a rate of its own",
                "write rate = \"100/s\" too; all others share those of run.sessions_per_schema",
            )),
        };
    };
    let rate = rate(&item)?;
    if let Some(weight) = table.get("weight") {
        let problem = "it comes at a rate of its own, so that it has no weight against the others";
        return Err(weight.fault(problem, "take out weight, or rate"));
    }
    if let Some(think) = table.get("think").or_else(|| table.get("keying")) {
        let problem =
            format!("transactions are due at {rate}, so there is nothing to think about between them");
        return Err(think.fault(problem, "take out think and keying, or rate"));
    }
    let sessions = sessions.map_or(Ok(1), |sessions| sessions.whole(1, SESSIONS_MAX))?;
    Ok((Some(rate), sessions as u32))
}

/// A rate as in `"100/s"`.
pub(super) fn rate(item: &Item<'_>) -> Result<Rate, Fault> {
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

/// Whether each statement commits by itself: one that is alone does, unless something else is written.
fn each(table: &Table<'_>, is_single: bool) -> Result<bool, Fault> {
    let isolation = table.get("isolation");
    let each = match table.get("commit") {
        None => is_single && isolation.is_none(),
        Some(commit) => match &*commit.text("\"each\" or \"end\"")?.letters {
            "each" => true,
            "end" => false,
            other => return Err(commit.fault(format!("{:?} is not known", shown(other)), "each or end")),
        },
    };
    let hint = "commit = \"end\" makes one transaction of them";
    let isolates = |item: &Item<'_>| item.as_text().is_none_or(|text| &*text.letters != "platform");
    if each && let Some(isolation) = isolation.filter(isolates) {
        let problem = "each statement commits, so there is no transaction to isolate";
        return Err(isolation.fault(problem, hint));
    }
    Ok(each)
}

/// Whether it is about tables: engines commit such a statement by itself, whatever is around it.
fn definitions(item: &Item<'_>, each: bool) -> Result<bool, Fault> {
    match (item.flag()?, each) {
        (true, false) => {
            let problem = "statements about tables are no part of a transaction on every engine";
            Err(item.fault(problem, "write commit = \"each\""))
        }
        (definitions, _) => Ok(definitions),
    }
}

/// Whether requests are sent together: what is sent behind one that fails is passed over, so that they have to be one transaction.
fn pipeline(item: &Item<'_>, each: bool) -> Result<bool, Fault> {
    match (item.flag()?, each) {
        (true, true) => {
            let hint = "commit = \"end\" makes one transaction of them";
            Err(item.fault("each statement commits, so the next one waits for what became of it", hint))
        }
        (pipeline, _) => Ok(pipeline),
    }
}

/// A rest, ns.
fn rest(item: &Item<'_>) -> Result<u64, Fault> {
    match item.time()? {
        time if time.as_secs() <= THINK_S_MAX => Ok(time.as_nanos() as u64),
        _ => Err(item.fault("longer than an hour", "write a shorter time")),
    }
}

/// The rest behind a transaction.
fn think(item: &Item<'_>) -> Result<Think, Fault> {
    if let Some(table) = item.as_table() {
        table.only(&["mean"])?;
        return Ok(Think::Exponential(rest(&table.need("mean", "mean = \"12s\"")?)?));
    }
    let ends = match item.as_list() {
        None => vec![item.clone()],
        Some(ends) if ends.len() == 2 => ends,
        Some(_) => return Err(item.fault("not a time, or two", "write \"100ms\" or [\"50ms\", \"150ms\"]")),
    };
    let times: Vec<u64> = ends.iter().map(rest).collect::<Result<_, _>>()?;
    let (low, high) = (times[0], times[times.len() - 1]);
    match low <= high {
        true => Ok(Think::Between(low, high)),
        false => Err(item.fault("the longer time comes first", "write the shorter one first")),
    }
}
