//! Reading draws one after the other, each after those that it is made of.

use std::collections::BTreeSet;

use dyno_engine::Type;
use dyno_engine::data::mix;

use super::draw::{Draw, Draws, When};
use super::law::Law;
use super::null::Null;
use crate::own::expr::Expr;
use crate::own::fault::{Fault, Text};
use crate::own::folder::Folder;
use crate::own::names::{NAME, is_name, meant, shown};
use crate::own::scale::{DATA_SEED, SCALE};
use crate::own::table::{Item, Table, Written};
use crate::own::value::Held;

/// Draws of a workload, at most.
const DRAWS_MAX: usize = 1_000;
/// Bytes that one session keeps for the texts it draws, at most.
const OWN_BYTES_MAX: usize = 16 << 20;

/// Bytes of a text that a step reads, at most.
pub(in crate::own) const COLUMN_BYTES_MAX: usize = 1_024;

/// The names of everything that can be a parameter, each by its slot: draws first, then what transactions read or count.
#[derive(Debug, Clone, Default)]
pub(in crate::own) struct Names {
    pub(in crate::own) all: Vec<String>,
    /// How many of them are drawn.
    pub(in crate::own) draws: usize,
    /// Slots of columns that are read, whose values may be of any type. Their texts are the first of a session's own bytes.
    pub(in crate::own) columns: Vec<u16>,
    /// Slots that are set to floating-point numbers.
    pub(in crate::own) real: BTreeSet<u16>,
}

impl Names {
    /// The slot of `name`.
    pub(in crate::own) fn slot(&self, name: &str) -> Option<u16> {
        self.all.iter().position(|known| known == name).map(|slot| slot as u16)
    }

    /// The slot of `name`, which stands at byte `at` of `text`.
    pub(in crate::own) fn find(&self, name: &str, text: &Text, at: usize) -> Result<u16, Fault> {
        self.slot(name).ok_or_else(|| {
            let problem = format!("nothing has the name {}", shown(name));
            text.fault(at, problem, self.way_out(name))
        })
    }

    /// Where the text of a column that is read stands among a session's own bytes; nothing of what is no column.
    pub(in crate::own) fn column_at(&self, slot: u16) -> Option<usize> {
        let place = self.columns.iter().position(|&column| column == slot)?;
        Some(place * COLUMN_BYTES_MAX)
    }

    fn way_out(&self, name: &str) -> String {
        match meant(
            name,
            self.all.iter().map(String::as_str).filter(|known| !Constants::NAMES.contains(known)),
        ) {
            none if none.is_empty() => format!("draw it: `{} = {{ … }}` in [draw]", shown(name)),
            hint => hint,
        }
    }
}

/// A draw's law with what else is known of it.
pub(super) struct Made {
    pub(super) law: Law,
    pub(super) of: Type,
    /// Bytes that it writes at most.
    pub(super) bytes_max: usize,
    /// Slots that it reads.
    pub(super) needs: Vec<u16>,
    /// How many of [`NULL_PARTS`](super::null::NULL_PARTS) of its values are NULL.
    pub(super) null: u32,
    /// And where this holds.
    pub(super) null_if: Option<Expr>,
}

impl Made {
    /// A number.
    pub(super) fn number(law: Law, of: Type) -> Self {
        Self { law, of, bytes_max: 0, needs: Vec::new(), null: 0, null_if: None }
    }

    /// A text or bytes, of so many at most.
    pub(super) fn bytes(law: Law, of: Type, bytes_max: usize) -> Self {
        Self { law, of, bytes_max, needs: Vec::new(), null: 0, null_if: None }
    }
}

/// Reads the law that an item says.
pub(super) type OfItem<'a> = fn(&mut Reading<'a>, &Item<'a>) -> Result<Made, Fault>;

/// What draws are read with.
pub(super) struct Reading<'a> {
    pub(super) folder: &'a Folder,
    pub(super) names: &'a Names,
    /// The workload's scale.
    pub(super) scale: i64,
    law: OfItem<'a>,
    items: Vec<Item<'a>>,
    /// Those that are read.
    done: Vec<Option<Draw>>,
    /// Those of which reading has begun, in this order.
    begun: Vec<u16>,
    pub(super) draws: Draws,
}

