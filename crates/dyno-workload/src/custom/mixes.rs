//! Reads `[mixes]`: named sets of weights and rates; a run uses one of them.

use super::fault::WorkloadError;
use super::names::{NAME, is_name, meant, shown};
use super::read_transaction::{WEIGHT_MAX, rate};
use super::table::{TomlItem, TomlTable};
use super::transaction::Transaction;
use dyno_plan::Rate;

/// The transactions of the run: those of the mix `asked` or of the workload's own mix, with its weights; all
/// without mixes.
///
/// # Errors
/// A mix is invalid, or the chosen mix does not exist.
pub(super) fn apply_mix(
    transactions: Vec<Transaction>,
    top: &TomlTable<'_>,
    asked: Option<&str>,
) -> Result<Vec<Transaction>, WorkloadError> {
    let default_mix = top.get("mix");
    let Some(mixes) = top.get("mixes") else {
        let hint = "write [mixes] with NAME = { TRANSACTION = 50 }";
        return match (default_mix, asked) {
            (None, None) => Ok(transactions),
            (Some(own), _) => Err(own.fault("the workload has no mixes", hint)),
            (None, Some(_)) => Err(top.fault("the workload has no mixes", hint)),
        };
    };
    let mixes = &mixes.table("[mixes]")?;
    let mut all = Vec::new();
    for item in mixes.items() {
        let name = item.own_name();
        if !is_name(name) {
            return Err(item.unknown("not a valid name for a mix", &[]).hint(NAME));
        }
        all.push((name, weights(&item, &transactions)?));
    }
    let names = || all.iter().map(|(name, _)| *name);
    let named = |name: &str| all.iter().find(|(known, _)| *known == name);
    let no_mix = |name: &str| (format!("unknown mix {}", shown(name)), meant(name, names()));
    let default_name = default_mix.map(|own| own.text("the name of a mix")).transpose()?;
    if let Some(own) = default_name.as_ref().filter(|own| named(&own.letters).is_none()) {
        let (problem, hint) = no_mix(&own.letters);
        return Err(own.fault(0, problem, hint));
    }
    let Some(name) = asked.or(default_name.as_ref().map(|own| &*own.letters)) else {
        let hint = format!("write mix = \"NAME\" at the top; {}", meant("", names()));
        return Err(mixes.fault("no mix is chosen", hint));
    };
    let Some((_, weights)) = named(name) else {
        let (problem, hint) = no_mix(name);
        return Err(mixes.fault(&problem, hint));
    };
    let with_weight = |mut transaction: Transaction| {
        let (_, how_often) = weights.iter().find(|(name, _)| *name == transaction.name)?;
        (transaction.weight, transaction.rate) = match how_often {
            // A transaction with weight 0 is not part of the mix.
            MixFrequency::Weight(0) => return None,
            MixFrequency::Weight(weight) => (*weight, None),
            MixFrequency::Rate(rate) => (0, Some(*rate)),
        };
        Some(transaction)
    };
    Ok(transactions.into_iter().filter_map(with_weight).collect())
}

/// How often a transaction occurs in a mix.
enum MixFrequency {
    /// Its weight relative to the others.
    Weight(u64),
    /// Its own rate, in transactions per second.
    Rate(Rate),
}

/// How often each transaction of a mix occurs.
fn weights(
    item: &TomlItem<'_>,
    transactions: &[Transaction],
) -> Result<Vec<(String, MixFrequency)>, WorkloadError> {
    let table = item.table("transactions with their weights: { read = 50, update = 50 }")?;
    let mut weights = Vec::new();
    for weight in table.items() {
        let name = weight.own_name();
        if !transactions.iter().any(|transaction| transaction.name == name) {
            let transaction_names: Vec<&str> =
                transactions.iter().map(|transaction| transaction.name.as_str()).collect();
            return Err(weight.unknown("unknown transaction", &transaction_names));
        }
        let how_often = match weight.as_text() {
            Some(_) => MixFrequency::Rate(rate(&weight)?),
            None => MixFrequency::Weight(weight.whole(0, WEIGHT_MAX)?.unsigned_abs()),
        };
        weights.push((name.to_owned(), how_often));
    }
    let has_rate = weights.iter().any(|(_, one)| matches!(one, MixFrequency::Rate(_)));
    match weights.iter().any(|(_, one)| matches!(one, MixFrequency::Weight(1..))) {
        true => Ok(weights),
        false => Err(no_weight(item, has_rate)),
    }
}

/// The error when no transaction is left for the sessions of the run.
pub(super) fn no_weight(item: &TomlItem<'_>, has_rate: bool) -> WorkloadError {
    match has_rate {
        false => item.fault("all weights are 0", "give one of them a weight"),
        true => item.fault(
            "no transaction remains for the sessions of the run: each has its own rate or the weight 0",
            "give one of them a weight; workload.rate of the plan is the rate of the transactions with \
             weights",
        ),
    }
}
