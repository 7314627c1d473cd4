//! Steps that set values and steps that sleep; also finds which names hold floating-point numbers.

use std::collections::BTreeSet;
use std::time::Duration;

use dyno_engine::Type;

use super::draws::{Draws, Names};
use super::expr::{Expr, parse};
use super::fault::WorkloadError;
use super::names::shown;
use super::state::REST_NS_MAX;
use super::steps::{Condition, NESTING, Reader, TransactionStep};
use super::table::{TomlItem, TomlTable};
use super::value::Number;

/// Units of time for sleep expressions, in ns.
const UNITS: [(&str, u64); 3] = [("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];

impl Reader<'_> {
    /// Reads the step `{ set = "x", expr = "…" }`.
    pub(super) fn set(
        &self,
        table: &TomlTable<'_>,
        kind: &TomlItem<'_>,
    ) -> Result<TransactionStep, WorkloadError> {
        table.require_only(&["set", "expr"])?;
        let expr = table.need("expr", "what it is from here on: expr = \"x + 1\"")?;
        let mut to = match expr.as_number() {
            Some(_) => Condition { expr: Expr::Is(number(&expr)?), text: expr.source_text() },
            None => self.condition(&expr)?,
        };
        let name = kind.text("a name")?.letters;
        let Some(slot) = self.given(table, "set") else {
            return Err(kind.fault(format!("{} is not a valid name", shown(&name)), ""));
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
                let problem = format!("{name} is a whole number, but this value is not");
                return Err(expr.fault(problem, "write `variable = 0.0`, or int(…) or round(…) here"));
            }
            _ => {}
        }
        Ok(TransactionStep::Set { slot, to })
    }

    /// Whether its type is unknown in advance, because it depends on a column.
    fn is_unknown(&self, expr: &Expr) -> bool {
        let is_column = |slot: &u16| {
            let draw = self.draws.all.get(usize::from(*slot));
            draw.map_or(self.names.column_at(*slot).is_some(), |draw| draw.of == Type::Literal)
        };
        expr.slots().iter().any(is_column)
    }

    /// Reads the step `{ sleep = "10ms" }`, or `{ sleep = "x * 2", unit = "ms" }`.
    pub(super) fn sleep(
        &self,
        table: &TomlTable<'_>,
        kind: &TomlItem<'_>,
    ) -> Result<TransactionStep, WorkloadError> {
        table.require_only(&["sleep", "unit"])?;
        let Some(unit) = table.get("unit") else {
            let time = kind.time()?;
            if time > Duration::from_nanos(REST_NS_MAX) {
                return Err(kind.fault("longer than an hour", "write a shorter time"));
            }
            let time =
                Condition { expr: Expr::Is(Number::Int(time.as_nanos() as i64)), text: kind.source_text() };
            return Ok(TransactionStep::Sleep { time, unit_ns: 1 });
        };
        let text = unit.text("\"ms\"")?;
        match UNITS.iter().find(|(name, _)| *name == &*text.letters) {
            Some(&(_, unit_ns)) => Ok(TransactionStep::Sleep { time: self.condition(kind)?, unit_ns }),
            None => Err(unit.fault(format!("unknown unit {:?}", shown(&text.letters)), "us, ms or s")),
        }
    }
}

/// The number of this item.
fn number(item: &TomlItem<'_>) -> Result<Number, WorkloadError> {
    Ok(match item.number("a number")? {
        super::table::WrittenNumber::Whole(whole) => Number::Int(whole),
        super::table::WrittenNumber::Broken(broken) => Number::Real(broken),
    })
}

/// Whether `slot` holds a floating-point number.
fn is_real(draws: &Draws, names: &Names, slot: u16) -> bool {
    draws.all.get(usize::from(slot)).map_or(names.real.contains(&slot), |draw| draw.of == Type::Real)
}

/// The slots that steps of these transactions set to floating-point numbers, as far as `draws` and `names`
/// show. Errors are reported later, when steps are read.
pub(super) fn real_slots(transactions: &TomlTable<'_>, draws: &Draws, names: &Names) -> BTreeSet<u16> {
    let mut real_slots = names.real.clone();
    for transaction in transactions.items() {
        if let Some(table) = transaction.as_table() {
            collect_real_slots(&table, draws, names, &mut real_slots);
        }
    }
    real_slots
}

fn collect_real_slots(table: &TomlTable<'_>, draws: &Draws, names: &Names, real_slots: &mut BTreeSet<u16>) {
    let steps = NESTING.into_iter().filter_map(|key| table.get(key)).filter_map(|item| item.as_flat_list());
    for step in steps.flatten().filter_map(|item| item.as_table()) {
        if let (Some(name), Some(expr)) = (step.get("set"), step.get("expr"))
            && let Some(slot) = name.as_text().and_then(|name| names.slot(&name.letters))
            && usize::from(slot) >= names.draws
            && is_real_item(&expr, draws, names)
        {
            real_slots.insert(slot);
        }
        collect_real_slots(&step, draws, names, real_slots);
    }
}

fn is_real_item(item: &TomlItem<'_>, draws: &Draws, names: &Names) -> bool {
    match item.as_text() {
        None => {
            item.number("").is_ok_and(|_| number(item).is_ok_and(|number| matches!(number, Number::Real(_))))
        }
        Some(text) => parse(&text, &mut |name, at| names.find(name, &text, at))
            .is_ok_and(|expr| expr.is_real(&|slot| is_real(draws, names, slot))),
    }
}
