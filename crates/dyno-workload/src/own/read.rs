//! From a folder to a workload.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use dyno_record::Yardstick;

use super::assign::set_real;
use super::bulk::OwnBulk;
use super::compile::compile;
use super::draws::{Constants, Names, read};
use super::fault::Fault;
use super::folder::{Folder, Variants};
use super::inside;
use super::mixes::{chosen, no_weight};
use super::names::meant;
use super::prepare::Around;
use super::program::Program;
use super::read_transaction::transactions;
use super::scale::SCALE_MAX;
use super::scripts::{Invariant, invariants, script};
use super::sent::SentFolders;
use super::steps::{Reader, Sql, given};
use super::table::{self, Item, Table};
use super::tables::{self, Described, DescribedTable};
use super::transaction::Transaction;
use super::undrawn;
use super::workload::Own;
use super::writing;

/// Which transactions of a workload are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Part<'a> {
    /// All; those with a rate of their own have the weight 0.
    #[default]
    All,
    /// Those that come by weight.
    Weighed,
    /// One with a rate of its own.
    Only(&'a str),
}

/// What is chosen of a workload from without; what is not is as the workload says.
#[derive(Debug, Clone, Copy, Default)]
pub struct Choice<'a> {
    /// Its scale.
    pub scale: Option<u32>,
    /// The mix that is run.
    pub mix: Option<&'a str>,
    /// What is chosen of its options: `name=value`.
    pub options: &'a [String],
    /// Which of its transactions.
    pub part: Part<'a>,
}

impl Own {
    /// Reads the workload that these files would be in a folder `name`: names with what is in them.
    ///
    /// # Errors
    /// As [`Own::read`].
    pub fn read_files(name: &str, files: &[(String, String)]) -> Result<Self, Fault> {
        let folder = Folder::of(Path::new(name), files);
        let main = folder.main()?;
        table::read(&main, |top| own(&folder, top, Choice::default()))
    }

    /// Reads the workload in `folder`, or the one inside the program that it names: `@tpcb`.
    ///
    /// # Errors
    /// What is wrong first, with its place and what would be right.
    pub fn read(folder: &Path) -> Result<Self, Fault> {
        Self::read_as(folder, Choice::default())
    }

    /// The same with what is chosen instead of what the workload says.
    ///
    /// # Errors
    /// What is wrong first, with its place and what would be right.
    pub fn read_as(folder: &Path, choice: Choice<'_>) -> Result<Self, Fault> {
        let folder = inside::folder(folder)?;
        let main = folder.main()?;
        table::read_with(&main, choice.options, |top| own(&folder, top, choice))
    }

    /// The same of what another host has `sent`, or the one inside the program: no folder of this host is looked at.
    ///
    /// # Errors
    /// What is wrong first, with its place and what would be right.
    pub fn read_sent(folder: &Path, sent: &SentFolders, choice: Choice<'_>) -> Result<Self, Fault> {
        let folder = match inside::is_inside(folder) {
            true => inside::folder(folder)?,
            false => sent.folder(folder)?,
        };
        let main = folder.main()?;
        table::read_with(&main, choice.options, |top| own(&folder, top, choice))
    }
}

/// Keys at the top.
const KEYS: [&str; 19] = [
    "version",
    "name",
    "about",
    "note",
    "writes",
    "deck",
    "option",
    "like",
    "scale",
    "seed",
    "table",
    "mix",
    "mixes",
    "setup",
    "drop",
    "draw",
    "transaction",
    "yardstick",
    "invariant",
];

/// The seed of described tables where none is written.
const SEED: i64 = 1;

