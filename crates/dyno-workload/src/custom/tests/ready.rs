//! Tests of the embedded workloads.

use super::read;
use crate::custom::InvariantTiming;
use crate::custom::example::EXAMPLES;

/// The error for a workload of two transactions with these lines at its top.
fn of(text: &str) -> String {
    let toml = format!(
        "name = \"w\"\n{text}\n[transaction.look]\nsql = \"SELECT 1\"\n[transaction.see]\nsql = \"SELECT 2\"\n"
    );
    read(&[("workload.toml", &toml)]).expect_err("what is wrong")
}

#[test]
fn example_workloads_are_complete_on_every_engine() {
    for example in EXAMPLES {
        let workload = read(example.files).unwrap_or_else(|fault| panic!("{}: {fault}", example.name));
        assert_eq!(workload.name(), example.name);
        // The first one is an example of the format and has no SQL for Oracle.
        let engines = ["sqlite", "postgres", "mysql", "oracle"];
        for engine in &engines[..if example.name == "shop" { 3 } else { 4 }] {
            let case = format!("{} on {engine}", example.name);
            assert!(!workload.described(engine).expect(&case).is_empty(), "{case}");
            assert!(!workload.invariants(engine, InvariantTiming::Run).expect(&case).is_empty(), "{case}");
            workload.setup(engine).expect(&case);
            workload.teardown(engine).expect(&case);
            assert!(example.name == "shop" || !workload.tables().is_empty(), "{case}");
        }
        assert!(
            example.name == "shop" || workload.about().ends_with('?'),
            "{}: what it answers",
            example.name
        );
    }
}

#[test]
fn setup_names_the_kinds_of_objects_it_creates() {
    let kinds = |name: &str, engine: &str| {
        let example = EXAMPLES.iter().find(|example| example.name == name).unwrap();
        let custom_workload = read(example.files).unwrap();
        let setup = custom_workload.setup(engine).unwrap();
        setup.iter().filter_map(|single| single.created_kind()).collect::<std::collections::BTreeSet<_>>()
    };
    assert!(kinds("key-value", "oracle").contains("SEQUENCE"));
    assert!(!kinds("key-value", "sqlite").contains("SEQUENCE"));
    let written = "-- first\nCREATE OR REPLACE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1';\n\
                   CREATE UNIQUE INDEX i ON t (a);\nINSERT INTO t SELECT 1 AS view;\n";
    let toml = "name = \"w\"\n[setup]\nsql = \"setup.sql\"\n[transaction.look]\nsql = \"SELECT 1\"\n";
    let written_workload = read(&[("workload.toml", toml), ("setup.sql", written)]).unwrap();
    let setup = written_workload.setup("postgres").unwrap();
    let kinds: Vec<_> = setup.iter().map(|single| single.created_kind()).collect();
    assert_eq!(kinds, [Some("FUNCTION"), Some("INDEX"), None]);
}

