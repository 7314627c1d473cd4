//! Tests of order entry: rows as in clause 4.3 of TPC-C, non-uniform numbers, shuffled transactions, think
//! times, and options.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use dyno_engine::{Rows, SessionRequest, Value};

use super::read;
use crate::custom::{ActorStep, CustomActor, CustomWorkload, DescribedTable, WorkloadChoice};

/// Order entry with these options.
fn orders(options: &[&str]) -> Result<Arc<CustomWorkload>, String> {
    let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
    let choice = WorkloadChoice { options: &options, ..WorkloadChoice::default() };
    CustomWorkload::read_as(Path::new("@orders"), choice).map(Arc::new).map_err(|fault| fault.to_string())
}

fn table<'a>(workload: &'a CustomWorkload, name: &str) -> &'a DescribedTable {
    workload.tables().iter().find(|table| table.name() == name).expect("it is described")
}

/// The values of these columns in each of the first `count` rows.
fn rows(table: &DescribedTable, columns: &[&str], count: u64) -> Vec<Vec<String>> {
    let place = |name: &&str| table.columns().iter().position(|column| column.name == **name);
    let places: Vec<usize> = columns.iter().map(|name| place(name).expect("a column")).collect();
    let mut maker = table.row_maker();
    let mut all = Vec::new();
    for number in 1..=count.min(table.rows()) {
        maker.make(number);
        let text = |&place: &usize| match maker.value(place) {
            Value::Int(number) => number.to_string(),
            Value::Text(text) => String::from_utf8_lossy(text).into_owned(),
            Value::Null => "NULL".to_owned(),
            other => panic!("{other:?}"),
        };
        all.push(places.iter().map(text).collect());
    }
    all
}

#[test]
fn order_entry_population_matches_specification() {
    let workload = orders(&[]).expect("it is read");
    let names = rows(table(&workload, "customer"), &["c_id", "c_last", "c_credit"], 3_000);
    assert_eq!(names[0][1], "BARBARBAR");
    assert_eq!(names[371][1], "PRICALLYOUGHT");
    let first: BTreeSet<&String> = names[..1_000].iter().map(|row| &row[1]).collect();
    assert_eq!(first.len(), 1_000, "the first thousand of a district have all names");
    let all: BTreeSet<&String> = names.iter().map(|row| &row[1]).collect();
    assert_eq!(all.len(), 1_000);
    let bad = names.iter().filter(|row| row[2] == "BC").count();
    assert!((200..400).contains(&bad), "{bad} of 3,000");

    let original = |rows: Vec<Vec<String>>| rows.iter().filter(|row| row[0].contains("ORIGINAL")).count();
    let items = original(rows(table(&workload, "item"), &["i_data"], 10_000));
    assert!((850..1_150).contains(&items), "{items} of 10,000");

    let orders = rows(table(&workload, "orders"), &["o_id", "o_c_id", "o_carrier_id", "o_ol_cnt"], 6_000);
    for district in orders.chunks(3_000) {
        let customers: BTreeSet<&String> = district.iter().map(|row| &row[1]).collect();
        assert_eq!(customers.len(), 3_000, "each customer has an order");
    }
    assert_ne!(orders[0][1], orders[3_000][1], "in another order in each district");
    let is_new = |row: &Vec<String>| row[0].parse::<u32>().expect("a number") > 2_100;
    assert!(orders.iter().all(|row| (row[2] == "NULL") == is_new(row)));
}

#[test]
fn order_lines_match_orders_at_any_chunk_start() {
    let workload = orders(&[]).expect("it is read");
    let counts = rows(table(&workload, "orders"), &["o_id", "o_d_id", "o_ol_cnt"], 30_000);
    let lines = table(&workload, "order_line");
    let sum: u64 = counts.iter().map(|row| row[2].parse::<u64>().expect("a number")).sum();
    assert_eq!(lines.rows(), sum);
    let columns = ["ol_o_id", "ol_d_id", "ol_number", "ol_amount", "ol_delivery_d"];
    let all = rows(lines, &columns, u64::MAX);
    let mut line_counts: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    for row in &all {
        let count = line_counts.entry((&row[1], &row[0])).or_default();
        *count += 1;
        assert_eq!(row[2], count.to_string(), "lines are 1, 2, 3, …");
        let is_new = row[0].parse::<u32>().expect("a number") > 2_100;
        assert_eq!((row[4] == "NULL", row[3] != "0.00"), (is_new, is_new), "{row:?}");
    }
    for row in &counts {
        assert_eq!(line_counts[&(row[1].as_str(), row[0].as_str())].to_string(), row[2]);
    }
    // A part that begins anywhere has the same rows.
    let mut maker = lines.row_maker();
    for number in [sum, 1, sum / 2, sum / 2 + 1, 12_345, 300] {
        maker.make(number);
        assert_eq!(maker.value(0), Value::Int(all[number as usize - 1][0].parse().expect("a number")));
    }
}

