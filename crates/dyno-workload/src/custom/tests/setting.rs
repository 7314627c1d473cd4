//! Tests of steps that set values, sleep, or form one transaction among statements that commit separately.

use std::sync::Arc;

use dyno_engine::{RequestCompletion, SessionRequest, Value};

use super::{read, workload};
use crate::custom::{ActorStep, CustomActor, CustomWorkload};

/// The requests of one transaction.
fn asked(actor: &mut CustomActor) -> Vec<String> {
    actor.draw();
    let (mut all, mut last) = (Vec::new(), None);
    while let Some(step) = actor.step(last) {
        last = match step {
            ActorStep::Rest(ns) => {
                all.push(format!("rest {ns}"));
                None
            }
            step => {
                all.push(actor.request(step, |request| match request {
                    SessionRequest::Execute(statement, values) => {
                        let value_text = |value: &Value<'_>| match value {
                            Value::Int(number) => number.to_string(),
                            other => format!("{other:?}"),
                        };
                        let values: Vec<String> = values.iter().map(value_text).collect();
                        format!("{}({})", statement.0, values.join(","))
                    }
                    other => format!("{other:?}").to_lowercase(),
                }));
                Some(RequestCompletion { rows: 1, commit_began_ns: None })
            }
        };
    }
    all
}

fn actor(workload: &Arc<CustomWorkload>) -> CustomActor {
    CustomActor::new(workload, "any", 1, 0).unwrap_or_else(|fault| panic!("{fault}"))
}

#[test]
fn set_steps_take_effect_in_order_and_per_transaction() {
    let steps = r#"
steps = [
  { set = "x", expr = "n + 1" },
  { set = "r", expr = 0.5 },
  { sql = "SELECT :x, :r, :y" },
  { set = "x", expr = "x * 10" },
  { repeat = 2, counter = "turn", steps = [{ set = "x", expr = "x + turn" }, { sql = "SELECT :x, :y" }] },
  { if = "x > 100", steps = [{ set = "r", expr = "x" }] },
  { sql = "SELECT :r" },
]"#;
    let custom_workload = workload("n = 6\ny = { expr = \"x % 7\" }", steps);
    let mut actor = actor(&custom_workload);
    let first = asked(&mut actor);
    let begin = "begin(platform)";
    assert_eq!(first, [begin, "0(7,Real(0.5),0)", "1(71,1)", "1(73,3)", "2(Real(0.5))", "commit"]);
    assert_eq!(asked(&mut actor), first, "the next transaction begins with nothing of it");
}

#[test]
fn variable_value_persists_only_in_its_session() {
    let custom_workload = workload(
        "v = { variable = 5 }\ntwice = { expr = \"v * 2\" }",
        "commit = \"each\"\nsteps = [{ set = \"v\", expr = \"v + 1\" }, { sql = \"SELECT :v, :twice\" }]",
    );
    let (mut one, mut other) = (actor(&custom_workload), actor(&custom_workload));
    assert_eq!(asked(&mut one), ["0(6,12)"]);
    assert_eq!(asked(&mut one), ["0(7,14)"]);
    assert_eq!(asked(&mut other), ["0(6,12)"]);
}

#[test]
fn sleep_steps_have_units_and_are_never_negative() {
    let custom_workload = workload(
        "n = 3",
        "commit = \"each\"\nsteps = [{ sleep = \"10ms\" }, { sql = \"SELECT 1\" }, { sleep = \"n * 2\", unit = \"us\" }, \
         { sleep = \"n - 9\", unit = \"s\" }, { sleep = \"0.5\", unit = \"ms\" }, { sleep = \"100000\", unit = \"s\" }]",
    );
    let mut actor = actor(&custom_workload);
    assert!(actor.thinks());
    assert_eq!(asked(&mut actor), ["rest 10000000", "0()", "rest 6000", "rest 500000", "rest 3600000000000"]);
}

#[test]
fn grouped_steps_form_one_transaction_in_autocommit_mode() {
    let custom_workload = workload(
        "",
        "commit = \"each\"\nsteps = [{ sql = \"UPDATE t SET a = 1\" }, { transaction = [{ sql = \"UPDATE t SET a = 2\" }, \
         { sql = \"UPDATE t SET a = 3\" }], isolation = \"serializable\" }, { sql = \"SELECT 1\" }]",
    );
    let mut actor = actor(&custom_workload);
    assert_eq!(asked(&mut actor), ["0()", "begin(serializable)", "1()", "2()", "commit", "3()"]);
    let effect = actor.outcome().effect;
    assert_eq!((effect.commits, effect.transactions, effect.rows), (2, 3, [1, 3, 0, 0]));
    let lines = custom_workload.described("any").expect("SQL").remove(0);
    assert_eq!(lines.round_trips, (6, Some(6)));
    assert_eq!(lines.steps[1], "one transaction");
}

