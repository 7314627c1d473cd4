//! Collects the text of one cell or title from the pieces between tags.

use std::borrow::Cow;

use memchr::memchr;

use super::entity::decode;

/// Most characters of one cell that are kept. Statements are the longest; Oracle itself truncates
/// them at 4,000.
const LENGTH_MAX: usize = 16_384;

/// Text being collected; borrowed as long as it is one piece that needs no change.
#[derive(Debug, Default)]
pub(crate) struct CellText<'a> {
    text: Cow<'a, str>,
    /// Whether a blank precedes the next piece.
    blank: bool,
}

impl<'a> CellText<'a> {
    /// Adds a piece; blanks beside a tag count as one blank.
    pub(crate) fn push(&mut self, piece: &'a str) {
        let trimmed = piece.trim_ascii();
        let starts = !piece.is_empty() && piece.as_bytes()[0].is_ascii_whitespace();
        let ends = !piece.is_empty() && piece.as_bytes()[piece.len() - 1].is_ascii_whitespace();
        // Nearly all cells are a few plain characters.
        let plain = is_plain(trimmed) && memchr(b'&', trimmed.as_bytes()).is_none();
        let piece = if plain { Cow::Borrowed(trimmed) } else { collapse(decode(trimmed)) };
        if self.text.is_empty() {
            self.text = piece;
        } else if !piece.is_empty() && self.text.len() < LENGTH_MAX {
            let text = self.text.to_mut();
            if self.blank || starts {
                text.push(' ');
            }
            text.push_str(&piece);
            self.blank = false;
        }
        self.blank |= ends;
        self.limit();
    }

    /// Adds a blank, as for `<br>`.
    pub(crate) fn blank(&mut self) {
        self.blank = true;
    }

    fn limit(&mut self) {
        if self.text.len() > LENGTH_MAX {
            let end = (0..=LENGTH_MAX).rev().find(|&end| self.text.is_char_boundary(end)).unwrap_or(0);
            match &mut self.text {
                Cow::Borrowed(text) => *text = &text[..end],
                Cow::Owned(text) => text.truncate(end),
            }
        }
    }

    /// Returns the collected text, and starts again without text.
    pub(crate) fn take(&mut self) -> Cow<'a, str> {
        self.blank = false;
        std::mem::take(&mut self.text)
    }
}

/// Whether all characters are printable ASCII. The loop checks all of them without an early exit,
/// so it can be vectorized.
fn is_plain(text: &str) -> bool {
    text.bytes().fold(true, |plain, b| plain & (b' '..0x7f).contains(&b))
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{a0}'
}

/// Text without blanks at its ends; a wrapped line is joined with one blank. Blanks inside a line
/// stay, because names of events contain some (`enq: IV -  contention`).
fn collapse(text: Cow<'_, str>) -> Cow<'_, str> {
    let clean = text.bytes().fold(true, |clean, b| clean & (b >= b' ')) && !text.contains('\u{a0}');
    if clean {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    for line in text.split('\n') {
        if is_plain(line) {
            push_line(&mut out, line.trim_matches(' '));
        } else {
            let pieces = line.split(char::is_control).map(|piece| piece.trim_matches(is_blank));
            pieces.for_each(|piece| push_line(&mut out, &piece.replace('\u{a0}', " ")));
        }
    }
    Cow::Owned(out)
}

fn push_line(out: &mut String, line: &str) {
    if !out.is_empty() && !line.is_empty() {
        out.push(' ');
    }
    out.push_str(line);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(pieces: &[&'static str]) -> String {
        let mut cell = CellText::default();
        pieces.iter().for_each(|piece| cell.push(piece));
        cell.take().into_owned()
    }

    #[test]
    fn html_cell_pieces_become_one_line() {
        assert_eq!(text(&["  a\n  b "]), "a b");
        assert_eq!(text(&["enq: IV -  contention"]), "enq: IV -  contention");
        assert_eq!(text(&["", "82ud5h0qcg0bf", ""]), "82ud5h0qcg0bf");
        assert_eq!(text(&["a ", "b", " c"]), "a b c");
        assert_eq!(text(&["<", "x"]), "<x");
        assert_eq!(text(&["&#160;"]), "");
        assert_eq!(text(&[" &nbsp;1&nbsp;"]), "1");
    }

    #[test]
    fn html_cell_text_length_is_bounded() {
        let long: &'static str = Box::leak("é".repeat(LENGTH_MAX).into_boxed_str());
        assert!(text(&[long, long]).len() <= LENGTH_MAX);
    }
}
