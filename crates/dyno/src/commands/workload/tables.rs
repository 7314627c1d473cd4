//! A workload in tables.

use std::fmt::Write as _;
use std::time::Duration;

use dyno_campaign::own::{Planned, Tried};
use dyno_plan::Span;
use dyno_report::number::{count, fixed, sessions as sessions_words};
use dyno_report::style::{Paint, Style};
use dyno_report::table::{Cell, Column, Table};
use dyno_report::text::{clean, indent};
use dyno_workload::own::{After, DescribedDraw, DescribedTransaction, Fault, Own, Rated};

use super::sample::{Drawn, RETURNED};

/// All that is known of a workload on `engine`.
pub(super) fn whole(own: &Own, engine: &str, drawn: &[Drawn], style: &Style) -> Result<String, Fault> {
    let transactions = own.described(engine)?;
    let draws = own.described_draws(engine)?;
    let mut out = head(own, engine)?;
    for table in own.tables() {
        let (rows, columns) = (count(table.rows()), table.columns().len());
        let _ = writeln!(out, "table {}: {rows} rows of {columns} columns", table.name());
    }
    out.push('\n');
    out.push_str(&overview(&transactions, style));
    for transaction in &transactions {
        let _ = write!(out, "\n{}\n", style.paint(Paint::Head, &clean(&transaction.name)));
        out.push_str(&indent(&steps(transaction)));
        out.push_str(&statements(transaction, style));
    }
    if !draws.is_empty() {
        out.push('\n');
        out.push_str(&draw_table(&draws, style));
    }
    if !drawn.is_empty() {
        let (number, rows) = RETURNED;
        let title = format!("drawn, as if each number that is read were {number}, and rows {rows}");
        let _ = write!(out, "\n{}\n", style.paint(Paint::Head, &title));
        drawn.iter().for_each(|one| out.push_str(&sample(one)));
    }
    Ok(out)
}

