//! From a folder to a workload.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use dyno_engine::Isolation;

use super::compile::compile;
use super::draws::{Names, read};
use super::fault::Fault;
use super::folder::{Folder, Variants};
use super::names::{NAME, is_name, shown};
use super::prepare::Around;
use super::sql::{Does, does};
use super::steps::{Reader, Sql, given, sql};
use super::table::{self, Item, Table};
use super::transaction::Transaction;
use super::workload::{Invariant, Own};

/// Transactions of a workload at most; classes are numbered in 8 bits.
const TRANSACTIONS_MAX: usize = 100;
const WEIGHT_MAX: i64 = 1_000_000;
const RETRIES_MAX: i64 = 1_000;
/// The longest rest behind a transaction, s.
const THINK_S_MAX: u64 = 3_600;

/// Names of classes that every workload has.
const TAKEN: [&str; 3] = ["all", "commit", "slice"];

impl Own {
    /// Reads the workload in `folder`.
    ///
    /// # Errors
    /// What is wrong first, with its place and what would be right.
    pub fn read(folder: &Path) -> Result<Self, Fault> {
        let folder = Folder::new(folder);
        let main = folder.main()?;
        table::read(&main, |top| own(&folder, top))
    }
}

fn own(folder: &Folder, top: &Table<'_>) -> Result<Own, Fault> {
    top.only(&["version", "name", "about", "writes", "setup", "drop", "draw", "transaction", "invariant"])?;
    top.get("version").map_or(Ok(1), |version| version.whole(1, 1))?;
    let name = name(&top.need("name", "name = \"shop\"")?)?;
    let about = top.get("about").map(|about| about.text("a sentence")).transpose()?;
    let writes = top.get("writes").map_or(Ok(false), |writes| writes.flag())?;
    let table = |key: &str| top.get(key).map(|item| item.table(&format!("[{key}]"))).transpose();
    let (draw, transaction) = (table("draw")?, top.need("transaction", "[transaction.NAME]")?);
    let transactions = transaction.table("[transaction.NAME]")?;
    let names = names(draw.as_ref(), &transactions)?;
    let draws = read(folder, draw.as_ref(), &names)?;
    let reader = Reader { draws: &draws, names: &names };
    let transactions = self::transactions(folder, &transactions, &reader)?;
    let (setup, drop) = (script(folder, table("setup")?)?, script(folder, table("drop")?)?);
    let invariants = invariants(folder, top)?;
    let mut sum = 0;
    let sums: Box<[u64]> = transactions
        .iter()
        .map(|transaction| {
            sum += transaction.weight;
            sum
        })
        .collect();
    if sum == 0 {
        return Err(transaction.fault("all weights are 0", "give one of them a weight"));
    }
    let engines = engines(&transactions, &[&setup, &drop], &invariants);
    let around = Around { draws: &draws, names: &names, writes };
    let programs = engines
        .into_iter()
        .map(|engine| {
            let program = compile(&transactions, &engine, around)?;
            Ok((engine, Arc::new(program)))
        })
        .collect::<Result<BTreeMap<_, _>, Fault>>()?;
    let is_common = transactions.iter().all(|one| one.sql.as_ref().is_none_or(|sql| sql.common.is_some()));
    let common = is_common.then(|| compile(&transactions, "", around).map(Arc::new)).transpose()?;
    let about = about.map(|about| about.letters.to_string()).unwrap_or_default();
    Ok(Own {
        name,
        about,
        writes,
        draws,
        names,
        transactions,
        sums,
        programs,
        common,
        setup,
        drop,
        invariants,
        digest: folder.digest(),
    })
}

fn name(item: &Item<'_>) -> Result<String, Fault> {
    let text = item.text("\"shop\"")?;
    match is_name(&text.letters.replace('-', "_")) {
        true => Ok(text.letters.to_string()),
        false => Err(item.fault(format!("{:?} is no name", shown(&text.letters)), NAME)),
    }
}

/// The names of everything that can be a parameter.
fn names(draw: Option<&Table<'_>>, transactions: &Table<'_>) -> Result<Names, Fault> {
    let all: Vec<String> =
        draw.map(Table::items).unwrap_or_default().iter().map(|item| item.own_name().to_owned()).collect();
    let mut names = Names { draws: all.len(), all };
    for transaction in transactions.items() {
        given(&transaction.table("[transaction.NAME]")?, &mut names)?;
    }
    Ok(names)
}

