//! Tests synthetic repeats whose cause is known.

use dyno_record::{Metric, RunRecord, Unit};

use super::*;
use crate::fixture;

/// Repeats with these operations per second, each modified by `change`.
fn repeats(rates: &[f64], mut change: impl FnMut(usize, &mut RunRecord)) -> Vec<RunRecord> {
    let model = fixture::postgres();
    let make_run = |(place, &rate): (usize, &f64)| {
        let mut record = model.clone();
        record.metrics.insert(OPS.into(), Metric::Value { value: rate, unit: Unit::PerSecond });
        let blocks = Metric::Value { value: rate * 10.0, unit: Unit::BlocksPerSecond };
        record.metrics.insert("logical_reads_per_s".into(), blocks);
        record.counters.native.insert("pg_stat_database.xact_commit".into(), rate * 4.0);
        change(place, &mut record);
        record
    };
    rates.iter().enumerate().map(make_run).collect()
}

fn asked(records: &[RunRecord]) -> Option<RepeatVariation> {
    varied("a", &[], &records.iter().collect::<Vec<_>>())
}

fn causes(varied: &RepeatVariation) -> Vec<Cause> {
    varied.moved.iter().map(|moved| moved.cause).collect()
}

#[test]
fn changes_in_slower_runs_are_listed_with_figures() {
    let records = repeats(&[800.0, 1000.0, 810.0, 1010.0], |place, record| {
        // As in real records: unchanged counters are omitted.
        record.counters.native.retain(|name, _| !name.starts_with("pg_stat_bgwriter."));
        if place % 2 == 0 {
            record.counters.native.insert("pg_stat_bgwriter.checkpoints_req".into(), 1.0);
        }
    });
    let varied = asked(&records).unwrap();
    assert_eq!((causes(&varied), varied.runs), (vec![Cause::Checkpoints], 4));
    let moved = varied.moved[0];
    assert_eq!((moved.slower, moved.faster), (1.0, 0.0));
    assert!(moved.rho < -0.8, "{}", moved.rho);
    let words = varied.words();
    assert!(
        words.starts_with("a: operations of 4 repeats are 23 % apart; changed with it: checkpoints: 1.0 in"),
        "{words}"
    );
}

#[test]
fn opposite_or_small_changes_are_not_listed_as_causes() {
    let metric = |value| Metric::Value { value, unit: Unit::Percent };
    let rates = [800.0, 1000.0, 900.0, 1100.0];
    // More steal in the faster runs explains nothing, nor does a tenth of a percent.
    for steal in [[0.0, 5.0, 2.0, 9.0], [0.3, 0.1, 0.2, 0.0]] {
        let records = repeats(&rates, |place, record| {
            record.metrics.insert("cpu_steal_pct".into(), metric(steal[place]));
        });
        let varied = asked(&records).unwrap();
        assert!(varied.still.contains(&Cause::Steal), "{varied:?}");
        assert!(varied.words().contains("the cause is unknown"), "{}", varied.words());
    }
    let records = repeats(&rates, |place, record| {
        record.metrics.insert("cpu_steal_pct".into(), metric([9.0, 3.0, 6.0, 0.0][place]));
        record.metrics.insert("buffer_hit_pct".into(), metric([70.0, 90.0, 80.0, 99.0][place]));
    });
    assert_eq!(causes(&asked(&records).unwrap()), [Cause::CacheShare, Cause::Steal]);
}

#[test]
fn causes_missing_from_records_or_too_few_runs_are_unknown() {
    let records = repeats(&[800.0, 1000.0, 900.0, 1100.0], |place, record| {
        record
            .counters
            .native
            .retain(|name, _| !name.contains("checkpoint") && !name.starts_with("pg_stat_io."));
        if place == 2 {
            record.metrics.remove("cpu_steal_pct");
        }
    });
    let varied = asked(&records).unwrap();
    // Views of checkpoints are always readable, that of autovacuum's reads is not.
    assert!(varied.still.contains(&Cause::Checkpoints));
    assert!(varied.unknown.contains(&Cause::Cleaning));
    assert!(varied.unknown.contains(&Cause::Steal));
    let words = varied.words();
    assert!(words.contains("unknown: autovacuum or purge"), "{words}");
    let without = repeats(&[800.0, 1000.0, 900.0, 1100.0], |_, record| record.counters.native.clear());
    assert!(asked(&without).unwrap().unknown.contains(&Cause::Checkpoints));
    let few = asked(&records[..2]).unwrap();
    assert!(few.moved.is_empty(), "{}", few.words());
    assert!(few.words().contains("too few runs to explain the spread"), "{}", few.words());
}

#[test]
fn agreeing_repeats_raise_no_question() {
    assert_eq!(asked(&repeats(&[1000.0, 1040.0, 980.0, 1010.0], |_, _| ())), None);
    assert_eq!(asked(&[]), None);
}
