//! Tests of imported pgbench scripts: what they become, and what is refused.

use std::sync::Arc;

use dyno_engine::{RequestCompletion, SessionRequest, Value};

use super::{ImportedWorkload, PgbenchOptions, PgbenchScript, import};
use dyno_workload::custom::{ActorStep, CustomActor, CustomWorkload};

fn scripts(texts: &[(&str, &str)]) -> Vec<PgbenchScript> {
    let to_script = |(name, text): &(&str, &str)| PgbenchScript {
        name: (*name).to_owned(),
        text: (*text).to_owned(),
        weight: 1,
        is_builtin: false,
    };
    texts.iter().map(to_script).collect()
}

fn imported_with(text: &str, variables: &[(&str, &str)]) -> Result<ImportedWorkload, String> {
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let options = PgbenchOptions { name: "w".to_owned(), scale: 3, tables: true, variables };
    import(&scripts(&[("s.sql", text)]), &options).map_err(|fault| fault.to_string())
}

fn imported(text: &str) -> ImportedWorkload {
    imported_with(text, &[]).unwrap_or_else(|fault| panic!("{fault}\n{text}"))
}

fn main_file(imported: &ImportedWorkload) -> &str {
    &imported.files[0].1
}

fn words(value: &Value<'_>) -> String {
    match value {
        Value::Int(number) => number.to_string(),
        Value::Real(number) => format!("{number:?}"),
        Value::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        other => format!("{other:?}"),
    }
}

/// The requests of a session in one transaction: statements with values, and sleeps.
fn asked(actor: &mut CustomActor) -> Vec<String> {
    actor.draw();
    let (mut all, mut last) = (Vec::new(), None);
    while let Some(step) = actor.step(last) {
        match step {
            ActorStep::Rest(ns) => {
                all.push(format!("rest {ns}"));
                last = None;
                continue;
            }
            step => all.push(actor.request(step, |request| match request {
                SessionRequest::Begin(isolation) => {
                    format!("begin {}", isolation.words().unwrap_or_default()).trim().to_lowercase()
                }
                SessionRequest::Commit => "commit".to_owned(),
                SessionRequest::Rollback => "rollback".to_owned(),
                SessionRequest::Execute(statement, values) => {
                    let values: Vec<String> = values.iter().map(words).collect();
                    format!("{}({})", statement.0, values.join(","))
                }
                SessionRequest::Edge
                | SessionRequest::Queue(_)
                | SessionRequest::Flush
                | SessionRequest::Fill { .. } => "edge".to_owned(),
            })),
        }
        last = Some(RequestCompletion { rows: 1, commit_began_ns: None });
    }
    all
}

fn session(workload: CustomWorkload, number: u32) -> CustomActor {
    CustomActor::new(&Arc::new(workload), "postgres", 1, number).unwrap_or_else(|fault| panic!("{fault}"))
}

/// The requests of a script in its first transaction.
fn acted(text: &str) -> Vec<String> {
    asked(&mut session(imported(text).workload, 0))
}

/// The value of `\set x EXPRESSION` in a statement: as written, and with numbers that are known only when it
/// runs.
fn value(expression: &str) -> Vec<String> {
    let now = imported_with(&format!("\\set x {expression}\nSELECT :x;"), &[("i", "5"), ("d", "2.5")]);
    let later = imported_with(
        &format!("\\set i :i + 0\n\\set d :d + 0\n\\set x {expression}\nSELECT :x;"),
        &[("i", "5"), ("d", "2.5")],
    );
    let output = |imported: Result<ImportedWorkload, String>| match imported {
        Ok(imported) => asked(&mut session(imported.workload, 0)).join(" "),
        Err(fault) => fault,
    };
    let mut outputs = vec![output(now), output(later)];
    outputs.dedup();
    outputs
}

