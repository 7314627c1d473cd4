//! The SQL and PL/SQL of one session's operations, with names and columns inserted.
//!
//! A hint names the index. In a small table the optimizer may consider a scan cheaper, but the method
//! requires a range access by the index.

use dyno_plan::{Commit, DataSpec, Redo};

use super::super::layout::names_and_binds;
use super::super::sql::{self, OracleSqlFile};
use dyno_engine::data::{CLASSIC_COLUMN_BYTES, TEXT_COLUMNS};
use dyno_engine::layout::updated_columns;
use dyno_engine::{
    BlockSessionConfig, BlockStatementKind, BlocksSql, BlocksStatement, Commits, ResultKind, Slot, Type,
};

/// The texts of one session's statements on one schema.
#[derive(Debug)]
pub(crate) struct OracleStatementTexts {
    pub(crate) select: String,
    pub(crate) lookup: String,
    pub(crate) scan: String,
    /// Used only for data with a secondary key.
    pub(crate) secondary: String,
    /// The update, which includes its commit with PL/SQL commits; so do the next two statements.
    pub(crate) update: String,
    pub(crate) insert: String,
    pub(crate) delete: String,
    pub(crate) found: String,
    pub(crate) fresh: String,
    pub(crate) slice_select: String,
    pub(crate) slice_lookup: String,
    pub(crate) slice_scan: String,
    pub(crate) slice_secondary: String,
    pub(crate) slice_update: String,
    pub(crate) slice_mixed: String,
}

impl OracleStatementTexts {
    /// The statements on the tables of `schema` for data of `spec`.
    pub(crate) fn new(schema: u32, redo: Redo, commit: Commit, spec: &DataSpec) -> Self {
        let n = schema.to_string();
        let (names, binds) = names_and_binds();
        let expand = |statement: OracleSqlFile, set: &str| {
            let scan = if spec.scan_rows > 0 {
                format!(
                    "SELECT /*+ FULL(t) NO_PARALLEL(t) */ COUNT(c2) INTO found_rows FROM dyno_scan_{n} t;"
                )
            } else {
                "found_rows := 0;".to_owned()
            };
            let by_secondary = if spec.secondary {
                format!(
                    "SELECT /*+ INDEX(t dyno_rows_{n}_sec) */ COUNT(c2) INTO found_rows FROM dyno_rows_{n} t WHERE sec = first_key;"
                )
            } else {
                "found_rows := 0;".to_owned()
            };
            statement.with(&[
                ("n", &n),
                ("set", set),
                ("commit", commit_words(commit)),
                ("scan", &scan),
                ("names", &names),
                ("binds", &binds),
                ("secondary", &by_secondary),
                ("values", &values_in_block()),
            ])
        };
        let (by_bind, by_block) = (set_by_bind(redo), set_in_block(redo));
        let [update, insert, delete] = match commit {
            Commit::Plsql => [sql::UPDATE_PLSQL, sql::INSERT_PLSQL, sql::DELETE_PLSQL],
            Commit::Wait | Commit::Nowait => [sql::UPDATE, sql::INSERT, sql::DELETE],
        };
        Self {
            select: expand(sql::SELECT, ""),
            lookup: expand(sql::LOOKUP, ""),
            scan: expand(sql::SCAN, ""),
            secondary: expand(sql::SECONDARY, ""),
            update: expand(update, &by_bind),
            insert: expand(insert, ""),
            delete: expand(delete, ""),
            found: expand(sql::FOUND, ""),
            fresh: expand(sql::FRESH, ""),
            slice_select: expand(sql::SLICE_SELECT, ""),
            slice_lookup: expand(sql::SLICE_LOOKUP, ""),
            slice_scan: expand(sql::SLICE_SCAN, ""),
            slice_secondary: expand(sql::SLICE_SECONDARY, ""),
            slice_update: expand(sql::SLICE_UPDATE, &by_block),
            slice_mixed: expand(sql::SLICE_MIXED, &by_block),
        }
    }
}

