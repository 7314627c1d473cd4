//! Terminal, page, Markdown and workbook show the same figures, cell by cell.

use dyno_analyze::attribution::MARK;
use dyno_analyze::conclusion::{Conclusion, ConclusionFigures, soak};

use super::documents::*;
use super::marked::with_others;
use super::read_tables::{ReadTable, SheetCell, of_markdown, of_page, of_terminal, of_workbook};
use super::*;

impl Renderings {
    /// The number of Markdown's tables that the page, the terminal and the workbook have, too. Panics if two
    /// renderings of a table differ.
    fn shared(&self, name: &str) -> [usize; 3] {
        let mut shared = [0; 3];
        let (mut page, mut workbook) = (of_page(&self.page), of_workbook(&self.workbook));
        let terminal = of_terminal(&self.terminal);
        for table in of_markdown(&self.markdown) {
            let heads = &table.heads;
            if let Some(at) = page.iter().position(|of_page| of_page.heads == *heads) {
                // Tables with the same heads have the same order everywhere.
                let mut of_page = page.remove(at).rows;
                if has_titles(&table) && !of_page.iter().any(|row| row.len() == 1) {
                    // A page has a table of its own below each title, without the columns that it does not need.
                    of_page.retain(|row| !table.rows.contains(row));
                    assert_eq!(of_page, Vec::<Vec<String>>::new(), "{name}: page and Markdown");
                } else {
                    assert_eq!(of_page, table.rows, "{name}: page and Markdown");
                }
                shared[0] += 1;
            }
            let rows = table
                .rows
                .iter()
                .map(|row| row.iter().map(|cell| cell.trim()).filter(|cell| !cell.is_empty()).collect());
            let rows: Vec<Vec<&str>> = rows.collect();
            let shown = |row: &Vec<&str>| terminal.iter().any(|line| shows(line, row));
            if rows.iter().any(shown) {
                let missing = rows.iter().find(|row| !shown(row));
                assert_eq!(missing, None, "{name}: terminal and Markdown: {}", self.terminal);
                shared[1] += 1;
            }
            let columns = |sheet: &ReadTable<SheetCell>| columns_of(&sheet.heads, heads);
            if let Some(at) = workbook.iter().position(|sheet| columns(sheet).is_some()) {
                let sheet = workbook.remove(at);
                let columns = columns(&sheet).unwrap();
                assert_eq!(sheet.rows.len(), table.rows.len(), "{name}: {heads:?}");
                for (cells, texts) in sheet.rows.iter().zip(&table.rows) {
                    for (column, text) in columns.iter().zip(texts) {
                        let cell =
                            cells.get(*column).cloned().unwrap_or_else(|| SheetCell::Text(String::new()));
                        assert!(
                            agrees(&cell, text, name == "suite"),
                            "{name}: workbook and Markdown: {cell:?} and {text:?}"
                        );
                    }
                }
                shared[2] += 1;
            }
        }
        shared
    }
}

/// Where a sheet has these columns, in this order. It may have more of them; its first column is the first.
fn columns_of(sheet: &[String], heads: &[String]) -> Option<Vec<usize>> {
    let is_same = |of_sheet: &String, head: &str| {
        of_sheet == head || of_sheet.strip_prefix(head).is_some_and(|unit| unit.starts_with(", "))
    };
    let mut places = 0..sheet.len();
    let columns = heads.iter().map(|head| places.find(|at| is_same(&sheet[*at], head)));
    columns.collect::<Option<Vec<_>>>().filter(|columns| columns.first() == Some(&0))
}

/// Whether rows with a single cell are titles of those below them.
fn has_titles(table: &ReadTable<String>) -> bool {
    table.heads.len() > 1 && table.rows.iter().any(|row| row.len() == 1)
}

/// Whether a line of a terminal table is the row. It may leave out wide columns, as the one of targets does.
fn shows(line: &[String], row: &[&str]) -> bool {
    let mut cells = row.iter();
    let in_order = line.iter().all(|cell| cells.any(|of_row| of_row == cell));
    // Pages number some rows in a column before the name.
    let same_name = line.first().is_some_and(|first| row.iter().take(2).any(|cell| cell == first));
    in_order && same_name && (line.len() == row.len() || line.len() > 2)
}

