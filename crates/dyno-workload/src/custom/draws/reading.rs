//! Reads generators in the order of their dependencies.

use std::collections::BTreeSet;

use dyno_engine::Type;
use dyno_engine::data::mix;

use super::draw::{DrawDefinition, DrawFrequency, Draws};
use super::generators::ValueGenerator;
use super::null::Null;
use crate::custom::expr::Expr;
use crate::custom::fault::{SourceText, WorkloadError};
use crate::custom::folder::WorkloadFolder;
use crate::custom::names::{NAME, is_name, shown, similar_name};
use crate::custom::scale::{DATA_SEED, SCALE};
use crate::custom::table::{TomlItem, TomlTable, WrittenNumber};
use crate::custom::value::HeldValue;

/// The largest number of generators in a workload.
const DRAWS_MAX: usize = 1_000;
/// The largest number of bytes that one session holds for its texts.
const OWN_BYTES_MAX: usize = 16 << 20;

/// The largest number of bytes in a text that a step reads.
pub(in crate::custom) const COLUMN_BYTES_MAX: usize = 1_024;

/// Names of all possible parameters in the order of their slots: generators, then values that transactions
/// read or count.
#[derive(Debug, Clone, Default)]
pub(in crate::custom) struct Names {
    pub(in crate::custom) all: Vec<String>,
    /// The number of generators; their names come first.
    pub(in crate::custom) draws: usize,
    /// Slots of columns that are read, with values of any type. Their texts are at the start of a session's
    /// buffer.
    pub(in crate::custom) columns: Vec<u16>,
    /// Slots that are set to floating-point numbers.
    pub(in crate::custom) real: BTreeSet<u16>,
}

impl Names {
    pub(in crate::custom) fn slot(&self, name: &str) -> Option<u16> {
        self.all.iter().position(|known| known == name).map(|slot| slot as u16)
    }

    /// The slot of `name`, which is at byte `at` of `text`.
    pub(in crate::custom) fn find(
        &self,
        name: &str,
        text: &SourceText,
        at: usize,
    ) -> Result<u16, WorkloadError> {
        self.slot(name).ok_or_else(|| self.unknown("name", name, text, at))
    }

    /// The slot of the parameter `name` of a statement, which is at byte `at` of `text`.
    pub(in crate::custom) fn find_parameter(
        &self,
        name: &str,
        text: &SourceText,
        at: usize,
    ) -> Result<u16, WorkloadError> {
        self.slot(name).ok_or_else(|| self.unknown("parameter", name, text, at))
    }

    fn unknown(&self, kind: &str, name: &str, text: &SourceText, at: usize) -> WorkloadError {
        let problem = format!("unknown {kind} \"{}\"", shown(name));
        text.fault(at, problem, self.way_out(name))
    }

    /// Offset of a read column's text in a session's buffer; `None` if `slot` is not a column.
    pub(in crate::custom) fn column_at(&self, slot: u16) -> Option<usize> {
        let place = self.columns.iter().position(|&column| column == slot)?;
        Some(place * COLUMN_BYTES_MAX)
    }

    fn way_out(&self, name: &str) -> String {
        let names = self.all.iter().map(String::as_str);
        let known: Vec<&str> = names.filter(|known| !Constants::NAMES.contains(known)).collect();
        match similar_name(name, &known) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None if known.is_empty() => format!("draw it: `{} = {{ … }}` in [draw]", shown(name)),
            None => format!("available: {}", known.join(", ")),
        }
    }
}

/// The kind of a generator with further properties.
pub(super) struct ParsedDraw {
    pub(super) law: ValueGenerator,
    pub(super) of: Type,
    /// The largest number of bytes that it writes.
    pub(super) bytes_max: usize,
    /// Slots of other values that it reads.
    pub(super) needs: Vec<u16>,
    /// How many of [`NULL_PARTS`](super::null::NULL_PARTS) of its values are NULL.
    pub(super) null: u32,
    /// The condition under which the value is NULL.
    pub(super) null_if: Option<Expr>,
}

impl ParsedDraw {
    /// A generator of numbers, without bytes or dependencies.
    pub(super) fn number(law: ValueGenerator, value_type: Type) -> Self {
        Self { law, of: value_type, bytes_max: 0, needs: Vec::new(), null: 0, null_if: None }
    }

    /// A generator of texts or bytes with at most `bytes_max` bytes.
    pub(super) fn bytes(law: ValueGenerator, value_type: Type, bytes_max: usize) -> Self {
        Self { law, of: value_type, bytes_max, needs: Vec::new(), null: 0, null_if: None }
    }
}

/// A function that reads the generator in an item.
pub(super) type DrawParser<'a> = fn(&mut DrawReader<'a>, &TomlItem<'a>) -> Result<ParsedDraw, WorkloadError>;

/// The state while generators are read.
pub(super) struct DrawReader<'a> {
    pub(super) folder: &'a WorkloadFolder,
    pub(super) names: &'a Names,
    pub(super) scale: i64,
    law: DrawParser<'a>,
    items: Vec<TomlItem<'a>>,
    /// Generators that are complete, by slot.
    done: Vec<Option<DrawDefinition>>,
    /// Slots whose reading has begun, in this order.
    in_progress: Vec<u16>,
    pub(super) draws: Draws,
}

