//! `dyno sweep`: runs a grid of settings.

use dyno_analyze::CurveSummaries;
use dyno_analyze::conclusion::ConclusionFigures;
use dyno_campaign::CampaignOutcome;
use dyno_campaign::sweep::{SweepCampaign, sweep};
use dyno_plan::Until;
use dyno_plan::sweep::SweepGridPoint;
use dyno_record::RunState;
use dyno_report::number::span_s;
use serde_json::json;

use crate::cli::{CommonArgs, MarkArgs, SweepArgs};
use crate::console::Console;
use crate::engines::ENGINES;
use crate::exit::{Exit, usage};
use crate::{context, event_messages, fleet};

pub(super) fn run(common: &CommonArgs, args: &SweepArgs, talk: &Console) -> anyhow::Result<Exit> {
    let common = &args.window.applied(common);
    let order = match &args.resume {
        None => {
            let labels = context::labels(common, &args.marks);
            SweepCampaign::new(context::plan(common)?, ENGINES.specs, args.replace, labels)?
        }
        Some(selector) => resumed(common, selector.as_deref(), args)?,
    };
    if args.dry_run {
        context::run_campaign(common, &args.marks, talk, |ctx| {
            dyno_campaign::tell_commands(ctx, order.plan());
            Ok(())
        })?;
        return show(&order, talk);
    }
    fleet::refuse_unfit(&args.hosts, order.plan())?;
    match context::run_campaign_on_screen("sweep", common, (&args.marks, Some(&args.hosts)), talk, |ctx| {
        sweep(ctx, order)
    })? {
        Some(swept) => conclude(&swept, talk),
        None => {
            talk.say("no runs remain: the sweep is done");
            Ok(Exit::Done)
        }
    }
}

fn resumed(common: &CommonArgs, selector: Option<&str>, args: &SweepArgs) -> anyhow::Result<SweepCampaign> {
    if !common.set.is_empty() || !common.target.is_empty() || args.marks != MarkArgs::default() {
        return Err(usage(
            "a sweep resumes with its original plan",
            "leave --set, --time, --target, --variant and --tag out, or begin another sweep",
        ));
    }
    Ok(SweepCampaign::resumed(&context::repository_to_read(common)?, selector, ENGINES.specs, args.replace)?)
}

/// `--dry-run`: shows every step in order, with the minimum total time.
fn show(order: &SweepCampaign, talk: &Console) -> anyhow::Result<Exit> {
    let (steps, seconds) = (order.left(), order.seconds());
    let mut layout = None;
    for (i, (step, point)) in steps.iter().enumerate() {
        let same = layout.replace(point.layout) == Some(point.layout);
        let load = if same { "" } else { "  (loads its data first, if missing)" };
        let settings: Vec<_> =
            point.settings.iter().map(|(key, value)| event_messages::setting(key, value)).collect();
        talk.show(&format!("{:>5}  {}  repeat {}{load}", i + 1, settings.join(", "), step.repeat))?;
    }
    let runs: Vec<_> = steps
        .iter()
        .map(|(step, point)| json!({ "point": step.point, "repeat": step.repeat, "settings": pairs(point) }))
        .collect();
    talk.json(&json!({ "runs": runs, "seconds": seconds }))?;
    let most = if order.plan().sweep.until == Until::Saturation { "at most " } else { "" };
    let time = seconds.map_or_else(
        || "windows end by operations, so the time is unknown".to_owned(),
        |seconds| format!("warm-ups, windows and pauses take {}", span_s(seconds)),
    );
    talk.say(&format!("{most}{} runs of {} points; {time}", steps.len(), order.points()));
    Ok(Exit::Done)
}

fn pairs(point: &SweepGridPoint) -> serde_json::Map<String, serde_json::Value> {
    point.settings.iter().map(|(key, value)| (key.clone(), json!(value))).collect()
}

/// Shows the points, and how the sweep ended.
fn conclude(swept: &CampaignOutcome, talk: &Console) -> anyhow::Result<Exit> {
    let points = dyno_analyze::points(&swept.records);
    if !points.points.is_empty() {
        let answers = CurveSummaries::of(&points);
        talk.show(&format!("\n{}\n", dyno_report::answer_text(&answers, &talk.style())))?;
        talk.show(&dyno_report::point_table(&points, &talk.style()))?;
        talk.show(&dyno_report::ramp_tables(&points, &talk.style()))?;
        let curves = dyno_report::text_curves(&points, talk.glyphs(), &talk.style());
        talk.show(&format!("\n{curves}\n"))?;
        let is_told = |finding: &String| answers.curves.iter().any(|curve| curve.sentence() == *finding);
        let findings = swept.conclusion.iter().flat_map(dyno_analyze::Conclusion::sentences);
        for finding in findings.filter(|finding| !is_told(finding)) {
            event_messages::show(&finding, 2, talk)?;
        }
    }
    talk.json(&as_json(swept, &points))?;
    let id = &swept.id;
    talk.say(&match &swept.stopped {
        Some(why) => format!("{why}; every finished run is stored, and `dyno sweep --resume {id}` continues"),
        None if swept.failed == 1 => format!("1 run failed; `dyno sweep --resume {id}` repeats it"),
        None if swept.failed > 0 => {
            format!("{} runs failed; `dyno sweep --resume {id}` repeats them", swept.failed)
        }
        None if swept.skipped == 1 => format!("1 point was skipped; `dyno sweep --resume {id}` runs it"),
        None if swept.skipped > 0 => {
            format!("{} points were skipped; `dyno sweep --resume {id}` runs them", swept.skipped)
        }
        None => format!("stored as {id}; `dyno show {id}` shows the full record"),
    });
    Ok(swept.worst.into())
}

fn as_json(swept: &CampaignOutcome, points: &dyno_analyze::Points) -> serde_json::Value {
    let axes: Vec<_> = points.axes.iter().map(|axis| axis.path.as_str()).collect();
    let points: Vec<_> = points
        .points
        .iter()
        .map(|point| {
            let settings: serde_json::Map<_, _> = axes
                .iter()
                .zip(&point.values)
                .map(|(axis, value)| ((*axis).to_owned(), json!(value.text)))
                .collect();
            let measured: serde_json::Map<_, _> = point
                .estimates
                .iter()
                .map(|(name, estimate)| (name.clone(), json!(estimate.value)))
                .collect();
            let runs: Vec<_> = point.runs.iter().map(|run| run.id.as_str()).collect();
            json!({ "settings": settings, "sessions": point.sessions, "runs": runs, "measured": measured })
        })
        .collect();
    let runs: Vec<_> = swept
        .records
        .iter()
        .map(|run| json!({ "id": run.id, "status": RunState::from(run.status), "part_of": run.part_of }))
        .collect();
    let answers = swept.conclusion.as_ref().and_then(|conclusion| match &conclusion.figures {
        ConclusionFigures::Sweep(sweep) => Some(&sweep.answers),
        _ => None,
    });
    json!({
        "answers": answers, "sweep": swept.id, "done": swept.done, "axes": axes, "points": points, "runs": runs,
        "line": swept.conclusion.as_ref().map(|conclusion| &conclusion.line),
        "findings": swept.conclusion.as_ref().map(|conclusion| &conclusion.words),
        "next": swept.conclusion.as_ref().map(|conclusion| &conclusion.next),
    })
}
