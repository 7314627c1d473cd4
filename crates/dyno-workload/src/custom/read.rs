//! Reads the folder of a workload.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use dyno_record::ReferenceFigure;

use super::assign::real_slots;
use super::bulk::CustomBulkLoad;
use super::compile::compile;
use super::draws::{Constants, Names, read};
use super::embedded;
use super::fault::WorkloadError;
use super::folder::{Variants, WorkloadFolder};
use super::missing_generators;
use super::mixes::{apply_mix, no_weight};
use super::names::meant;
use super::prepare::CompileContext;
use super::program::Program;
use super::read_transaction::transactions;
use super::scale::SCALE_MAX;
use super::scripts::{InvariantQuery, invariants, script};
use super::sent_folders::SentFolders;
use super::steps::{Reader, Sql, given};
use super::table::{self, TomlItem, TomlTable};
use super::tables::{self, DescribedTable, DescribedTables};
use super::transaction::Transaction;
use super::workload::CustomWorkload;
use super::writing;

/// The transactions of a workload to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TransactionFilter<'a> {
    /// All transactions; those with their own rate have the weight 0.
    #[default]
    All,
    /// Only transactions with a weight.
    Weighed,
    /// A single transaction with its own rate.
    Only(&'a str),
}

/// Choices of the user that override the workload's own.
#[derive(Debug, Clone, Copy, Default)]
pub struct WorkloadChoice<'a> {
    pub scale: Option<u32>,
    /// The name of the mix.
    pub mix: Option<&'a str>,
    /// The chosen values of options: `name=value`.
    pub options: &'a [String],
    pub part: TransactionFilter<'a>,
}

impl CustomWorkload {
    /// Reads a workload called `name` from these files, given as names and contents.
    ///
    /// # Errors
    /// The same as for [`CustomWorkload::read`].
    pub fn read_files(name: &str, files: &[(String, String)]) -> Result<Self, WorkloadError> {
        let folder = WorkloadFolder::from_files(Path::new(name), files);
        let main = folder.main()?;
        table::read(&main, |top| build_workload(&folder, top, WorkloadChoice::default()))
    }

    /// Reads the workload in `folder`, or the embedded one that it names: `@tpcb`.
    ///
    /// # Errors
    /// The first error, with its place and a hint.
    pub fn read(folder: &Path) -> Result<Self, WorkloadError> {
        Self::read_as(folder, WorkloadChoice::default())
    }

    /// The same with choices of the user.
    ///
    /// # Errors
    /// The first error, with its place and a hint.
    pub fn read_as(folder: &Path, choice: WorkloadChoice<'_>) -> Result<Self, WorkloadError> {
        let folder = embedded::folder(folder)?;
        let main = folder.main()?;
        table::read_with(&main, choice.options, |top| build_workload(&folder, top, choice))
    }

    /// The same for a workload that another host `sent`, or an embedded one; no folder of this host is read.
    ///
    /// # Errors
    /// The first error, with its place and a hint.
    pub fn read_sent(
        folder: &Path,
        sent: &SentFolders,
        choice: WorkloadChoice<'_>,
    ) -> Result<Self, WorkloadError> {
        let folder = match embedded::is_inside(folder) {
            true => embedded::folder(folder)?,
            false => sent.folder(folder)?,
        };
        let main = folder.main()?;
        table::read_with(&main, choice.options, |top| build_workload(&folder, top, choice))
    }
}

/// Keys at the top of the file.
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

/// The default seed of described tables.
const SEED: i64 = 1;

