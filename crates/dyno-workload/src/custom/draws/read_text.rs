//! Reads generators of texts, bytes, dates and similar values.

use dyno_engine::Type;

use super::calendar;
use super::generators::{ContainedWord, PARTS, ValueGenerator, WideContainedWord};
use super::random_text::{self, WHOLE_LETTERS};
use super::reading::COLUMN_BYTES_MAX;
use super::reading::{DrawReader, ParsedDraw, literal, numeric};
use super::template::{Quotes, REAL_LETTERS, TemplatePiece, TextTemplate};
use crate::custom::fault::{SourceText, WorkloadError};
use crate::custom::table::{TomlItem, TomlTable, WrittenNumber};
use crate::custom::value::HeldValue;

/// The largest number of characters or bytes in one value.
const LENGTH_MAX: i64 = 1_000_000;
/// The largest number of characters in a non-ASCII alphabet.
const WIDE_LETTERS_MAX: usize = 10_000;
/// The largest number of words in one value.
const WORDS_MAX: i64 = 1_000;

fn lengths(item: &TomlItem<'_>) -> Result<(u32, u32), WorkloadError> {
    let (low, high) =
        item.whole_range(0, LENGTH_MAX, "a length, or the shortest and the longest: [8, 24]")?;
    Ok((low as u32, high as u32))
}

pub(super) fn letters<'a>(
    reading: &mut DrawReader<'a>,
    item: &TomlItem<'a>,
    table: &TomlTable<'a>,
) -> Result<ParsedDraw, WorkloadError> {
    let length = lengths(item)?;
    let alphabet = match table.get("letters") {
        None => "abcdefghijklmnopqrstuvwxyz".into(),
        Some(letters) => {
            let text = letters.text("the letters: \"0123456789\"")?;
            if text.letters.is_empty() {
                return Err(letters.fault("no letter", "write those that texts are made of"));
            }
            if let Some(control) = text.letters.chars().find(|letter| letter.is_control()) {
                let problem = format!("{control:?} is a control character, not a letter");
                return Err(letters.fault(problem, "take it out"));
            }
            text.letters
        }
    };
    let letters_max = if alphabet.is_ascii() { 95 } else { WIDE_LETTERS_MAX };
    if alphabet.chars().count() > letters_max {
        let problem = format!("more than {letters_max} letters");
        return Err(item.fault(problem, "remove the duplicates"));
    }
    let (holds, word) = holds(reading, table, length.0)?.unzip();
    let is_wide = !alphabet.is_ascii() || word.as_ref().is_some_and(|word| !word.is_ascii());
    let (law, letter_bytes) = match is_wide {
        false => (ValueGenerator::Letters { alphabet: alphabet.bytes().collect(), length, holds }, 1),
        true => {
            let letters = word.map_or(0, |word| word.chars().count() as u32);
            let holds = holds.map(|holds| WideContainedWord { holds, letters });
            (
                ValueGenerator::WideLetters { alphabet: alphabet.chars().collect(), length, holds },
                char::MAX.len_utf8(),
            )
        }
    };
    Ok(ParsedDraw::bytes(law, literal(table)?, length.1 as usize * letter_bytes))
}

/// Reads the word that some texts contain; texts have at least `shortest` characters.
fn holds(
    reading: &mut DrawReader<'_>,
    table: &TomlTable<'_>,
    shortest: u32,
) -> Result<Option<(ContainedWord, String)>, WorkloadError> {
    let Some(item) = table.get("holds") else {
        return match table.get("holds_pct") {
            None => Ok(None),
            Some(share) => {
                Err(share.fault("holds_pct is set without holds", "write holds = \"ORIGINAL\" too"))
            }
        };
    };
    let text = item.text("a word: \"ORIGINAL\"")?.letters.to_string();
    if text.chars().count() > shortest as usize {
        return Err(item.fault("longer than the shortest text", "draw longer texts"));
    }
    let word = reading.share(&text);
    let share = table.need("holds_pct", "how many of a hundred hold it: holds_pct = 10")?;
    match share.real("a share: 10")? {
        number if (0.0..=100.0).contains(&number) => {
            Ok(Some((ContainedWord { word, share: (number / 100.0 * PARTS as f64).round() as u64 }, text)))
        }
        number => Err(share.fault(format!("{number} is not from 0 to 100"), "")),
    }
}

/// The largest number of digits in a spelled number.
const DIGITS_MAX: i64 = 9;

pub(super) fn spelled<'a>(
    reading: &mut DrawReader<'a>,
    item: &TomlItem<'a>,
    table: &TomlTable<'a>,
) -> Result<ParsedDraw, WorkloadError> {
    let name = item.text("the name of a number")?;
    let number_slot = reading.slot(&name.letters, &name, 0)?;
    numeric(reading.draw_at(number_slot), &name, 0)?;
    let written = table.need("words", "one for each digit: words = [\"BAR\", \"OUGHT\"]")?;
    let mut words = Vec::new();
    for word in written.list("some words, one for each digit")? {
        words.push(reading.share(&word.text("a word")?.letters));
    }
    if !(2..=100).contains(&words.len()) {
        return Err(written.fault("not 2 to 100 words", "write one for each digit"));
    }
    let digits = table.need("digits", "how many: digits = 3")?.whole(1, DIGITS_MAX)? as u32;
    let longest = words.iter().map(|&(_, len)| len as usize).max().unwrap_or(0);
    let law = ValueGenerator::Spelled { of: number_slot, words: words.into(), digits };
    Ok(ParsedDraw {
        needs: vec![number_slot],
        ..ParsedDraw::bytes(law, literal(table)?, longest * digits as usize)
    })
}

