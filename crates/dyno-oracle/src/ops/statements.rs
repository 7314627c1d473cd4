//! The operations of one session in SQL and PL/SQL, with names and columns filled in.
//!
//! The index is named in a hint: in a small table the optimizer may think a scan cheaper, and a range by the index is what
//! the method demands.

use dyno_plan::{Commit, DataSpec, Redo};

use super::super::layout::names_and_binds;
use super::super::sql::{self, Statement};
use dyno_engine::data::{CLASSIC_COLUMN_BYTES, TEXT_COLUMNS};
use dyno_engine::layout::updated_columns;
use dyno_engine::{Answer, Blocks, BlocksSql, BlocksStatement, Commits, Kind, Slot, Type};

/// The statements of one session on one schema.
#[derive(Debug)]
pub(crate) struct Texts {
    pub(crate) select: String,
    pub(crate) lookup: String,
    pub(crate) scan: String,
    /// Only for data that has the key.
    pub(crate) secondary: String,
    /// With its commit where that is PL/SQL's; so are the next two.
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

impl Texts {
    /// Statements on the tables of `schema` of data of `spec`.
    pub(crate) fn new(schema: u32, redo: Redo, commit: Commit, spec: &DataSpec) -> Self {
        let n = schema.to_string();
        let (names, binds) = names_and_binds();
        let own = |statement: Statement, set: &str| {
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
            select: own(sql::SELECT, ""),
            lookup: own(sql::LOOKUP, ""),
            scan: own(sql::SCAN, ""),
            secondary: own(sql::SECONDARY, ""),
            update: own(update, &by_bind),
            insert: own(insert, ""),
            delete: own(delete, ""),
            found: own(sql::FOUND, ""),
            fresh: own(sql::FRESH, ""),
            slice_select: own(sql::SLICE_SELECT, ""),
            slice_lookup: own(sql::SLICE_LOOKUP, ""),
            slice_scan: own(sql::SLICE_SCAN, ""),
            slice_secondary: own(sql::SLICE_SECONDARY, ""),
            slice_update: own(sql::SLICE_UPDATE, &by_block),
            slice_mixed: own(sql::SLICE_MIXED, &by_block),
        }
    }
}

/// The statements of the client drive on one schema, and what is bound to them.
pub(crate) fn blocks(blocks: &Blocks, commit: Commit) -> BlocksSql {
    let Blocks { schema, redo, ref spec, extra, .. } = *blocks;
    let texts = Texts::new(schema, redo, commit, spec);
    let range = [Slot::KEY, Slot::last(blocks.work_unit)];
    let columns = |count: usize| (0..count).map(Slot::Column);
    let seen = [Slot::Stamp, Slot::RunPrefix, Slot::SessionPrefix];
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
        read(Kind::Select, texts.select, &range, Answer::Number),
        read(Kind::Lookup, texts.lookup, &[Slot::KEY], Answer::Row),
        write(Kind::Update, texts.update, updated),
        look(Kind::Found, texts.found, &range),
        look(Kind::Fresh, texts.fresh, &[&seen[..], &range].concat()),
    ];
    if spec.scan_rows > 0 {
        statements.push(read(Kind::Scan, texts.scan, &[], Answer::Number));
    }
    if extra.secondary {
        statements.push(read(Kind::Secondary, texts.secondary, &[Slot::KEY], Answer::Number));
    }
    if extra.churn {
        let row = std::iter::once(Slot::KEY).chain(columns(TEXT_COLUMNS)).collect();
        statements.push(write(Kind::Insert, texts.insert, row));
        statements.push(write(Kind::Delete, texts.delete, vec![Slot::KEY]));
    }
    BlocksSql { column_bytes: CLASSIC_COLUMN_BYTES, pad_bytes: 0, statements }
}

/// The types of what is bound.
fn types(slots: &[Slot]) -> Vec<Type> {
    let number = |slot: &Slot| matches!(slot, Slot::Key { .. } | Slot::Number);
    slots.iter().map(|slot| if number(slot) { Type::Int } else { Type::Text }).collect()
}

/// What a session sets for itself before it starts, if anything.
pub(super) fn setting(commit: Commit) -> Option<String> {
    match commit {
        Commit::Wait => Some(sql::SESSION_WAIT.text()),
        Commit::Nowait => Some(sql::SESSION_NOWAIT.text()),
        // A setting would take PL/SQL's own way from it.
        Commit::Plsql => None,
    }
}

/// The commit inside a block. Only one that asks to wait waits within PL/SQL.
fn commit_words(commit: Commit) -> &'static str {
    match commit {
        Commit::Wait => "COMMIT WRITE IMMEDIATE WAIT",
        Commit::Nowait => "COMMIT WRITE BATCH NOWAIT",
        Commit::Plsql => "COMMIT",
    }
}

/// What an update of the client drive sets: a bind for each column.
fn set_by_bind(redo: Redo) -> String {
    updated_columns(redo).map(|column| format!("c{column} = :c{column}")).collect::<Vec<_>>().join(", ")
}

/// What an update inside a block sets. Tails take turns by the operation's place, so that neighbouring values differ.
fn set_in_block(redo: Redo) -> String {
    let set = updated_columns(redo).map(|column| format!("c{column} = {}", value_in_block(column)));
    set.collect::<Vec<_>>().join(",\n           ")
}

