//! Shows a workload as tables.

use std::fmt::Write as _;
use std::time::Duration;

use dyno_campaign::custom_workloads::{StatementCheckReport, StatementPlan};
use dyno_plan::TimeSpan;
use dyno_report::model::{Grid, GridCell, GridHead};
use dyno_report::number::{count, fixed, sessions as sessions_words};
use dyno_report::style::{Paint, Style};
use dyno_report::text::{clean, indent};
use dyno_workload::custom::{
    CustomWorkload, DescribedDraw, DescribedTransaction, InvariantTiming, RatedTransaction, WorkloadError,
};

use super::sample::{RETURNED, SampleTransaction};

/// Everything known of a workload on `engine`.
pub(super) fn describe_workload(
    workload: &CustomWorkload,
    engine: &str,
    drawn: &[SampleTransaction],
    style: &Style,
) -> Result<String, WorkloadError> {
    let transactions = workload.described(engine)?;
    let draws = workload.described_draws(engine)?;
    let mut out = head(workload, engine)?;
    for table in workload.tables() {
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
        let title = format!(
            "sample values (each value read from the database is taken as {number}, each row count as {rows})"
        );
        let _ = write!(out, "\n{}\n", style.paint(Paint::Head, &title));
        drawn.iter().for_each(|one| out.push_str(&sample(one)));
    }
    Ok(out)
}

fn head(workload: &CustomWorkload, engine: &str) -> Result<String, WorkloadError> {
    let about =
        if workload.about().is_empty() { String::new() } else { format!(": {}", clean(workload.about())) };
    let writes = if workload.writes() { "Read-write." } else { "Read-only." };
    let deck = workload
        .deck()
        .map(|cards| format!(" Each group of {} transactions contains the exact mix.", count(cards)));
    let counted = |what: &str, number: usize| match number {
        1 => format!("1 {what}"),
        _ => format!("{} {what}s", count(number as u64)),
    };
    let (setup, drop, invariants) = (
        workload.setup(engine)?,
        workload.teardown(engine)?,
        workload.invariants(engine, InvariantTiming::Run)?,
    );
    let note =
        if workload.note().is_empty() { String::new() } else { format!("{}\n", clean(workload.note())) };
    let options = |usual| {
        let all = workload.options(usual);
        let option_text = |(name, value): (&String, &String)| format!("{}={}", clean(name), clean(value));
        all.iter().map(option_text).collect::<Vec<_>>().join(", ")
    };
    let (chosen, usual) = (options(false), options(true));
    let mut options = String::new();
    for (what, those) in [("Options", chosen), ("Default options", usual)] {
        if !those.is_empty() {
            let _ = writeln!(options, "{what}: {those}");
        }
    }
    Ok(format!(
        "{}{about}\n{note}{options}{writes} {} in setup, {} in drop, {}.{}\n",
        clean(workload.name()),
        counted("statement", setup.len()),
        counted("statement", drop.len()),
        counted("invariant", invariants.len()),
        deck.unwrap_or_default(),
    ))
}

/// One line for each transaction.
fn overview(transactions: &[DescribedTransaction], style: &Style) -> String {
    let mut table = Grid::new(vec![
        GridHead::text("transaction"),
        GridHead::figures("share", ""),
        GridHead::figures("statements", ""),
        GridHead::figures("round trips", ""),
        GridHead::text("commits"),
        GridHead::text("isolation"),
        GridHead::figures("retries", "").spare(1),
        GridHead::text("think time").spare(1),
    ]);
    for one in transactions {
        let commits = match (one.commits_each, one.writes) {
            (_, false) if one.commits_each => "none (read-only)",
            (true, _) => "each statement",
            (false, _) => "at the end",
        };
        table.row([
            GridCell::from(one.name.as_str()),
            frequency_words(one).into(),
            count(one.statements.len() as u64).into(),
            trips_words(one).into(),
            commits.into(),
            one.isolation.unwrap_or("platform default").to_lowercase().into(),
            if one.retries == 0 { "–".into() } else { count(u64::from(one.retries)).into() },
            rest_words(one).into(),
        ]);
    }
    table.render(style)
}