/// The draws of these items, by what reads the law of one, and behind them the scale; `names` has theirs first.
///
/// # Errors
/// One is wrong, or made of itself.
pub(super) fn all<'a>(
    folder: &'a Folder,
    items: Vec<Item<'a>>,
    names: &'a Names,
    constants: Constants,
    law: OfItem<'a>,
) -> Result<Draws, Fault> {
    let Constants { scale, data_seed } = constants;
    if let Some(item) = items.get(DRAWS_MAX) {
        return Err(item.fault(format!("more than {DRAWS_MAX} draws"), "leave some out"));
    }
    let hint = "give the draw another name";
    if let Some(item) = items.iter().find(|item| item.own_name() == SCALE) {
        return Err(item.unknown("the workload itself has a scale", &[]).hint(hint));
    }
    if let Some(item) = items.iter().find(|item| item.own_name() == DATA_SEED) {
        return Err(item.unknown("the workload itself has a seed of its data", &[]).hint(hint));
    }
    let own = [constant(SCALE, scale), constant(DATA_SEED, data_seed)].map(Some);
    let done = items.iter().map(|_| None).chain(own).collect();
    let own_bytes = names.columns.len() * COLUMN_BYTES_MAX;
    let draws =
        Draws { order: vec![items.len() as u16, items.len() as u16 + 1], own_bytes, ..Draws::default() };
    let mut reading = Reading { folder, names, scale, law, items, done, begun: Vec::new(), draws };
    for slot in 0..reading.items.len() {
        reading.need(slot as u16)?;
    }
    let Reading { done, mut draws, .. } = reading;
    draws.all = done.into_iter().flatten().collect();
    Ok(draws)
}

/// What every workload knows of itself; names of the same order stand behind those of its draws.
#[derive(Debug, Clone, Copy)]
pub(in crate::own) struct Constants {
    pub(in crate::own) scale: i64,
    /// The seed of its described tables.
    pub(in crate::own) data_seed: i64,
}

impl Constants {
    /// Their names.
    pub(in crate::own) const NAMES: [&str; 2] = [SCALE, DATA_SEED];
}

/// A value that is always the same.
fn constant(name: &str, number: i64) -> Draw {
    Draw {
        name: name.to_owned(),
        words: number.to_string(),
        law: Law::Is(Held::Int(number)),
        of: Type::Int,
        when: When::Run,
        needs: Vec::new(),
        at: 0,
        bytes_max: 0,
        salt: 0,
        null: None,
    }
}

impl<'a> Reading<'a> {
    /// Reads the draw of this slot, unless it is read.
    fn need(&mut self, slot: u16) -> Result<(), Fault> {
        let Some(item) = self.items.get(usize::from(slot)).cloned() else { return Ok(()) };
        if self.done[usize::from(slot)].is_some() {
            return Ok(());
        }
        if let Some(from) = self.begun.iter().position(|&begun| begun == slot) {
            let circle: Vec<&str> =
                self.begun[from..].iter().chain([&slot]).map(|&one| self.name(one)).collect();
            return Err(item.fault("is made of itself", format!("see {}", circle.join(" → "))));
        }
        if !is_name(item.own_name()) {
            return Err(item.unknown("no name for a draw", &[]).hint(NAME));
        }
        self.begun.push(slot);
        let made = (self.law)(self, &item)?;
        self.begun.pop();
        let draw = self.draw(&item, made)?;
        self.draws.order.push(slot);
        self.done[usize::from(slot)] = Some(draw);
        Ok(())
    }

    fn name(&self, slot: u16) -> &str {
        &self.names.all[usize::from(slot)]
    }

    /// The draw with this law.
    fn draw(&mut self, item: &Item<'a>, made: Made) -> Result<Draw, Fault> {
        let Made { law, of, bytes_max, needs, null: share, null_if: when } = made;
        let at = self.draws.own_bytes;
        self.draws.own_bytes += bytes_max;
        if self.draws.own_bytes > OWN_BYTES_MAX {
            let problem = "the texts of a session are longer than 16 MiB together";
            return Err(item.fault(problem, "draw shorter ones"));
        }
        let drawn = self.when(item, &law, &needs)?;
        let null = (share > 0 || when.is_some()).then(|| Null { share, when, counter: self.counter() });
        let name = item.own_name().to_owned();
        let salt = name.bytes().fold(0, |salt, byte| mix(salt ^ u64::from(byte)));
        Ok(Draw { name, words: item.written(), law, of, when: drawn, needs, at, bytes_max, salt, null })
    }

