//! `dyno prove updates`: compares a run's updates in the rows with the acknowledged ones.

use dyno_campaign::prove::{UpdateProof, updates};
use dyno_record::Status;
use serde_json::{Value, json};

use super::comparison;
use crate::cli::{CommonArgs, MarkArgs};
use crate::console::Console;
use crate::exit::Exit;
use crate::{context, event_messages};

pub(super) fn run(common: &CommonArgs, talk: &Console) -> anyhow::Result<Exit> {
    let plan = context::plan(common)?;
    let outcome = context::run_campaign(common, &MarkArgs::default(), talk, |ctx| updates(ctx, plan))?;
    let (record, is_proved, words) = (&outcome.record, outcome.is_proved(), outcome.verdict());
    let mut proof = json!({
        "proof": "updates", "proved": is_proved, "verdict": words, "run": record.id, "status": record.status,
        "recorded_rows_updated": record.whole.as_ref().map(|whole| whole.rows_updated),
    });
    match outcome.proofs.as_slice() {
        [only] if only.of.is_none() => proof["account"] = comparison::as_json(&only.account),
        several => proof["targets"] = several.iter().map(as_json).collect(),
    }
    talk.json(&proof)?;
    for UpdateProof { of, account, recorded } in &outcome.proofs {
        if let Some(of) = of {
            talk.show(&format!("{of}\n"))?;
        }
        talk.show(&comparison::table(account, *recorded, &talk.style()))?;
        talk.show("\n")?;
    }
    event_messages::show(&words, 0, talk)?;
    for reason in &record.reasons {
        talk.say(&format!("the run itself is {}: {reason}", record.status.name()));
    }
    Ok(match record.status {
        Status::Failed | Status::Interrupted => record.status.into(),
        Status::Valid | Status::Imported | Status::Invalid if is_proved => Exit::Done,
        Status::Valid | Status::Imported | Status::Invalid => Exit::Invalid,
    })
}

fn as_json(proof: &UpdateProof) -> Value {
    json!({
        "target": proof.of, "proved": proof.holds(), "recorded_rows_updated": proof.recorded,
        "account": comparison::as_json(&proof.account),
    })
}
