//! Formats lines of columns for spreadsheets and documents: CSV and Markdown. Numbers are written
//! in full, as in the report, without thousands separators.

use crate::row::AwrValue;

/// A number with as many digits as are known.
pub fn plain(value: f64, step: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return format!("{value:.0}");
    }
    // One digit more than the last known one: further calculations then do not round twice.
    let decimals = if step > 0.0 { (1.0 - step.log10().floor()).clamp(0.0, 9.0) } else { 6.0 };
    let text = format!("{value:.*}", decimals as usize);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

fn text(value: &AwrValue) -> String {
    match value {
        AwrValue::Text(text) => text.clone(),
        AwrValue::Number(reading) => plain(reading.value, reading.step),
        AwrValue::Absent => String::new(),
    }
}

/// One record of CSV (RFC 4180), with its line end. Text that a spreadsheet would interpret as a
/// formula gets an apostrophe.
pub fn csv(cells: &[AwrValue]) -> String {
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    let fields = cells.iter().map(|cell| match (cell, text(cell)) {
        (AwrValue::Text(_), text) if text.starts_with(['=', '+', '-', '@', '\t']) => format!("'{text}"),
        (_, text) => text,
    });
    writer.write_record(fields).expect("memory takes all fields");
    String::from_utf8(writer.into_inner().expect("memory takes all fields")).expect("all fields are UTF-8")
}

/// Fields with a bar after each.
pub fn bars(cells: &[AwrValue]) -> String {
    let mut line: String =
        cells.iter().map(|cell| text(cell).replace(['|', '\r', '\n'], " ") + "|").collect();
    line.push('\n');
    line
}

/// The two lines that begin a Markdown table.
pub fn markdown_head(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| escape(name)).collect();
    format!("| {} |\n|{}\n", names.join(" | "), " --- |".repeat(names.len()))
}

/// One line of a Markdown table. Characters of markup and tags are escaped.
pub fn markdown(cells: &[AwrValue]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| escape(&text(cell))).collect();
    format!("| {} |\n", cells.join(" | "))
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::PrintedNumber;

    #[test]
    fn printed_numbers_keep_significant_digits() {
        assert_eq!(plain(3432.2228, 3.41), "3432.2");
        assert_eq!(plain(0.514_41, 0.005), "0.5144");
        assert_eq!(plain(7.0, 0.1), "7");
        assert_eq!(plain(0.1 + 0.2, 0.0), "0.3");
        assert_eq!(plain(176_500.0, 100.0), "176500");
    }

    #[test]
    fn awr_csv_quotes_fields_when_needed() {
        let cells = [
            AwrValue::Text("a,\"b\"".into()),
            AwrValue::Text("=cmd()".into()),
            AwrValue::Number(PrintedNumber { value: -1.5, step: 0.1 }),
            AwrValue::Absent,
        ];
        assert_eq!(csv(&cells), "\"a,\"\"b\"\"\",'=cmd(),-1.5,\r\n");
    }

    #[test]
    fn markdown_escapes_markup_in_names() {
        let line = markdown(&[AwrValue::Text("<script>|x".into())]);
        assert_eq!(line, "| &lt;script&gt;\\|x |\n");
    }
}
