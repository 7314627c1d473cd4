//! `dyno show`: shows whole records, or several as one table.

use dyno_analyze::conclusion::ConclusionFigures;
use dyno_campaign::{conclusions, select};
use dyno_record::RunRecord;
use dyno_report::{Answered, ResultRow};
use serde_json::json;

use crate::cli::{CommonArgs, ShowArgs};
use crate::console::Console;
use crate::exit::Exit;
use crate::{answers, context, event_messages, statement_texts};

pub(super) fn run(common: &CommonArgs, args: &ShowArgs, talk: &Console) -> anyhow::Result<Exit> {
    let repository = context::repository_to_read(common)?;
    let mut records: Vec<RunRecord> = Vec::new();
    for selection in &args.runs {
        records.extend(select::records(&repository, selection)?);
    }
    let style = talk.style();
    let conclusions = conclusions::of(&repository, &records)?;
    let named = args.runs.iter().any(|selection| conclusions::is_named(selection)) && !conclusions.is_empty();
    let is_suite =
        conclusions.iter().any(|conclusion| matches!(conclusion.figures, ConclusionFigures::Suite(_)));
    // Tests of a suite are not points of one curve.
    let answers = (records.len() > 1 && !is_suite).then(|| answers::for_records(&records, &conclusions));
    if named {
        let runs: Vec<_> = records.iter().map(Answered::of).collect();
        talk.json(&json!({ "answers": answers, "conclusions": conclusions, "runs": runs }))?;
    }
    match records.as_slice() {
        // The suite's own tables contain all runs.
        _ if is_suite => {}
        [one] => {
            if !named {
                talk.json(&Answered::of(one))?;
            }
            talk.show(&if args.table {
                event_messages::card(one, &style)
            } else {
                let mut with_texts = one.clone();
                statement_texts::add(&mut with_texts);
                dyno_report::show(&with_texts, &style)
            })?;
        }
        many => {
            if !named {
                talk.json(&many.iter().map(Answered::of).collect::<Vec<_>>())?;
            }
            if let Some(answers) = &answers {
                talk.show(&format!("{}\n", dyno_report::answer_text(answers, &style)))?;
            }
            let rows: Vec<_> = many.iter().map(ResultRow::from).collect();
            let digits = many.len().to_string().len();
            let audits = (1..).zip(many).map(|(number, record)| {
                let audit = dyno_report::audit_summary(&record.audit);
                format!("{number:>digits$}  {}  {audit}\n", record.id)
            });
            let audits: String = audits.collect();
            let points = dyno_analyze::points(many);
            let curves = dyno_report::text_curves(&points, talk.glyphs(), &style);
            let curves = if curves.is_empty() { curves } else { format!("\n{curves}") };
            let ramp = dyno_report::ramp_tables(&points, &style);
            talk.show(&format!("{}\n{audits}{ramp}{curves}", dyno_report::result_table(&rows, &style)))?;
        }
    }
    for conclusion in &conclusions {
        talk.show(&format!("\n{}", dyno_report::conclusion_text(conclusion, &style)))?;
        if let ConclusionFigures::Suite(suite) = &conclusion.figures {
            talk.show(&dyno_report::suite_steps(suite, &style))?;
        }
    }
    Ok(Exit::Done)
}
