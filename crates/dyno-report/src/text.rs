//! Makes text from records and databases safe, and fits it to a width.
//!
//! A record may come from anyone: its settings, error messages and names could contain escape sequences that
//! move the cursor, retitle the window or hide what follows. Cells and sentences pass [`clean`], messages
//! pass [`talk`], and all output finally passes [`page`] or [`json()`]. [`dyno_plan::terminal`] defines which
//! characters act on a terminal.

use std::borrow::Cow;

use dyno_plan::terminal::{acts, spell, spelled};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Maximum characters of one text; longer text is useless in a terminal, and `--json` shows it.
const CHARS_MAX: usize = 2_000;

/// Maximum characters of a message: errors may list a lot.
const TALK_CHARS_MAX: usize = 20_000;

/// `text` with everything that could act on a terminal escaped: `\n`, `\u{1b}`. Very long texts are cut.
pub fn clean(text: &str) -> String {
    spelled(text, CHARS_MAX)
}

/// A sentence with a capital letter; a mark at its start stays in front. A first word with a digit or `_` is a name
/// (`p99`, `update_pct`) and stays.
pub fn capital(text: &str) -> String {
    let word = text.split_whitespace().next().unwrap_or_default();
    if word.contains(|c: char| c.is_ascii_digit() || c == '_') {
        return text.to_owned();
    }
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Prefix of a quoted line of another program's output after a message.
pub const QUOTED: &str = "\n  | ";

/// A message, whatever text it contains. Only quoted lines may follow it: any other line break is escaped, so
/// that no text can pass for another message.
pub fn talk(text: &str) -> String {
    let lines = text.split(QUOTED).map(|line| spelled(line, TALK_CHARS_MAX));
    lines.collect::<Vec<_>>().join(QUOTED)
}

/// Preformatted text for a terminal: lines, tabs and, if `color` is set, the colors of
/// [`Style::paint`](crate::Style::paint) remain; everything else that acts on a terminal is escaped.
pub fn page(text: &str, color: bool) -> Cow<'_, str> {
    if !text.chars().any(|c| acts(c) && c != '\n') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let painted = if color { crate::style::painted(rest) } else { 0 };
        let byte_count = painted.max(c.len_utf8());
        match painted > 0 || matches!(c, '\n' | '\t') || rest.starts_with("\r\n") {
            true => out.push_str(&rest[..byte_count]),
            false => spell(c, &mut out),
        }
        rest = &rest[byte_count..];
    }
    Cow::Owned(out)
}

/// JSON that is equal for a program and harmless in a terminal: characters that act on it are escaped.
/// Outside of strings, only line breaks act on a terminal.
pub fn json(text: &str) -> Cow<'_, str> {
    let stays = |c: char| !acts(c) || matches!(c, '\n' | '\r' | '\t');
    if text.chars().all(stays) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if stays(c) {
            out.push(c);
        } else {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        }
    }
    Cow::Owned(out)
}

/// Number of columns of `text`.
pub fn width(text: &str) -> usize {
    text.width()
}

/// `text` cut to `columns`, with `…` in place of the rest.
pub fn truncate(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        let next = c.width().unwrap_or(0);
        if used + next + 1 > columns {
            break;
        }
        used += next;
        out.push(c);
    }
    if columns > 0 {
        out.push('…');
    }
    out
}

/// `text` in lines of at most `columns`, broken at spaces if possible; at most `lines_max` lines. A command of Dyno in
/// backticks stays in one line, however long, so that it can be copied.
pub fn wrap(text: &str, columns: usize, lines_max: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines: Vec<String> = vec![String::new()];
    for word in words_and_commands(text) {
        let line = lines.last_mut().expect("there is always a line");
        if line.is_empty() {
            *line = word.to_owned();
        } else if width(line) + 1 + width(word) <= columns {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    if lines.len() > lines_max {
        lines.truncate(lines_max);
        if let Some(last) = lines.last_mut() {
            // Whole words make room for the sign: a part of a figure is another figure.
            while width(last) + 2 > columns
                && !last.starts_with(COMMAND)
                && let Some((words, _)) = last.rsplit_once(' ')
            {
                *last = words.to_owned();
            }
            last.push_str(" …");
        }
    }
    lines
        .into_iter()
        .map(|line| if line.starts_with(COMMAND) { line } else { truncate(&line, columns) })
        .collect()
}

/// How a command of Dyno begins in a text.
const COMMAND: &str = "`dyno ";

/// The words of `text`; a command in backticks is one word, with what follows it directly.
fn words_and_commands(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(' ');
        let closing = |text: &str| Some(COMMAND.len() + text.strip_prefix(COMMAND)?.find('`')?);
        let from = closing(rest).unwrap_or(0);
        let end = rest[from..].find(' ').map_or(rest.len(), |blank| from + blank);
        let (word, after) = rest.split_at(end);
        rest = after;
        (!word.is_empty()).then_some(word)
    })
}

