//! Step 6: checks the execution plans of the block workload's statements.

use std::sync::Arc;

use dyno_engine::{
    BlockOp, BlockOpSchema, BlockSessionConfig, BlockStatementKind, BlocksStatement, Clock, Extra,
    MonotonicClock, Slot, Target, TargetError, Value,
};
use dyno_plan::{Commit, DataSpec, DriveMode, Redo};
use dyno_record::AcceptanceFinding;

use super::{AcceptanceScope, Findings, not_proved, of_error, proved, wrong};
use crate::blocks::Operated;
use crate::conformance::{WORK_UNIT, failed};

/// Words in plans for access by index, in lower case: for SQLite, PostgreSQL and Oracle, and for MySQL.
const BY_INDEX: [&str; 2] = ["index", "key="];

/// Words in plans for reading a whole table, in the same order of engines.
const WHOLE_TABLE: [&str; 5] = ["scan ", "seq scan", "full", "type=all", "type=index"];

pub(super) fn plans(scope: &AcceptanceScope<'_>, spec: &DataSpec) -> Findings {
    let target = scope.target;
    let blocks = BlockSessionConfig {
        schema: 1,
        spec: spec.clone(),
        work_unit: WORK_UNIT,
        redo: Redo::Lite,
        extra: Extra { secondary: true, ..Extra::default() },
        seed: 3,
        run_stamp: 1,
        session: 0,
    };
    let statements = target.block_data()?.blocks(&blocks, Commit::Wait)?.statements;
    let of_kind = |kind: BlockStatementKind| statements.iter().find(|statement| statement.kind == kind);
    let mut findings = Vec::new();
    for kind in [
        BlockStatementKind::Select,
        BlockStatementKind::Lookup,
        BlockStatementKind::Secondary,
        BlockStatementKind::Scan,
    ] {
        let Some(statement) = of_kind(kind) else { continue };
        let (words, way) = match kind {
            BlockStatementKind::Scan => (&WHOLE_TABLE[..], "reads the whole table"),
            _ => (&BY_INDEX[..], "reaches its rows by an index"),
        };
        findings.push(match target.explain(&written_out(target, statement)) {
            Ok(lines) => judged(kind.name(), &lines, words, way),
            Err(error) => of_error(kind.name(), &error),
        });
    }
    findings.push(prepared_again(target, &blocks)?);
    Ok(findings)
}

/// The statement with its parameters replaced by the values for key 7.
fn written_out(target: &dyn Target, statement: &BlocksStatement) -> String {
    let mut sql = statement.statement.sql.clone();
    let numbered = target.dialect().mark;
    let named = if numbered(1).starts_with(':') { named_marks(&sql) } else { Vec::new() };
    let mark = |place: usize| named.get(place).cloned().unwrap_or_else(|| numbered(place + 1));
    // From the last parameter on, so that `$1` is not found in `$10`; identical marks are replaced from the right.
    for (place, slot) in statement.slots.iter().enumerate().rev() {
        let Slot::Key { times, plus } = *slot else { continue };
        let (literal, mark) = (target.literal(Value::Int(7 * times + plus)), mark(place));
        if let Some(at) = sql.rfind(&mark) {
            sql.replace_range(at..at + mark.len(), &literal);
        }
    }
    sql
}

/// Named parameters such as `:first_key`, in the order of binding; empty if parameters have numbers.
fn named_marks(sql: &str) -> Vec<String> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let names = sql.split(':').skip(1).map(|rest| rest.split(|c| !is_part(c)).next().unwrap_or_default());
    names.filter(|name| name.starts_with(char::is_alphabetic)).map(|name| format!(":{name}")).collect()
}

fn judged(name: &str, lines: &[String], words: &[&str], way: &str) -> AcceptanceFinding {
    let plan = lines.join(" ").to_lowercase();
    match words.iter().any(|word| plan.contains(word)) {
        true => proved(name, format!("the plan {way}")),
        false if lines.is_empty() => not_proved(name, "the database returns no plan"),
        false => wrong(name, format!("no line of the plan {way}: {}", lines.join("; "))),
    }
}

/// Checks that a statement is prepared once and executed repeatedly with other values.
fn prepared_again(
    target: &dyn Target,
    blocks: &BlockSessionConfig,
) -> Result<AcceptanceFinding, TargetError> {
    const TIMES: u64 = 50;
    let clock: Arc<dyn Clock> = Arc::new(MonotonicClock::default());
    let mut session = Operated::open(target, blocks, DriveMode::Client, Commit::Wait, clock)?;
    session.turn_to(BlockOpSchema::Own);
    let mut rows = 0;
    for key in 1..=TIMES {
        rows += session.execute(BlockOp::Lookup { key }).map_err(|error| failed(&error))?.rows;
    }
    session.close();
    Ok(match rows {
        TIMES => {
            proved("prepared", format!("a statement that was prepared once found the rows of {TIMES} keys"))
        }
        _ => wrong(
            "prepared",
            format!("a statement that was prepared once found {rows} rows for {TIMES} keys"),
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_record::AcceptanceVerdict::{NotProved, Proved, Wrong};

    #[test]
    fn named_parameters_are_found_in_order() {
        let range = "SELECT c2 FROM t WHERE k BETWEEN :first_key AND :last_key";
        assert_eq!(named_marks(range), [":first_key", ":last_key"]);
        assert_eq!(named_marks("SELECT c2 FROM t WHERE k = :1"), Vec::<String>::new());
    }

    #[test]
    fn query_plans_are_judged_by_their_keywords() {
        let lookup = |plan: &str| judged("lookup", &[plan.to_owned()], &BY_INDEX, "reaches").verdict;
        assert_eq!(lookup("SEARCH dyno_rows_1 USING INDEX dyno_rows_1_key (custid=?)"), Proved);
        assert_eq!(lookup("Bitmap Index Scan on rows_1_custid"), Proved);
        assert_eq!(lookup("type=ref  key=custid"), Proved);
        assert_eq!(lookup("|*  2 |   INDEX RANGE SCAN"), Proved);
        assert_eq!(lookup("Seq Scan on rows_1"), Wrong);
        assert_eq!(judged("lookup", &[], &BY_INDEX, "reaches").verdict, NotProved);
        let scan = |plan: &str| judged("scan", &[plan.to_owned()], &WHOLE_TABLE, "reads").verdict;
        for plan in ["SCAN dyno_scan_1", "Seq Scan on scan_1", "type=ALL", "TABLE ACCESS FULL"] {
            assert_eq!(scan(plan), Proved, "{plan}");
        }
        assert_eq!(scan("type=ref  key=custid"), Wrong);
    }
}
