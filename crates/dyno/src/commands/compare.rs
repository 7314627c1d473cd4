//! `dyno compare`: two or more sets of runs against each other.

use dyno_analyze::totals;
use dyno_campaign::compare::Answer;
use dyno_campaign::select;
use dyno_record::RunRecord;

use crate::answers::of_sides;
use crate::cli::{self, Common};
use crate::context;
use crate::exit::Exit;
use crate::talk::Talk;

pub(super) fn run(common: &Common, args: &cli::Compare, talk: &Talk) -> anyhow::Result<Exit> {
    let judge = args.rules.judge()?;
    let repository = context::repository_to_read(common)?;
    let sides = args.sides.iter().map(|selection| {
        let settings = totals::settings(select::of_runs(&repository, selection)?);
        Ok((selection.clone(), settings.into_iter().map(|setting| setting.whole).collect()))
    });
    let sides: Vec<(String, Vec<RunRecord>)> = sides.collect::<anyhow::Result<_>>()?;
    let answers = judge.answers(&sides);
    talk.json(&answers)?;
    talk.show(&format!("{}\n", dyno_report::answer_text(&of_sides(&sides), &talk.style())))?;
    show(&answers, talk)
}

/// Shows answers, and says whether a gate is broken.
pub(super) fn show(answers: &[Answer], talk: &Talk) -> anyhow::Result<Exit> {
    let texts: Vec<String> = answers
        .iter()
        .flat_map(|answer| {
            let whole = dyno_report::compare_text(&answer.comparison, &answer.gates, &talk.style());
            let own = answer.targets.iter().map(|own| dyno_report::compare_text(own, &[], &talk.style()));
            std::iter::once(whole).chain(own).collect::<Vec<_>>()
        })
        .collect();
    talk.show(&texts.join("\n"))?;
    let gates = || answers.iter().flat_map(|answer| &answer.gates);
    let broken = gates().filter(|gate| !gate.holds).count();
    if broken > 0 {
        talk.say(&format!("{broken} of {} gates are broken", gates().count()));
        return Ok(Exit::Invalid);
    }
    Ok(Exit::Done)
}