/// Every line of `text` indented by two columns; empty lines stay empty.
pub fn indent(text: &str) -> String {
    let line = |line: &str| if line.is_empty() { "\n".to_owned() } else { format!("  {line}\n") };
    text.lines().map(line).collect()
}

pub fn pad(count: usize) -> String {
    " ".repeat(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::{Paint, Style};
    use proptest::prelude::*;

    #[test]
    fn escape_sequences_are_printed_as_text() {
        assert_eq!(clean("a\x1b[2Jb\nc\u{202e}d\u{200b}"), "a\\u{1b}[2Jb\\nc\\u{202e}d\\u{200b}");
        assert_eq!(clean("Größe 数据"), "Größe 数据");
    }

    #[test]
    fn capital_letter_leaves_names_as_they_are() {
        assert_eq!(capital("highest throughput"), "Highest throughput");
        assert_eq!(capital("p99 <= 30ms holds"), "p99 <= 30ms holds");
        assert_eq!(capital("update_pct 20"), "update_pct 20");
        assert_eq!(capital(""), "");
    }

    #[test]
    fn long_texts_are_truncated() {
        assert!(clean(&"x".repeat(10_000)).chars().count() <= CHARS_MAX + 1);
        assert_eq!(truncate("数据库", 5), "数据…");
        assert_eq!(truncate("abc", 3), "abc");
        assert_eq!(truncate("abcd", 3), "ab…");
    }

    #[test]
    fn wrapped_lines_keep_their_words() {
        assert_eq!(wrap("one two three", 7, 9), ["one two", "three"]);
        assert_eq!(wrap("one two three four", 7, 2), ["one two", "three …"]);
        assert_eq!(wrap("of 201 → 295 of all", 12, 1), ["of 201 → …"]);
        assert_eq!(
            wrap("see it: `dyno show a b`, and more", 10, 9),
            ["see it:", "`dyno show a b`,", "and more"],
            "a command can be copied"
        );
        assert_eq!(
            wrap("`dyno show a b` and more", 10, 1),
            ["`dyno show a b` …"],
            "or it would be another one"
        );
        assert_eq!(wrap("an open `dyno show a", 12, 9), ["an open", "`dyno show a"]);
    }

    #[test]
    fn error_text_keeps_line_breaks_of_quoted_lines_only() {
        assert_eq!(talk("failed\n  | said\x1b[2J\nhint: none"), "failed\n  | said\\u{1b}[2J\\nhint: none");
    }

    #[test]
    fn page_text_keeps_line_breaks_and_own_colors_only() {
        let style = Style { color: true, width: 80 };
        let red = style.paint(Paint::Bad, "bad");
        let text = format!("a\tb\r\n{red}\x1b[2Jc\x1b[8md\u{9b}1m");
        assert_eq!(page(&text, true), format!("a\tb\r\n{red}\\u{{1b}}[2Jc\\u{{1b}}[8md\\u{{9b}}1m"));
        assert!(!page(&text, false).contains('\x1b'));
        assert!(matches!(page("plain\ntext", false), Cow::Borrowed(_)));
    }

    #[test]
    fn json_escaping_keeps_the_value() {
        let value = serde_json::json!({ "a\u{9b}": ["\u{202e}x\u{7f}", "\u{e0001}"] });
        let text = serde_json::to_string_pretty(&value).expect("a value");
        let safe = json(&text);
        assert!(!safe.chars().any(|c| acts(c) && c != '\n'), "{safe}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).expect("JSON"), value);
    }

    proptest! {
        #[test]
        fn cleaned_text_is_one_safe_line(text in ".{0,200}") {
            let cleaned = clean(&text);
            prop_assert!(!cleaned.chars().any(acts));
            prop_assert!(width(&truncate(&cleaned, 20)) <= 20);
            prop_assert!(wrap(&cleaned, 20, 5).iter().all(|line| width(line) <= 20));
        }
    }
}