/// What an insert inside a block puts into the text columns.
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
    use dyno_engine::{Extra, OpenOptions, Place};
    use dyno_plan::Drive;
    use dyno_workload::blocks::Prepared;

    fn spec(scan_rows: u64) -> DataSpec {
        DataSpec {
            schemas: 12,
            rows: 500,
            scan_rows,
            block_size: 8192,
            compressible: 0,
            seed: 1,
            secondary: true,
        }
    }

    #[test]
    fn heavy_sets_every_column_and_lite_two() {
        let update = |redo| Texts::new(3, redo, Commit::Wait, &spec(0)).update;
        let lite = update(Redo::Lite);
        assert!(lite.contains("SET ver = ver + 1, c2 = :c2, c20 = :c20\n"), "{lite}");
        assert_eq!(update(Redo::Heavy).matches(" = :c").count(), 19);
        assert_eq!(
            Texts::new(3, Redo::Heavy, Commit::Wait, &spec(0)).slice_update.matches("hash || '").count(),
            18
        );
    }

    #[test]
    fn the_commit_is_the_one_that_was_asked_for() {
        let of = |commit| Texts::new(1, Redo::Lite, commit, &spec(9));
        for (commit, words, waits) in [
            (Commit::Wait, "    COMMIT WRITE IMMEDIATE WAIT;", Some("COMMIT_WAIT = 'WAIT'")),
            (Commit::Nowait, "    COMMIT WRITE BATCH NOWAIT;", Some("COMMIT_WAIT = 'NOWAIT'")),
            (Commit::Plsql, "    COMMIT;", None),
        ] {
            let texts = of(commit);
            assert!(texts.slice_update.contains(words) && texts.slice_mixed.contains(words.trim()));
            assert_eq!(setting(commit).map(|sql| sql.contains(waits.unwrap_or("?"))), waits.map(|_| true));
        }
        // Two round trips, or one block.
        for write in [|texts: Texts| texts.update, |texts: Texts| texts.insert, |texts: Texts| texts.delete] {
            assert!(!write(of(Commit::Wait)).contains("COMMIT"));
            assert!(!write(of(Commit::Nowait)).contains("COMMIT"));
            assert!(write(of(Commit::Plsql)).contains(":changed := SQL%ROWCOUNT;\n  COMMIT;"));
        }
    }

    fn of(schema: u32, extra: Extra) -> Blocks {
        let (spec, redo) = (spec(9), Redo::Heavy);
        Blocks { schema, spec, work_unit: 5, redo, extra, seed: 1, run_stamp: 1, session: 0 }
    }

    #[test]
    fn operations_go_to_schema_1_and_back() {
        let url = "oracle://dyno@db1/orclpdb1".parse().unwrap();
        let options = OpenOptions { password: None, connect_timeout: std::time::Duration::from_secs(1) };
        let target = crate::open(&url, &options).unwrap();
        let places = |schema, hot_schema| {
            let of = of(schema, Extra { hot_schema, ..Extra::default() });
            let prepared = Prepared::new(target.as_ref(), &of, Drive::Client, Commit::Wait).unwrap();
            let at = |place| {
                let id = prepared.id(Kind::Select, place)?;
                prepared.statements[id.index()]
                    .sql
                    .split_once("FROM dyno_rows_")?
                    .1
                    .split(' ')
                    .next()?
                    .parse()
                    .ok()
            };
            [at(Place::Own), at(Place::First)]
        };
        assert_eq!(places(7, true), [Some(7), Some(1)]);
        assert_eq!(places(1, true), [Some(1); 2], "its own schema is schema 1");
        assert_eq!(places(7, false), [Some(7), None], "never asked for");
    }

    #[test]
    fn something_is_bound_to_every_name() {
        let all = Extra { churn: true, secondary: true, hot_schema: false };
        for commit in [Commit::Wait, Commit::Plsql] {
            let BlocksSql { statements, .. } = blocks(&of(3, all), commit);
            assert_eq!(statements.len(), Kind::ALL.len());
            for BlocksStatement { kind, statement, slots } in statements {
                let inside = statement.commits == Commits::Inside;
                assert_eq!(inside, commit == Commit::Plsql && statement.writes(), "{kind:?}");
                // Values by position, and where the block commits the number of rows behind them.
                let named = statement.sql.replace(":=", "").matches(':').count();
                assert_eq!(named, slots.len() + usize::from(inside), "{kind:?}: {}", statement.sql);
                assert_eq!(statement.params.len(), slots.len());
            }
        }
    }

    #[test]
    fn nothing_is_left_in_braces() {
        for scan_rows in [9, 0] {
            let texts = format!("{:?}", Texts::new(12, Redo::Heavy, Commit::Wait, &spec(scan_rows)));
            let inside = texts.strip_prefix("Texts {").and_then(|text| text.strip_suffix('}')).unwrap();
            assert!(!inside.contains('{') && !inside.contains('}'), "{inside}");
            assert!(texts.contains("COUNT(c2) AS row_count"));
            let mixed = Texts::new(12, Redo::Lite, Commit::Wait, &spec(scan_rows)).slice_mixed;
            assert_eq!(mixed.contains("dyno_scan_12"), scan_rows > 0);
            assert!(mixed.contains("WHERE sec = first_key"));
            // Data of older versions has no such column, and a block that names it would not compile.
            let older = DataSpec { secondary: false, ..spec(scan_rows) };
            let mixed = Texts::new(12, Redo::Lite, Commit::Wait, &older).slice_mixed;
            assert!(!mixed.contains("sec = ") && !mixed.contains("_sec)"), "{mixed}");
        }
    }
}
