//! Finds the tables that a statement names.

use super::text::StatementWord;

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