/// Reads these items as generators with the function `law`, and adds the constants; `names` begins with their
/// names.
///
/// # Errors
/// A generator is invalid, or depends on itself.
pub(super) fn read_all<'a>(
    folder: &'a WorkloadFolder,
    items: Vec<TomlItem<'a>>,
    names: &'a Names,
    constants: Constants,
    law: DrawParser<'a>,
) -> Result<Draws, WorkloadError> {
    let Constants { scale, data_seed } = constants;
    if let Some(item) = items.get(DRAWS_MAX) {
        return Err(item.fault(format!("more than {DRAWS_MAX} draws"), "remove some"));
    }
    let hint = "use another name";
    if let Some(item) = items.iter().find(|item| item.own_name() == SCALE) {
        return Err(item.unknown("the name is reserved for the scale of the workload", &[]).hint(hint));
    }
    if let Some(item) = items.iter().find(|item| item.own_name() == DATA_SEED) {
        return Err(item.unknown("the name is reserved for the seed of the data", &[]).hint(hint));
    }
    let constant_draws = [constant(SCALE, scale), constant(DATA_SEED, data_seed)].map(Some);
    let read_draws = items.iter().map(|_| None).chain(constant_draws).collect();
    let own_bytes = names.columns.len() * COLUMN_BYTES_MAX;
    let draws =
        Draws { order: vec![items.len() as u16, items.len() as u16 + 1], own_bytes, ..Draws::default() };
    let mut reading =
        DrawReader { folder, names, scale, law, items, done: read_draws, in_progress: Vec::new(), draws };
    for slot in 0..reading.items.len() {
        reading.read_slot(slot as u16)?;
    }
    let DrawReader { done, mut draws, .. } = reading;
    draws.all = done.into_iter().flatten().collect();
    Ok(draws)
}

/// Constants of every workload; their names follow those of the generators.
#[derive(Debug, Clone, Copy)]
pub(in crate::custom) struct Constants {
    pub(in crate::custom) scale: i64,
    /// The seed of its described tables.
    pub(in crate::custom) data_seed: i64,
}

impl Constants {
    pub(in crate::custom) const NAMES: [&str; 2] = [SCALE, DATA_SEED];
}

/// A generator with a constant value.
fn constant(name: &str, number: i64) -> DrawDefinition {
    DrawDefinition {
        name: name.to_owned(),
        words: number.to_string(),
        law: ValueGenerator::Is(HeldValue::Int(number)),
        of: Type::Int,
        when: DrawFrequency::Run,
        needs: Vec::new(),
        at: 0,
        bytes_max: 0,
        salt: 0,
        null: None,
    }
}

impl<'a> DrawReader<'a> {
    /// Reads the generator of this slot, unless it is complete.
    fn read_slot(&mut self, slot: u16) -> Result<(), WorkloadError> {
        let Some(item) = self.items.get(usize::from(slot)).cloned() else { return Ok(()) };
        if self.done[usize::from(slot)].is_some() {
            return Ok(());
        }
        if let Some(from) = self.in_progress.iter().position(|&begun| begun == slot) {
            let circle: Vec<&str> =
                self.in_progress[from..].iter().chain([&slot]).map(|&one| self.name(one)).collect();
            return Err(item.fault("depends on itself", format!("see {}", circle.join(" → "))));
        }
        if !is_name(item.own_name()) {
            return Err(item.unknown("not a valid name for a generator", &[]).hint(NAME));
        }
        self.in_progress.push(slot);
        let made = (self.law)(self, &item)?;
        self.in_progress.pop();
        let draw = self.build_draw(&item, made)?;
        self.draws.order.push(slot);
        self.done[usize::from(slot)] = Some(draw);
        Ok(())
    }

    fn name(&self, slot: u16) -> &str {
        &self.names.all[usize::from(slot)]
    }

    /// Creates the generator of this kind.
    fn build_draw(&mut self, item: &TomlItem<'a>, made: ParsedDraw) -> Result<DrawDefinition, WorkloadError> {
        let ParsedDraw { law, of, bytes_max, needs, null: share, null_if: when } = made;
        let at = self.draws.own_bytes;
        self.draws.own_bytes += bytes_max;
        if self.draws.own_bytes > OWN_BYTES_MAX {
            let problem = "the texts of a session are longer than 16 MiB together";
            return Err(item.fault(problem, "draw shorter ones"));
        }
        let drawn = self.draw_frequency(item, &law, &needs)?;
        let null = (share > 0 || when.is_some()).then(|| Null { share, when, counter: self.counter() });
        let name = item.own_name().to_owned();
        let salt = name.bytes().fold(0, |salt, byte| mix(salt ^ u64::from(byte)));
        Ok(DrawDefinition {
            name,
            words: item.written(),
            law,
            of,
            when: drawn,
            needs,
            at,
            bytes_max,
            salt,
            null,
        })
    }

