//! Reads the tables back from a page, from Markdown, from a workbook and from terminal text.

use std::io::{Cursor, Read};

/// A table as a reader of the document sees it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ReadTable<C> {
    /// Label and unit of each column: `read, /s`.
    pub(super) heads: Vec<String>,
    pub(super) rows: Vec<Vec<C>>,
}

/// A cell of a workbook.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum SheetCell {
    Text(String),
    /// A number and the code of its format.
    Number(f64, String),
}

/// The parts of `text` between `open` and `close`.
fn between<'t>(text: &'t str, open: &'t str, close: &'t str) -> impl Iterator<Item = &'t str> {
    text.split(open).skip(1).filter_map(move |part| Some(part.split_once(close)?.0))
}

fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    Some(tag.split_once(&format!(" {name}=\""))?.1.split_once('"')?.0)
}

/// The text of markup without its tags.
fn plain(markup: &str) -> String {
    let markup = format!(">{}", markup.replace("<br>", ", "));
    let text: String = markup.split('<').filter_map(|part| Some(part.split_once('>')?.1)).collect();
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
        .iter()
        .fold(text, |text, (escaped, c)| text.replace(escaped, c))
}

pub(super) fn of_page(page: &str) -> Vec<ReadTable<String>> {
    let cells = |row: &str, tag: &str| -> Vec<String> {
        let (begin, end) = (format!("<{tag} "), format!("</{tag}>"));
        let marked_up = row.split(&begin).skip(1).filter_map(|cell| cell.split_once(&end));
        marked_up.map(|(cell, _)| plain(cell.split_once('>').unwrap().1)).collect()
    };
    let table = |table: &str| {
        let (heads, body) = table.split_once("</thead>").unwrap();
        let row = |row: &str| if row.contains("rowgroup") { cells(row, "th") } else { cells(row, "td") };
        ReadTable { heads: cells(heads, "th"), rows: body.split("<tr").skip(1).map(row).collect() }
    };
    page.split("<table")
        .skip(1)
        .filter_map(|part| part.split_once("</table>"))
        .map(|(markup, _)| table(markup))
        .collect()
}

pub(super) fn of_markdown(text: &str) -> Vec<ReadTable<String>> {
    let cells = |line: &str| -> Vec<String> {
        let inner = line.strip_prefix("| ").and_then(|line| line.strip_suffix(" |")).unwrap_or_default();
        inner.split(" | ").map(|cell| plain(&cell.replace('\\', ""))).collect()
    };
    let mut tables: Vec<ReadTable<String>> = Vec::new();
    let lines: Vec<&str> = text.lines().collect();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.starts_with("| ")) {
        match lines.get(at + 1).is_some_and(|next| next.starts_with("| ---")) {
            true => tables.push(ReadTable { heads: cells(line), rows: Vec::new() }),
            false if line.starts_with("| ---") => {}
            false => tables.last_mut().unwrap().rows.push(cells(line)),
        }
    }
    tables
}

pub(super) fn of_workbook(bytes: &[u8]) -> Vec<ReadTable<SheetCell>> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut file = |name: &str| {
        let mut text = String::new();
        archive.by_name(name).ok()?.read_to_string(&mut text).ok().map(|_| text)
    };
    let strings = file("xl/sharedStrings.xml").unwrap_or_default();
    let strings: Vec<String> = between(&strings, "<si>", "</si>").map(plain).collect();
    let styles = file("xl/styles.xml").unwrap();
    let own: Vec<(&str, String)> = styles
        .split("<numFmt")
        .filter_map(|tag| Some((attribute(tag, "numFmtId")?, plain(attribute(tag, "formatCode")?))))
        .collect();
    let formats: Vec<String> = between(&styles, "<cellXfs", "</cellXfs>")
        .flat_map(|all| all.split("<xf").skip(1))
        .map(|tag| {
            let id = attribute(tag, "numFmtId").unwrap_or_default();
            own.iter().find(|(known, _)| *known == id).map_or_else(String::new, |(_, code)| code.clone())
        })
        .collect();
    let cell = |cell: &str| {
        let (tag, rest) = cell.split_once('>').unwrap();
        let value = between(rest, "<v>", "</v>").next().unwrap_or_default();
        let column = attribute(tag, "r").unwrap().bytes().take_while(u8::is_ascii_uppercase);
        let column = column.fold(0, |at, letter| at * 26 + usize::from(letter - b'A') + 1) - 1;
        let format = attribute(tag, "s").map_or(0, |style| style.parse::<usize>().unwrap());
        let read = match attribute(tag, "t") {
            Some("s") => SheetCell::Text(strings[value.parse::<usize>().unwrap()].clone()),
            _ if value.is_empty() => SheetCell::Text(String::new()),
            _ => SheetCell::Number(value.parse().unwrap(), formats[format].clone()),
        };
        (column, read)
    };
    let mut tables = Vec::new();
    for number in 1.. {
        let Some(sheet) = file(&format!("xl/worksheets/sheet{number}.xml")) else { break };
        let mut rows = sheet.split("<row ").skip(1).map(|row| {
            let mut cells = Vec::new();
            for (column, read) in row.split("<c").skip(1).map(cell) {
                cells.resize(column, SheetCell::Text(String::new()));
                cells.push(read);
            }
            cells
        });
        let head = |cell: SheetCell| match cell {
            SheetCell::Text(text) => text,
            SheetCell::Number(..) => panic!("a number as a head"),
        };
        let heads = rows.next().unwrap().into_iter().map(head).collect();
        tables.push(ReadTable { heads, rows: rows.collect() });
    }
    tables
}

/// The cells of each line, as columns are at least two spaces apart. Bars draw what a page shows as a chart.
pub(super) fn of_terminal(text: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| {
        let is_bar = |cell: &str| cell.chars().all(|c| matches!(c, '▀'..='▟'));
        line.split("  ").map(str::trim).filter(|cell| !is_bar(cell)).map(str::to_owned).collect()
    };
    text.lines().map(cells).collect()
}
