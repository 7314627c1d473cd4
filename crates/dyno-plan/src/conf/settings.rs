//! A file's parameters as values of their types, each with its place, and every error of all of them.

use crate::error::{Origin, PlanError, PlanErrorKind, PlanErrors, shown, shown_key};
use crate::keys::thousands;
use crate::lines::Lines;
use crate::similar::closest;
use crate::units::{Blocks, Bytes, Size, Span};

use super::options::Kit;
use super::shell;
use super::shell::{Assignment, Placed, Slip};

/// The value of one parameter.
#[derive(Debug, Clone)]
pub(super) struct Setting<T> {
    /// The parameter.
    pub(super) name: &'static str,
    /// Its value: as written, or the kit's default.
    pub(super) value: T,
    /// The line on which it is written; none where the default holds.
    pub(super) line: Option<usize>,
    /// How it is written, or how the default would be; on one line, and never a password.
    pub(super) written: String,
}

impl<T> Setting<T> {
    /// Whether the file says it.
    pub(super) fn is_given(&self) -> bool {
        self.line.is_some()
    }
}

/// Reads parameters one by one, and keeps the errors of all.
pub(super) struct Settings<'a> {
    lines: &'a Lines<'a>,
    kit: Kit,
    assignments: Vec<Assignment>,
    /// Names that were asked for: all that the kit knows, once everything has been read.
    known: Vec<&'static str>,
    errors: PlanErrors,
    /// Whether lines that are not understood, and parameters that the kit does not have, are left out.
    lenient: bool,
    /// What was left out.
    skipped: PlanErrors,
}

/// A table's size as the kits write it: how many, and a letter that multiplies.
const SUFFIXES: [(char, u32); 3] = [('M', 20), ('G', 30), ('T', 40)];

impl<'a> Settings<'a> {
    pub(super) fn new(kit: Kit, lines: &'a Lines<'a>, text: &str, lenient: bool) -> Self {
        let (assignments, slips) = shell::read(text);
        let (errors, skipped) = Default::default();
        let mut settings = Self { lines, kit, assignments, known: Vec::new(), errors, lenient, skipped };
        for slip in slips {
            settings.slip(slip);
        }
        settings
    }

    /// What is not understood: an error, or left out.
    fn not_understood(&mut self, error: PlanError) {
        if self.lenient { self.skipped.push(error) } else { self.errors.push(error) }
    }

    fn slip(&mut self, slip: Slip) {
        self.not_understood(PlanError {
            kind: PlanErrorKind::File,
            origin: self.lines.origin(slip.at),
            key: slip.name.as_deref().and_then(shown_key).map(str::to_owned),
            value: None,
            problem: slip.problem,
            hint: slip.hint.into(),
        });
    }

    /// The last value that is written for `name`, as a shell has it; an empty one counts as none, as the kits have it.
    fn given(&mut self, name: &'static str) -> Option<Placed> {
        self.known.push(name);
        let last = self.assignments.iter().rev().find(|assignment| assignment.name.text == name)?;
        last.value.clone().filter(|value| !value.text.is_empty())
    }

    /// Notes that the value of `name` is wrong.
    pub(super) fn refuse<T>(
        &mut self,
        setting: &Setting<T>,
        kind: PlanErrorKind,
        problem: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let last = self.assignments.iter().rev().find(|assignment| assignment.name.text == setting.name);
        let origin = match last.and_then(|assignment| assignment.value.as_ref()) {
            Some(value) => self.lines.origin(value.at),
            None => self.whole_file(),
        };
        // A backslash before a line end joins two lines, so a value can hold the line of a password.
        let shown = setting.is_given() && !setting.written.to_ascii_uppercase().contains("PASSW");
        let value = shown.then(|| setting.written.clone());
        let (problem, hint) = (problem.into(), hint.into());
        self.errors.push(PlanError { kind, origin, key: Some(setting.name.into()), value, problem, hint });
    }

