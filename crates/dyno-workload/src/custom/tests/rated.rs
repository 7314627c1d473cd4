//! Tests of transactions with their own rates: which part of a workload contains them, and what is refused.

use std::path::Path;

use super::read;
use crate::custom::{CustomWorkload, RatedTransaction, TransactionFilter, WorkloadChoice};

const TEXT: &str = r#"
name = "w"
writes = true

[transaction.look]
weight = 3
sql = "SELECT 1"

[transaction.scan]
sql = "SELECT 2"

[transaction.purge]
rate = "0.5/s"
sql = "DELETE FROM t"

[transaction.audit]
rate = "20/s"
sessions = 4
sql = "SELECT 3"
"#;

/// The error for a transaction with these keys, or for the chosen mix.
fn fault(keys: &str, more: &str) -> String {
    let text = format!(
        "name = \"w\"\n{more}\n[transaction.t]\n{keys}\nsql = \"SELECT 1\"\n[transaction.u]\nsql = \"SELECT 1\"\n"
    );
    read(&[("workload.toml", &text)]).err().unwrap_or_else(|| panic!("it was read:\n{text}"))
}

fn part(folder: &Path, mix: Option<&str>, part: TransactionFilter<'_>) -> CustomWorkload {
    let choice = WorkloadChoice { mix, part, ..WorkloadChoice::default() };
    CustomWorkload::read_as(folder, choice).unwrap_or_else(|fault| panic!("{fault}"))
}

fn classes(workload: &CustomWorkload) -> Vec<(String, Option<u32>)> {
    workload.classes().of_operations().iter().map(|class| (class.name.clone(), class.share.percent)).collect()
}

#[test]
fn transactions_with_a_rate_form_separate_parts() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("workload.toml"), TEXT).expect("a file");
    let read_part = |one: TransactionFilter<'_>| part(folder.path(), None, one);
    let (all, weighed) = (read_part(TransactionFilter::All), read_part(TransactionFilter::Weighed));
    let named = |name: &str, rate, sessions| RatedTransaction {
        name: name.to_owned(),
        rate: dyno_plan::Rate(rate),
        sessions,
    };
    let rated = [named("purge", 0.5, 1), named("audit", 20.0, 4)];
    assert_eq!((all.rated(), weighed.rated()), (&rated[..], &rated[..]));
    let share = |name: &str, percent| (name.to_owned(), Some(percent));
    assert_eq!(classes(&all), [share("look", 75), share("scan", 25), share("purge", 0), share("audit", 0)]);
    assert_eq!(classes(&weighed), [share("look", 75), share("scan", 25)]);
    // Alone it is the only transaction, under its own name, or under that of the workload if there are
    // others.
    let alone = read_part(TransactionFilter::Only("audit"));
    assert_eq!((classes(&alone), alone.facts().name), (vec![share("audit", 100)], "w.audit".to_owned()));
    assert_eq!(alone.weights().collect::<Vec<_>>(), [1]);
    let labelled = alone.labelled("w_2".into());
    assert_eq!(
        (classes(&labelled), labelled.facts().name),
        (vec![share("w_2.audit", 100)], "w_2.audit".to_owned())
    );
    // Changes are listed only for the part that makes them.
    let changes = |one: TransactionFilter<'_>| read_part(one).changes("any").expect("SQL for all").len();
    assert_eq!(
        (
            changes(TransactionFilter::Weighed),
            changes(TransactionFilter::Only("purge")),
            changes(TransactionFilter::All)
        ),
        (0, 1, 1)
    );
    let described = all.described("any").expect("SQL for all");
    assert_eq!(described.iter().filter_map(|one| one.rated.clone()).collect::<Vec<_>>(), rated);
}

#[test]
fn a_mix_gives_weights_and_rates() {
    let folder = tempfile::tempdir().expect("a folder");
    let mixes = "mix = \"a\"\n[mixes]\na = { look = 1, audit = \"7/s\" }\nb = { audit = 1, purge = 1 }\n";
    let text = TEXT.replace("writes = true\n", &format!("writes = true\n{mixes}"));
    std::fs::write(folder.path().join("workload.toml"), text).expect("a file");
    let read_mix = |mix: &str| part(folder.path(), Some(mix), TransactionFilter::Weighed);
    assert_eq!(classes(&read_mix("a")), [("look".to_owned(), Some(100))]);
    let audit = RatedTransaction { name: "audit".to_owned(), rate: dyno_plan::Rate(7.0), sessions: 4 };
    assert_eq!((read_mix("a").rated(), read_mix("b").rated()), (&[audit][..], &[][..]));
    assert_eq!(classes(&read_mix("b")), [("purge".to_owned(), Some(50)), ("audit".to_owned(), Some(50))]);
}

#[test]
fn settings_that_contradict_a_rate_are_reported_with_location() {
    for (told, expected) in [
        (
            fault("rate = \"5/s\"\nweight = 2", ""),
            "5:10: transaction.t.weight: the transaction has its own rate, so a weight does not apply; \
             remove weight or rate",
        ),
        (
            fault("rate = \"5/s\"\nthink = \"1ms\"", ""),
            "5:9: transaction.t.think: transactions are due at 5/s, so think times do not apply; remove \
             think and keying, or rate",
        ),
        (
            fault("sessions = 2", ""),
            "4:12: transaction.t.sessions: sessions apply only to a transaction with its own rate; write \
             rate = \"100/s\" too; all other transactions share the sessions of run.sessions_per_schema",
        ),
        (fault("rate = 5", ""), "4:8: transaction.t.rate: not a text; write \"100/s\""),
        (
            fault("rate = \"5\"", ""),
            "4:8: transaction.t.rate: \"5\" is not a rate: write a number above zero and `/s` (`5000/s`, `0.5/s`), below 10^12/s",
        ),
        (
            fault("rate = \"1000000000/s\"", ""),
            "4:8: transaction.t.rate: 1000000000/s is not from 0.001/s to 100000000/s",
        ),
        (
            fault("rate = \"5/s\"\nsessions = 0", ""),
            "5:12: transaction.t.sessions: 0 is not a whole number from 1 to 10000",
        ),
        (
            fault("weight = 0", "mix = \"m\"\n[mixes]\nm = { t = \"5/s\" }"),
            "4:5: mixes.m: no transaction remains for the sessions of the run: each has its own rate or the \
             weight 0; give one of them a weight; workload.rate of the plan is the rate of the transactions \
             with weights",
        ),
        (
            fault("weight = 0", "mix = \"m\"\n[mixes]\nm = { t = \"often\", u = 1 }"),
            "4:11: mixes.m.t: \"often\" is not a rate: write a number above zero and `/s` (`5000/s`, `0.5/s`), below 10^12/s",
        ),
    ] {
        assert_eq!(told, format!("w/workload.toml:{expected}"));
    }
}
