//! Tests of described tables: errors with places, and rows as functions of their numbers.

use dyno_engine::{Rows, Value};

use super::read;
use crate::custom::{CustomActor, CustomWorkload};

const TRANSACTION: &str = "[transaction.t]\nsql = \"SELECT 1\"\n";

/// A workload with this text before its transaction.
fn of(text: &str) -> Result<std::sync::Arc<CustomWorkload>, String> {
    read(&[("workload.toml", &format!("name = \"w\"\n{text}\n{TRANSACTION}"))])
}

/// The error for a table with these columns and this text before them.
fn fault(before: &str, columns: &str) -> String {
    let text = format!("[table.t]\n{before}\n[table.t.columns]\n{columns}");
    of(&text).err().unwrap_or_else(|| panic!("{text} was read"))
}

fn check(cases: &[(String, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .filter(|(told, expected)| told != expected)
        .map(|(told, expected)| format!("told     {told}\nexpected {expected}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn faulty_table_definitions_are_reported_with_location() {
    let column = "a = { type = \"integer\", expr = \"row\" }";
    check(&[
        (fault("row = 1", column), "w/workload.toml:3:1: table.t.row: unknown key; did you mean rows?"),
        (
            fault("", column),
            "w/workload.toml:2:8: table.t: rows is missing; write rows = \"100_000 * scale\"",
        ),
        (
            fault("rows = 1\nemptied = true", column),
            "w/workload.toml:4:11: table.t.emptied: a table that is emptied before each run has no rows of its own; write rows = 0",
        ),
        (
            fault("rows = 0\nemptied = true", column),
            "w/workload.toml:2:1: it is emptied before each run; write writes = true at the top",
        ),
        (
            fault("rows = -1", column),
            "w/workload.toml:3:8: table.t.rows: -1 is not a whole number from 0 to 1125899906842624",
        ),
        (
            fault("rows = \"2 * scala\"", column),
            "w/workload.toml:3:13: scala is not a number that is available here; write numbers and scale: \
             \"100_000 * scale\"",
        ),
        (
            fault("rows = \"scale / 2.0\"", column),
            "w/workload.toml:3:8: table.t.rows: 0.5 is not a whole number from 0 to 1125899906842624",
        ),
        (
            fault("rows = 1\nprimary_key = \"b\"", column),
            "w/workload.toml:4:16: there is no column b; available: a",
        ),
        (
            fault("rows = 1\nindexes = [[\"a\", \"a\"]]", column),
            "w/workload.toml:4:18: table.t.indexes: a is there twice; write it once",
        ),
        (
            fault(
                "rows = 1\nprimary_key = \"a\"",
                "a = { type = \"integer\", expr = \"row\", null_pct = 1 }",
            ),
            "w/workload.toml:6:5: table.t.columns.a: a column of the primary key is never NULL; leave null_pct out",
        ),
        (fault("rows = 1", ""), "w/workload.toml:4:1: table.t.columns: 1 to 500 columns"),
        (
            of("scale = 0").err().unwrap(),
            "w/workload.toml:2:9: scale: 0 is not a whole number from 1 to 1000000",
        ),
        (
            of("[draw]\nscale = 1").err().unwrap(),
            "w/workload.toml:3:1: draw.scale: the name is reserved for the scale of the workload; use \
             another name",
        ),
        (
            of("[draw]\nx = { uniform = [\"scale + 1\", \"scale\"] }").err().unwrap(),
            "w/workload.toml:3:17: draw.x.uniform: 2 is above 1; write the lower end first",
        ),
    ]);
}

#[test]
fn invalid_column_definitions_are_located() {
    let of_column = |column: &str| fault("rows = 1", &format!("a = {column}"));
    check(&[
        (
            of_column("{ expr = \"row\" }"),
            "w/workload.toml:5:1: table.t.columns.a: type is missing; write type = \"integer\"",
        ),
        (
            of_column("{ type = \"integr\", expr = \"row\" }"),
            "w/workload.toml:5:14: table.t.columns.a.type: \"integr\" is no type; did you mean integer?",
        ),
        (
            of_column("{ type = \"char\", text = 3 }"),
            "w/workload.toml:5:14: table.t.columns.a.type: \"char\" is no char of 1 to 2000; write char(84)",
        ),
        (
            of_column("{ type = \"decimal(4, 5)\", decimal = [1.00, 2.00] }"),
            "w/workload.toml:5:14: table.t.columns.a.type: \"decimal(4, 5)\" is no decimal of 1 to 38 digits; write \
             decimal(12, 2)",
        ),
        (
            of_column("{ type = \"date(3)\", date = [\"2026-01-01\", \"2026-01-02\"] }"),
            "w/workload.toml:5:14: table.t.columns.a.type: date has no length; write date",
        ),
        (
            of_column("{ type = \"integer\" }"),
            "w/workload.toml:5:5: table.t.columns.a: no generator; write one of uniform, zipf, normal, \
             exponential, nurand, decimal_of, spelled, permutation, sequence, decimal, choice, expr, text, \
             words, bytes, date, timestamp, uuid, template, json",
        ),
        (
            of_column("{ type = \"integer\", text = 3 }"),
            "w/workload.toml:5:5: table.t.columns.a: a text does not fit the type; draw whole numbers",
        ),
        (
            of_column("{ type = \"integer\", uniform = [1, 3_000_000_000] }"),
            "w/workload.toml:5:5: table.t.columns.a: 1 to 3000000000 is more than the type holds; write bigint",
        ),
        (
            of_column("{ type = \"boolean\", uniform = [0, 2] }"),
            "w/workload.toml:5:5: table.t.columns.a: 0 to 2 is more than the type holds; draw 0 and 1",
        ),
        (
            of_column("{ type = \"decimal(4, 2)\", decimal = [1.00, 100.00] }"),
            "w/workload.toml:5:5: table.t.columns.a: it has more digits than the type; write a longer type",
        ),
        (
            of_column("{ type = \"varchar(4)\", words = [\"zwölf\"] }"),
            "w/workload.toml:5:5: table.t.columns.a: up to 5 letters are more than the type holds; draw shorter ones, or \
             write a longer type",
        ),
        (
            of_column("{ type = \"uuid\", text = 36 }"),
            "w/workload.toml:5:5: table.t.columns.a: this does not fit the type; draw a uuid",
        ),
        (
            of_column("{ type = \"integer\", expr = \"row\", per = \"session\" }"),
            "w/workload.toml:5:39: table.t.columns.a.per: unknown key; available: expr, type, null_pct, \
             null_if",
        ),
        (
            of_column("{ type = \"integer\", value = 1, null_pct = 101 }"),
            "w/workload.toml:5:47: table.t.columns.a.null_pct: 101 is not from 0 to 100",
        ),
        (
            of_column("{ type = \"integer\", expr = \"rows\" }"),
            "w/workload.toml:5:33: unknown name \"rows\"; did you mean \"row\"?",
        ),
    ]);
    check(&[(
        fault("rows = 1", "row = { type = \"integer\", value = 1 }"),
        "w/workload.toml:5:1: table.t.columns.row: the number of the row; give the column another name",
    )]);
}

const COLUMNS: &str = r#"[table.t]
rows = "4 * scale"
primary_key = "a"
[table.t.columns]
a = { type = "integer", permutation = [1, "4 * scale"] }
b = { type = "integer", sequence = [10, 11] }
c = { type = "varchar(30)", template = "-:d:row-" }
d = { type = "integer", uniform = [1, 1_000], null_pct = 50 }
e = { type = "uuid", uuid = 7 }
f = { type = "integer", expr = "scale + d" }
"#;

fn row(rows: &mut dyn Rows, number: u64, columns: usize) -> Vec<String> {
    rows.make(number);
    let text = |column| match rows.value(column) {
        Value::Null => "NULL".to_owned(),
        Value::Int(number) => number.to_string(),
        Value::Text(text) => String::from_utf8(text.to_vec()).expect("UTF-8"),
        other => format!("{other:?}"),
    };
    (0..columns).map(text).collect()
}

#[test]
fn row_content_depends_only_on_its_number() {
    let workload = of(&format!("scale = 100\n{COLUMNS}")).unwrap_or_else(|fault| panic!("{fault}"));
    let table = &workload.tables()[0];
    assert_eq!((table.rows(), table.columns().len()), (400, 6));
    let mut forwards = table.row_maker();
    let all: Vec<Vec<String>> = (1..=400).map(|number| row(&mut forwards, number, 6)).collect();
    let mut backwards = table.row_maker();
    for number in (1..=400).rev() {
        assert_eq!(row(&mut backwards, number, 6), all[number as usize - 1], "{number}");
    }
    let mut keys: Vec<u32> = all.iter().map(|row| row[0].parse().expect("a number")).collect();
    assert_eq!(table.sum(0), i128::from(keys.iter().sum::<u32>()));
    keys.sort_unstable();
    assert_eq!(keys, (1..=400).collect::<Vec<_>>());
    let nulls = all.iter().filter(|row| row[3] == "NULL").count();
    assert!((150..250).contains(&nulls), "{nulls} of 400");
    for (row, number) in all.iter().zip(1..) {
        assert_eq!(row[1], if number % 2 == 1 { "10" } else { "11" });
        // Derived values use the drawn value even if statements receive NULL.
        let under = row[5].parse::<u32>().expect("a number") - 100;
        assert_eq!(row[2], format!("-{under}{number}-"));
        assert!(row[3] == "NULL" || row[3] == under.to_string());
    }
    assert!(all.windows(2).all(|pair| pair[0][4] < pair[1][4]), "in the order of time");
}

/// Changes further columns, the scale and the seed, and checks which digests change.
#[test]
fn table_digest_depends_on_meaning_not_on_formatting() {
    let whole = |text: &str| of(text).unwrap_or_else(|fault| panic!("{fault}"));
    let digest = |text: &str| whole(text).tables_digest().to_owned();
    let usual = digest(COLUMNS);
    assert_eq!(digest(&COLUMNS.replace(" = { ", "={").replace("1_000", "1000")), usual);
    assert_eq!(digest(&format!("{COLUMNS}[draw]\nx = 1\n")), usual, "what is drawn is no data");
    for other in [
        format!("scale = 2\n{COLUMNS}"),
        format!("seed = 2\n{COLUMNS}"),
        COLUMNS.replace("1_000", "1_001"),
        COLUMNS.replace("\nb = ", "\nbb = "),
        COLUMNS.replace("primary_key = \"a\"\n", ""),
    ] {
        assert_ne!(digest(&other), usual, "{other}");
    }
    let values = |text: &str| {
        let workload = whole(text);
        let table = &workload.tables()[0];
        let columns = table.columns().len();
        (1..=4).map(|number| row(&mut table.row_maker(), number, columns)[5].clone()).collect::<Vec<_>>()
    };
    let another = format!("{COLUMNS}z = {{ type = \"integer\", uniform = [1, 9] }}\n");
    assert_eq!(values(&another), values(COLUMNS));
    assert_ne!(values(&format!("seed = 2\n{COLUMNS}")), values(COLUMNS));
}

#[test]
fn draws_and_steps_can_use_the_scale() {
    let text =
        "scale = 7\n[draw]\nx = { uniform = [\"3 * scale\", \"3 * scale\"] }\ny = { expr = \"x + scale\" }\n";
    let main = format!(
        "name = \"w\"\n{text}[transaction.t]\nsteps = [{{ repeat = \"scale\", steps = [{{ sql = \"SELECT :x, :y, :scale\" }}] }}]\n"
    );
    let custom_workload = read(&[("workload.toml", &main)]).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(custom_workload.scale(), 7);
    let mut actor = CustomActor::new(&custom_workload, "sqlite", 1, 0).expect("SQL for all");
    for _ in 0..2 {
        actor.draw();
        let (mut last, mut turns) = (None, 0);
        while let Some(step) = actor.step(last) {
            last = Some(dyno_engine::RequestCompletion { rows: 1, commit_began_ns: None });
            actor.request(step, |request| {
                if let dyno_engine::SessionRequest::Execute(_, values) = request {
                    turns += 1;
                    assert_eq!(values, [Value::Int(21), Value::Int(28), Value::Int(7)]);
                }
            });
        }
        assert_eq!(turns, 7);
    }
    // Without a request there is no output.
    let names = |own: &CustomWorkload| -> Vec<String> {
        own.described_draws("sqlite").expect("draws").into_iter().map(|draw| draw.name).collect()
    };
    assert_eq!(names(&custom_workload), ["x", "y", "scale"]);
    assert_eq!(names(&of("").unwrap_or_else(|fault| panic!("{fault}"))), Vec::<String>::new());
}

#[test]
fn row_value_that_does_not_fit_its_column_is_found_before_load() {
    let of_rows = |rows: &str, column: &str| fault(&format!("rows = {rows}"), &format!("a = {column}"));
    let integer = |expr: &str| format!("{{ type = \"integer\", expr = \"{expr}\" }}");
    check(&[
        (
            of_rows("20", &integer("row + 2_147_483_640")),
            "w/workload.toml:5:5: table.t.columns.a: row 8 has 2147483648, more than the type holds; write bigint",
        ),
        (
            of_rows("3_000_000_000", &integer("row")),
            "w/workload.toml:5:5: table.t.columns.a: row 2999999993 has 2999999993, more than the type holds; write \
             bigint",
        ),
        (
            of_rows("1_000_000_000_000", "{ type = \"integer\", sequence = [1, 3_000_000_000] }"),
            "w/workload.toml:5:5: table.t.columns.a: 1 to 3000000000 is more than the type holds; write bigint",
        ),
        (
            of_rows("200", "{ type = \"decimal(4, 2)\", expr = \"row\" }"),
            "w/workload.toml:5:5: table.t.columns.a: row 193 has 193, more than the type holds; write a longer type",
        ),
        (
            of_rows("200", "{ type = \"decimal(4, 2)\", decimal_of = \"row * 100\", scale = 2 }"),
            "w/workload.toml:5:5: table.t.columns.a: row 193 has 193.00, more than the type holds; write a longer type",
        ),
        (
            of_rows("200", "{ type = \"boolean\", expr = \"row\" }"),
            "w/workload.toml:5:5: table.t.columns.a: row 2 has 2, more than the type holds; make 0 and 1",
        ),
    ]);
    let of_parent = |times: &str| {
        of(&format!(
            "[table.p]\nrows = 1_000_000\n[table.p.columns]\nn = {{ type = \"integer\", uniform = [1, 3] }}\n[table.t]\n\
             rows = {{ of = \"p\", times = \"n\" }}\n[table.t.columns]\na = {{ type = \"integer\", expr = \"parent * {times}\" }}"
        ))
    };
    assert!(of_parent("2_000").is_ok());
    let error = of_parent("3_000").expect_err("3,000 million");
    assert!(error.contains("table.t.columns.a: row 1 of row "), "{error}");
    assert!(error.contains("write bigint"), "{error}");
    assert!(
        of("[table.t]\nrows = 2_147_483_647\n[table.t.columns]\na = { type = \"integer\", expr = \"row\" }")
            .is_ok()
    );
}