fn head(own: &Own, engine: &str) -> Result<String, Fault> {
    let about = if own.about().is_empty() { String::new() } else { format!(": {}", clean(own.about())) };
    let writes = if own.writes() { "It writes." } else { "It only reads." };
    let deck =
        own.deck().map(|cards| format!(" Of {} transactions each has its share to the unit.", count(cards)));
    let of = |what: &str, number: usize| match number {
        1 => format!("1 {what}"),
        _ => format!("{} {what}s", count(number as u64)),
    };
    let (setup, drop, invariants) =
        (own.setup(engine)?, own.teardown(engine)?, own.invariants(engine, After::Run)?);
    let note = if own.note().is_empty() { String::new() } else { format!("{}\n", clean(own.note())) };
    let options = |usual| {
        let all = own.options(usual);
        let one = |(name, value): (&String, &String)| format!("{}={}", clean(name), clean(value));
        all.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    let (chosen, usual) = (options(false), options(true));
    let mut options = String::new();
    for (what, those) in [("Options", chosen), ("Options as usual", usual)] {
        if !those.is_empty() {
            let _ = writeln!(options, "{what}: {those}");
        }
    }
    Ok(format!(
        "{}{about}\n{note}{options}{writes} {} to set it up, {} to drop it, {}.{}\n",
        clean(own.name()),
        of("statement", setup.len()),
        of("statement", drop.len()),
        of("invariant", invariants.len()),
        deck.unwrap_or_default(),
    ))
}

/// One line for each transaction.
fn overview(transactions: &[DescribedTransaction], style: &Style) -> String {
    let mut table = Table::new(vec![
        Column::text("transaction"),
        Column::figures("how often", ""),
        Column::figures("statements", ""),
        Column::figures("round trips", ""),
        Column::text("commits"),
        Column::text("isolation"),
        Column::figures("retries", "").droppable(),
        Column::text("rest").droppable(),
    ]);
    for one in transactions {
        let commits = match (one.commits_each, one.writes) {
            (_, false) if one.commits_each => "none: it reads",
            (true, _) => "each statement",
            (false, _) => "at its end",
        };
        table.row([
            Cell::from(one.name.as_str()),
            how_often(one).into(),
            count(one.statements.len() as u64).into(),
            all_trips(one).into(),
            commits.into(),
            one.isolation.unwrap_or("the platform's").to_lowercase().into(),
            if one.retries == 0 { "–".into() } else { count(u64::from(one.retries)).into() },
            rests(one).into(),
        ]);
    }
    table.render(style)
}

fn how_often(one: &DescribedTransaction) -> String {
    match &one.rated {
        None => format!("{} %", fixed(one.share_pct, 1)),
        Some(Rated { rate, sessions, .. }) => format!("{rate} on {}", sessions_words(f64::from(*sessions))),
    }
}

fn all_trips(one: &DescribedTransaction) -> String {
    match one.pipelined {
        None => trips(one.round_trips),
        Some(pipelined) => format!("{}, pipelined {}", trips(one.round_trips), trips(pipelined)),
    }
}

fn trips((least, most): (u64, Option<u64>)) -> String {
    match most {
        Some(most) if most == least => count(least),
        Some(most) => format!("{} to {}", count(least), count(most)),
        None => format!("{} or more", count(least)),
    }
}

fn rests(one: &DescribedTransaction) -> String {
    let behind = match one.think_is_mean {
        true => format!("{} in the mean", Span(one.think.0)),
        false => rest(one.think),
    };
    match one.keying.is_zero() {
        true => behind,
        false => format!("{behind}, {} before", Span(one.keying)),
    }
}

fn rest((least, most): (Duration, Duration)) -> String {
    match (least, most) {
        (_, Duration::ZERO) => "–".to_owned(),
        (least, most) if least == most => Span(most).to_string(),
        (least, most) => format!("{} to {}", Span(least), Span(most)),
    }
}

fn steps(one: &DescribedTransaction) -> String {
    one.steps.iter().map(|step| format!("{}\n", clean(step))).collect()
}

/// The statements of a transaction.
fn statements(one: &DescribedTransaction, style: &Style) -> String {
    let mut table = Table::new(vec![
        Column::text("statement"),
        Column::text("at").droppable(),
        Column::text("returns"),
        Column::text("parameters"),
        Column::text("SQL"),
    ]);
    for statement in &one.statements {
        table.row([
            Cell::from(statement.called.as_ref().unwrap_or(&statement.name).as_str()),
            statement.place.as_str().into(),
            statement.returns.into(),
            statement.params.join(", ").into(),
            statement.sql.as_str().into(),
        ]);
    }
    table.render(style)
}

fn draw_table(draws: &[DescribedDraw], style: &Style) -> String {
    let mut table = Table::new(vec![
        Column::text("draw"),
        Column::text("type"),
        Column::text("once per"),
        Column::text("how"),
    ]);
    for draw in draws {
        table.row([
            Cell::from(draw.name.as_str()),
            draw.of.into(),
            draw.per.into(),
            draw.words.as_str().into(),
        ]);
    }
    let unused: Vec<&str> = draws.iter().filter(|draw| !draw.used).map(|draw| draw.name.as_str()).collect();
    if !unused.is_empty() {
        table.note(&format!("no statement uses {}", unused.join(", ")), Paint::Warn);
    }
    table.render(style)
}

/// A transaction with its values.
fn sample(drawn: &Drawn) -> String {
    let mut out = format!("  {}\n", clean(&drawn.transaction));
    for (name, values) in &drawn.statements {
        let values: Vec<String> = values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let _ = writeln!(out, "    {}", clean(&format!("{name}({})", values.join(", "))));
    }
    if drawn.more > 0 {
        let _ = writeln!(out, "    and {} more", count(drawn.more as u64));
    }
    if drawn.rolled_back {
        out.push_str("    taken back\n");
    }
    out
}

/// What a target says.
pub(super) fn tried(tried: &Tried) -> String {
    let Tried { url, identity, statements, refused, plans } = tried;
    let server = format!("{} {} at {}", clean(&identity.product), clean(&identity.version), clean(url));
    match refused.len() {
        0 => {
            let head = format!("\n{server} prepares all {} statements\n", count(*statements as u64));
            plans.iter().map(plan).fold(head, |all, plan| all + &plan)
        }
        some => {
            let mut out = format!("\n{server} refuses {some} of {} statements:\n", count(*statements as u64));
            refused.iter().for_each(|fault| out.push_str(&format!("  {}\n", clean(&fault.to_string()))));
            out
        }
    }
}

/// How a target would do a statement.
fn plan(Planned { name, called, lines }: &Planned) -> String {
    let lines = match lines {
        Ok(lines) if lines.is_empty() => "nothing is searched\n".to_owned(),
        Ok(lines) => lines.iter().map(|line| format!("{}\n", clean(line))).collect(),
        Err(why) => format!("no plan: {}\n", clean(why)),
    };
    let called = called.as_ref().map(|called| format!(", {}", clean(called))).unwrap_or_default();
    format!("\n  {}{called}\n{}", clean(name), indent(&indent(&lines)))
}