fn own(folder: &Folder, top: &Table<'_>, choice: Choice<'_>) -> Result<Own, Fault> {
    top.only(&KEYS)?;
    top.get("version").map_or(Ok(1), |version| version.whole(1, 1))?;
    let name = top.need("name", "name = \"shop\"")?.name()?;
    let about = top.get("about").map(|about| about.text("a sentence")).transpose()?;
    let note = top.get("note").map(|note| note.text("a sentence")).transpose()?;
    let note = note.map(|note| note.letters.to_string()).unwrap_or_default();
    let flag = |key: &str| top.get(key).map_or(Ok(false), |flag| flag.flag());
    let (writes, deck) = (flag("writes")?, flag("deck")?);
    let table = |key: &str| top.get(key).map(|item| item.table(&format!("[{key}]"))).transpose();
    let own_scale = top.get("scale").map_or(Ok(1), |scale| scale.whole(1, SCALE_MAX))?;
    let scale = choice.scale.map_or(own_scale, i64::from);
    let seed = top.get("seed").map_or(Ok(SEED), |seed| seed.whole(0, i64::MAX))?;
    let mut described = tables::read(folder, table("table")?.as_ref(), scale, seed.unsigned_abs())?;
    let draw = table("draw")?;
    undrawn::refuse(draw.as_ref())?;
    let transaction = top.need("transaction", "[transaction.NAME]")?;
    let transaction_table = transaction.table("[transaction.NAME]")?;
    let mut names = names(draw.as_ref(), &transaction_table)?;
    let constants = Constants { scale, data_seed: seed };
    let mut draws = read(folder, draw.as_ref(), &names, constants)?;
    // What is set to a floating-point number may be so because of another that is.
    loop {
        let real = set_real(&transaction_table, &draws, &names);
        if real == names.real {
            break;
        }
        names.real = real;
        draws = read(folder, draw.as_ref(), &names, constants)?;
    }
    let transactions = transactions(folder, &transaction_table, &Reader { draws: &draws, names: &names })?;
    for transaction in &transactions {
        let Some(fills) = &transaction.fills else { continue };
        if !writes {
            return Err(fills.table.fault(0, "it loads rows", "write writes = true at the top"));
        }
        described.fill_by_runs(&fills.table)?;
    }
    if let Some(emptied) = described.tables.iter().find(|table| table.is_emptied() && !writes) {
        return Err(emptied.fault("it is emptied before each run", "write writes = true at the top"));
    }
    let described_count = transactions.len();
    let transactions = chosen(transactions, top, choice.mix)?;
    let leaves_some_out = transactions.len() < described_count;
    let bulk = bulk(&transactions, &described)?;
    if transactions.iter().all(|transaction| transaction.weight == 0) {
        return Err(no_weight(&transaction, transactions.iter().any(|one| one.rate.is_some())));
    }
    let rated = transactions.iter().filter_map(Transaction::rated).collect();
    let transactions = part(transactions, choice.part);
    let sums = sums(&transactions);
    let yardstick = top.get("yardstick").map(|item| yardstick(&item, &transaction_table)).transpose()?;
    let is_done = |yardstick: &Yardstick| transactions.iter().any(|one| one.name == yardstick.class);
    let (setup, drop) = (script(folder, table("setup")?)?, script(folder, table("drop")?)?);
    let invariants = invariants(folder, top)?;
    let around = Around { draws: &draws, names: &names, writes };
    let (common, programs) =
        programs(&transactions, around, engines(&transactions, &[&setup, &drop], &invariants))?;
    // Where the mix leaves transactions out, `writes = true` may be for those alone.
    let has_writer = bulk.is_some()
        || described.tables.iter().any(DescribedTable::is_emptied)
        || common.iter().chain(programs.values()).any(|program| writing::writes(program));
    let writes = writes && (has_writer || !leaves_some_out);
    Ok(Own {
        name,
        label: None,
        is_alone: matches!(choice.part, Part::Only(_)),
        rated,
        about: about.map(|about| about.letters.to_string()).unwrap_or_default(),
        types: transactions.iter().any(|transaction| transaction.keying_ns > 0),
        note,
        yardstick: yardstick.filter(is_done),
        options: top.options(),
        writes,
        deck,
        sums,
        common,
        programs,
        scale: scale.unsigned_abs(),
        described,
        bulk,
        draws,
        names,
        transactions,
        setup,
        drop,
        invariants,
        digest: folder.digest(),
        files: folder.files(),
    })
}

/// The table that transactions load, if they do: one of them, and nothing beside it, so that all sessions know what is left.
fn bulk(transactions: &[Transaction], described: &Described) -> Result<Option<Arc<OwnBulk>>, Fault> {
    let Some((loading, fills)) =
        transactions.iter().find_map(|one| one.fills.as_ref().map(|fills| (one, fills)))
    else {
        return Ok(None);
    };
    if transactions.len() > 1 {
        let problem = format!("transaction.{} loads a table, and there are others beside it", loading.name);
        return Err(loading.here.fault(
            0,
            problem,
            "write a mix of this one alone into [mixes], and choose it",
        ));
    }
    let table = described.tables.iter().find(|table| table.name() == &*fills.table.letters);
    Ok(table.map(|table| Arc::new(OwnBulk::new(table.clone(), fills.part))))
}