fn frequency_words(transaction: &DescribedTransaction) -> String {
    match &transaction.rated {
        None => format!("{} %", fixed(transaction.share_pct, 1)),
        Some(RatedTransaction { rate, sessions, .. }) => {
            format!("{rate} on {}", sessions_words(f64::from(*sessions)))
        }
    }
}

fn trips_words(transaction: &DescribedTransaction) -> String {
    match transaction.pipelined {
        None => trips(transaction.round_trips),
        Some(pipelined) => format!("{}, pipelined {}", trips(transaction.round_trips), trips(pipelined)),
    }
}

fn trips((least, most): (u64, Option<u64>)) -> String {
    match most {
        Some(most) if most == least => count(least),
        Some(most) => format!("{} to {}", count(least), count(most)),
        None => format!("{} or more", count(least)),
    }
}

fn rest_words(transaction: &DescribedTransaction) -> String {
    let behind = match transaction.think_is_mean {
        true => format!("mean {}", TimeSpan(transaction.think.0)),
        false => rest(transaction.think),
    };
    match transaction.keying.is_zero() {
        true => behind,
        false => format!("{behind}, {} before", TimeSpan(transaction.keying)),
    }
}

fn rest((least, most): (Duration, Duration)) -> String {
    match (least, most) {
        (_, Duration::ZERO) => "–".to_owned(),
        (least, most) if least == most => TimeSpan(most).to_string(),
        (least, most) => format!("{} to {}", TimeSpan(least), TimeSpan(most)),
    }
}

fn steps(transaction: &DescribedTransaction) -> String {
    transaction.steps.iter().map(|step| format!("{}\n", clean(step))).collect()
}

/// The statements of one transaction.
fn statements(transaction: &DescribedTransaction, style: &Style) -> String {
    let mut table = Grid::new(vec![
        GridHead::text("statement"),
        GridHead::text("at").spare(1),
        GridHead::text("returns"),
        GridHead::text("parameters"),
        GridHead::text("SQL"),
    ]);
    for statement in &transaction.statements {
        table.row([
            GridCell::from(statement.called.as_ref().unwrap_or(&statement.name).as_str()),
            statement.place.as_str().into(),
            statement.returns.into(),
            statement.params.join(", ").into(),
            statement.sql.as_str().into(),
        ]);
    }
    table.render(style)
}

fn draw_table(draws: &[DescribedDraw], style: &Style) -> String {
    let mut table = Grid::new(vec![
        GridHead::text("generator"),
        GridHead::text("type"),
        GridHead::text("scope"),
        GridHead::text("definition"),
    ]);
    for draw in draws {
        table.row([
            GridCell::from(draw.name.as_str()),
            draw.of.into(),
            draw.per.into(),
            draw.words.as_str().into(),
        ]);
    }
    let unused: Vec<&str> = draws.iter().filter(|draw| !draw.used).map(|draw| draw.name.as_str()).collect();
    if !unused.is_empty() {
        table.note(&format!("no statement uses {}", unused.join(", ")), "warn");
    }
    table.render(style)
}

/// A transaction with sample values.
fn sample(drawn: &SampleTransaction) -> String {
    let mut out = format!("  {}\n", clean(&drawn.transaction));
    for (name, values) in &drawn.statements {
        let values: Vec<String> = values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let _ = writeln!(out, "    {}", clean(&format!("{name}({})", values.join(", "))));
    }
    if drawn.more > 0 {
        let _ = writeln!(out, "    and {} more", count(drawn.more as u64));
    }
    if drawn.rolled_back {
        out.push_str("    rolled back\n");
    }
    out
}

/// Result of preparing the statements on a target.
pub(super) fn tried_words(tried: &StatementCheckReport) -> String {
    let StatementCheckReport { url, identity, statements, refused, plans } = tried;
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

/// The target's execution plan of a statement.
fn plan(StatementPlan { name, called, lines }: &StatementPlan) -> String {
    let lines = match lines {
        Ok(lines) if lines.is_empty() => "nothing is searched\n".to_owned(),
        Ok(lines) => lines.iter().map(|line| format!("{}\n", clean(line))).collect(),
        Err(why) => format!("no plan: {}\n", clean(why)),
    };
    let called = called.as_ref().map(|called| format!(", {}", clean(called))).unwrap_or_default();
    format!("\n  {}{called}\n{}", clean(name), indent(&indent(&lines)))
}
