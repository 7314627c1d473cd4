//! Reverts what SQL*Plus does to a report while it spools: blanks written as tabs, and long lines
//! of HTML broken at the line size.

use std::borrow::Cow;

/// Columns between two tab stops of SQL*Plus.
const TAB: usize = 8;

/// Shortest line size at which a page can be broken.
const WIDTH_MIN: usize = 60;

/// Fewest lines of full width in a broken page.
const FULL_LINES_MIN: usize = 4;

/// Most letters of an entity's name, including the semicolon (`&thetasym;`).
const ENTITY_MAX: usize = 9;

/// A page with truncated lines, so the text beyond their width is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CutLines {
    /// Length of the longest lines, in characters.
    pub(crate) width: usize,
    /// The first truncated line, counted from 0.
    pub(crate) line: usize,
}

/// The text with each tab replaced by the blanks up to the next tab stop: a ruler defines columns
/// by character, and a tab is only one.
pub(crate) fn expand_tabs(text: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\t', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let mut column = 0;
    for c in text.chars() {
        match c {
            '\t' => {
                let blanks = TAB - column % TAB;
                out.extend(std::iter::repeat_n(' ', blanks));
                column += blanks;
                continue;
            }
            '\n' | '\r' => column = 0,
            // A form feed begins a page and takes no column.
            '\u{c}' => {}
            _ => column += 1,
        }
        out.push(c);
    }
    Cow::Owned(out)
}

/// A page whose lines were broken at one width, with the pieces of each line rejoined. Line numbers
/// stay the same: the removed line ends follow after the rejoined line.
///
/// # Errors
/// The lines were truncated rather than broken: a tag is open at the end of a line, and the next
/// line begins another one.
pub(crate) fn rejoin(page: &str) -> Result<Cow<'_, str>, CutLines> {
    let Some(width) = broken_width(page) else { return Ok(Cow::Borrowed(page)) };
    if let Some(line) = cut_line(page, width) {
        return Err(CutLines { width, line });
    }
    let mut out = String::with_capacity(page.len());
    let mut held_ends = 0;
    for raw in page.split_inclusive('\n') {
        let line = raw.trim_end_matches(['\n', '\r']);
        // A blank at the end of a piece separates words, as does the line end itself.
        let continues = !line.ends_with(' ') && line.chars().count() == width;
        out.push_str(line);
        if continues && raw.ends_with('\n') {
            held_ends += 1;
        } else if raw.ends_with('\n') {
            out.extend(std::iter::repeat_n('\n', held_ends + 1));
            held_ends = 0;
        }
    }
    Ok(Cow::Owned(out))
}

/// The width at which the lines of a page were broken: that of its longest lines, if there are
/// several and tags or entities (`&qu|ot;`) continue after them.
fn broken_width(page: &str) -> Option<usize> {
    let (mut width, mut full, mut broken) = (0, 0, 0);
    let mut is_open = false;
    for line in page.lines() {
        let length = line.chars().count();
        if length > width {
            (width, full, broken) = (length, 0, 0);
        }
        is_open = ends_in_tag(line, is_open);
        if length == width {
            full += 1;
            broken += usize::from((is_open && !line.ends_with(' ')) || ends_in_entity(line));
        }
    }
    (width >= WIDTH_MIN && full >= FULL_LINES_MIN && broken >= 2).then_some(width)
}

/// The first line of full width in whose tag another tag begins on the next line.
fn cut_line(page: &str, width: usize) -> Option<usize> {
    let mut is_open = false;
    let mut was_cut_at = None;
    for (number, line) in page.lines().enumerate() {
        if line.starts_with('<') && was_cut_at.is_some() {
            return was_cut_at;
        }
        is_open = ends_in_tag(line, is_open);
        was_cut_at = (is_open && !line.ends_with(' ') && line.chars().count() == width).then_some(number);
    }
    None
}

/// Whether a tag is open at the end of a line.
fn ends_in_tag(line: &str, was_open: bool) -> bool {
    match (line.rfind('<'), line.rfind('>')) {
        (None, None) => was_open,
        (open, close) => open > close,
    }
}

/// Whether an entity is open at the end of a line.
fn ends_in_entity(line: &str) -> bool {
    line.rfind('&').is_some_and(|start| {
        let name = &line[start + 1..];
        name.len() < ENTITY_MAX && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '#')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_expand_to_the_next_tab_stop() {
        assert_eq!(expand_tabs("a\tb\n\tc\n\u{c}é\td"), "a       b\n        c\n\u{c}é       d");
        assert!(matches!(expand_tabs("plain"), Cow::Borrowed("plain")));
    }

    /// `line` broken at `width`, padded or not.
    fn broken(page: &str, width: usize, padded: bool) -> String {
        let mut out = String::new();
        for line in page.lines() {
            let chars: Vec<char> = line.chars().collect();
            for piece in chars.chunks(width) {
                let piece: String = piece.iter().collect();
                out += &if padded { format!("{piece:<width$}") } else { piece.trim_end().to_owned() };
                out.push('\n');
            }
        }
        out
    }

    #[test]
    fn broken_lines_are_joined_and_keep_line_numbers() {
        let row = format!("<tr>{}</tr>\n", "<td align=\"right\" class='awrc'>1,234,567.89</td>".repeat(9));
        let page = format!("<html>\n{}<p>end</p>\n", row.repeat(3));
        for padded in [true, false] {
            let broken = broken(&page, 132, padded);
            let joined = rejoin(&broken).unwrap();
            assert_eq!(joined.matches(">1,234,567.89<").count(), 27, "{joined}");
            let line_of = |text: &str| text.lines().position(|line| line.starts_with("<p>end")).unwrap();
            assert_eq!(line_of(&joined), line_of(&broken));
        }
        assert!(matches!(rejoin(&page), Ok(Cow::Borrowed(_))));
    }

    #[test]
    fn lines_broken_within_html_entities_are_joined() {
        let statement = format!("<td>{}</td>\n", "&quot;ID&quot;=1,".repeat(60));
        let broken = broken(&statement, 100, false);
        assert_eq!(rejoin(&broken).unwrap().trim_end(), statement.trim_end());
    }

    #[test]
    fn truncated_spool_lines_are_refused() {
        let row = format!("<tr>{}</tr>", "<td align=\"right\" class='awrc'>1,234,567.89</td>".repeat(9));
        let page = format!("<html>\n{}", format!("{}\n", &row[..110]).repeat(6));
        assert_eq!(rejoin(&page), Err(CutLines { width: 110, line: 1 }));
    }
}
