//! Parses statements that copy a table into another one.

use std::sync::Arc;

use super::answers::name_after;
use super::rows::COLUMNS;

/// The text of one column of a copy: a column of the source, its first characters moved to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CopiedColumn {
    /// The number of the source's column, from 2.
    pub(super) column: usize,
    /// Number of characters that move.
    pub(super) moved: usize,
}

/// A copy as its statement defines it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CopyStatement {
    /// The table whose rows are copied.
    pub(super) source: Arc<str>,
    /// The texts of `c2` and the columns after it.
    pub(super) columns: Vec<CopiedColumn>,
    /// The seed of the hash that orders the rows.
    pub(super) order_seed: u64,
}

/// What every such statement begins with.
pub(super) const BEGIN: &str = "INSERT /*+ APPEND */ INTO dyno_";

impl CopyStatement {
    /// Parses a text in single spaces; absent if it is not a copy with one text for each column of a row.
    pub(super) fn of(words: &str) -> Option<Self> {
        let source = name_after(words, " FROM dyno_")?;
        let (_, select) = words.split_once(" custid, 0, ")?;
        let (texts, rest) = select.split_once(" FROM ")?;
        let (_, order) = rest.split_once(" ORDER BY ORA_HASH(custid, 4294967295, ")?;
        let columns: Vec<CopiedColumn> =
            terms(texts).into_iter().map(copied_column).collect::<Option<_>>()?;
        let order_seed = order.strip_suffix(')')?.parse().ok()?;
        (columns.len() == COLUMNS).then(|| Self {
            source: format!("DYNO_{source}").into(),
            columns,
            order_seed,
        })
    }
}

/// Splits a list at the commas outside of parentheses.
fn terms(list: &str) -> Vec<&str> {
    let mut depth = 0;
    list.split(|c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth == 0
    })
    .map(str::trim)
    .collect()
}

/// Parses `c5`, or `SUBSTR(c5, 4) || SUBSTR(c5, 1, 3)`.
fn copied_column(term: &str) -> Option<CopiedColumn> {
    let number = |name: &str| name.strip_prefix('c')?.parse().ok();
    let arguments = |call: &str| -> Option<Vec<String>> {
        let inside = call.strip_prefix("SUBSTR(")?.strip_suffix(')')?;
        Some(inside.split(", ").map(str::to_owned).collect())
    };
    let Some((tail, head)) = term.split_once(" || ") else {
        return Some(CopiedColumn { column: number(term)?, moved: 0 });
    };
    let (tail, head) = (arguments(tail)?, arguments(head)?);
    let [name, from] = tail.as_slice() else { return None };
    let moved: usize = head.get(2)?.parse().ok()?;
    let is_rotation = head[..2] == [name.as_str(), "1"] && from.parse() == Ok(moved + 1);
    is_rotation.then(|| Some(CopiedColumn { column: number(name)?, moved }))?
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A copy whose first column comes from `c3` with one character moved, and the last from `c2`.
    pub(in super::super) fn copy_sql() -> String {
        let names: Vec<String> = (2..2 + COLUMNS).map(|column| format!("c{column}")).collect();
        let mut texts = names.clone();
        texts.rotate_left(1);
        texts[0] = "SUBSTR(c3, 2) || SUBSTR(c3, 1, 1)".to_owned();
        format!(
            "{BEGIN}rows_2 (custid, ver, {}) SELECT custid, 0, {} FROM dyno_rows_1 t ORDER BY ORA_HASH(custid, \
             4294967295, 7)",
            names.join(", "),
            texts.join(", ")
        )
    }

    #[test]
    fn copy_is_parsed_from_its_text() {
        let copy = CopyStatement::of(&copy_sql()).unwrap();
        assert_eq!((&*copy.source, copy.order_seed), ("DYNO_ROWS_1", 7));
        assert_eq!(copy.columns[0], CopiedColumn { column: 3, moved: 1 });
        assert_eq!(copy.columns[COLUMNS - 1], CopiedColumn { column: 2, moved: 0 });
        for (part, other) in [
            (" ORDER BY ORA_HASH(custid, 4294967295, 7)", ""),
            ("SUBSTR(c3, 1, 1)", "SUBSTR(c3, 1, 2)"),
            ("SUBSTR(c3, 1, 1)", "SUBSTR(c4, 1, 1)"),
            (", c20", ""),
        ] {
            assert_eq!(CopyStatement::of(&copy_sql().replace(part, other)), None, "{part}");
        }
    }
}
