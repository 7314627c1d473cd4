//! Reads a file's parameters as typed values with their lines, and collects all errors.

use dyno_plan::error::{Origin, PlanError, PlanErrorKind, PlanErrors, shown, shown_key};
use dyno_plan::keys::thousands;
use dyno_plan::lines::SourceLines;
use dyno_plan::similar::closest;
use dyno_plan::units::{BlockCount, BlocksOrBytes, Bytes, TimeSpan};

use super::options::Kit;
use super::shell;
use super::shell::{Assignment, LocatedText, ShellIssue};

/// The value of one parameter.
#[derive(Debug, Clone)]
pub(super) struct KitParameter<T> {
    /// The parameter's name, such as `UPDATE_PCT`.
    pub(super) name: &'static str,
    /// Its value: from the file, or the tool's default.
    pub(super) value: T,
    /// The line that sets it; absent for a default.
    pub(super) line: Option<usize>,
    /// The value as text, on one line; for a default, the text that would set it. Never a password.
    pub(super) written: String,
}

impl<T> KitParameter<T> {
    /// Whether the file sets the parameter.
    pub(super) fn is_given(&self) -> bool {
        self.line.is_some()
    }
}

/// Reads parameters one by one and collects their errors.
pub(super) struct KitParameterReader<'a> {
    lines: &'a SourceLines<'a>,
    kit: Kit,
    assignments: Vec<Assignment>,
    /// Names that were read so far: after the last read, all names that the tool has.
    requested_names: Vec<&'static str>,
    errors: PlanErrors,
    /// Whether lines that cannot be parsed and unknown parameters are ignored.
    lenient: bool,
    /// What a lenient import ignored.
    skipped: PlanErrors,
}

/// Suffixes of a table's size in these files: the letter, and the power of two that it multiplies by.
const SUFFIXES: [(char, u32); 3] = [('M', 20), ('G', 30), ('T', 40)];

impl<'a> KitParameterReader<'a> {
    pub(super) fn new(kit: Kit, lines: &'a SourceLines<'a>, text: &str, lenient: bool) -> Self {
        let (assignments, slips) = shell::read(text);
        let (errors, skipped) = Default::default();
        let mut settings =
            Self { lines, kit, assignments, requested_names: Vec::new(), errors, lenient, skipped };
        for slip in slips {
            settings.report_issue(slip);
        }
        settings
    }

    /// Records what cannot be parsed: ignored by a lenient import, otherwise an error.
    fn not_understood(&mut self, error: PlanError) {
        if self.lenient { self.skipped.push(error) } else { self.errors.push(error) }
    }

    fn report_issue(&mut self, slip: ShellIssue) {
        self.not_understood(PlanError {
            kind: PlanErrorKind::File,
            origin: self.lines.origin(slip.at),
            key: slip.name.as_deref().and_then(shown_key).map(str::to_owned),
            value: None,
            problem: slip.problem,
            hint: slip.hint.into(),
        });
    }

    /// The last value set for `name`, as in a shell; as in the tools, an empty value counts as not set.
    fn take_assignment(&mut self, name: &'static str) -> Option<LocatedText> {
        self.requested_names.push(name);
        let last = self.assignments.iter().rev().find(|assignment| assignment.name.text == name)?;
        last.value.clone().filter(|value| !value.text.is_empty())
    }