/// The value of `last` from the run's constant for last names, and from the load's constant.
fn constants(workload: &Arc<CustomWorkload>, seed: u64, session: u32) -> (i64, i64) {
    let actor = CustomActor::new(workload, "sqlite", seed, session).expect("SQL");
    (actor.number("c_last_run"), actor.number("c_load"))
}

#[test]
fn run_constant_differs_from_load_constant_as_specified() {
    let workload = orders(&[]).expect("it is read");
    let mut differences = BTreeSet::new();
    for seed in 0..2_000 {
        let (run, load) = constants(&workload, seed, 0);
        let apart = run.abs_diff(load);
        assert!((65..=119).contains(&apart), "{run} and {load}");
        assert!(apart != 96, "{run} and {load}");
        assert!(apart != 112, "{run} and {load}");
        assert!((0..=255).contains(&run));
        assert_eq!(constants(&workload, seed, 7).0, run, "it is the same for all sessions");
        differences.insert(apart);
    }
    assert_eq!(differences.len(), 53, "every difference that is allowed is drawn");
}

#[test]
fn order_mix_deck_is_dealt_with_keying_and_think_times() {
    let workload = orders(&["terminals=true"]).expect("it is read");
    let mut actor = CustomActor::new(&workload, "sqlite", 1, 3).expect("SQL");
    let keying_s = [18.0, 3.0, 2.0, 2.0, 2.0];
    let think_s = [12.0, 12.0, 10.0, 5.0, 5.0];
    let (mut dealt, mut rests) = (vec![0; 5], Vec::new());
    let deals: usize = 23 * 200;
    let mut classes = Vec::new();
    for _ in 0..deals {
        let class = actor.draw().place().expect("a transaction");
        dealt[class] += 1;
        classes.push(class);
        rests.push(actor.think_ns() as f64 / 1e9);
    }
    assert_eq!(dealt, [2_000, 2_000, 200, 200, 200]);
    let mut thought = [0.0; 5];
    for (turn, pair) in classes.windows(2).enumerate() {
        let think = rests[turn] - keying_s[pair[1]];
        assert!(think >= -1e-6, "{think}");
        assert!(think <= 10.0 * think_s[pair[0]] + 1e-6, "{think}");
        thought[pair[0]] += think;
    }
    for class in 0..5 {
        let mean = thought[class] / f64::from(dealt[class]);
        assert!((mean / think_s[class] - 1.0).abs() < 0.3, "{class}: {mean}");
    }
}

#[test]
fn orders_use_any_remote_warehouse_and_one_percent_are_invalid() {
    let options: &[String] = &["requests=batched".to_owned()];
    let choice = WorkloadChoice { scale: Some(7), options, ..WorkloadChoice::default() };
    let workload = Arc::new(CustomWorkload::read_as(Path::new("@orders"), choice).expect("it is read"));
    let mut actor = CustomActor::new(&workload, "postgres", 5, 0).expect("SQL");
    let (mut remote, mut wrong, mut away) = (BTreeSet::new(), 0, 0);
    let turns = 20_000;
    for _ in 0..turns {
        actor.draw_of(0);
        let _ = actor.step(None);
        let home = actor.number("w_id");
        let lines = actor.number("lines");
        assert!((5..=15).contains(&lines));
        for line in 1..=lines {
            let supply = actor.number(&format!("supply_{line}"));
            assert!((1..=7).contains(&supply));
            if supply != home {
                remote.insert((home, supply));
                away += 1;
                assert_eq!(actor.number("all_local"), 0);
            }
        }
        wrong += i64::from(actor.number(&format!("item_{lines}")) == -1);
    }
    assert_eq!(remote.len(), 7 * 6, "every other warehouse is one that goods come from");
    assert!((150..250).contains(&wrong), "{wrong} of {turns} orders");
    assert!((1_700..2_300).contains(&away), "{away} of about 200,000 lines");
}