    fn whole_file(&self) -> Origin {
        match self.lines.origin(0) {
            Origin::File { name, .. } => Origin::File { name, line: None, column: None },
            other => other,
        }
    }

    /// A parameter whose text `read` understands; `default` is the text that holds where there is none.
    fn value<T>(
        &mut self,
        name: &'static str,
        default: &str,
        allowed: &str,
        read: impl Fn(&str) -> Result<T, &'static str>,
    ) -> Setting<T> {
        let given = self.given(name);
        let from_default = || match read(default) {
            Ok(value) => value,
            Err(problem) => unreachable!("the default of {name} is {default}: {problem}"),
        };
        let Some(placed) = given else {
            return Setting { name, value: from_default(), line: None, written: default.to_owned() };
        };
        let line = Some(self.lines.line(placed.at));
        let written = shown(&placed.text);
        match read(&placed.text) {
            Ok(value) => Setting { name, value, line, written },
            Err(problem) => {
                let setting = Setting { name, value: from_default(), line, written };
                self.refuse(&setting, PlanErrorKind::Range, problem, format!("allowed: {allowed}"));
                setting
            }
        }
    }

    /// A whole number from `least` to `most`.
    pub(super) fn whole(
        &mut self,
        name: &'static str,
        default: u64,
        (least, most): (u64, u64),
    ) -> Setting<u64> {
        let allowed = format!("a whole number, {} to {}", thousands(least), thousands(most));
        self.value(name, &default.to_string(), &allowed, |text| {
            let number = whole(text)?;
            if (least..=most).contains(&number) { Ok(number) } else { Err("out of range") }
        })
    }

    /// A share in percent; `gap` leaves out 51 to 99.
    pub(super) fn share(&mut self, name: &'static str, default: u64, gap: bool) -> Setting<u64> {
        let allowed = if gap { "0 to 50, or 100; a plan takes any share from 0 to 100" } else { "0 to 100" };
        self.value(name, &default.to_string(), allowed, |text| match whole(text)? {
            51..=99 if gap => Err("not a share that SLOB takes"),
            share @ 0..=100 => Ok(share),
            _ => Err("out of range"),
        })
    }

    /// A table's size of at least `least` blocks of `block_size` bytes.
    pub(super) fn size(
        &mut self,
        name: &'static str,
        default: &str,
        least: u64,
        block_size: u64,
    ) -> Setting<Size> {
        let allowed = format!(
            "blocks (`10000`) or bytes with M, G or T (`80M`), {} blocks of {} or more",
            thousands(least),
            Bytes(block_size)
        );
        self.value(name, default, &allowed, |text| {
            let size = size(text)?;
            let blocks = size.blocks(Bytes(block_size)).0;
            let too_large = match size {
                Size::Blocks(Blocks(blocks)) => blocks > crate::keys::BLOCKS_MAX,
                Size::Bytes(Bytes(bytes)) => bytes > crate::keys::TABLE_BYTES_MAX,
            };
            if blocks < least || too_large { Err("out of range") } else { Ok(size) }
        })
    }

