//! Makes foreign text safe to print; the only place that knows which characters a terminal acts on.
//!
//! Names, values, error messages and reports may come from anyone. Their characters could move the cursor, change the window
//! title, hide later text or imitate a line of Dyno.

use unicode_width::UnicodeWidthChar as _;

/// Whether a character could change how the characters around it appear.
pub fn acts(c: char) -> bool {
    // Bidirectional controls reorder what a terminal shows.
    let reorders = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let breaks = matches!(c, '\u{2028}' | '\u{2029}');
    // Ten thousand characters without width would be invisible and would never be truncated.
    !matches!(c, ' '..='~') && (c.is_control() || reorders || breaks || c.width().unwrap_or(0) == 0)
}

/// `text` on one line with every character that a terminal acts on escaped: `\n`, `\u{1b}`. Text beyond `chars_max`
/// characters is truncated.
pub fn spelled(text: &str, chars_max: usize) -> String {
    let mut out = String::with_capacity(text.len().min(chars_max));
    for (i, c) in text.chars().enumerate() {
        if i == chars_max {
            out.push('…');
            break;
        }
        spell(c, &mut out);
    }
    out
}

/// Adds a character, escaped if a terminal would act on it.
pub fn spell(c: char, out: &mut String) {
    if acts(c) { out.extend(c.escape_default()) } else { out.push(c) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_and_long_text_is_cut() {
        assert_eq!(spelled("a\x1b]0;x\x07b\u{9b}2J\u{202e}", 99), "a\\u{1b}]0;x\\u{7}b\\u{9b}2J\\u{202e}");
        assert_eq!(spelled("Größe 数据", 99), "Größe 数据");
        assert_eq!(spelled("abcd", 3), "abc…");
    }
}
