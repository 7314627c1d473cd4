//! `[mixes]`: sets of weights and rates under names, of which one is run.

use super::fault::Fault;
use super::names::{NAME, is_name, meant, shown};
use super::read_transaction::{WEIGHT_MAX, rate};
use super::table::{Item, Table};
use super::transaction::Transaction;
use dyno_plan::Rate;

/// The transactions that are run: all, or those of the mix with the name `asked`, or the one that the workload names, with its
/// weights.
///
/// # Errors
/// A mix is wrong, or the one that is chosen is not there.
pub(super) fn chosen(
    transactions: Vec<Transaction>,
    top: &Table<'_>,
    asked: Option<&str>,
) -> Result<Vec<Transaction>, Fault> {
    let own = top.get("mix");
    let Some(mixes) = top.get("mixes") else {
        let hint = "write [mixes] with NAME = { TRANSACTION = 50 }";
        return match (own, asked) {
            (None, None) => Ok(transactions),
            (Some(own), _) => Err(own.fault("there are no mixes", hint)),
            (None, Some(_)) => Err(top.fault("there are no mixes", hint)),
        };
    };
    let mixes = &mixes.table("[mixes]")?;
    let mut all = Vec::new();
    for item in mixes.items() {
        let name = item.own_name();
        if !is_name(name) {
            return Err(item.unknown("no name for a mix", &[]).hint(NAME));
        }
        all.push((name, weights(&item, &transactions)?));
    }
    let names = || all.iter().map(|(name, _)| *name);
    let named = |name: &str| all.iter().find(|(known, _)| *known == name);
    let no_mix = |name: &str| (format!("there is no mix {}", shown(name)), meant(name, names()));
    let own = own.map(|own| own.text("the name of a mix")).transpose()?;
    if let Some(own) = own.as_ref().filter(|own| named(&own.letters).is_none()) {
        let (problem, hint) = no_mix(&own.letters);
        return Err(own.fault(0, problem, hint));
    }
    let Some(name) = asked.or(own.as_ref().map(|own| &*own.letters)) else {
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
            // What never comes is not of the mix.
            HowOften::Weight(0) => return None,
            HowOften::Weight(weight) => (*weight, None),
            HowOften::Rate(rate) => (0, Some(*rate)),
        };
        Some(transaction)
    };
    Ok(transactions.into_iter().filter_map(with_weight).collect())
}

/// How often a transaction comes in a mix.
enum HowOften {
    /// Against the others.
    Weight(u64),
    /// At a rate of its own.
    Rate(Rate),
}

/// How often each transaction of a mix comes.
fn weights(item: &Item<'_>, transactions: &[Transaction]) -> Result<Vec<(String, HowOften)>, Fault> {
    let table = item.table("transactions with their weights: { read = 50, update = 50 }")?;
    let mut weights = Vec::new();
    for weight in table.items() {
        let name = weight.own_name();
        if !transactions.iter().any(|transaction| transaction.name == name) {
            let known: Vec<&str> = transactions.iter().map(|transaction| transaction.name.as_str()).collect();
            return Err(weight.unknown("there is no such transaction", &known));
        }
        let how_often = match weight.as_text() {
            Some(_) => HowOften::Rate(rate(&weight)?),
            None => HowOften::Weight(weight.whole(0, WEIGHT_MAX)?.unsigned_abs()),
        };
        weights.push((name.to_owned(), how_often));
    }
    let has_rate = weights.iter().any(|(_, one)| matches!(one, HowOften::Rate(_)));
    match weights.iter().any(|(_, one)| matches!(one, HowOften::Weight(1..))) {
        true => Ok(weights),
        false => Err(no_weight(item, has_rate)),
    }
}

/// What is wrong where no transaction is left for the sessions of the run.
pub(super) fn no_weight(item: &Item<'_>, has_rate: bool) -> Fault {
    match has_rate {
        false => item.fault("all weights are 0", "give one of them a weight"),
        true => item.fault(
            "no transaction is left for the sessions of the run: each has a rate of its own, or the weight 0",
            "give one a weight; workload.rate of the plan is the rate of those with weights",
        ),
    }
}
