//! The operations of one session in SQL and PL/SQL, with names and columns filled in.
//!
//! The index is named in a hint: in a small table the optimizer may think a scan cheaper, and a range by the index is what
//! the method demands.

use dyno_plan::{Commit, Redo};

use super::super::sql::{self, Statement};
use crate::data::TEXT_COLUMNS;

/// The statements of one session.
#[derive(Debug)]
pub(in crate::oracle) struct Texts {
    pub(in crate::oracle) select: String,
    pub(in crate::oracle) lookup: String,
    pub(in crate::oracle) scan: String,
    /// With its commit where that is PL/SQL's.
    pub(in crate::oracle) update: String,
    pub(in crate::oracle) verify_update: String,
    pub(in crate::oracle) slice_select: String,
    pub(in crate::oracle) slice_lookup: String,
    pub(in crate::oracle) slice_scan: String,
    pub(in crate::oracle) slice_update: String,
    pub(in crate::oracle) slice_mixed: String,
    /// What the session sets for itself before it starts, if anything.
    pub(in crate::oracle) setting: Option<String>,
}

impl Texts {
    /// Statements on the tables of `schema`, of which there is one to scan or not.
    pub(in crate::oracle) fn new(schema: u32, redo: Redo, commit: Commit, has_scan: bool) -> Self {
        let n = schema.to_string();
        let own = |statement: Statement, set: &str| {
            let scan = if has_scan {
                format!(
                    "SELECT /*+ FULL(t) NO_PARALLEL(t) */ COUNT(c2) INTO found_rows FROM dyno_scan_{n} t;"
                )
            } else {
                "found_rows := 0;".to_owned()
            };
            statement.with(&[("n", &n), ("set", set), ("commit", commit_words(commit)), ("scan", &scan)])
        };
        let (by_bind, by_block) = (set_by_bind(redo), set_in_block(redo));
        let update = if commit == Commit::Plsql { sql::UPDATE_PLSQL } else { sql::UPDATE };
        Self {
            select: own(sql::SELECT, ""),
            lookup: own(sql::LOOKUP, ""),
            scan: own(sql::SCAN, ""),
            update: own(update, &by_bind),
            verify_update: own(sql::VERIFY_UPDATE, ""),
            slice_select: own(sql::SLICE_SELECT, ""),
            slice_lookup: own(sql::SLICE_LOOKUP, ""),
            slice_scan: own(sql::SLICE_SCAN, ""),
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

/// The commit inside a block. Only one that asks to wait waits within PL/SQL.
fn commit_words(commit: Commit) -> &'static str {
    match commit {
        Commit::Wait => "COMMIT WRITE IMMEDIATE WAIT",
        Commit::Nowait => "COMMIT WRITE BATCH NOWAIT",
        Commit::Plsql => "COMMIT",
    }
}

/// The text columns that an update sets, by number: `c2` is 2.
pub(super) fn updated_columns(redo: Redo) -> impl Iterator<Item = usize> + Clone {
    let last = TEXT_COLUMNS + 1;
    (2..=last).filter(move |&column| redo == Redo::Heavy || column == 2 || column == last)
}

/// What an update of the client drive sets: a bind for each column.
fn set_by_bind(redo: Redo) -> String {
    updated_columns(redo).map(|column| format!("c{column} = :c{column}")).collect::<Vec<_>>().join(", ")
}

/// What an update inside a block sets. Tails take turns by the operation's place, so that neighbouring values differ.
fn set_in_block(redo: Redo) -> String {
    let others = updated_columns(redo).filter(|&column| column != 2).map(|column| {
        format!(
            "c{column} = hash || '{column:02}' || SUBSTR(tails, MOD(turn + {column}, 18) * width + 1, width)"
        )
    });
    std::iter::once("c2 = stamp || tail".to_owned()).chain(others).collect::<Vec<_>>().join(",\n           ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heavy_sets_every_column_and_lite_two() {
        let update = |redo| Texts::new(3, redo, Commit::Wait, false).update;
        let lite = update(Redo::Lite);
        assert!(lite.contains("SET ver = ver + 1, c2 = :c2, c20 = :c20\n"), "{lite}");
        assert_eq!(update(Redo::Heavy).matches(" = :c").count(), 19);
        assert_eq!(
            Texts::new(3, Redo::Heavy, Commit::Wait, false).slice_update.matches("hash || '").count(),
            18
        );
    }

    #[test]
    fn the_commit_is_the_one_that_was_asked_for() {
        let of = |commit| Texts::new(1, Redo::Lite, commit, true);
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
        assert!(!of(Commit::Wait).update.contains("COMMIT") && of(Commit::Plsql).update.contains("COMMIT;"));
    }

    #[test]
    fn nothing_is_left_in_braces() {
        for has_scan in [true, false] {
            let texts = format!("{:?}", Texts::new(12, Redo::Heavy, Commit::Wait, has_scan));
            let inside = texts.strip_prefix("Texts {").and_then(|text| text.strip_suffix('}')).unwrap();
            assert!(!inside.contains('{') && !inside.contains('}'), "{inside}");
            assert!(texts.contains("COUNT(c2) AS row_count"));
            let mixed = Texts::new(12, Redo::Lite, Commit::Wait, has_scan).slice_mixed;
            assert_eq!(mixed.contains("dyno_scan_12"), has_scan);
        }
    }
}