#[test]
fn mix_without_writing_transactions_does_not_write() {
    let key_value = EXAMPLES.iter().find(|example| example.name == "key-value").expect("it is there");
    let writes = |mix: &str| {
        let toml = key_value.files[0].1.replace("mix = \"a\"", &format!("mix = \"{mix}\""));
        let files = [&[("workload.toml", toml.as_str())], &key_value.files[1..]].concat();
        read(&files).unwrap_or_else(|fault| panic!("{fault}")).writes()
    };
    assert_eq!(["a", "b", "c", "d", "e", "f"].map(writes), [true, true, false, true, true, true]);
    // The rest of a mix: the transaction `pay` updates rows and is left out.
    let rest = |sql: &str, mixes: &str| {
        let text = format!(
            "name = \"w\"\nwrites = true\n{mixes}[transaction.look]\nsql = \"{sql}\"\n\
             [transaction.pay]\nsql = \"UPDATE t SET a = 1\"\n"
        );
        read(&[("workload.toml", &text)]).unwrap_or_else(|fault| panic!("{fault}")).writes()
    };
    let look = "mix = \"looks\"\n[mixes]\nlooks = { look = 1 }\n";
    let mix_of_two = "mix = \"both\"\n[mixes]\nboth = { look = 1, pay = 1 }\n";
    for (sql, writes) in [
        ("SELECT a FROM t", false),
        ("SELECT substring(a for 3) FROM t", false),
        ("SELECT a FROM t FOR UPDATE", true),
        ("SELECT a FROM t for no key update", true),
        ("SELECT nextval('s')", true),
        ("CALL p()", true),
        ("WITH c AS (DELETE FROM t RETURNING a) SELECT a FROM c", true),
    ] {
        assert_eq!(rest(sql, look), writes, "{sql}");
        assert!(rest(sql, mix_of_two), "{sql}");
    }
    // A function may write: the workload declares it, and no transaction is left out.
    let function = "name = \"w\"\nwrites = true\n[transaction.pay]\nsql = \"SELECT pay()\"\n";
    assert!(read(&[("workload.toml", function)]).expect("a workload").writes());
}

#[test]
fn statement_without_table_is_listed_by_its_first_word() {
    let changes = |sql: &str| {
        let text = format!("name = \"w\"\nwrites = true\n[transaction.pay]\nsql = \"{sql}\"\n");
        let custom_workload = read(&[("workload.toml", &text)]).unwrap_or_else(|fault| panic!("{fault}"));
        custom_workload.changes("any").expect("SQL for all")
    };
    let pay = |touched: &str| vec![("pay".to_owned(), vec![touched.to_owned()])];
    assert_eq!(changes("do $$ BEGIN PERFORM pay(); END $$"), pay("DO"));
    assert_eq!(changes("UPDATE accounts SET a = 1"), pay("UPDATE accounts"));
}

#[test]
fn mix_selects_transactions_with_its_own_weights() {
    let key_value = EXAMPLES.iter().find(|example| example.name == "key-value").expect("it is there");
    let classes = |mix: &str| -> Vec<(String, Option<u32>)> {
        let chosen = format!("mix = \"{mix}\"");
        let toml = key_value.files[0].1.replace("mix = \"a\"", &chosen);
        let files = [&[("workload.toml", toml.as_str())], &key_value.files[1..]].concat();
        let custom_workload = read(&files).unwrap_or_else(|fault| panic!("{fault}"));
        let classes = custom_workload.classes();
        classes.of_operations().iter().map(|class| (class.name.clone(), class.share.percent)).collect()
    };
    let class_share = |name: &str, percent| (name.to_owned(), Some(percent));
    assert_eq!(classes("a"), [class_share("read", 50), class_share("update", 50)]);
    assert_eq!(classes("c"), [class_share("read", 100)]);
    assert_eq!(classes("e"), [class_share("insert", 5), class_share("scan", 95)]);
}

#[test]
fn invalid_mix_errors_name_their_position() {
    let cases = [
        (
            "mix = \"a\"",
            "2:7: mix: the workload has no mixes; write [mixes] with NAME = { TRANSACTION = 50 }",
        ),
        (
            "[mixes]\na = { look = 1 }",
            "2:2: mixes: no mix is chosen; write mix = \"NAME\" at the top; available: a",
        ),
        ("mix = \"b\"\n[mixes]\na = { look = 1 }", "2:8: unknown mix b; available: a"),
        (
            "mix = \"a\"\n[mixes]\na = { lok = 1 }",
            "4:7: mixes.a.lok: unknown transaction; did you mean look?",
        ),
        (
            "mix = \"a\"\n[mixes]\na = { look = 0 }",
            "4:5: mixes.a: all weights are 0; give one of them a weight",
        ),
        (
            "mix = \"a\"\n[mixes]\na = { look = 1.5 }",
            "4:14: mixes.a.look: 1.5 is not a whole number from 0 to 1000000",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(of(text), format!("w/workload.toml:{expected}"));
    }
}