/// The client drive's statements on one schema, and the values that are bound to them.
pub(crate) fn blocks(blocks: &BlockSessionConfig, commit: Commit) -> BlocksSql {
    let BlockSessionConfig { schema, redo, ref spec, extra, .. } = *blocks;
    let texts = OracleStatementTexts::new(schema, redo, commit, spec);
    let range = [Slot::KEY, Slot::last(blocks.work_unit)];
    let columns = |count: usize| (0..count).map(Slot::Column);
    let stamp_slots = [Slot::Stamp, Slot::RunPrefix, Slot::SessionPrefix];
    let read =
        |kind, sql, slots: &[Slot], answer| BlocksStatement::read(kind, sql, &types(slots), slots, answer);
    let look = |kind, sql, slots: &[Slot]| BlocksStatement::look(kind, sql, &types(slots), slots);
    let write = |kind, sql, slots: Vec<Slot>| {
        let mut write = BlocksStatement::write(kind, sql, &types(&slots), &slots);
        if commit == Commit::Plsql {
            write.statement.commits = Commits::Inside;
        }
        write
    };
    let updated = columns(updated_columns(redo).count()).chain(range).collect();
    let mut statements = vec![
        read(BlockStatementKind::Select, texts.select, &range, ResultKind::Number),
        read(BlockStatementKind::Lookup, texts.lookup, &[Slot::KEY], ResultKind::Row),
        write(BlockStatementKind::Update, texts.update, updated),
        look(BlockStatementKind::Found, texts.found, &range),
        look(BlockStatementKind::Fresh, texts.fresh, &[&stamp_slots[..], &range].concat()),
    ];
    if spec.scan_rows > 0 {
        statements.push(read(BlockStatementKind::Scan, texts.scan, &[], ResultKind::Number));
    }
    if extra.secondary {
        statements.push(read(
            BlockStatementKind::Secondary,
            texts.secondary,
            &[Slot::KEY],
            ResultKind::Number,
        ));
    }
    if extra.churn {
        let row = std::iter::once(Slot::KEY).chain(columns(TEXT_COLUMNS)).collect();
        statements.push(write(BlockStatementKind::Insert, texts.insert, row));
        statements.push(write(BlockStatementKind::Delete, texts.delete, vec![Slot::KEY]));
    }
    BlocksSql { column_bytes: CLASSIC_COLUMN_BYTES, pad_bytes: 0, statements }
}

/// The types of the bound values.
fn types(slots: &[Slot]) -> Vec<Type> {
    let number = |slot: &Slot| matches!(slot, Slot::Key { .. } | Slot::Number);
    slots.iter().map(|slot| if number(slot) { Type::Int } else { Type::Text }).collect()
}

/// The statement that makes a session's settings; `None` if it needs none.
pub(super) fn setting(commit: Commit) -> Option<String> {
    match commit {
        Commit::Wait => Some(sql::SESSION_WAIT.text()),
        Commit::Nowait => Some(sql::SESSION_NOWAIT.text()),
        // A setting would replace PL/SQL's own behavior.
        Commit::Plsql => None,
    }
}

/// The commit inside a block. In PL/SQL only a commit with an explicit WAIT waits.
fn commit_words(commit: Commit) -> &'static str {
    match commit {
        Commit::Wait => "COMMIT WRITE IMMEDIATE WAIT",
        Commit::Nowait => "COMMIT WRITE BATCH NOWAIT",
        Commit::Plsql => "COMMIT",
    }
}

/// The assignments of an update in the client drive: one bind per column.
fn set_by_bind(redo: Redo) -> String {
    updated_columns(redo).map(|column| format!("c{column} = :c{column}")).collect::<Vec<_>>().join(", ")
}

/// The assignments of an update inside a block. Tails rotate with the operation's position, so that
/// consecutive values differ.
fn set_in_block(redo: Redo) -> String {
    let set = updated_columns(redo).map(|column| format!("c{column} = {}", value_in_block(column)));
    set.collect::<Vec<_>>().join(",\n           ")
}

/// The values of the text columns for an insert inside a block.
fn values_in_block() -> String {
    updated_columns(Redo::Heavy).map(value_in_block).collect::<Vec<_>>().join(",\n              ")
}

