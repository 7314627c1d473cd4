//! Estimates the width of text without its font.
//!
//! The reader's font is unknown, so widths are those of a wide one (DejaVu Sans): a label may get more room
//! than it needs, but never less.

/// Width of `text` at `size` pixels, in pixels.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    text.chars().map(em).sum::<f64>() * size
}

/// Width of a character as a share of the font's size.
fn em(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '\'' | '|' => 0.28,
        ' ' | '.' | ',' | ':' | ';' | '!' | 'f' | 'I' | '/' => 0.34,
        't' | 'r' | '(' | ')' | '-' | '·' => 0.41,
        'm' | 'M' | 'W' | '%' | '@' => 0.98,
        'w' => 0.82,
        'a'..='z' | '0'..='9' => 0.63,
        'A'..='Z' => 0.72,
        c if c.is_ascii() => 0.7,
        // Wide characters are as wide as they are high.
        c => {
            if unicode_width::UnicodeWidthChar::width(c).unwrap_or(1) > 1 {
                1.0
            } else {
                0.7
            }
        }
    }
}

/// `text` cut to the width `room`, with `…` in place of the rest.
pub(crate) fn truncate_to_width(text: &str, size: f64, room: f64) -> String {
    if text_width(text, size) <= room {
        return text.to_owned();
    }
    let mut used = text_width("…", size);
    let mut out = String::new();
    for c in text.chars() {
        used += em(c) * size;
        if used > room {
            break;
        }
        out.push(c);
    }
    out.push('…');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncated_text_fits_width() {
        assert_eq!(truncate_to_width("short", 12.0, 100.0), "short");
        let cut = truncate_to_width(&"wide ".repeat(50), 12.0, 100.0);
        assert!(text_width(&cut, 12.0) <= 100.0, "{cut}");
        assert!(cut.ends_with('…'), "{cut}");
    }
}
