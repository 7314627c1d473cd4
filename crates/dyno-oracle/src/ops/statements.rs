//! The operations of one session in SQL and PL/SQL, with names and columns filled in.
//!
//! The index is named in a hint: in a small table the optimizer may think a scan cheaper, and a range by the index is what
//! the method demands.

use dyno_plan::{Commit, DataSpec, Redo};

use super::super::layout::names_and_binds;
use super::super::sql::{self, Statement};
use dyno_engine::layout::updated_columns;
use dyno_engine::session::{Place, SessionSetup};

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
    pub(crate) verify_update: String,
    pub(crate) slice_select: String,
    pub(crate) slice_lookup: String,
    pub(crate) slice_scan: String,
    pub(crate) slice_secondary: String,
    pub(crate) slice_update: String,
    pub(crate) slice_mixed: String,
    /// What the session sets for itself before it starts, if anything.
    pub(crate) setting: Option<String>,
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
            verify_update: own(sql::VERIFY_UPDATE, ""),
            slice_select: own(sql::SLICE_SELECT, ""),
            slice_lookup: own(sql::SLICE_LOOKUP, ""),
            slice_scan: own(sql::SLICE_SCAN, ""),
            slice_secondary: own(sql::SLICE_SECONDARY, ""),
            slice_update: own(sql::SLICE_UPDATE, &by_block),
            slice_mixed: own(sql::SLICE_MIXED, &by_block),
            setting: match commit {
                Commit::Wait => Some(sql::SESSION_WAIT.text()),
                Commit::Nowait => Some(sql::SESSION_NOWAIT.text()),
                // A setting would take PL/SQL's own way from it.
                Commit::Plsql => None,
            },
        }
    }
}

/// The statements of one session, on its own schema and on schema 1 where operations go there too.
#[derive(Debug)]
pub(super) struct Places {
    own: Texts,
    first: Option<Box<Texts>>,
    /// Where operations go now.
    pub(super) place: Place,
}

impl Places {
    pub(super) fn new(setup: &SessionSetup) -> Self {
        let texts = |schema| Texts::new(schema, setup.redo, setup.commit, &setup.spec);
        let first = setup.also_first().then(|| Box::new(texts(1)));
        Self { own: texts(setup.schema), first, place: Place::Own }
    }

    /// Those for where operations go now.
    pub(super) fn here(&self) -> &Texts {
        self.at(self.place)
    }

    /// Those for `place`.
    pub(super) fn at(&self, place: Place) -> &Texts {
        match (place, &self.first) {
            (Place::First, Some(first)) => first,
            // The session's own schema, which may be schema 1.
            _ => &self.own,
        }
    }

    /// Those for each schema.
    pub(super) fn all(&self) -> impl Iterator<Item = &Texts> {
        std::iter::once(&self.own).chain(self.first.as_deref())
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
    use dyno_engine::session::Extra;

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
            assert_eq!(
                texts.setting.as_deref().map(|sql| sql.contains(waits.unwrap_or("?"))),
                waits.map(|_| true)
            );
        }
        // Two round trips, or one block.
        for write in [|texts: Texts| texts.update, |texts: Texts| texts.insert, |texts: Texts| texts.delete] {
            assert!(!write(of(Commit::Wait)).contains("COMMIT"));
            assert!(!write(of(Commit::Nowait)).contains("COMMIT"));
            assert!(write(of(Commit::Plsql)).contains(":changed := SQL%ROWCOUNT;\n  COMMIT;"));
        }
    }

    #[test]
    fn operations_go_to_schema_1_and_back() {
        let places = |schema, hot_schema| {
            let mut places = Places::new(&SessionSetup {
                number: 0,
                schema,
                spec: spec(0),
                work_unit: 1,
                redo: Redo::Lite,
                extra: Extra { hot_schema, ..Extra::default() },
                drive: dyno_plan::Drive::Client,
                commit: Commit::Wait,
                seed: 1,
                run_stamp: 1,
                clock: std::sync::Arc::new(dyno_engine::clock::MonotonicClock::default()),
            });
            let own = places.here().select.clone();
            places.place = Place::First;
            let first = places.here().select.clone();
            (own.contains("dyno_rows_7 "), first.contains("dyno_rows_1 "), places.all().count())
        };
        assert_eq!(places(7, true), (true, true, 2));
        assert_eq!(places(1, true), (false, true, 1), "its own schema is schema 1");
        assert_eq!(places(7, false), (true, false, 1), "never asked for");
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
