//! Texts as TOML writes them.

use std::fmt::Write as _;

use dyno_plan::terminal::acts;

/// `text` in quotes, on one line, with whatever a terminal would act on spelled out: a reader of TOML has exactly the text again.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            letter if acts(letter) && u32::from(letter) <= 0xffff => {
                let _ = write!(out, "\\u{:04X}", u32::from(letter));
            }
            letter if acts(letter) => {
                let _ = write!(out, "\\U{:08X}", u32::from(letter));
            }
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}