    /// Records an error for the value of `name`.
    pub(super) fn refuse<T>(
        &mut self,
        setting: &KitParameter<T>,
        kind: PlanErrorKind,
        problem: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let last = self.assignments.iter().rev().find(|assignment| assignment.name.text == setting.name);
        let origin = match last.and_then(|assignment| assignment.value.as_ref()) {
            Some(value) => self.lines.origin(value.at),
            None => self.whole_file(),
        };
        // A backslash before a line end joins two lines, so a value may contain the line of a password.
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

    /// Reads a parameter with `read`; without a value in the file, `default` is read instead.
    fn value<T>(
        &mut self,
        name: &'static str,
        default: &str,
        allowed: &str,
        read: impl Fn(&str) -> Result<T, &'static str>,
    ) -> KitParameter<T> {
        let placed_value = self.take_assignment(name);
        let from_default = || match read(default) {
            Ok(value) => value,
            Err(problem) => unreachable!("the default of {name} is {default}: {problem}"),
        };
        let Some(placed) = placed_value else {
            return KitParameter { name, value: from_default(), line: None, written: default.to_owned() };
        };
        let line = Some(self.lines.line(placed.at));
        let written = shown(&placed.text);
        match read(&placed.text) {
            Ok(value) => KitParameter { name, value, line, written },
            Err(problem) => {
                let setting = KitParameter { name, value: from_default(), line, written };
                self.refuse(&setting, PlanErrorKind::Range, problem, format!("allowed: {allowed}"));
                setting
            }
        }
    }

    /// Reads an integer within the given limits.
    pub(super) fn whole(
        &mut self,
        name: &'static str,
        default: u64,
        (least, most): (u64, u64),
    ) -> KitParameter<u64> {
        let allowed = format!("an integer, {} to {}", thousands(least), thousands(most));
        self.value(name, &default.to_string(), &allowed, |text| {
            let number = whole(text)?;
            if (least..=most).contains(&number) { Ok(number) } else { Err("out of range") }
        })
    }

    /// Reads a share in percent; `gap` excludes 51 to 99.
    pub(super) fn share(&mut self, name: &'static str, default: u64, gap: bool) -> KitParameter<u64> {
        let allowed = if gap { "0 to 50, or 100; a plan takes any share from 0 to 100" } else { "0 to 100" };
        self.value(name, &default.to_string(), allowed, |text| match whole(text)? {
            51..=99 if gap => Err("not a share that SLOB takes"),
            share @ 0..=100 => Ok(share),
            _ => Err("out of range"),
        })
    }

    /// Reads a table's size of at least `least` blocks of `block_size` bytes.
    pub(super) fn size(
        &mut self,
        name: &'static str,
        default: &str,
        least: u64,
        block_size: u64,
    ) -> KitParameter<BlocksOrBytes> {
        let allowed = format!(
            "blocks (`10000`) or bytes with M, G or T (`80M`), {} blocks of {} or more",
            thousands(least),
            Bytes(block_size)
        );
        self.value(name, default, &allowed, |text| {
            let size = size(text)?;
            let blocks = size.blocks(Bytes(block_size)).0;
            let too_large = match size {
                BlocksOrBytes::Blocks(BlockCount(blocks)) => blocks > dyno_plan::keys::BLOCKS_MAX,
                BlocksOrBytes::Bytes(Bytes(bytes)) => bytes > dyno_plan::keys::TABLE_BYTES_MAX,
            };
            if blocks < least || too_large { Err("out of range") } else { Ok(size) }
        })
    }

    /// Reads one of `words`; upper and lower case differ.
    pub(super) fn word(
        &mut self,
        name: &'static str,
        default: &'static str,
        words: &'static [&'static str],
    ) -> KitParameter<&'static str> {
        self.value(name, default, &words.join(" or "), |text| {
            words.iter().find(|word| **word == text).copied().ok_or("unknown value")
        })
    }

    /// Reads a switch, written `TRUE` or `FALSE`.
    pub(super) fn flag(&mut self, name: &'static str, default: &'static str) -> KitParameter<bool> {
        let KitParameter { name, value, line, written } = self.word(name, default, &["TRUE", "FALSE"]);
        KitParameter { name, value: value == "TRUE", line, written }
    }

    /// Reads seconds with or without a fraction, at most one hour.
    pub(super) fn seconds(&mut self, name: &'static str, default: &str) -> KitParameter<TimeSpan> {
        let allowed = "seconds with or without a fraction (`1`, `.5`, `0.25`), 0 to 3,600";
        self.value(name, default, allowed, |text| {
            let whole = if text.starts_with('.') { format!("0{text}") } else { text.to_owned() };
            let span: TimeSpan = format!("{whole}s").parse().map_err(|_| "not a number of seconds")?;
            if span.0.as_secs_f64() <= 3_600.0 { Ok(span) } else { Err("out of range") }
        })
    }

    /// Reads any text; `None` if the parameter is not set.
    pub(super) fn text(&mut self, name: &'static str) -> KitParameter<Option<String>> {
        match self.take_assignment(name) {
            None => KitParameter { name, value: None, line: None, written: String::new() },
            Some(LocatedText { text, at }) => {
                let line = Some(self.lines.line(at));
                KitParameter { name, written: shown(&text), value: Some(text), line }
            }
        }
    }

    /// Whether the parameter is set; its text is never kept.
    pub(super) fn secret(&mut self, name: &'static str) -> KitParameter<bool> {
        let placed_value = self.take_assignment(name);
        let line = placed_value.map(|placed| self.lines.line(placed.at));
        KitParameter { name, value: line.is_some(), line, written: "…".into() }
    }

    /// All names that were read.
    pub(super) fn known_parameters(&self) -> Vec<&'static str> {
        self.requested_names.clone()
    }

    /// Finishes reading: a parameter of the file that was never read is unknown. Returns the errors and what was ignored.
    pub(super) fn finish(mut self) -> (PlanErrors, PlanErrors) {
        let is_any = !self.assignments.is_empty();
        for assignment in std::mem::take(&mut self.assignments) {
            let LocatedText { text: name, at } = assignment.name;
            if self.requested_names.iter().any(|known| *known == name) {
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
                hint: "give the slob.conf or pgio.conf to import".into(),
            });
        }
        self.errors.sort();
        self.skipped.sort();
        (self.errors, self.skipped)
    }

    /// The known parameter that `name` was probably meant to be.
    fn similar(&self, name: &str) -> Option<String> {
        let lower: Vec<String> =
            self.requested_names.iter().map(|known| known.to_ascii_lowercase()).collect();
        closest(name, lower.iter().map(String::as_str)).map(str::to_ascii_uppercase)
    }
}

/// Reads an integer. A leading zero is refused, because a shell would read the number as octal.
fn whole(text: &str) -> Result<u64, &'static str> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err("not an integer");
    }
    if text.len() > 1 && text.starts_with('0') {
        return Err("a zero in front of a number makes a shell count to base eight");
    }
    text.parse().map_err(|_| "out of range")
}

/// Reads a size: digits, then optionally M, G or T; blanks are ignored.
fn size(text: &str) -> Result<BlocksOrBytes, &'static str> {
    let text: String = text.chars().filter(|c| *c != ' ').collect();
    let Some(&(suffix, shift)) = SUFFIXES.iter().find(|(suffix, _)| text.ends_with(*suffix)) else {
        return whole(&text).map(|blocks| BlocksOrBytes::Blocks(BlockCount(blocks))).map_err(|problem| {
            match problem {
                "not an integer" => "not a size",
                other => other,
            }
        });
    };
    let number = whole(text.strip_suffix(suffix).unwrap_or_default()).map_err(|problem| match problem {
        "not an integer" => "not a size",
        other => other,
    })?;
    number.checked_mul(1 << shift).map(|bytes| BlocksOrBytes::Bytes(Bytes(bytes))).ok_or("out of range")
}
