//! Finds the tables that a statement names, and the columns that its parameters may mean.

use dyno_engine::column_statistics::ColumnName;

use super::parameter_context::{ParameterContext, ParameterUsage};
use super::text::{ParsedStatement, StatementWord};

/// Words before the name of a table.
const BEFORE_TABLE: [&str; 4] = ["from", "join", "into", "update"];
/// Words between these and the name.
const BETWEEN: [&str; 5] = ["only", "ignore", "low_priority", "lateral", "into"];
/// Words that follow a table and are no alias of it.
const AFTER_TABLE: [&str; 34] = [
    "where",
    "join",
    "on",
    "set",
    "values",
    "value",
    "select",
    "left",
    "right",
    "inner",
    "outer",
    "full",
    "cross",
    "natural",
    "using",
    "group",
    "order",
    "limit",
    "for",
    "union",
    "returning",
    "force",
    "use",
    "ignore",
    "straight_join",
    "window",
    "having",
    "partition",
    "offset",
    "fetch",
    "except",
    "intersect",
    "default",
    "with",
];

/// A table of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TableReference {
    pub(super) schema: Option<String>,
    pub(super) table: String,
    pub(super) alias: Option<String>,
}

/// The tables that these words name, in order.
pub(super) fn tables(words: &[StatementWord]) -> Vec<TableReference> {
    let is_one_of =
        |word: &StatementWord, known: &[&str]| !word.quoted && known.contains(&word.letters.as_str());
    let mut all = Vec::new();
    let mut place = 0;
    while place < words.len() {
        let begins = is_one_of(&words[place], &BEFORE_TABLE);
        place += 1;
        if !begins {
            continue;
        }
        while words.get(place).is_some_and(|word| is_one_of(word, &BETWEEN)) {
            place += 1;
        }
        // Tables after a comma belong to the same list.
        while let Some(first) = words.get(place).filter(|word| !is_one_of(word, &AFTER_TABLE)) {
            let depth = first.depth;
            let mut last = place;
            while words[last].behind == b'.' && last + 1 < words.len() {
                last += 1;
            }
            let schema = (last > place).then(|| words[last - 1].letters.clone());
            let table = words[last].letters.clone();
            let mut alias = None;
            let mut end = last;
            if words[last].behind != b',' {
                let skipped = usize::from(words.get(last + 1).is_some_and(|word| is_one_of(word, &["as"])));
                let is_alias = |word: &&StatementWord| word.depth == depth && !is_one_of(word, &AFTER_TABLE);
                if let Some(word) = words.get(last + 1 + skipped).filter(is_alias) {
                    alias = Some(word.letters.clone());
                    end = last + 1 + skipped;
                }
            }
            all.push(TableReference { schema, table, alias });
            place = end + 1;
            if words[end].behind != b',' || words.get(place).is_none_or(|word| word.depth != depth) {
                break;
            }
        }
    }
    all
}

/// The columns that the parameter at `place` may mean: one for each table that it may belong to.
pub(super) fn candidates(statement: &ParsedStatement, place: usize) -> Vec<ColumnName> {
    let ParameterContext { qualifier, column: Some(column), usage } = &statement.params[place].context else {
        return Vec::new();
    };
    if matches!(usage, ParameterUsage::Limit | ParameterUsage::Offset) {
        return Vec::new();
    }
    let is_meant = |reference: &TableReference| match qualifier {
        None => true,
        Some(qualifier) => reference.alias.as_ref() == Some(qualifier) || reference.table == *qualifier,
    };
    let named = tables(&statement.words).into_iter().filter(is_meant);
    let columns = named.map(|TableReference { schema, table, .. }| ColumnName {
        schema,
        table,
        column: column.clone(),
    });
    match usage {
        // A new row belongs to the first table, whatever the statement reads.
        ParameterUsage::Stored => columns.take(1).collect(),
        _ => columns.collect(),
    }
}

#[cfg(test)]
mod tests {
    use dyno_engine::executed_statements::PlaceholderStyle;

    use super::super::text::read;

    /// The tables of a statement, each as `schema.table alias`.
    fn tables(text: &str) -> Vec<String> {
        let words = read(text, PlaceholderStyle::Dollar).unwrap().words;
        let shown = |reference: super::TableReference| {
            let schema = reference.schema.map(|schema| format!("{schema}.")).unwrap_or_default();
            let alias = reference.alias.map(|alias| format!(" {alias}")).unwrap_or_default();
            format!("{schema}{}{alias}", reference.table)
        };
        super::tables(&words).into_iter().map(shown).collect()
    }

    #[test]
    fn tables_are_found_with_schema_and_alias() {
        for (text, expected) in [
            ("SELECT a FROM shop.\"Orders\" WHERE b = $1", vec!["shop.orders"]),
            ("SELECT 1 FROM a x, b AS y, c WHERE x.i = y.i", vec!["a x", "b y", "c"]),
            ("SELECT 1 FROM a JOIN b ON a.i = b.i LEFT JOIN c z USING (i)", vec!["a", "b", "c z"]),
            ("SELECT 1 FROM (SELECT i FROM t LIMIT $1) s", vec!["t"]),
            ("INSERT INTO t (a, b) SELECT a, b FROM u", vec!["t", "u"]),
            ("UPDATE ONLY t AS x SET a = $1", vec!["t x"]),
            ("DELETE FROM t USING u WHERE t.i = $1", vec!["t"]),
        ] {
            assert_eq!(tables(text), expected, "{text}");
        }
    }
}