fn build_workload(
    folder: &WorkloadFolder,
    top: &TomlTable<'_>,
    choice: WorkloadChoice<'_>,
) -> Result<CustomWorkload, WorkloadError> {
    top.require_only(&KEYS)?;
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
    missing_generators::refuse(draw.as_ref())?;
    let transaction = top.need("transaction", "[transaction.NAME]")?;
    let transaction_table = transaction.table("[transaction.NAME]")?;
    let mut names = names(draw.as_ref(), &transaction_table)?;
    let constants = Constants { scale, data_seed: seed };
    let mut draws = read(folder, draw.as_ref(), &names, constants)?;
    // A value that is set may be a floating-point number because another one is.
    loop {
        let real = real_slots(&transaction_table, &draws, &names);
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
    let transactions = apply_mix(transactions, top, choice.mix)?;
    let leaves_some_out = transactions.len() < described_count;
    let bulk = bulk(&transactions, &described)?;
    if transactions.iter().all(|transaction| transaction.weight == 0) {
        return Err(no_weight(&transaction, transactions.iter().any(|one| one.rate.is_some())));
    }
    let rated = transactions.iter().filter_map(Transaction::rated).collect();
    let transactions = select_transactions(transactions, choice.part);
    let sums = cumulative_weights(&transactions);
    let yardstick = top.get("yardstick").map(|item| yardstick(&item, &transaction_table)).transpose()?;
    let is_done = |yardstick: &ReferenceFigure| transactions.iter().any(|one| one.name == yardstick.class);
    let (setup, drop) = (script(folder, table("setup")?)?, script(folder, table("drop")?)?);
    let invariants = invariants(folder, top)?;
    let around = CompileContext { draws: &draws, names: &names, writes };
    let (common, programs) =
        programs(&transactions, around, engines(&transactions, &[&setup, &drop], &invariants))?;
    // Writing transactions that the mix leaves out can be the reason for `writes = true`.
    let has_writer = bulk.is_some()
        || described.tables.iter().any(DescribedTable::is_emptied)
        || common.iter().chain(programs.values()).any(|program| writing::writes(program));
    let writes = writes && (has_writer || !leaves_some_out);
    Ok(CustomWorkload {
        name,
        label: None,
        is_alone: matches!(choice.part, TransactionFilter::Only(_)),
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

/// The table that transactions load, if any. It must be the only transaction, so that all sessions know what
/// is left.
fn bulk(
    transactions: &[Transaction],
    described: &DescribedTables,
) -> Result<Option<Arc<CustomBulkLoad>>, WorkloadError> {
    let Some((loading, fills)) =
        transactions.iter().find_map(|one| one.fills.as_ref().map(|fills| (one, fills)))
    else {
        return Ok(None);
    };
    if transactions.len() > 1 {
        let problem =
            format!("transaction.{} loads a table, and the mix has other transactions", loading.name);
        return Err(loading.source.fault(
            0,
            problem,
            "write a mix with only this transaction into [mixes], and select it",
        ));
    }
    let table = described.tables.iter().find(|table| table.name() == &*fills.table.letters);
    Ok(table.map(|table| Arc::new(CustomBulkLoad::new(table.clone(), fills.part))))
}

/// Reads `[yardstick]`: the reference figures of the workload.
fn yardstick(item: &TomlItem<'_>, transactions: &TomlTable<'_>) -> Result<ReferenceFigure, WorkloadError> {
    let table = item.table("[yardstick]")?;
    table.require_only(&["of", "most_per_minute", "sessions", "roomy"])?;
    let class_item = table.need("of", "of = \"new_order\"")?;
    let class = class_item.text("the name of a transaction")?.letters.to_string();
    if transactions.get(&class).is_none() {
        let transaction_names: Vec<&str> = transactions.items().iter().map(TomlItem::own_name).collect();
        return Err(class_item.fault("unknown transaction", meant(&class, transaction_names.iter().copied())));
    }
    let above_0 = |key: &str| {
        let item = table.need(key, &format!("{key} = 10"))?;
        match item.real("a number above 0")? {
            number if number > 0.0 => Ok(number),
            number => Err(item.fault(format!("{number} is not above 0"), "")),
        }
    };
    let sessions = table.need("sessions", "sessions = 10")?.whole(1, 100_000)? as u32;
    Ok(ReferenceFigure {
        class,
        most_per_minute: above_0("most_per_minute")?,
        sessions,
        roomy: above_0("roomy")?,
    })
}

/// The transactions of a part; a single one is chosen each time.
fn select_transactions(transactions: Vec<Transaction>, part: TransactionFilter<'_>) -> Vec<Transaction> {
    let select = |transaction: Transaction| match part {
        TransactionFilter::All => Some(transaction),
        TransactionFilter::Weighed => transaction.rate.is_none().then_some(transaction),
        TransactionFilter::Only(name) => {
            (transaction.name == name).then_some(Transaction { weight: 1, ..transaction })
        }
    };
    transactions.into_iter().filter_map(select).collect()
}

/// The program for engines without their own files, and the programs for engines with such files.
type Programs = (Option<Arc<Program>>, BTreeMap<String, Arc<Program>>);

fn programs(
    transactions: &[Transaction],
    around: CompileContext<'_>,
    engines: BTreeSet<String>,
) -> Result<Programs, WorkloadError> {
    let compile_for = |engine: &str| compile(transactions, engine, around).map(Arc::new);
    let is_common = transactions.iter().all(|one| one.sql.as_ref().is_none_or(|sql| sql.common.is_some()));
    let common = is_common.then(|| compile_for("")).transpose()?;
    // Do not count an engine whose only files belong to transactions outside the mix.
    let has_sql = |engine: &String| {
        transactions.iter().all(|one| one.sql.as_ref().is_none_or(|sql| sql.for_engine(engine).is_some()))
    };
    let (fit, unfit): (Vec<String>, Vec<String>) = engines.into_iter().partition(has_sql);
    let engines = if fit.is_empty() && common.is_none() { unfit } else { fit };
    let by_engine = engines
        .into_iter()
        .map(|engine| Ok((engine.clone(), compile_for(&engine)?)))
        .collect::<Result<_, WorkloadError>>()?;
    Ok((common, by_engine))
}

/// Names of all possible parameters.
fn names(draw: Option<&TomlTable<'_>>, transactions: &TomlTable<'_>) -> Result<Names, WorkloadError> {
    let drawn = draw.map(TomlTable::items).unwrap_or_default();
    let all: Vec<String> =
        drawn.iter().map(TomlItem::own_name).chain(Constants::NAMES).map(str::to_owned).collect();
    let mut names = Names { draws: all.len(), all, columns: Vec::new(), real: BTreeSet::new() };
    for transaction in transactions.items() {
        given(&transaction.table("[transaction.NAME]")?, &mut names)?;
    }
    Ok(names)
}

/// Cumulative sums of the weights, divided by their greatest common divisor.
fn cumulative_weights(transactions: &[Transaction]) -> Box<[u64]> {
    let common = transactions.iter().fold(0, |common, one| divisor(common, one.weight)).max(1);
    let mut sum = 0;
    let mut next = |transaction: &Transaction| {
        sum += transaction.weight / common;
        sum
    };
    transactions.iter().map(&mut next).collect()
}

/// The greatest common divisor (Euclid).
fn divisor(x: u64, y: u64) -> u64 {
    if y == 0 { x } else { divisor(y, x % y) }
}

/// Engines that have their own files.
fn engines(
    transactions: &[Transaction],
    scripts: &[&Variants<Sql>],
    invariants: &[InvariantQuery],
) -> BTreeSet<String> {
    let transaction_sql = transactions.iter().filter_map(|one| one.sql.as_ref());
    let all = transaction_sql.chain(scripts.iter().copied()).chain(invariants.iter().map(|one| &one.sql));
    all.flat_map(|sql| sql.own.keys().cloned()).collect()
}