pub(super) fn bytes(item: &TomlItem<'_>) -> Result<ParsedDraw, WorkloadError> {
    let length = lengths(item)?;
    Ok(ParsedDraw::bytes(ValueGenerator::Bytes { length }, Type::Bytes, length.1 as usize))
}

/// Reads two limits with `read`: returns the first value, and the number of values.
fn moments(
    item: &TomlItem<'_>,
    example: &str,
    read: fn(&str) -> Option<i64>,
) -> Result<(i64, u64), WorkloadError> {
    let Some([low, high]) = item.as_list().and_then(|list| <[TomlItem<'_>; 2]>::try_from(list).ok()) else {
        return Err(item.fault("not a first and a last", format!("write {example}")));
    };
    let parse_moment = |item: &TomlItem<'_>| {
        let text = item.text(example)?;
        let wrong = || item.fault(format!("{} is not valid", item.written()), format!("write {example}"));
        read(&text.letters).ok_or_else(wrong)
    };
    let (first, last) = (parse_moment(&low)?, parse_moment(&high)?);
    match first <= last {
        true => Ok((first, last.abs_diff(first) + 1)),
        false => Err(item.fault("the last comes before the first", "write the earlier one first")),
    }
}

pub(super) fn day(item: &TomlItem<'_>) -> Result<ParsedDraw, WorkloadError> {
    let (low, count) = moments(item, "[\"2020-01-01\", \"2026-12-31\"]", calendar::read_day)?;
    Ok(ParsedDraw::bytes(ValueGenerator::Day { low, count }, Type::Literal, calendar::DATE_LETTERS))
}

pub(super) fn second(item: &TomlItem<'_>) -> Result<ParsedDraw, WorkloadError> {
    let example = "[\"2020-01-01 00:00:00\", \"2026-12-31 23:59:59\"]";
    let (low, count) = moments(item, example, calendar::read_second)?;
    Ok(ParsedDraw::bytes(ValueGenerator::Second { low, count }, Type::Literal, calendar::MOMENT_LETTERS))
}

pub(super) fn uuid(
    reading: &mut DrawReader<'_>,
    item: &TomlItem<'_>,
    table: &TomlTable<'_>,
) -> Result<ParsedDraw, WorkloadError> {
    let from = table.get("from");
    let law = match (item.as_number(), from) {
        (Some(WrittenNumber::Whole(4)), None) => ValueGenerator::Uuid,
        (Some(WrittenNumber::Whole(4)), Some(from)) => {
            return Err(from.fault("UUIDs of version 4 have no time", "omit it, or write uuid = 7"));
        }
        (Some(WrittenNumber::Whole(7)), from) => {
            let example = "\"2026-01-01 00:00:00\"";
            let start_s = match &from {
                None => calendar::read_second("2026-01-01"),
                Some(from) => calendar::read_second(&from.text(example)?.letters),
            };
            let wrong =
                || from.as_ref().unwrap_or(item).fault("not a time since 1970", format!("write {example}"));
            let from_ms = start_s.and_then(|second| u64::try_from(second).ok()).ok_or_else(wrong)? * 1_000;
            ValueGenerator::UuidInTime { from_ms, counter: reading.counter() }
        }
        _ => return Err(item.fault(format!("{} is not a version of UUIDs", item.written()), "write 4 or 7")),
    };
    Ok(ParsedDraw::bytes(law, Type::Literal, random_text::UUID_LETTERS))
}

pub(super) fn words(
    reading: &mut DrawReader<'_>,
    item: &TomlItem<'_>,
    table: &TomlTable<'_>,
) -> Result<ParsedDraw, WorkloadError> {
    let mut words = Vec::new();
    match item.as_text() {
        Some(name) => {
            let file = reading.folder.open(&name)?;
            let lines = file.letters.lines().map(str::trim).filter(|line| !line.is_empty());
            words.extend(lines.map(|line| reading.share(line)));
        }
        None => {
            for word in item.list("some words, or the name of a file with one on each line")? {
                let word = word.text("a word")?;
                words.push(reading.share(&word.letters));
            }
        }
    }
    if words.is_empty() {
        return Err(item.fault("no words", "write some"));
    }
    let example = "how many: 3, or [2, 5]";
    let count = table.get("count").map_or(Ok((1, 1)), |count| count.whole_range(1, WORDS_MAX, example))?;
    let longest = words.iter().map(|&(_, len)| len as usize).max().unwrap_or(0);
    let most = match count {
        (1, 1) => 0,
        (_, most) => (longest + 1) * most as usize,
    };
    let law = ValueGenerator::Words { words: words.into(), count: (count.0 as u32, count.1 as u32) };
    Ok(ParsedDraw::bytes(law, literal(table)?, most))
}