fn transactions(folder: &Folder, table: &Table<'_>, reader: &Reader<'_>) -> Result<Vec<Transaction>, Fault> {
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
    table.only(&["weight", "isolation", "sql", "steps", "commit", "retries", "think"])?;
    let statements = table.get("sql").map(|item| sql(folder, &item)).transpose()?;
    let steps = table.get("steps").map(|item| reader.steps(&item, 1)).transpose()?;
    if statements.is_none() && steps.is_none() {
        return Err(table.fault("it does nothing", format!("write sql = \"{name}.sql\"")));
    }
    let isolation = table.get("isolation").map(|item| isolation(&item)).transpose()?;
    let is_single = match (&steps, &statements) {
        (None, Some(sql)) => sql.all().all(|sql| sql.pieces.len() == 1),
        (Some(steps), _) => matches!(steps[..], [super::steps::Step::Run { .. }]),
        (None, None) => false,
    };
    let each = match table.get("commit") {
        None => is_single && isolation.is_none(),
        Some(commit) => match &*commit.text("\"each\" or \"end\"")?.letters {
            "each" => true,
            "end" => false,
            other => return Err(commit.fault(format!("{:?} is not known", shown(other)), "each or end")),
        },
    };
    if each && let Some(isolation) = table.get("isolation") {
        let problem = "each statement commits, so there is no transaction to isolate";
        return Err(isolation.fault(problem, "commit = \"end\" makes one transaction of them"));
    }
    Ok(Transaction {
        name: name.to_owned(),
        weight: table.get("weight").map_or(Ok(1), |weight| weight.whole(0, WEIGHT_MAX))?.unsigned_abs(),
        isolation: isolation.unwrap_or_default(),
        each,
        retries: table.get("retries").map_or(Ok(0), |retries| retries.whole(0, RETRIES_MAX))? as u32,
        think_ns: table.get("think").map_or(Ok((0, 0)), |think| self::think(&think))?,
        sql: statements,
        steps,
        here: item.here(),
    })
}

fn isolation(item: &Item<'_>) -> Result<Isolation, Fault> {
    let text = item.text("\"serializable\"")?;
    match &*text.letters {
        "platform" => Ok(Isolation::Platform),
        "read committed" => Ok(Isolation::ReadCommitted),
        "repeatable read" => Ok(Isolation::RepeatableRead),
        "serializable" => Ok(Isolation::Serializable),
        other => {
            let hint = "platform, read committed, repeatable read or serializable";
            Err(item.fault(format!("{:?} is no isolation", shown(other)), hint))
        }
    }
}

/// The shortest and the longest rest, ns.
fn think(item: &Item<'_>) -> Result<(u64, u64), Fault> {
    let ends = match item.as_list() {
        None => vec![item.clone()],
        Some(ends) if ends.len() == 2 => ends,
        Some(_) => return Err(item.fault("not a time, or two", "write \"100ms\" or [\"50ms\", \"150ms\"]")),
    };
    let times: Vec<u64> = ends
        .iter()
        .map(|end| match end.time()? {
            time if time.as_secs() <= THINK_S_MAX => Ok(time.as_nanos() as u64),
            _ => Err(end.fault("longer than an hour", "write a shorter time")),
        })
        .collect::<Result<_, _>>()?;
    let (low, high) = (times[0], times[times.len() - 1]);
    match low <= high {
        true => Ok((low, high)),
        false => Err(item.fault("the longer time comes first", "write the shorter one first")),
    }
}

/// The file of `[setup]` or `[drop]`, in which nothing is drawn.
fn script(folder: &Folder, table: Option<Table<'_>>) -> Result<Variants<Sql>, Fault> {
    let Some(table) = table else { return Ok(Variants::default()) };
    table.only(&["sql"])?;
    let sql = sql(folder, &table.need("sql", "sql = \"setup.sql\"")?)?;
    nothing_drawn(&sql)?;
    Ok(sql)
}

fn nothing_drawn(sql: &Variants<Sql>) -> Result<(), Fault> {
    for Sql { text, pieces } in sql.all() {
        if let Some(param) = pieces.iter().flat_map(|piece| &piece.params).next() {
            let problem =
                format!("{} is a parameter, and nothing is drawn here", shown(&text.letters[param.clone()]));
            return Err(text.fault(param.start, problem, "write the value"));
        }
    }
    Ok(())
}

fn invariants(folder: &Folder, top: &Table<'_>) -> Result<Vec<Invariant>, Fault> {
    let Some(item) = top.get("invariant") else { return Ok(Vec::new()) };
    let one = |item: &Item<'_>| {
        let table = item.table("[[invariant]]")?;
        table.only(&["name", "sql"])?;
        let sql = sql(folder, &table.need("sql", "sql = \"SELECT SUM(balance) FROM account\"")?)?;
        nothing_drawn(&sql)?;
        for Sql { text, pieces } in sql.all() {
            if let Some(second) = pieces.get(1) {
                return Err(text.fault(
                    second.at.start,
                    "a second statement",
                    "write an [[invariant]] of its own",
                ));
            }
            if does(text, &pieces[0])? != Does::Reads {
                return Err(text.fault(pieces[0].at.start, "an invariant only reads", "write a SELECT"));
            }
        }
        let name = table.need("name", "name = \"money\"").and_then(|item| name(&item))?;
        Ok(Invariant { name, sql })
    };
    item.list("[[invariant]]")?.iter().map(one).collect()
}

/// Engines that some file is for.
fn engines(
    transactions: &[Transaction],
    scripts: &[&Variants<Sql>],
    invariants: &[Invariant],
) -> BTreeSet<String> {
    let own = transactions.iter().filter_map(|one| one.sql.as_ref());
    let all = own.chain(scripts.iter().copied()).chain(invariants.iter().map(|one| &one.sql));
    all.flat_map(|sql| sql.own.keys().cloned()).collect()
}
