//! Step 1: identifies the server and opens a session.

use dyno_engine::{ResultKind, Statement, StatementId};
use dyno_plan::{Bytes, DataSpec};
use dyno_record::{Identity, Severity};

use super::rights::preflight;
use super::{AcceptanceScope, Findings, not_applicable, not_proved, proved, session_of, wrong};
use crate::conformance::failed;

/// The result of the first session's query.
const ANSWER: u64 = 7;

pub(super) fn logon(scope: &AcceptanceScope<'_>, _: &DataSpec) -> Findings {
    let Identity { product, version, .. } = scope.identity;
    let mut findings = Vec::new();
    let version_advice = preflight(scope)?.into_iter().find(|advice| advice.check == "version");
    let product_version = format!("{product} {version}");
    findings.push(match version_advice.filter(|advice| advice.severity > Severity::Note) {
        Some(advice) => not_proved("version", advice.found).way_out(advice.way_out),
        None => proved("version", product_version),
    });
    findings.push(proved("server", server(scope.identity)));
    if !scope.is_server {
        let reason = "the database is a part of this process: there is no login";
        findings.push(not_applicable("session", reason));
        return Ok(findings);
    }
    let query = format!("SELECT {ANSWER}{}", scope.target.dialect().from_nothing);
    let mut session =
        session_of(scope.target, vec![Statement::read("answer", query, &[], ResultKind::Number)])?;
    let answer = session.execute(StatementId(0), &[]).map_err(|error| failed(&error))?;
    session.close();
    findings.push(match answer.rows {
        ANSWER => proved("session", "a session logs on, prepares a query and reads its answer"),
        other => wrong("session", format!("a query for {ANSWER} was answered with {other}")),
    });
    Ok(findings)
}

/// Block size, cache size, and whether commits survive a crash.
fn server(identity: &Identity) -> String {
    let Identity { block_size, cache_bytes, same_host, settings, not_durable, .. } = identity;
    let block = match block_size {
        0 => "blocks of a size that is chosen at load".to_owned(),
        bytes => format!("blocks of {}", Bytes(*bytes)),
    };
    let cache = match cache_bytes {
        Some(bytes) => format!("a cache of {}", Bytes(*bytes)),
        None => "a cache of unknown size".to_owned(),
    };
    let place = if *same_host { "on this machine" } else { "on another machine" };
    let durable = match not_durable.as_slice() {
        [] => "commits survive a crash".to_owned(),
        settings => format!("a crash may lose commits ({} settings)", settings.len()),
    };
    format!("{place}, {block}, {cache}, {} settings that shape a run; {durable}", settings.len())
}