    /// One of `words`, as they are.
    pub(super) fn word(
        &mut self,
        name: &'static str,
        default: &'static str,
        words: &'static [&'static str],
    ) -> Setting<&'static str> {
        self.value(name, default, &words.join(" or "), |text| {
            words.iter().find(|word| **word == text).copied().ok_or("there is no such word")
        })
    }

    /// `TRUE` or `FALSE`.
    pub(super) fn flag(&mut self, name: &'static str, default: &'static str) -> Setting<bool> {
        let Setting { name, value, line, written } = self.word(name, default, &["TRUE", "FALSE"]);
        Setting { name, value: value == "TRUE", line, written }
    }

    /// Seconds with or without a fraction, up to an hour.
    pub(super) fn seconds(&mut self, name: &'static str, default: &str) -> Setting<Span> {
        let allowed = "seconds with or without a fraction (`1`, `.5`, `0.25`), 0 to 3,600";
        self.value(name, default, allowed, |text| {
            let whole = if text.starts_with('.') { format!("0{text}") } else { text.to_owned() };
            let span: Span = format!("{whole}s").parse().map_err(|_| "not a number of seconds")?;
            if span.0.as_secs_f64() <= 3_600.0 { Ok(span) } else { Err("out of range") }
        })
    }

    /// Any text; none if there is none.
    pub(super) fn text(&mut self, name: &'static str) -> Setting<Option<String>> {
        match self.given(name) {
            None => Setting { name, value: None, line: None, written: String::new() },
            Some(Placed { text, at }) => {
                let line = Some(self.lines.line(at));
                Setting { name, written: shown(&text), value: Some(text), line }
            }
        }
    }

    /// Whether there is a text, which is never looked at.
    pub(super) fn secret(&mut self, name: &'static str) -> Setting<bool> {
        let given = self.given(name);
        let line = given.map(|placed| self.lines.line(placed.at));
        Setting { name, value: line.is_some(), line, written: "…".into() }
    }

    /// Every name that was asked for.
    pub(super) fn known(&self) -> Vec<&'static str> {
        self.known.clone()
    }

    /// Ends the reading: names that were never asked for are unknown. Returns the errors, and what was left out.
    pub(super) fn finish(mut self) -> (PlanErrors, PlanErrors) {
        let is_any = !self.assignments.is_empty();
        for assignment in std::mem::take(&mut self.assignments) {
            let Placed { text: name, at } = assignment.name;
            if self.known.iter().any(|known| *known == name) {
                continue;
            }
            let kit = self.kit.name();
            let hint = match self.similar(&name) {
                Some(similar) => format!("did you mean {similar}?"),
                None => "take the line out".into(),
            };
            self.not_understood(PlanError {
                kind: PlanErrorKind::Unknown,
                origin: self.lines.origin(at),
                key: shown_key(&name).map(str::to_owned),
                value: None,
                problem: format!("{kit} has no such parameter"),
                hint,
            });
        }
        if !is_any && self.errors.errors.is_empty() {
            self.errors.push(PlanError {
                kind: PlanErrorKind::Missing,
                origin: self.whole_file(),
                key: None,
                value: None,
                problem: format!("no parameter of {} is in it", self.kit.name()),
                hint: "name the slob.conf or pgio.conf that is to be imported".into(),
            });
        }
        self.errors.sort();
        self.skipped.sort();
        (self.errors, self.skipped)
    }

    /// The parameter that `name` is a slip away from.
    fn similar(&self, name: &str) -> Option<String> {
        let lower: Vec<String> = self.known.iter().map(|known| known.to_ascii_lowercase()).collect();
        closest(name, lower.iter().map(String::as_str)).map(str::to_ascii_uppercase)
    }
}

/// A whole number as the kits take it. A zero in front would make a shell read the number to base eight.
fn whole(text: &str) -> Result<u64, &'static str> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err("not a whole number");
    }
    if text.len() > 1 && text.starts_with('0') {
        return Err("a zero in front of a number makes a shell count to base eight");
    }
    text.parse().map_err(|_| "out of range")
}

/// A size as the kits take it: digits, then perhaps M, G or T; blanks are nothing.
fn size(text: &str) -> Result<Size, &'static str> {
    let text: String = text.chars().filter(|c| *c != ' ').collect();
    let Some(&(suffix, shift)) = SUFFIXES.iter().find(|(suffix, _)| text.ends_with(*suffix)) else {
        return whole(&text).map(|blocks| Size::Blocks(Blocks(blocks))).map_err(|problem| match problem {
            "not a whole number" => "not a size",
            other => other,
        });
    };
    let number = whole(text.strip_suffix(suffix).unwrap_or_default()).map_err(|problem| match problem {
        "not a whole number" => "not a size",
        other => other,
    })?;
    number.checked_mul(1 << shift).map(|bytes| Size::Bytes(Bytes(bytes))).ok_or("out of range")
}