#[test]
fn set_steps_redraw_values_and_repeat_them_with_the_same_seed() {
    let custom_workload = workload(
        "v = { variable = 0 }",
        "commit = \"each\"\nsteps = [{ set = \"x\", expr = \"random(1, 1000000000)\" }, { sql = \"SELECT :x\" }, \
         { set = \"x\", expr = \"random(1, 1000000000)\" }, { sql = \"SELECT :x\" }]",
    );
    let (mut one, mut other) = (actor(&custom_workload), actor(&custom_workload));
    let first = asked(&mut one);
    assert_ne!(first[0], first[1].replace("1(", "0("));
    assert_eq!(asked(&mut other), first);
    assert_ne!(asked(&mut one), first);
}

#[test]
fn set_sleep_and_transaction_step_errors_are_located() {
    let fault_of = |steps: &str| {
        let text = format!(
            "name = \"w\"\n[draw]\nn = 1\nw = {{ variable = 1 }}\nx = {{ text = 3 }}\n[transaction.t]\ncommit = \"each\"\nsteps = [\n{steps},\n{{ sql = \"SELECT 1\" }}]\n"
        );
        read(&[("workload.toml", &text)]).err().unwrap_or_default()
    };
    let cases = [
        (
            "{ set = \"n\", expr = \"1\" }",
            "9:9: transaction.t.steps.set: n is drawn; give the number another name, or draw `n = { variable = 0 }`",
        ),
        (
            "{ set = \"1x\", expr = \"1\" }",
            "9:9: transaction.t.steps.set: \"1x\" is not a valid name; a name has letters, digits and \
             underscores, starts with a letter, and has at most 40 characters",
        ),
        (
            "{ set = \"y\" }",
            "9:1: transaction.t.steps: expr is missing; write what it is from here on: expr = \"x + 1\"",
        ),
        (
            "{ set = \"y\", expr = \"x + 1\" }",
            "9:22: x is not a number; name a number, or a number that a step reads",
        ),
        ("{ set = \"y\", expr = \"z + 1\" }", "9:22: unknown name \"z\"; available: n, w, x, y"),
        (
            "{ set = \"y\", expr = \"y + 1\" }",
            "9:22: y is not read before; read it in a step before this one",
        ),
        (
            "{ set = \"w\", expr = \"0.5\" }",
            "9:21: transaction.t.steps.expr: w is a whole number, but this value is not; write `variable = \
             0.0`, or int(…) or round(…) here",
        ),
        (
            "{ sleep = \"10\" }",
            "9:11: transaction.t.steps.sleep: \"10\" is not a duration: write a number with its unit ms, s, m or h (`500ms`, `30s`, `5m`), less than ten years",
        ),
        ("{ sleep = \"2h\" }", "9:11: transaction.t.steps.sleep: longer than an hour; write a shorter time"),
        (
            "{ sleep = \"n\", unit = \"h\" }",
            "9:23: transaction.t.steps.unit: unknown unit \"h\"; us, ms or s",
        ),
        (
            "{ transaction = [{ transaction = [{ sql = \"SELECT 2\" }] }] }",
            "9:34: a transaction within a transaction; remove `transaction`, or write commit = \"each\" for \
             the steps around it",
        ),
        ("{ transaction = [] }", "9:17: transaction.t.steps.transaction: there is no step; write one"),
    ];
    let wrong: Vec<String> = cases
        .iter()
        .map(|(steps, expected)| (fault_of(steps), format!("w/workload.toml:{expected}")))
        .filter(|(told, expected)| told != expected)
        .map(|(told, expected)| format!("told     {told}\nexpected {expected}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn expression_functions_and_operators_have_expected_values() {
    let cases = [
        ("round(2.5)", "2"),
        ("round(-2.6)", "-3"),
        ("int(-2.6)", "-2"),
        ("sqrt(n * 1.5)", "Real(3.0)"),
        ("sqrt(-1)", "Real(0.0)"),
        ("ln(exp(0)) + pow(n, 2)", "Real(36.0)"),
        ("max(1, n, 3) - min(n, 4, 5, 2)", "4"),
        ("if(n > 5, 1, 2) + if(n = 0, 10, 20)", "21"),
        ("n | 1 # 3 & ~0", "4"),
        ("1 << n >> 2 + 1", "8"),
        ("~n + 1", "-8"),
        ("not 1 | 0", "0"),
        ("1e2 + 1.5e-1", "Real(100.15)"),
        ("hash_fnv1a(1, 5)", "3232700585171816769"),
        ("hash_murmur2(1, 5)", "3896754574207142840"),
        ("permute(n, 7, 1) < 7", "1"),
        ("random(n, n) + random(9, 1)", "15"),
        ("random_zipfian(2, 2, 1.5) + random_gaussian(3, 3, 2) + random_exponential(4, 4, 1)", "9"),
    ];
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|(expr, expected)| {
            let custom_workload =
                workload(&format!("n = 6\nx = {{ expr = \"{expr}\" }}"), "sql = \"SELECT :x\"");
            let request = asked(&mut actor(&custom_workload)).remove(0);
            (request != format!("0({expected})")).then(|| format!("{expr}: {request}, not {expected}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