/// `[yardstick]`: what the figures are held against.
fn yardstick(item: &Item<'_>, transactions: &Table<'_>) -> Result<Yardstick, Fault> {
    let table = item.table("[yardstick]")?;
    table.only(&["of", "most_per_minute", "sessions", "roomy"])?;
    let of = table.need("of", "of = \"new_order\"")?;
    let class = of.text("the name of a transaction")?.letters.to_string();
    if transactions.get(&class).is_none() {
        let known: Vec<&str> = transactions.items().iter().map(Item::own_name).collect();
        return Err(of.fault("there is no such transaction", meant(&class, known.iter().copied())));
    }
    let above_0 = |key: &str| {
        let item = table.need(key, &format!("{key} = 10"))?;
        match item.real("a number above 0")? {
            number if number > 0.0 => Ok(number),
            number => Err(item.fault(format!("{number} is not above 0"), "")),
        }
    };
    let sessions = table.need("sessions", "sessions = 10")?.whole(1, 100_000)? as u32;
    Ok(Yardstick { class, most_per_minute: above_0("most_per_minute")?, sessions, roomy: above_0("roomy")? })
}

/// The transactions of a part; one that is alone is drawn each time.
fn part(transactions: Vec<Transaction>, part: Part<'_>) -> Vec<Transaction> {
    let one = |transaction: Transaction| match part {
        Part::All => Some(transaction),
        Part::Weighed => transaction.rate.is_none().then_some(transaction),
        Part::Only(name) => (transaction.name == name).then_some(Transaction { weight: 1, ..transaction }),
    };
    transactions.into_iter().filter_map(one).collect()
}

/// What sessions do on all engines without files of their own, and on those with some.
type Programs = (Option<Arc<Program>>, BTreeMap<String, Arc<Program>>);

fn programs(
    transactions: &[Transaction],
    around: Around<'_>,
    engines: BTreeSet<String>,
) -> Result<Programs, Fault> {
    let of = |engine: &str| compile(transactions, engine, around).map(Arc::new);
    let is_common = transactions.iter().all(|one| one.sql.as_ref().is_none_or(|sql| sql.common.is_some()));
    let common = is_common.then(|| of("")).transpose()?;
    // An engine that only other files are for, such as those of a transaction that is not in the mix, is none of these.
    let has_sql = |engine: &String| {
        transactions.iter().all(|one| one.sql.as_ref().is_none_or(|sql| sql.of(engine).is_some()))
    };
    let (fit, unfit): (Vec<String>, Vec<String>) = engines.into_iter().partition(has_sql);
    let engines = if fit.is_empty() && common.is_none() { unfit } else { fit };
    let own =
        engines.into_iter().map(|engine| Ok((engine.clone(), of(&engine)?))).collect::<Result<_, Fault>>()?;
    Ok((common, own))
}

/// The names of everything that can be a parameter.
fn names(draw: Option<&Table<'_>>, transactions: &Table<'_>) -> Result<Names, Fault> {
    let drawn = draw.map(Table::items).unwrap_or_default();
    let all: Vec<String> =
        drawn.iter().map(Item::own_name).chain(Constants::NAMES).map(str::to_owned).collect();
    let mut names = Names { draws: all.len(), all, columns: Vec::new(), real: BTreeSet::new() };
    for transaction in transactions.items() {
        given(&transaction.table("[transaction.NAME]")?, &mut names)?;
    }
    Ok(names)
}

/// Sums of the weights, each divided by what all of them have in common.
fn sums(transactions: &[Transaction]) -> Box<[u64]> {
    let common = transactions.iter().fold(0, |common, one| divisor(common, one.weight)).max(1);
    let mut sum = 0;
    let mut next = |transaction: &Transaction| {
        sum += transaction.weight / common;
        sum
    };
    transactions.iter().map(&mut next).collect()
}

/// The greatest number that divides both (Euclid).
fn divisor(x: u64, y: u64) -> u64 {
    if y == 0 { x } else { divisor(y, x % y) }
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