/// Whether a cell of a workbook is the figure of the text: the same mark, and the same number as far as the text
/// has digits. A `rounded` text has only the digits that the spread of its runs supports: `370,000`.
fn agrees(cell: &SheetCell, text: &str, rounded: bool) -> bool {
    let (value, format) = match cell {
        SheetCell::Text(of_sheet) => return of_sheet == text,
        SheetCell::Number(value, format) => (*value, format),
    };
    let bare = text.trim_end_matches(MARK);
    let start = bare.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
    let (negative, digits) = (bare[..start].ends_with('-'), &bare[start..]);
    let end = digits.find(|c: char| !c.is_ascii_digit() && !matches!(c, ',' | '.')).unwrap_or(digits.len());
    let (digits, unit) = digits.split_at(end);
    let Ok(figure) = digits.replace(',', "").parse::<f64>() else { return false };
    let zeros = digits.chars().rev().filter(|c| *c != ',').take_while(|c| *c == '0').count();
    let last_digit = match digits.split_once('.') {
        Some((_, decimals)) => 10f64.powi(-(decimals.len() as i32)),
        None if rounded => 10f64.powi(zeros as i32),
        None => 1.0,
    };
    let scales: &[f64] = match unit.trim_start() {
        "ms" => &[1e3],
        // A time in µs, or a length in seconds.
        "s" => &[1e6, 1.0],
        "KiB" => &[1024.0],
        "MiB" => &[1_048_576.0],
        "GiB" => &[1_073_741_824.0],
        unit if unit.starts_with('M') && !unit.starts_with("MB") => &[1e6],
        unit if unit.starts_with('G') => &[1e9],
        _ => &[1.0],
    };
    let is_close = |scale: &f64| {
        let figure = if negative { -figure } else { figure };
        (value - figure * scale).abs() <= last_digit * scale * 0.5001
    };
    text.ends_with(MARK) == format.contains(MARK) && scales.iter().any(is_close)
}

#[test]
fn every_rendering_of_a_table_has_the_same_figures() {
    let of = |record: RunRecord| Renderings::of_records(&[record], None);
    let soaked = postgres();
    let soak = soak::conclusion("soak-1", None, &soaked);
    let suite_runs = [postgres()];
    let of_suite = ConclusionFigures::Suite(Box::new(crate::content::suite::tests::suite()));
    let suite = Conclusion {
        of: "suite-1".into(),
        stopped: None,
        line: "done".into(),
        next: Vec::new(),
        words: Vec::new(),
        figures: of_suite,
    };
    let documents = [
        ("run", of(postgres())),
        ("marked figures", of(with_others())),
        ("SQLite", of(fixture::sqlite())),
        ("invalid run", of(invalid())),
        ("widest figures", of(wide())),
        ("several targets", of(targets())),
        ("cluster", of(cluster())),
        ("driver hosts", of(distributed())),
        ("imported metrics", of(with_imported_metrics())),
        ("AWR", of(awr())),
        ("sweep", Renderings::of_records(&sweep(), None)),
        ("soak", Renderings::of_records(std::slice::from_ref(&soaked), Some(soak))),
        ("suite", Renderings::of_records(&suite_runs, Some(suite))),
        ("comparison", comparison()),
        ("capacity", capacity()),
        ("watch", of(watch())),
        ("study", study()),
        ("differences", differing()),
        ("history", history()),
        ("intervals", intervals()),
    ];
    for (name, document) in documents.iter().filter(|(name, _)| ["run", "sweep", "soak"].contains(name)) {
        let texts = [&document.terminal, &document.page, &document.markdown];
        assert!(texts.iter().all(|text| text.contains("next: ")), "{name}: the next step is everywhere");
    }
    // The number of tables that Markdown shares with page, terminal and workbook: each table that a rendering
    // formats in its own way is missing here.
    let shared = [
        ("run", [4, 3, 2]),
        ("marked figures", [4, 3, 2]),
        ("SQLite", [4, 3, 2]),
        ("invalid run", [1, 0, 0]),
        ("widest figures", [3, 2, 1]),
        ("several targets", [5, 4, 2]),
        ("cluster", [5, 4, 2]),
        ("driver hosts", [5, 3, 2]),
        ("imported metrics", [5, 4, 2]),
        ("AWR", [6, 3, 2]),
        ("sweep", [8, 5, 6]),
        ("soak", [5, 4, 3]),
        ("suite", [2, 3, 1]),
        ("comparison", [15, 12, 15]),
        ("capacity", [1, 1, 1]),
        ("watch", [6, 6, 4]),
        ("study", [5, 1, 5]),
        ("differences", [1, 1, 1]),
        ("history", [1, 1, 1]),
        ("intervals", [3, 3, 3]),
    ];
    let found = documents.iter().map(|(name, document)| (*name, document.shared(name)));
    assert_eq!(found.collect::<Vec<_>>(), shared);
}
