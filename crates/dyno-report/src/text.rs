//! Text from records and databases, made safe and fitted.
//!
//! A record may come from anybody: settings, error messages and names in it could hold escape sequences that move the
//! cursor, retitle the window or hide what follows. Nothing of it is shown but through [`clean`].

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Characters of one text that are looked at; what is longer is of no use in a terminal, `--json` shows it.
const CHARS_MAX: usize = 2_000;

/// Whether a character could change how the characters around it appear.
fn is_unsafe(c: char) -> bool {
    let reorders = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let breaks = matches!(c, '\u{2028}' | '\u{2029}');
    // A character without width could be there ten thousand times and be neither seen nor cut off.
    c.is_control() || reorders || breaks || c.width().unwrap_or(0) == 0
}

/// `text` with everything that could drive a terminal spelled out: `\n`, `\u{1b}`. Very long texts are cut.
pub fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(CHARS_MAX));
    for (i, c) in text.chars().enumerate() {
        if i == CHARS_MAX {
            out.push('…');
            break;
        }
        if is_unsafe(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

/// Columns that `text` takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// `text` cut to `columns`, with `…` where something was cut.
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

/// `text` in lines of at most `columns`, broken at spaces where there are any; at most `lines_max` of them.
pub fn wrap(text: &str, columns: usize, lines_max: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split(' ').filter(|word| !word.is_empty()) {
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
            last.push_str(" …");
        }
    }
    lines.iter().map(|line| truncate(line, columns)).collect()
}

/// Every line of `text` two columns to the right; empty lines stay empty.
pub fn indent(text: &str) -> String {
    let line = |line: &str| if line.is_empty() { "\n".to_owned() } else { format!("  {line}\n") };
    text.lines().map(line).collect()
}

/// `count` spaces.
pub fn pad(count: usize) -> String {
    " ".repeat(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn escape_sequences_are_spelled_out() {
        assert_eq!(clean("a\x1b[2Jb\nc\u{202e}d\u{200b}"), "a\\u{1b}[2Jb\\nc\\u{202e}d\\u{200b}");
        assert_eq!(clean("Größe 数据"), "Größe 数据");
    }

    #[test]
    fn long_texts_are_cut() {
        assert!(clean(&"x".repeat(10_000)).chars().count() <= CHARS_MAX + 1);
        assert_eq!(truncate("数据库", 5), "数据…");
        assert_eq!(truncate("abc", 3), "abc");
        assert_eq!(truncate("abcd", 3), "ab…");
    }

    #[test]
    fn wrapped_lines_keep_their_words() {
        assert_eq!(wrap("one two three", 7, 9), ["one two", "three"]);
        assert_eq!(wrap("one two three four", 7, 2), ["one two", "three …"]);
    }

    proptest! {
        #[test]
        fn cleaned_text_is_one_safe_line(text in ".{0,200}") {
            let cleaned = clean(&text);
            prop_assert!(!cleaned.chars().any(is_unsafe));
            prop_assert!(width(&truncate(&cleaned, 20)) <= 20);
            prop_assert!(wrap(&cleaned, 20, 5).iter().all(|line| width(line) <= 20));
        }
    }
}