    /// How often it is drawn: at least as often as every value that it depends on.
    fn draw_frequency(
        &self,
        item: &TomlItem<'a>,
        law: &ValueGenerator,
        needs: &[u16],
    ) -> Result<DrawFrequency, WorkloadError> {
        let frequency_of = |slot: &u16| match self.done.get(usize::from(*slot)) {
            Some(Some(draw)) if !draw.is_variable() => (draw.when, *slot),
            // A number that is read, counted or set may change at any time.
            _ => (DrawFrequency::Statement, *slot),
        };
        let latest = needs.iter().map(frequency_of).max();
        let latest_when = latest.map(|(when, _)| when);
        let per_item = match item.as_table().and_then(|table| table.get("per")) {
            Some(per) if matches!(law, ValueGenerator::Variable(_)) => {
                return Err(per.fault("a variable is set by steps", "omit `per`"));
            }
            None if matches!(law, ValueGenerator::Is(_)) => return Ok(DrawFrequency::Run),
            // An expression over values of the run is constant for the whole run.
            None if matches!(law, ValueGenerator::Expr(expr) if !expr.is_random())
                && latest_when.is_none_or(|latest| latest == DrawFrequency::Run) =>
            {
                return Ok(DrawFrequency::Run);
            }
            None if matches!(law, ValueGenerator::Variable(_)) => return Ok(DrawFrequency::Session),
            None => {
                return Ok(latest_when.unwrap_or(DrawFrequency::Transaction).max(DrawFrequency::Transaction));
            }
            Some(per) => per,
        };
        let text = per_item.text("\"transaction\"")?;
        let when = match &*text.letters {
            "run" => DrawFrequency::Run,
            "session" => DrawFrequency::Session,
            "transaction" => DrawFrequency::Transaction,
            "repeat" => DrawFrequency::Repeat,
            "statement" => DrawFrequency::Statement,
            other => {
                let hint = "run, session, transaction, repeat or statement";
                return Err(per_item.fault(format!("{:?} is not known", shown(other)), hint));
            }
        };
        match latest {
            Some((latest, slot)) if latest > when => {
                let problem = format!("it depends on {}, which changes more often", self.name(slot));
                Err(per_item.fault(problem, "omit `per`"))
            }
            _ => Ok(when),
        }
    }

    /// The slot of `name`, at byte `at` of `text`; reads its generator first.
    pub(super) fn slot(&mut self, name: &str, text: &SourceText, at: usize) -> Result<u16, WorkloadError> {
        let slot = self.names.find(name, text, at)?;
        self.read_slot(slot)?;
        Ok(slot)
    }

    /// Reads a constant: a number or a text.
    pub(super) fn value(&mut self, item: &TomlItem<'_>) -> Result<(HeldValue, Type), WorkloadError> {
        match (item.as_number(), item.as_text()) {
            (Some(WrittenNumber::Whole(number)), _) => Ok((HeldValue::Int(number), Type::Int)),
            (Some(WrittenNumber::Broken(number)), _) => Ok((HeldValue::Real(number), Type::Real)),
            (_, Some(text)) => {
                let (at, len) = self.share(&text.letters);
                Ok((HeldValue::Shared { at, len }, Type::Text))
            }
            _ => Err(item.fault(format!("{} is not a value", item.written()), "write a number or a text")),
        }
    }

    /// Adds a text to the shared bytes. Files have at most some megabytes, so offsets are far below 2^32.
    pub(super) fn share(&mut self, text: &str) -> (u32, u32) {
        let at = self.draws.shared.len() as u32;
        self.draws.shared.extend_from_slice(text.as_bytes());
        (at, text.len() as u32)
    }

    /// Reserves a counter for a generator.
    pub(super) fn counter(&mut self) -> usize {
        self.draws.counters += 1;
        self.draws.counters - 1
    }

    /// The generator of `slot`; `None` if there is none.
    pub(super) fn draw_at(&self, slot: u16) -> Option<&DrawDefinition> {
        self.done.get(usize::from(slot)).and_then(Option::as_ref)
    }
}

/// Refuses a generator that is not numeric; its name is at byte `at` of `text`.
pub(in crate::custom) fn numeric(
    draw: Option<&DrawDefinition>,
    text: &SourceText,
    at: usize,
) -> Result<(), WorkloadError> {
    match draw {
        Some(draw)
            if !matches!(draw.of, Type::Int | Type::Real) && !matches!(draw.law, ValueGenerator::Expr(_)) =>
        {
            let problem = format!("{} is not a number", draw.name);
            Err(text.fault(at, problem, "name a number, or a number that a step reads"))
        }
        _ => Ok(()),
    }
}

/// The type of a text; if `literal` is true, the database decides the type, as for JSON columns or
/// enumerations.
pub(super) fn literal(table: &TomlTable<'_>) -> Result<Type, WorkloadError> {
    let flag = table.get("literal").map_or(Ok(false), |flag| flag.flag())?;
    Ok(if flag { Type::Literal } else { Type::Text })
}