pub(super) fn template(
    reading: &mut DrawReader<'_>,
    item: &TomlItem<'_>,
    table: &TomlTable<'_>,
) -> Result<ParsedDraw, WorkloadError> {
    let text = item.text("a text with names in it: \"C-:customer\"")?;
    let value_type = literal(table)?;
    filled(reading, &text, Quotes::None, value_type)
}

pub(super) fn json(
    reading: &mut DrawReader<'_>,
    item: &TomlItem<'_>,
    _: &TomlTable<'_>,
) -> Result<ParsedDraw, WorkloadError> {
    let text = item.text("a document with names in it: '{ \"customer\": :customer }'")?;
    filled(reading, &text, Quotes::Json, Type::Literal)
}

/// Reads a template whose `:name`s are replaced by values; in JSON, not inside quotation marks.
fn filled(
    reading: &mut DrawReader<'_>,
    text: &SourceText,
    quotes: Quotes,
    value_type: Type,
) -> Result<ParsedDraw, WorkloadError> {
    let letters = &text.letters;
    let bytes = letters.as_bytes();
    let (mut pieces, mut most) = (Vec::new(), 0);
    let (mut at, mut fixed_from, mut in_string) = (0, 0, false);
    while at < bytes.len() {
        let name =
            bytes[at + 1..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        let is_name = name > 0 && bytes[at + 1].is_ascii_alphabetic();
        match bytes[at] {
            b'\\' if in_string => at += 1,
            b'"' if quotes == Quotes::Json => in_string = !in_string,
            b':' if is_name && !in_string && !is_of_json(quotes, &letters[..at]) => {
                pieces.push(reading.fixed(&letters[fixed_from..at], &mut most));
                let slot = reading.slot(&letters[at + 1..=at + name], text, at)?;
                most += reading.most(slot, text, at, quotes)?;
                pieces.push(TemplatePiece::Of(slot, reading.quotes(slot, quotes)));
                at += name;
                fixed_from = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    pieces.push(reading.fixed(&letters[fixed_from..], &mut most));
    let template = TextTemplate { pieces: pieces.into() };
    let needs = template.slots();
    Ok(ParsedDraw { needs, ..ParsedDraw::bytes(ValueGenerator::Template(template), value_type, most) })
}

/// Whether the colon after `before` belongs to JSON, between a key and a value such as `true`.
fn is_of_json(quotes: Quotes, before: &str) -> bool {
    quotes == Quotes::Json && before.trim_end().ends_with('"')
}

impl DrawReader<'_> {
    fn fixed(&mut self, text: &str, most: &mut usize) -> TemplatePiece {
        let (at, len) = self.share(text);
        *most += text.len();
        TemplatePiece::Fixed { at, len }
    }

    /// The largest number of bytes in a template for the value in `slot`; its name is at byte `at` of `text`.
    fn most(&self, slot: u16, text: &SourceText, at: usize, quotes: Quotes) -> Result<usize, WorkloadError> {
        let Some(draw) = self.draw_at(slot) else {
            // A value that is neither generated nor read from a column is a whole number.
            let is_column = self.names.column_at(slot).is_some();
            return Ok(if is_column { quotes.most(COLUMN_BYTES_MAX) } else { WHOLE_LETTERS });
        };
        let letters = |number: i64| number.to_string().len();
        let longest_shared =
            |places: &[(u32, u32)]| places.iter().map(|&(_, len)| len as usize).max().unwrap_or(0);
        let of_held = |held: &HeldValue| match held {
            HeldValue::Shared { len, .. } => *len as usize,
            _ => 0,
        };
        Ok(match (&draw.law, draw.of) {
            (_, Type::Bytes) => {
                let problem = format!("{} is bytes, not a text", draw.name);
                return Err(text.fault(at, problem, "draw a text"));
            }
            (law, Type::Int) => {
                law.ends().map_or(WHOLE_LETTERS, |(low, high)| letters(low).max(letters(high)))
            }
            (_, Type::Real) | (ValueGenerator::Expr(_), _) => REAL_LETTERS,
            (ValueGenerator::Words { words, count: (1, 1) }, _) => quotes.most(longest_shared(words)),
            (ValueGenerator::Choice { values, .. }, _) => {
                quotes.most(values.iter().map(of_held).max().unwrap_or(0))
            }
            (ValueGenerator::Is(held), _) => quotes.most(of_held(held)),
            _ => quotes.most(draw.bytes_max),
        })
    }

    /// How the value in `slot` is quoted: decimal numbers are valid JSON without quotation marks.
    fn quotes(&self, slot: u16, quotes: Quotes) -> Quotes {
        let is_decimal =
            self.draw_at(slot).is_some_and(|draw| matches!(draw.law, ValueGenerator::Decimal { .. }));
        if is_decimal { Quotes::None } else { quotes }
    }
}