    /// When it is drawn: not more rarely than what it is made of.
    fn when(&self, item: &Item<'a>, law: &Law, needs: &[u16]) -> Result<When, Fault> {
        let of = |slot: &u16| match self.done.get(usize::from(*slot)) {
            Some(Some(draw)) if !draw.is_variable() => (draw.when, *slot),
            // A number that is read, counted or set may be another one each time.
            _ => (When::Statement, *slot),
        };
        let latest = needs.iter().map(of).max();
        let latest_when = latest.map(|(when, _)| when);
        let own = match item.as_table().and_then(|table| table.get("per")) {
            Some(per) if matches!(law, Law::Variable(_)) => {
                return Err(per.fault("a variable is what steps set", "leave `per` out"));
            }
            None if matches!(law, Law::Is(_)) => return Ok(When::Run),
            // What is calculated from such values alone is the same for the whole run.
            None if matches!(law, Law::Expr(expr) if !expr.is_random())
                && latest_when.is_none_or(|latest| latest == When::Run) =>
            {
                return Ok(When::Run);
            }
            None if matches!(law, Law::Variable(_)) => return Ok(When::Session),
            None => return Ok(latest_when.unwrap_or(When::Transaction).max(When::Transaction)),
            Some(per) => per,
        };
        let text = own.text("\"transaction\"")?;
        let when = match &*text.letters {
            "run" => When::Run,
            "session" => When::Session,
            "transaction" => When::Transaction,
            "repeat" => When::Repeat,
            "statement" => When::Statement,
            other => {
                let hint = "run, session, transaction, repeat or statement";
                return Err(own.fault(format!("{:?} is not known", shown(other)), hint));
            }
        };
        match latest {
            Some((latest, slot)) if latest > when => {
                let problem = format!("it is made of {}, which changes more often", self.name(slot));
                Err(own.fault(problem, "leave `per` out"))
            }
            _ => Ok(when),
        }
    }

    /// The slot of what `name`, at byte `at` of `text`, is the name of; a draw is read then.
    pub(super) fn slot(&mut self, name: &str, text: &Text, at: usize) -> Result<u16, Fault> {
        let slot = self.names.find(name, text, at)?;
        self.need(slot)?;
        Ok(slot)
    }

    /// A value as it is written.
    pub(super) fn value(&mut self, item: &Item<'_>) -> Result<(Held, Type), Fault> {
        match (item.as_number(), item.as_text()) {
            (Some(Written::Whole(number)), _) => Ok((Held::Int(number), Type::Int)),
            (Some(Written::Broken(number)), _) => Ok((Held::Real(number), Type::Real)),
            (_, Some(text)) => {
                let (at, len) = self.share(&text.letters);
                Ok((Held::Shared { at, len }, Type::Text))
            }
            _ => Err(item.fault(format!("{} is no value", item.written()), "write a number or a text")),
        }
    }

    /// Puts a text among the bytes that sessions share. Files are read up to some megabytes, so they are far below 2^32.
    pub(super) fn share(&mut self, text: &str) -> (u32, u32) {
        let at = self.draws.shared.len() as u32;
        self.draws.shared.extend_from_slice(text.as_bytes());
        (at, text.len() as u32)
    }

    /// A counter of a draw's own.
    pub(super) fn counter(&mut self) -> usize {
        self.draws.counters += 1;
        self.draws.counters - 1
    }

    /// The draw of `slot`, if it is one.
    pub(super) fn of(&self, slot: u16) -> Option<&Draw> {
        self.done.get(usize::from(slot)).and_then(Option::as_ref)
    }
}

/// Refuses a draw that is no number, whose name stands at byte `at` of `text`.
pub(in crate::own) fn numeric(draw: Option<&Draw>, text: &Text, at: usize) -> Result<(), Fault> {
    match draw {
        Some(draw) if !matches!(draw.of, Type::Int | Type::Real) && !matches!(draw.law, Law::Expr(_)) => {
            let problem = format!("{} is no number", draw.name);
            Err(text.fault(at, problem, "name a number, or a number that a step reads"))
        }
        _ => Ok(()),
    }
}

/// The type of a text: what the database makes of it where `literal` is true, as for a column of JSON or an enumeration.
pub(super) fn literal(table: &Table<'_>) -> Result<Type, Fault> {
    let flag = table.get("literal").map_or(Ok(false), |flag| flag.flag())?;
    Ok(if flag { Type::Literal } else { Type::Text })
}