#[test]
fn pgbench_expressions_have_documented_values() {
    // As PostgreSQL 18's pgbench prints them with debug().
    let cases = [
        ("7/2", "3"),
        ("-7/2", "-3"),
        ("-7%3", "-1"),
        ("7.5%2", "0"),
        ("7.5|2", "10"),
        ("int(:d)", "2"),
        ("int(2.6)", "3"),
        ("int(-2.6)", "-3"),
        ("~1+2", "-4"),
        ("~:i&2", "2"),
        ("- 2 * 3", "-6"),
        ("1 | 2 & 4", "0"),
        ("1 << 2 + 1", "8"),
        (":i # 3 | 8", "14"),
        ("1 << 65", "2"),
        ("1 >> -1", "0"),
        ("-1 >> 1", "-1"),
        ("2 * ~1 + 3", "-10"),
        ("pow(2,3)", "8.0"),
        ("power(2,-1)", "0.5"),
        ("mod(7,3)", "1"),
        ("mod(7.9,3)", "2"),
        ("greatest(1,:d,3)", "3.0"),
        ("greatest(1,2,3)", "3"),
        ("greatest(:i)", "5"),
        ("least(5,2.0)", "2.0"),
        ("abs(-3)", "3"),
        ("ABS(-2.5)", "2.5"),
        ("pi()", "3.141592653589793"),
        ("exp(1)", "2.718281828459045"),
        ("sqrt(2.25)", "1.5"),
        ("ln(1)", "0.0"),
        ("1e3", "1000.0"),
        (".5", "0.5"),
        ("5.", "5.0"),
        ("1.5e-3", "0.0015"),
        ("9223372036854775807", "9223372036854775807"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("hash(1,5)", "3896754574207142840"),
        ("hash_fnv1a(1,:i)", "3232700585171816769"),
        ("hash_fnv1a(-123456789,0)", "-5585977156554308304"),
        ("hash_murmur2(-123456789,0)", "-1527230634981955554"),
        ("hash(1.6,5)", "-5402717966539616516"),
        ("permute(3,10,:i)", "9"),
        ("permute(-3,10,5)", "9"),
        ("permute(7,1000000007,42)", "51706419"),
        ("permute(0,1,5)", "0"),
        ("permute(5,2,-9)", "0"),
        ("permute(9223372036854775806,9223372036854775807,123)", "2356150373566580463"),
        ("random(1.6,1.7)", "2"),
        ("case when :i then 2 else 3 end", "2"),
        ("case when :i > 5 then 2 when 2.0 then 4 else 3 end", "4"),
        ("case when null then 1 else 2 end", "2"),
        ("case when not 1 = 2 then 1 else 0 end", "1"),
        ("case when not true and false then 1 else 0 end", "0"),
        ("case when 1 is true or 1 isnull then 1 else 0 end", "0"),
        ("case when true is true and 1 notnull and 1 is not true then 1 else 0 end", "1"),
        ("case when 5 <> 4 and 5 != 4 and 1 = 1.0 then 1 else 0 end", "1"),
        ("case when 1 + null is null then 1 else 0 end", "1"),
        ("+5 - -5", "10"),
        (":scale * 10", "30"),
        ("double(:i) / 2", "2.5"),
        ("1 + \\\n 2", "3"),
        ("debug(3)", "3"),
        ("mod(-9223372036854775807-1, -1)", "0"),
    ];
    let wrong: Vec<String> = cases
        .iter()
        .filter(|(expression, expected)| value(expression) != [format!("0({expected})")])
        .map(|(expression, expected)| format!("{expression}: {:?}, not {expected}", value(expression)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn pgbench_constant_random_becomes_draw_and_others_become_steps() {
    let all = imported(
        "\\set a random(1, 100000 * :scale)\n\\set b random_zipfian(1, 10, 1.5)\n\\set c random_gaussian(1, 100, 2.5)\n\
         \\set d random_exponential(0, 9, 5)\n\\set e random(1, :a)\nSELECT :a, :b, :c, :d, :e;",
    );
    let text = main_file(&all);
    for line in [
        "\na = { uniform = [1, \"100000 * scale\"] }\n",
        "\nb = { zipf = [1, 10], theta = 1.5, scrambled = false }\n",
        "\nc = { normal = [1, 100], sd = 20.0 }\n",
        "\nd = { exponential = [0, 9], mean = 2.0 }\n",
        "\n  { set = \"e\", expr = \"random(1, a)\" },\n",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

/// The share of each drawn number.
fn shares(expression: &str, low: i64, high: i64) -> Vec<f64> {
    const DRAWS: u32 = 20_000;
    let text = format!("\\set i :i + 0\n\\set x {expression}\nSELECT :x;");
    let imported = imported_with(&text, &[("i", "1")]).unwrap_or_else(|fault| panic!("{fault}"));
    assert!(main_file(&imported).contains("expr = \"random"), "{}", main_file(&imported));
    let mut actor = session(imported.workload, 1);
    let mut counts = vec![0u32; (high - low + 1) as usize];
    for _ in 0..DRAWS {
        let request = asked(&mut actor).join("");
        let number: i64 = request[2..request.len() - 1].parse().expect("a number");
        counts[(number - low) as usize] += 1;
    }
    counts.iter().map(|&count| f64::from(count) / f64::from(DRAWS)).collect()
}

#[test]
fn step_random_functions_follow_documented_distributions() {
    let near = |expression: &str, low: i64, high: i64, law: &dyn Fn(i64) -> f64| {
        let whole: f64 = (low..=high).map(law).sum();
        for (share, number) in shares(expression, low, high).into_iter().zip(low..) {
            let expected = law(number) / whole;
            // Five standard deviations of the share of 20,000 draws.
            let margin = 5.0 * (expected * (1.0 - expected) / 20_000.0).sqrt() + 1e-9;
            assert!((share - expected).abs() <= margin, "{expression}: {number} is {share}, not {expected}");
        }
    };
    near("random(:i, 10)", 1, 10, &|_| 1.0);
    near("random_zipfian(:i, 8, 1.3)", 1, 8, &|number| (number as f64).powf(-1.3));
    // As in the manual: of x in the range, (exp(-p * (x - min) / n) - exp(-p * (x + 1 - min) / n)).
    let exponential = |number: i64| {
        let at = |x: i64| (-3.0 * (x - 1) as f64 / 12.0).exp();
        at(number) - at(number + 1)
    };
    near("random_exponential(:i, 12, 3.0)", 1, 12, &exponential);
    // PHI(2 p (i - min - mu + 0.5) / n) - PHI(2 p (i - min - mu - 0.5) / n), with mu in the middle; the
    // density by Simpson's rule.
    let bell = |number: i64| {
        let at = |x: f64| 2.0 * 2.5 * (x - 5.5) / 10.0;
        let density = |z: f64| (-z * z / 2.0).exp();
        let (from, to) = (at(number as f64 - 0.5), at(number as f64 + 0.5));
        (to - from) / 6.0 * (density(from) + 4.0 * density((from + to) / 2.0) + density(to))
    };
    near("random_gaussian(:i, 10, 2.5)", 1, 10, &bell);
}

#[test]
fn pgbench_script_statements_form_transactions_as_in_pgbench() {
    let body = "UPDATE a SET b = 1;\nSELECT 1;\n";
    assert_eq!(acted(body), ["0()", "1()"], "each commits by itself");
    assert_eq!(acted(&format!("BEGIN;\n{body}END;")), ["begin", "0()", "1()", "commit"]);
    let serializable = "begin transaction isolation level serializable, read write;SELECT 1;commit work;";
    assert_eq!(acted(serializable), ["begin serializable", "0()", "commit"]);
    assert_eq!(acted("BEGIN;UPDATE a SET b = 1;ROLLBACK;"), ["begin", "0()", "rollback"]);
    assert_eq!(
        acted("SELECT 1;BEGIN;UPDATE a SET b = 1;END;SELECT 2;"),
        ["0()", "begin", "1()", "commit", "2()"]
    );
    let together = "SELECT 1 \\; UPDATE a SET b = 1 \\; SELECT 3;\nSELECT 4;";
    assert_eq!(acted(together), ["begin", "0()", "1()", "2()", "commit", "3()"]);
    assert_eq!(acted("BEGIN \\; SELECT 1; SELECT 2 \\; END;"), ["begin", "0()", "1()", "commit"]);
    let pipeline = "\\startpipeline\nSELECT 1;\nSELECT 2;\n\\syncpipeline\nSELECT 3;\n\\endpipeline";
    assert_eq!(acted(pipeline), ["begin", "0()", "1()", "commit", "begin", "2()", "commit"]);
    let whole = "\\startpipeline\nBEGIN;\nSELECT 1;\nEND;\n\\endpipeline";
    for (script, is_piped) in
        [(whole, true), ("\\startpipeline\nSELECT 1;\nSELECT 2;\n\\endpipeline", true), (pipeline, false)]
    {
        let imported = imported(script);
        let (_, toml) = imported.files.iter().find(|(name, _)| name == "workload.toml").expect("it is there");
        assert_eq!(toml.contains("pipeline = true"), is_piped, "{toml}");
        assert_eq!(imported.notes.is_empty(), is_piped, "{:?}", imported.notes);
    }
    assert_eq!(acted(whole), ["begin", "0()", "commit"]);
    // The same statement twice, a string with a semicolon, parentheses with one, and no semicolon at the end.
    assert_eq!(acted("SELECT 1;SELECT ';', $$;$$ /* ; */ -- ;\n;SELECT 1"), ["0()", "1()", "0()"]);
}

#[test]
fn pgbench_conditions_sleeps_and_reassigned_values_work() {
    let script = "\\set i :i + 1\n\\if :i % 3 = 0\n\\set x 10\nSELECT :x;\n\\elif :i % 3 = 1\n\\sleep 2ms\n\\set x :i\n\\else\n\
                  \\set x 2.5 * 2\n\\sleep :i us\n\\endif\n\\set y 1\nSELECT :y;\n\\set y :y + :i\nSELECT :y;";
    let imported = imported_with(script, &[("i", "2")]).unwrap_or_else(|fault| panic!("{fault}"));
    let mut actor = session(imported.workload, 0);
    assert_eq!(asked(&mut actor), ["0(10)", "1(1)", "1(4)"]);
    assert_eq!(asked(&mut actor), ["rest 2000000", "1(1)", "1(5)"]);
    assert_eq!(asked(&mut actor), ["rest 5000", "1(1)", "1(6)"]);
    assert_eq!(asked(&mut actor), ["0(10)", "1(1)", "1(7)"], "what -D gives is kept from one to the next");
}

#[test]
fn pgbench_variables_and_text_of_option_d_are_set() {
    let script = "SELECT :client_id, :scale, :t, :default_seed;\n\\set x :client_id * 10\nSELECT :x;";
    let variables = [("t", "it's"), ("default_seed", "7")];
    let requests_of = |number| {
        let imported = imported_with(script, &variables).unwrap_or_else(|fault| panic!("{fault}"));
        asked(&mut session(imported.workload, number))
    };
    assert_eq!(requests_of(0), ["0(0,3,it's,7)", "1(0)"]);
    assert_eq!(requests_of(4), ["0(4,3,it's,7)", "1(40)"]);
}

#[test]
fn pgbench_variable_is_scoped_to_its_script() {
    let options = PgbenchOptions { name: "w".to_owned(), scale: 1, tables: true, variables: Vec::new() };
    let scripts = scripts(&[
        ("dir/a.sql", "\\set x random(1, 1)\nSELECT :x;"),
        ("a.sql", "\\set x random(2, 2)\nSELECT :x;"),
        ("b.sql", "\\set x 1\n\\set x :x + 0.5\nSELECT :x;"),
        ("1-odd name.sql", "\\set and random(1, 1)\n\\set _x 4\nSELECT :and, :_x;"),
    ]);
    let imported = import(&scripts, &options).unwrap_or_else(|fault| panic!("{fault}"));
    let names: Vec<&str> = imported.files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["workload.toml", "a.sql", "a_2.sql", "b.sql", "script_1_odd_name.sql"]);
    let mut actor = session(imported.workload, 0);
    let mut requests: Vec<String> = (0..60).map(|_| asked(&mut actor).join(" ")).collect();
    requests.sort();
    requests.dedup();
    assert_eq!(requests, ["0(1)", "1(2)", "2(1.5)", "3(1,4)"]);
}

#[test]
fn deviations_from_pgbench_are_reported() {
    let imported =
        imported("\\set x debug(1)\n\\startpipeline\nSELECT :x;\n\\endpipeline\nSELECT 1 \\; SELECT 2;");
    let expected = [
        "s.sql:5:1: statements with \\; between them are sent one after the other",
        "s.sql:1:8: debug prints nothing; its value is used as it is",
        "s.sql:2:1: statements of a pipeline that is not the whole script are sent one by one, each after \
         the response to the one before",
    ];
    assert_eq!(imported.notes, expected);
    for note in expected {
        assert!(main_file(&imported).contains(&format!("# - {note}\n")), "{}", main_file(&imported));
    }
}

#[test]
fn pgbench_import_errors_are_located() {
    let cases = [
        ("", "1:1: the script has no commands; write a statement"),
        ("\\set x 1", "1:1: the script only draws values; write a statement"),
        ("SELECT 'a", "1:8: the quote is not closed; write the quote where the text or the name ends"),
        (
            "SELECT 1;\n\\shell ls",
            "2:1: \\shell: a workload runs no command of a shell; take it out, or give its value with -D NAME=VALUE",
        ),
        (
            "\\setshell x echo 5\nSELECT :x;",
            "1:1: \\setshell: a workload runs no command of a shell; take it out, or give its value with -D NAME=VALUE",
        ),
        ("\\sets x 1\nSELECT 1;", "1:1: pgbench has no command \\sets; did you mean set?"),
        ("\\set\nSELECT 1;", "1:1: \\set without a name; write \\set NAME EXPRESSION"),
        ("\\set x\nSELECT 1;", "1:1: \\set without a value; write \\set NAME EXPRESSION"),
        (
            "\\set x! 1\nSELECT 1;",
            "1:6: x! is not a valid variable name; it has letters, digits and \
                                   underscores",
        ),
        (
            "\\set x 1 +\nSELECT 1;",
            "1:11: the expression is incomplete; write a number, a :variable or a function",
        ),
        ("\\set x 1 2\nSELECT 1;", "1:10: a number where an operator is expected; write an operator"),
        (
            "\\set x 1 < 2 < 3\nSELECT 1;",
            "1:14: a comparison of a comparison; put one of them into \
                                          parentheses",
        ),
        ("\\set x (1\nSELECT 1;", "1:10: the expression is incomplete; write )"),
        (
            "\\set x 1 ! 2\nSELECT 1;",
            "1:10: ! is not an operator of pgbench; or, and, not, is, = <> != < <= > >=, | # & ~ << >>, + - \
             * / %",
        ),
        ("\\set x rnadom(1, 2)\nSELECT 1;", "1:8: pgbench has no function rnadom; did you mean random?"),
        ("\\set x random(1)\nSELECT 1;", "1:8: random has 2 arguments, and there are 1"),
        ("\\set x greatest()\nSELECT 1;", "1:8: greatest has 1 to 16 arguments, and there are 0"),
        ("\\set x random(2, 1)\nSELECT 1;", "1:8: no number is from 2 to 1; write the lower end first"),
        (
            "\\set x random_gaussian(1, 10, 1.9)\nSELECT 1;",
            "1:8: random_gaussian with the parameter 1.9; it is 2.0 or more",
        ),
        (
            "\\set x random_exponential(1, 10, 0)\nSELECT 1;",
            "1:8: random_exponential with the parameter 0; it is above 0",
        ),
        (
            "\\set x random_zipfian(1, 10, 1.0)\nSELECT 1;",
            "1:8: random_zipfian with the parameter 1; it is from 1.001 to 1000",
        ),
        ("\\set x 1 / 0\nSELECT 1;", "1:10: division by zero"),
        ("\\set x 9223372036854775807 + 1\nSELECT 1;", "1:28: the value is too large for a whole number"),
        (
            "\\set x 9223372036854775808\nSELECT 1;",
            "1:8: 9223372036854775808 is too large; the largest number is one less",
        ),
        ("\\set x not 1\nSELECT 1;", "1:8: cannot coerce int to boolean"),
        (
            "\\set x true and 1\nSELECT 1;",
            "1:13: cannot coerce int to boolean; write a comparison on both sides",
        ),
        (
            "\\set x 1 + true\nSELECT 1;",
            "1:10: cannot coerce boolean to a number; compare numbers, and use and, or, not for truths",
        ),
        (
            "\\set x case when 1 then 2 end\nSELECT 1;",
            "1:8: CASE without ELSE is NULL where nothing holds, and a value of a workload is always a number; write ELSE",
        ),
        (
            "\\set x case when 1 then 2 else 2.5 end\nSELECT 1;",
            "1:8: the values of CASE have different types; write double(…) or int(…) around some, so that all are alike",
        ),
        (
            "\\set x :y\nSELECT 1;",
            "1:8: y is not set before; \\set it before, or give its first value with -D y=VALUE",
        ),
        ("SELECT :y;", "1:8: y is not set before; \\set it before, or give its first value with -D y=VALUE"),
        (
            "\\if random(0, 1)\n\\set y 1\n\\endif\nSELECT :y;",
            "4:8: y cannot be used here: it is not set on every path to this point; \\set it before, on \
             every path",
        ),
        (
            "\\if random(0, 1)\n\\set y 1\n\\else\n\\set y 1.5\n\\endif\nSELECT :y;",
            "6:8: y cannot be used here: it has different types on the paths to this point; \\set it before, \
             on every path",
        ),
        ("\\set y null\nSELECT :y;", "2:8: y is NULL; write NULL into the statement"),
        (
            "\\set y 1 < 2\nSELECT :y;",
            "2:8: y is true or false, which a statement has no parameter for; \\set it to CASE WHEN … THEN 1 ELSE 0 END",
        ),
        (
            "\\set y 1\nSELECT 'a:y';",
            "2:10: :y is in quotes, where pgbench replaces it; write it outside of the quotes, with || or \
             CONCAT",
        ),
        ("\\if 1\nSELECT 1;", "1:1: \\if without \\endif; write \\endif where it ends"),
        ("\\endif\nSELECT 1;", "1:1: \\endif without \\if; write \\if CONDITION before it"),
        ("\\else\nSELECT 1;", "1:1: \\else without \\if; write \\if CONDITION before it"),
        ("\\if 1\n\\else\n\\else\n\\endif\nSELECT 1;", "3:1: \\else behind \\else; write \\endif before it"),
        (
            "\\if 1\n\\else\n\\elif 0\n\\endif\nSELECT 1;",
            "3:1: \\elif behind \\else; write \\endif before it",
        ),
        ("\\if\nSELECT 1;\n\\endif", "1:1: \\if without a condition; write an expression behind it"),
        ("\\if 1\nSELECT 1;\n\\endif 2", "3:7: 2 behind \\endif; take it out"),
        ("\\sleep\nSELECT 1;", "1:1: \\sleep without a time; write \\sleep 10 ms"),
        (
            "\\sleep 1.5 s\nSELECT 1;",
            "1:1: 1.5 is not a time; write a whole number or :name, and us, ms or s",
        ),
        ("\\sleep 1 h\nSELECT 1;", "1:1: h is not a unit of time; us, ms or s"),
        ("\\sleep 1 s 2\nSELECT 1;", "1:1: too many words behind \\sleep; write \\sleep 10 ms"),
        (
            "\\gset\nSELECT 1;",
            "1:1: \\gset without a statement before it; write it after the statement whose columns it reads",
        ),
        (
            "SELECT 1 AS x \\gset\n\\gset",
            "2:1: \\gset without a statement before it; write it after the statement whose columns it reads",
        ),
        (
            "SELECT 1 AS x \\aset",
            "1:15: \\aset has no counterpart: it sets nothing if there is no row; write \\gset behind a \
             query that always gives one row",
        ),
        (
            "SELECT count(*) + 1 \\gset",
            "1:8: a column without a name that can be seen; write AS NAME behind it",
        ),
        ("UPDATE a SET b = 1 \\gset", "1:1: \\gset after a statement that returns no rows; take it out"),
        (
            "\\startpipeline\nSELECT 1;",
            "1:1: \\startpipeline without \\endpipeline; write \\endpipeline where it ends",
        ),
        (
            "\\startpipeline\n\\startpipeline",
            "2:1: a pipeline within a pipeline; take it out: one has begun already",
        ),
        (
            "\\startpipeline\nSELECT 1 AS x \\gset\n\\endpipeline",
            "2:15: \\gset within a pipeline; pgbench refuses it, too; end the pipeline before",
        ),
        (
            "BEGIN;\nSELECT 1;",
            "1:1: the transaction that begins here is not ended; write END before the script, the \\if or \
             the pipeline ends",
        ),
        ("SELECT 1;\nEND;", "2:1: no transaction has begun here; write BEGIN before, or take it out"),
        (
            "BEGIN;\n\\if 1\nEND;\n\\endif",
            "3:1: the transaction ends within an \\if or a pipeline, and began outside; begin and end it at the same place",
        ),
        ("BEGIN;\nBEGIN;", "2:1: a transaction within a transaction; take it out: one has begun already"),
        (
            "SELECT 1;BEGIN;SELECT 2;ROLLBACK;",
            "1:10: a transaction that is rolled back, together with other statements; remove the statements \
             before and after the transaction from the script",
        ),
        ("VACUUM a;", "1:1: a statement about tables; move it to the file of [setup] or [drop]"),
        (
            "SELECT \\:x;",
            "1:8: \\: has no counterpart; write a statement without it: a parameter is :name, and a cast is ::type or CAST(… AS …)",
        ),
    ];
    let wrong: Vec<String> = cases
        .iter()
        .map(|(script, expected)| {
            (imported_with(script, &[]).err().unwrap_or_default(), format!("s.sql:{expected}"))
        })
        .filter(|(told, expected)| told != expected)
        .map(|(told, expected)| format!("told     {told}\nexpected {expected}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn gset_columns_are_read_by_name() {
    let script = "SELECT a.x AS one, b.\"Two\", (SELECT 3) AS three, count(*) four_is_no_name FROM a, b \\gset p_\nSELECT 1;";
    let message = imported_with(script, &[]).err().unwrap_or_default();
    assert_eq!(message, "s.sql:1:50: a column without a name that can be seen; write AS NAME behind it");
    let script = "SELECT a.x AS one, b.\"Two\", (SELECT 3) AS three\nFROM a, b \\gset p_\n\\set y :p_one * 2\nSELECT :p_one, :p_Two, :y;\n\
                  UPDATE a SET x = 1 RETURNING x, y AS z\n\\gset\nSELECT :x, :z;";
    let imported = imported(script);
    let text = main_file(&imported);
    for line in [
        "  { run = \"select_a\", read = [\"p_one\", \"p_Two\", \"p_three\"], rows = 1 },\n",
        "  { set = \"y\", expr = \"p_one * 2\" },\n",
        "  { run = \"update_a\", read = [\"x\", \"z\"], rows = 1 },\n",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

/// Small scripts that pgbench runs, with the result of importing each: `None` for success, otherwise the
/// error.
const SMALL: [(&str, &str); 37] = [
    ("BEGIN TRANSACTION READ ONLY;SELECT v FROM pb WHERE id = 1;COMMIT;", ""),
    ("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY;SELECT 1;END;", ""),
    ("BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY;SELECT 1;END;", "1:1: SERIALIZABLE with READ ONLY"),
    ("START TRANSACTION READ WRITE;SELECT 1;COMMIT;", ""),
    ("BEGIN DEFERRABLE;SELECT 1;END;", "1:1: BEGIN with DEFERRABLE"),
    ("BEGIN;SET LOCAL enable_seqscan = off;SELECT v FROM pb WHERE id = 1;COMMIT;", ""),
    ("BEGIN;SET LOCAL work_mem TO '8MB';SELECT 1;COMMIT;", ""),
    ("SET LOCAL work_mem TO '8MB';", "a meaning only within a transaction"),
    ("BEGIN;SET LOCAL synchronous_commit = off;SELECT 1;END;", "1:7: a statement that sets how commits wait"),
    ("SET enable_seqscan = off;SELECT 1;", "1:1: a statement that sets the session"),
    ("RESET ALL;SELECT 1;", "1:1: a statement that sets the session"),
    ("SET SESSION work_mem = '8MB';SELECT 1;", "1:1: a statement that sets how transactions or sessions are"),
    ("BEGIN;SET TRANSACTION ISOLATION LEVEL SERIALIZABLE;SELECT 1;END;", "1:7: a statement that sets how"),
    ("BEGIN;SET CONSTRAINTS ALL DEFERRED;SELECT 1;END;", ""),
    ("BEGIN;LOCK TABLE pb IN SHARE MODE;SELECT count(*) FROM pb;END;", ""),
    ("BEGIN;LOCK pb;SELECT count(*) FROM pb;END;", ""),
    ("LOCK TABLE pb;", "a meaning only within a transaction"),
    ("BEGIN;SAVEPOINT s;UPDATE pb SET v = v + 1 WHERE id = 1;ROLLBACK TO s;COMMIT;", ""),
    ("BEGIN;SAVEPOINT s;SELECT 1;ROLLBACK TO SAVEPOINT s;RELEASE SAVEPOINT s;COMMIT;", ""),
    ("SAVEPOINT s;", "a meaning only within a transaction"),
    ("BEGIN;DECLARE c CURSOR FOR SELECT * FROM pb;FETCH 10 FROM c;CLOSE c;END;", ""),
    (
        "BEGIN;DECLARE c NO SCROLL CURSOR FOR SELECT CASE v WHEN 1 THEN 2 END FROM pb;MOVE 2 FROM c;FETCH c;END;",
        "",
    ),
    ("DECLARE c CURSOR FOR SELECT 1;", "a meaning only within a transaction"),
    ("DECLARE c CURSOR WITH HOLD FOR SELECT 1;", "1:1: a cursor that stays open"),
    ("DO $$ BEGIN PERFORM count(*) FROM pb; END $$;", ""),
    ("CREATE TEMP TABLE IF NOT EXISTS tt (x int);INSERT INTO tt VALUES (1);", "1:1: a temporary table"),
    ("NOTIFY ch, 'hello';", ""),
    ("LISTEN ch;", "1:1: a session of a workload takes no notifications"),
    ("PREPARE p AS SELECT 1;EXECUTE p;", "1:1: a statement that prepares others"),
    ("EXPLAIN SELECT count(*) FROM pb;", ""),
    ("EXPLAIN (ANALYZE, BUFFERS) SELECT count(*) FROM pb;", ""),
    ("\\set t random(1, 9)\nSELECT count(*) FROM pb WHERE v::text = ':t';", ""),
    ("SELECT 'x' AS t \\gset\nSELECT count(*) FROM pb WHERE v::text = ':t';", ""),
    ("\\set t 1\nSELECT 'a :t';", "2:11: :t is in quotes"),
    (
        "\\setrandom n 1 :scale\nSELECT :n;",
        "1:1: \\setrandom is of pgbench before 9.6; write \\set n random(1, :scale)",
    ),
    ("\\setrandom n 1 9 gaussian 2.5\nSELECT :n;", "write \\set n random_gaussian(1, 9, 2.5)"),
    ("COPY pb TO STDOUT;", "1:1: COPY moves rows by a protocol of its own"),
];

#[test]
fn pgbench_scripts_are_imported_or_refused_with_alternative() {
    let wrong: Vec<String> = SMALL
        .iter()
        .filter_map(|(script, expected)| match (imported_with(script, &[]), *expected) {
            (Ok(_), "") => None,
            (Err(refusal), expected) if !expected.is_empty() && refusal.contains(expected) => {
                (!refusal.contains("; ")).then(|| format!("no way out: {refusal}"))
            }
            (Ok(_), expected) => Some(format!("{script} was imported, and not refused: {expected}")),
            (Err(refusal), expected) => Some(format!("{script}: {refusal}, and not: {expected}")),
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let imported = imported("BEGIN READ ONLY;SELECT 1;END;");
    assert!(imported.notes.iter().any(|note| note.contains("without READ ONLY")), "{:?}", imported.notes);
    let quoted = self::imported(
        "\\set t random(1, 9)\nSELECT ':t' || 'a:t' WHERE 'x' <> ':t';".replace("'a:t'", "'a'").as_str(),
    );
    assert!(
        quoted.files.iter().any(|(_, text)| text.contains("SELECT :t || 'a' WHERE 'x' <> :t;")),
        "{:?}",
        quoted.files
    );
}
