//! Shows the comparison of rows with acknowledgments, as a table and as JSON.

use dyno_prove::RowComparison;
use dyno_report::Style;
use dyno_report::model::{Grid, GridCell, GridHead};
use dyno_report::number;
use serde_json::{Value, json};

/// The comparison as a table; `recorded` is the number of updated rows in the run's record, if it has one.
pub(super) fn table(account: &RowComparison, recorded: Option<u64>, style: &Style) -> String {
    let mut table = Grid::new(vec![
        GridHead::text(""),
        GridHead::figures("commits", ""),
        GridHead::figures("rows", ""),
        GridHead::text("verdict"),
    ]);
    let count = |value: u64| GridCell::from(number::count(value));
    let empty_cell = GridCell::default;
    let right = |is_right: bool, word: &str| match is_right {
        true => GridCell::from("correct").toned("good"),
        false => GridCell::from(word).toned("bad"),
    };
    table.row([
        GridCell::from("acknowledged by the database"),
        count(account.commits_acknowledged),
        count(account.rows_acknowledged),
        right(account.rows_short == 0, "rows missing from updates"),
    ]);
    if let Some(recorded) = recorded {
        table.row([
            GridCell::from("in the run's record"),
            empty_cell(),
            count(recorded),
            right(recorded == account.rows_acknowledged, "differs"),
        ]);
    }
    table.row([
        GridCell::from("found in the rows"),
        count(account.commits_found()),
        GridCell::from(number::signed(account.rows_found)),
        right(account.is_whole(), "differs"),
    ]);
    table.row([
        GridCell::from("lost"),
        count(account.commits_lost()),
        count(account.rows_lost),
        right(account.rows_lost == 0, "lost"),
    ]);
    table.row([
        GridCell::from("found in excess of acknowledged and unknown"),
        empty_cell(),
        count(account.rows_surplus),
        right(account.rows_surplus == 0, "done twice, or by other sessions"),
    ]);
    if account.commits_unknown > 0 {
        table.row([
            GridCell::from("of unknown outcome, and found of them"),
            count(account.commits_unknown),
            count(account.rows_unknown_found),
            GridCell::from("may be present or not"),
        ]);
    }
    let odd = account.rows_missing + account.rows_foreign;
    table.row([
        GridCell::from(format!("rows missing or unexpected, of {}", number::count(account.rows))),
        empty_cell(),
        count(odd),
        right(odd == 0, "differs"),
    ]);
    table.row([
        GridCell::from("rows whose value does not match their version"),
        empty_cell(),
        count(account.values_wrong),
        right(account.values_wrong == 0, "differs"),
    ]);
    let mut text = table.render(style);
    if let Some(row) = account.example {
        text.push_str(&format!(
            "\nfor example key {} of schema {}: version {} before, {} updates acknowledged, version {} now\n",
            row.key, row.schema, row.before, row.acknowledged, row.found
        ));
    }
    text
}

pub(super) fn as_json(account: &RowComparison) -> Value {
    json!({
        "rows": account.rows,
        "rows_missing": account.rows_missing,
        "rows_foreign": account.rows_foreign,
        "commits_acknowledged": account.commits_acknowledged,
        "commits_found": account.commits_found(),
        "commits_lost": account.commits_lost(),
        "commits_unknown": account.commits_unknown,
        "rows_acknowledged": account.rows_acknowledged,
        "rows_found": account.rows_found as i64,
        "rows_lost": account.rows_lost,
        "rows_unknown_found": account.rows_unknown_found,
        "rows_surplus": account.rows_surplus,
        "rows_short": account.rows_short,
        "values_wrong": account.values_wrong,
        "example": account.example.map(|row| json!({
            "schema": row.schema, "key": row.key, "version_before": row.before,
            "acknowledged": row.acknowledged, "version_found": row.found,
        })),
    })
}