#[test]
fn order_entry_request_count_depends_on_options() {
    let trips = |options: &[&str], engine: &str| {
        let workload = orders(options).unwrap_or_else(|fault| panic!("{fault}"));
        let facts = workload.transaction_facts(engine);
        facts.iter().map(|one| one.requests).collect::<Vec<_>>()
    };
    assert_eq!(trips(&[], "sqlite")[0], (27, Some(67)));
    assert_eq!(trips(&["like=go-tpc"], "postgres")[0], (15, Some(25)));
    assert_eq!(trips(&["like=hammerdb"], "mysql"), [(3, Some(3)); 5], "begin, call, commit");
    let options = ["like=hammerdb".to_owned(), "deferred=true".to_owned()];
    let choice = WorkloadChoice { options: &options, mix: Some("deliverers"), ..WorkloadChoice::default() };
    let deliverers =
        CustomWorkload::read_as(Path::new("@orders"), choice).expect("it is read").transaction_facts("mysql");
    let facts: Vec<_> = deliverers.iter().map(|one| (one.class.as_str(), one.requests)).collect();
    assert_eq!(facts, [("delivery", (6, Some(6)))], "begin, look, note, take out, call, commit");
    let go_tpc_workload = orders(&["like=go-tpc", "lock_stock=false"]).expect("it is read");
    let options = go_tpc_workload.options(false);
    assert_eq!(options["lock_stock"], "false");
    assert_eq!(options["requests"], "batched");
    assert_eq!(go_tpc_workload.facts().version().split_once(' ').expect("a name").0, "orders");
    assert!(go_tpc_workload.facts().version().ends_with("weights=45, 43, 4, 4, 4"));
    let fault = |options: &[&str]| orders(options).expect_err("it is wrong");
    assert!(fault(&["lock_stok=true"]).contains("did you mean lock_stock?"));
    assert!(fault(&["lock_stock=maybe"]).contains("write one of true, false"));
    assert!(fault(&["like=gotpc"]).contains("unknown set of options gotpc"));
    assert!(fault(&["drive=server", "lock_stock=false"]).contains("procedures lock"));
}

#[test]
fn nested_step_list_counts_as_part_of_the_outer_list() {
    // The first value is the default.
    let request_count = |values: &str, inner: &str| {
        let steps = format!("steps = [{{ sql = \"SELECT 1\" }}, {inner}, {{ sql = \"SELECT 2\" }}]");
        let toml = format!("name = \"w\"\n[option]\na = [{values}]\n[transaction.t]\n{steps}\n");
        read(&[("workload.toml", &toml)]).map(|own| own.transaction_facts("sqlite")[0].requests.0)
    };
    let option_step = "{ by = \"a\", true = [{ sql = \"SELECT 3\" }, [{ sql = \"SELECT 4\" }]], false = [] }";
    let (with, without) = (
        request_count("true, false", option_step).expect("it is read"),
        request_count("false, true", option_step).expect("it is read"),
    );
    assert_eq!(with, without + 2);
    let fault = request_count("true, false", "[7]").expect_err("7 is no step");
    assert!(fault.starts_with("w/workload.toml:5:"), "{fault}");
}

#[test]
fn invalid_option_errors_name_their_position() {
    let error_of = |text: &str| {
        let toml = format!("name = \"w\"\n{text}\n[transaction.t]\nsql = \"SELECT 1\"\n");
        read(&[("workload.toml", &toml)]).expect_err("it is wrong")
    };
    let cases = [
        (
            "[option]\na = []",
            "w/workload.toml:3:1: option.a: not a list of values; write a list whose first value is the default: lock = [true, false]",
        ),
        ("deck = { by = \"a\" }", "w/workload.toml:2:8: by: unknown option a"),
        (
            "deck = { by = \"a\", true = true }\n[option]\na = [true, false]",
            "w/workload.toml:2:8: it has no entry for a = false; write a value for it",
        ),
        (
            "deck = { by = \"a\", yes = true }\n[option]\na = [true, false]",
            "w/workload.toml:2:8: yes is not a value of the option a; available: true, false",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(error_of(text), expected);
    }
}

#[test]
fn order_entry_rolls_back_or_skips_where_rows_are_missing() {
    // One order has a line with a missing item and is rolled back, which is not a failure.
    let workload = orders(&[]).expect("it is read");
    let mut actor = CustomActor::new(&workload, "sqlite", 1, 0).expect("SQL");
    actor.draw_of(0);
    let mut last = None;
    let mut execute_count = 0;
    while let Some(step) = actor.step(last) {
        actor.request(step, |request| {
            execute_count += u32::from(matches!(request, SessionRequest::Execute(..)));
        });
        let rows = u64::from(execute_count != 6);
        last = Some(dyno_engine::RequestCompletion { rows, commit_began_ns: None });
        if let ActorStep::Rollback = step {
            break;
        }
    }
    assert_eq!(actor.outcome().effect.rolled_back, 1);
    // A delivery without new orders skips every district.
    actor.draw_of(3);
    let mut last = None;
    while actor.step(last).is_some() {
        last = Some(dyno_engine::RequestCompletion { rows: 0, commit_began_ns: None });
    }
    assert_eq!(actor.outcome().effect.tallied, 10);
}