/// The new value of a column inside a block.
fn value_in_block(column: usize) -> String {
    match column {
        2 => "stamp || tail".to_owned(),
        _ => format!("hash || '{column:02}' || SUBSTR(tails, MOD(turn + {column}, 18) * width + 1, width)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_engine::{BlockOpSchema, Extra, OpenOptions};
    use dyno_plan::DriveMode;
    use dyno_workload::blocks::PreparedBlockStatements;

    fn spec(scan_rows: u64) -> DataSpec {
        DataSpec {
            schemas: 12,
            rows: 500,
            scan_rows,
            block_size: 8192,
            compressible: 0,
            seed: 1,
            secondary: true,
            copied: false,
        }
    }

    #[test]
    fn heavy_update_sets_every_column_and_lite_sets_two() {
        let update = |redo| OracleStatementTexts::new(3, redo, Commit::Wait, &spec(0)).update;
        let lite = update(Redo::Lite);
        assert!(lite.contains("SET ver = ver + 1, c2 = :c2, c20 = :c20\n"), "{lite}");
        assert_eq!(update(Redo::Heavy).matches(" = :c").count(), 19);
        assert_eq!(
            OracleStatementTexts::new(3, Redo::Heavy, Commit::Wait, &spec(0))
                .slice_update
                .matches("hash || '")
                .count(),
            18
        );
    }

    #[test]
    fn commit_clause_matches_requested_mode() {
        let texts_for = |commit| OracleStatementTexts::new(1, Redo::Lite, commit, &spec(9));
        for (commit, words, waits) in [
            (Commit::Wait, "    COMMIT WRITE IMMEDIATE WAIT;", Some("COMMIT_WAIT = 'WAIT'")),
            (Commit::Nowait, "    COMMIT WRITE BATCH NOWAIT;", Some("COMMIT_WAIT = 'NOWAIT'")),
            (Commit::Plsql, "    COMMIT;", None),
        ] {
            let texts = texts_for(commit);
            assert!(texts.slice_update.contains(words));
            assert!(texts.slice_mixed.contains(words.trim()));
            assert_eq!(setting(commit).map(|sql| sql.contains(waits.unwrap_or("?"))), waits.map(|_| true));
        }
        // The client sends two round trips, or one block.
        for write in [
            |texts: OracleStatementTexts| texts.update,
            |texts: OracleStatementTexts| texts.insert,
            |texts: OracleStatementTexts| texts.delete,
        ] {
            assert!(!write(texts_for(Commit::Wait)).contains("COMMIT"));
            assert!(!write(texts_for(Commit::Nowait)).contains("COMMIT"));
            assert!(write(texts_for(Commit::Plsql)).contains(":changed := SQL%ROWCOUNT;\n  COMMIT;"));
        }
    }

    fn of(schema: u32, extra: Extra) -> BlockSessionConfig {
        let (spec, redo) = (spec(9), Redo::Heavy);
        BlockSessionConfig { schema, spec, work_unit: 5, redo, extra, seed: 1, run_stamp: 1, session: 0 }
    }

    #[test]
    fn hot_schema_statements_target_schema_1() {
        let url = "oracle://dyno@db1/orclpdb1".parse().unwrap();
        let options = OpenOptions { password: None, connect_timeout: std::time::Duration::from_secs(1) };
        let target = crate::open(&url, &options).unwrap();
        let places = |schema, hot_schema| {
            let block_workload = of(schema, Extra { hot_schema, ..Extra::default() });
            let prepared = PreparedBlockStatements::new(
                target.as_ref(),
                &block_workload,
                DriveMode::Client,
                Commit::Wait,
            )
            .unwrap();
            let at = |place| {
                let id = prepared.id(BlockStatementKind::Select, place)?;
                prepared.statements[id.index()]
                    .sql
                    .split_once("FROM dyno_rows_")?
                    .1
                    .split(' ')
                    .next()?
                    .parse()
                    .ok()
            };
            [at(BlockOpSchema::Own), at(BlockOpSchema::First)]
        };
        assert_eq!(places(7, true), [Some(7), Some(1)]);
        assert_eq!(places(1, true), [Some(1); 2], "its own schema is schema 1");
        assert_eq!(places(7, false), [Some(7), None], "never asked for");
    }

    #[test]
    fn every_oracle_parameter_is_bound() {
        let all = Extra { churn: true, secondary: true, hot_schema: false };
        for commit in [Commit::Wait, Commit::Plsql] {
            let BlocksSql { statements, .. } = blocks(&of(3, all), commit);
            assert_eq!(statements.len(), BlockStatementKind::ALL.len());
            for BlocksStatement { kind, statement, slots } in statements {
                let inside = statement.commits == Commits::Inside;
                assert_eq!(inside, commit == Commit::Plsql && statement.writes(), "{kind:?}");
                // Values are bound by position, followed by the number of rows if the block commits.
                let named = statement.sql.replace(":=", "").matches(':').count();
                assert_eq!(named, slots.len() + usize::from(inside), "{kind:?}: {}", statement.sql);
                assert_eq!(statement.params.len(), slots.len());
            }
        }
    }

    #[test]
    fn statement_texts_contain_no_unfilled_braces() {
        for scan_rows in [9, 0] {
            let texts =
                format!("{:?}", OracleStatementTexts::new(12, Redo::Heavy, Commit::Wait, &spec(scan_rows)));
            let inside =
                texts.strip_prefix("OracleStatementTexts {").and_then(|text| text.strip_suffix('}')).unwrap();
            assert!(!inside.contains('{'), "{inside}");
            assert!(!inside.contains('}'), "{inside}");
            assert!(texts.contains("COUNT(c2) AS row_count"));
            let mixed = OracleStatementTexts::new(12, Redo::Lite, Commit::Wait, &spec(scan_rows)).slice_mixed;
            assert_eq!(mixed.contains("dyno_scan_12"), scan_rows > 0);
            assert!(mixed.contains("WHERE sec = first_key"));
            // Data of older versions has no such column, and a block that names it would not compile.
            let older = DataSpec { secondary: false, ..spec(scan_rows) };
            let mixed = OracleStatementTexts::new(12, Redo::Lite, Commit::Wait, &older).slice_mixed;
            assert!(!mixed.contains("sec = "), "{mixed}");
            assert!(!mixed.contains("_sec)"), "{mixed}");
        }
    }
}
