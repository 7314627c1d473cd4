//! Writes texts as TOML strings.

use std::fmt::Write as _;

use dyno_plan::terminal::acts;

/// `text` as a TOML string on one line, with characters that a terminal acts on escaped; TOML readers get the
/// original text.
pub(crate) fn quoted(text: &str) -> String {
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
