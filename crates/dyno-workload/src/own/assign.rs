//! Steps that give names a value, and those that rest; and which of the names are floating-point numbers.

use std::collections::BTreeSet;
use std::time::Duration;

use dyno_engine::Type;

use super::draws::{Draws, Names};
use super::expr::{Expr, parse};
use super::fault::Fault;
use super::names::shown;
use super::state::REST_NS_MAX;
use super::steps::{Condition, NESTING, Reader, Step};
use super::table::{Item, Table};
use super::value::Number;

/// Units of time that expressions of rests are in, ns.
const UNITS: [(&str, u64); 3] = [("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];

impl Reader<'_> {
    /// `{ set = "x", expr = "…" }`
    pub(super) fn set(&self, table: &Table<'_>, kind: &Item<'_>) -> Result<Step, Fault> {
        table.only(&["set", "expr"])?;
        let expr = table.need("expr", "what it is from here on: expr = \"x + 1\"")?;
        let mut to = match expr.as_number() {
            Some(_) => Condition { expr: Expr::Is(number(&expr)?), text: expr.here() },
            None => self.condition(&expr)?,
        };
        let name = kind.text("a name")?.letters;
        let Some(slot) = self.given(table, "set") else {
            return Err(kind.fault(format!("{} is no name", shown(&name)), ""));
        };
        let is_real = to.expr.is_real(&|slot| is_real(self.draws, self.names, slot));
        let target = self.draws.all.get(usize::from(slot));
        if self.names.column_at(slot).is_some() {
            return Err(
                kind.fault(format!("{name} is a column that a step reads"), "give the number another name")
            );
        }
        if target.is_some_and(|draw| !draw.is_variable()) {
            let hint = format!("give the number another name, or draw `{name} = {{ variable = 0 }}`");
            return Err(kind.fault(format!("{name} is drawn"), hint));
        }
        let wants_real = target.map_or(self.names.real.contains(&slot), |draw| draw.of == Type::Real);
        match (wants_real, is_real) {
            (true, _) if self.is_unknown(&to.expr) => to.expr = to.expr.in_real(),
            (false, _) if self.is_unknown(&to.expr) => to.expr = to.expr.in_whole(),
            (true, false) => to.expr = to.expr.in_real(),
            (false, true) => {
                let problem = format!("{name} is a whole number, and this is none");
                return Err(expr.fault(problem, "write `variable = 0.0`, or int(…) or round(…) here"));
            }
            _ => {}
        }
        Ok(Step::Set { slot, to })
    }

    /// Whether nobody knows beforehand if it is a whole number, because it is made of a column.
    fn is_unknown(&self, expr: &Expr) -> bool {
        let is_column = |slot: &u16| {
            let draw = self.draws.all.get(usize::from(*slot));
            draw.map_or(self.names.column_at(*slot).is_some(), |draw| draw.of == Type::Literal)
        };
        expr.slots().iter().any(is_column)
    }

    /// `{ sleep = "10ms" }`, or `{ sleep = "x * 2", unit = "ms" }`
    pub(super) fn sleep(&self, table: &Table<'_>, kind: &Item<'_>) -> Result<Step, Fault> {
        table.only(&["sleep", "unit"])?;
        let Some(unit) = table.get("unit") else {
            let time = kind.time()?;
            if time > Duration::from_nanos(REST_NS_MAX) {
                return Err(kind.fault("longer than an hour", "write a shorter time"));
            }
            let time = Condition { expr: Expr::Is(Number::Int(time.as_nanos() as i64)), text: kind.here() };
            return Ok(Step::Sleep { time, unit_ns: 1 });
        };
        let text = unit.text("\"ms\"")?;
        match UNITS.iter().find(|(name, _)| *name == &*text.letters) {
            Some(&(_, unit_ns)) => Ok(Step::Sleep { time: self.condition(kind)?, unit_ns }),
            None => Err(unit.fault(format!("{:?} is no unit", shown(&text.letters)), "us, ms or s")),
        }
    }
}

/// The number that is written.
fn number(item: &Item<'_>) -> Result<Number, Fault> {
    Ok(match item.number("a number")? {
        super::table::Written::Whole(whole) => Number::Int(whole),
        super::table::Written::Broken(broken) => Number::Real(broken),
    })
}

/// Whether there is a floating-point number in `slot`.
fn is_real(draws: &Draws, names: &Names, slot: u16) -> bool {
    draws.all.get(usize::from(slot)).map_or(names.real.contains(&slot), |draw| draw.of == Type::Real)
}

/// The slots that steps of these transactions set to floating-point numbers, as far as `draws` and `names` tell. What cannot be
/// read is told when steps are read.
pub(super) fn set_real(transactions: &Table<'_>, draws: &Draws, names: &Names) -> BTreeSet<u16> {
    let mut found = names.real.clone();
    for transaction in transactions.items() {
        if let Some(table) = transaction.as_table() {
            within(&table, draws, names, &mut found);
        }
    }
    found
}

fn within(table: &Table<'_>, draws: &Draws, names: &Names, found: &mut BTreeSet<u16>) {
    let steps = NESTING.into_iter().filter_map(|key| table.get(key)).filter_map(|item| item.as_flat_list());
    for step in steps.flatten().filter_map(|item| item.as_table()) {
        if let (Some(name), Some(expr)) = (step.get("set"), step.get("expr"))
            && let Some(slot) = name.as_text().and_then(|name| names.slot(&name.letters))
            && usize::from(slot) >= names.draws
            && is_real_item(&expr, draws, names)
        {
            found.insert(slot);
        }
        within(&step, draws, names, found);
    }
}

fn is_real_item(item: &Item<'_>, draws: &Draws, names: &Names) -> bool {
    match item.as_text() {
        None => {
            item.number("").is_ok_and(|_| number(item).is_ok_and(|number| matches!(number, Number::Real(_))))
        }
        Some(text) => parse(&text, &mut |name, at| names.find(name, &text, at))
            .is_ok_and(|expr| expr.is_real(&|slot| is_real(draws, names, slot))),
    }
}
