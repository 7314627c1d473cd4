//! Tests that any folder is either read or refused with an error, and that examples in the documentation are
//! valid.

use std::sync::Arc;

use dyno_engine::RequestCompletion;
use proptest::prelude::*;

use super::read;
use crate::custom::example::EXAMPLES;
use crate::custom::{CustomActor, CustomWorkload};

fn act(workload: &Arc<CustomWorkload>) {
    let Ok(mut actor) = CustomActor::new(workload, "sqlite", 1, 1) else { return };
    for rows in 0..4 {
        actor.draw();
        let (mut last, mut steps) = (None, 0);
        while let Some(step) = actor.step(last) {
            actor.request(step, |_| ());
            last = Some(RequestCompletion { rows, commit_began_ns: None });
            steps += 1;
            if steps > 1_000 {
                return;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn mutated_workload_file_is_read_or_gives_an_error(
        which in 0usize..2, at in 0.0f64..1.0, length in 0usize..20, new in "[ -~\n]{0,12}",
    ) {
        let mut files: Vec<(&str, String)> =
            EXAMPLES[0].files.iter().map(|(name, text)| (*name, (*text).to_owned())).collect();
        let name = ["workload.toml", "order.sql"][which];
        let (_, text) = files.iter_mut().find(|(file, _)| *file == name).expect("it is there");
        let from = (at * text.len() as f64) as usize;
        let to = (from + length).min(text.len());
        prop_assume!(text.is_char_boundary(from) && text.is_char_boundary(to));
        text.replace_range(from..to, &new);
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
        match read(&files) {
            Ok(own) => {
                act(&own);
                prop_assert!(own.described("sqlite").is_ok() && own.described_draws("sqlite").is_ok());
            }
            Err(fault) => prop_assert!(fault.starts_with("w/"), "{fault}"),
        }
    }
}

#[test]
fn documented_draw_examples_are_valid() {
    let text = include_str!("../../../../../docs/reference/workload-values.md");
    let rows = text.lines().skip_while(|line| !line.starts_with("| kind |")).skip(2);
    let mut count = 0;
    for row in rows.take_while(|row| row.starts_with('|')) {
        let example = row.split(" | ").nth(1).expect("an example");
        for draw in example.split('`').filter(|part| part.starts_with('{')) {
            let main = format!(
                "name = \"w\"\n[draw]\ncustomer = 1\nx = {draw}\n[transaction.t]\nsql = \"SELECT :x\"\n"
            );
            let custom_workload = read(&[("workload.toml", &main), ("cities.txt", "Aalen\nBasel\n")]);
            act(&custom_workload.unwrap_or_else(|fault| panic!("{fault}: {draw}")));
            count += 1;
        }
    }
    assert!(count >= 18, "{count} examples");
}

#[test]
fn documented_table_examples_are_read() {
    let tables = include_str!("../../../../../docs/reference/workload-tables.md");
    let bulk_load = include_str!("../../../../../docs/guides/bulk-load.md");
    let parts = [tables, bulk_load].into_iter().flat_map(|page| page.split("```toml\n").skip(1));
    let examples = parts.filter_map(|part| part.split("```").next());
    let with_tables: Vec<&str> = examples.filter(|example| example.contains("[table.")).collect();
    assert!(!with_tables.is_empty());
    for example in with_tables {
        let own = read(&[("workload.toml", example)]).unwrap_or_else(|fault| panic!("{fault}"));
        assert!(!own.tables().is_empty());
        act(&own);
    }
    // Every listed type must be valid.
    let rows = tables.lines().skip_while(|line| !line.starts_with("| type |")).skip(2);
    let types: Vec<&str> = rows
        .take_while(|row| row.starts_with('|'))
        .map(|row| row.split('`').nth(1).expect("a type"))
        .collect();
    assert_eq!(types.len(), 13);
    for of in types {
        let text = format!(
            "name = \"w\"\n[table.t]\nrows = 1\n[table.t.columns]\na = {{ type = \"{of}\", bytes = 3 }}\n[transaction.t]\nsql = \"SELECT 1\"\n"
        );
        let told = read(&[("workload.toml", &text)]).err().unwrap_or_default();
        assert!(told.is_empty() || told.contains("does not fit the type"), "{told}");
    }
}
