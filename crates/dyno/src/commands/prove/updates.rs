//! `dyno prove updates`: what the rows say of a run's updates, held against what was acknowledged.

use dyno_campaign::prove::{Proof, updates};
use dyno_record::Status;
use serde_json::{Value, json};

use super::account;
use crate::cli::{Common, Marks};
use crate::exit::Exit;
use crate::talk::Talk;
use crate::{context, words};

pub(super) fn run(common: &Common, talk: &Talk) -> anyhow::Result<Exit> {
    let plan = context::plan(common)?;
    let done = context::led(common, &Marks::default(), talk, |lead| updates(lead, plan))?;
    let (record, is_proved, words) = (&done.record, done.is_proved(), done.verdict());
    let mut proof = json!({
        "proof": "updates", "proved": is_proved, "verdict": words, "run": record.id, "status": record.status,
        "recorded_rows_updated": record.whole.as_ref().map(|whole| whole.rows_updated),
    });
    match done.proofs.as_slice() {
        [only] if only.of.is_none() => proof["account"] = account::as_json(&only.account),
        several => proof["targets"] = several.iter().map(as_json).collect(),
    }
    talk.json(&proof)?;
    for Proof { of, account, recorded } in &done.proofs {
        if let Some(of) = of {
            talk.show(&format!("{of}\n"))?;
        }
        talk.show(&account::table(account, *recorded, &talk.style()))?;
        talk.show("\n")?;
    }
    words::show(&words, 0, talk)?;
    for reason in &record.reasons {
        talk.say(&format!("the run itself is {}: {reason}", record.status.name()));
    }
    Ok(match record.status {
        Status::Failed | Status::Interrupted => record.status.into(),
        Status::Valid | Status::Imported | Status::Invalid if is_proved => Exit::Done,
        Status::Valid | Status::Imported | Status::Invalid => Exit::Invalid,
    })
}

fn as_json(proof: &Proof) -> Value {
    json!({
        "target": proof.of, "proved": proof.holds(), "recorded_rows_updated": proof.recorded,
        "account": account::as_json(&proof.account),
    })
}
