//! Converts timelines to JSON.

use dyno_awr::timeline::{
    Anomaly, AwrLevelChange, AwrLevelSpan, AwrRateDeviation, AwrRateKind, AwrRateSubject, AwrTimelinePoint,
    Correlated, Flag, MEASURES, OddFigure, Timeline,
};
use serde_json::{Map, Value, json};

use super::words;

/// A timeline; segment names only if `names`.
pub(super) fn timeline_json(timeline: &Timeline, names: bool) -> Value {
    let causes = |at: usize| {
        timeline
            .causes
            .get(&at)
            .map(|causes| causes.iter().map(|of| moved_json(of, names)).collect::<Value>())
    };
    let point = |(at, (point, flags)): (usize, &(AwrTimelinePoint, Vec<Flag>))| {
        let values = MEASURES.iter().zip(&point.values);
        let values = values.map(|(measure, of)| (measure.column.to_owned(), json!(of.map(|of| of.value))));
        json!({
            "file": point.file,
            "begin": point.begin.map(|at| at.to_string()),
            "begin_snap": point.snaps.map(|(begin, _)| begin),
            "end_snap": point.snaps.map(|(_, end)| end),
            "top_event": point.top_event,
            "values": values.collect::<Map<_, _>>(),
            "causes_of_level": causes(at),
            "flags": flags.iter().map(|of| flag_json(of, point, names)).collect::<Value>(),
        })
    };
    let span = |span: &AwrLevelSpan| json!({ "first": span.first, "last": span.last, "median": span.median });
    let levels = MEASURES.iter().zip(&timeline.levels).filter(|(_, spans)| !spans.is_empty());
    let levels =
        levels.map(|(measure, spans)| (measure.column.to_owned(), spans.iter().map(span).collect::<Value>()));
    json!({
        "report_type": timeline.series.kind.name(),
        "database": timeline.series.database,
        "instance": timeline.series.instance,
        "reports": timeline.points.iter().enumerate().map(point).collect::<Value>(),
        "levels": levels.collect::<Map<_, _>>(),
        "goes_with_db_time": timeline.correlated.iter().map(|of| correlated_json(of, names)).collect::<Value>(),
    })
}

fn flag_json(timeline_flag: &Flag, point: &AwrTimelinePoint, names: bool) -> Value {
    let mut spelled = match timeline_flag {
        Flag::Gap { snapshots, minutes } | Flag::Overlap { snapshots, minutes } => {
            json!({ "snapshots": snapshots, "minutes": minutes })
        }
        Flag::Renumbered | Flag::Restart => json!({}),
        Flag::Twice { file } => json!({ "file": file }),
        Flag::Level(steps) => json!({ "figures": steps.iter().map(step_json).collect::<Value>() }),
        Flag::Plan { statement, new, before } => json!({ "sql_id": statement, "new": new, "before": before }),
        Flag::Anomaly(of) => anomaly_json(of, point, names),
    };
    if let Value::Object(object) = &mut spelled {
        object.insert("flag".into(), words::word(timeline_flag).into());
        object.insert("reason".into(), words::plain(&words::words(timeline_flag)).into());
    }
    spelled
}

fn step_json(level_step: &AwrLevelChange) -> Value {
    json!({ "measure": MEASURES[level_step.measure].column, "before": level_step.before, "after": level_step.after })
}

fn anomaly_json(anomaly_flag: &Anomaly, point: &AwrTimelinePoint, names: bool) -> Value {
    let figure = |odd_figure: &OddFigure| json!({ "measure": MEASURES[odd_figure.measure].column, "value": odd_figure.value, "usual": odd_figure.usual, "score": odd_figure.score });
    let moved = |what: AwrRateKind| {
        anomaly_flag
            .moved
            .iter()
            .filter(|moved| moved.subject.kind == what)
            .map(|of| moved_json(of, names))
            .collect::<Value>()
    };
    json!({
        "figures": anomaly_flag.figures.iter().map(figure).collect::<Value>(),
        "statements": moved(AwrRateKind::Statement),
        "events": moved(AwrRateKind::Event),
        "time_model": moved(AwrRateKind::Time),
        "segments": moved(AwrRateKind::Segment),
        "statistics": moved(AwrRateKind::Counter),
        "details": words::describe_moved(anomaly_flag, point, names).into_iter().map(|(what, words)| json!({ "kind": what, "words": words::plain(&words) })).collect::<Value>(),
    })
}

/// A changed item; an item never seen before has no numeric score.
fn moved_json(moved: &AwrRateDeviation, names: bool) -> Value {
    let mut spelled = thing_json(&moved.subject, names);
    spelled.extend([
        ("per_s".to_owned(), json!(moved.rate)),
        ("usual_per_s".to_owned(), json!(moved.usual)),
        ("score".to_owned(), json!(moved.score.is_finite().then_some(moved.score))),
        ("pct_db_time".to_owned(), json!(moved.share_pct)),
    ]);
    spelled.into()
}

fn thing_json(subject: &AwrRateSubject, names: bool) -> Map<String, Value> {
    let mut spelled = Map::new();
    let key = if subject.kind == AwrRateKind::Statement { "sql_id" } else { "name" };
    spelled.insert(key.into(), subject.name.as_str().into());
    if let Some(object) = &subject.object {
        spelled.insert("type".into(), object.kind.as_str().into());
        if names {
            spelled.insert("segment".into(), object.name.as_str().into());
        }
    }
    spelled
}

fn correlated_json(correlation: &Correlated, names: bool) -> Value {
    let mut spelled = thing_json(&correlation.thing, names);
    spelled.extend([
        ("kind".to_owned(), correlation.thing.kind.plural().into()),
        ("rho".to_owned(), json!(correlation.over_all.rho)),
        ("p".to_owned(), json!(correlation.over_all.p)),
        ("rho_within_levels".to_owned(), json!(correlation.within.map(|within| within.rho))),
        ("p_within_levels".to_owned(), json!(correlation.within.map(|within| within.p))),
        ("slope".to_owned(), json!(correlation.slope)),
        (
            "pct_of_rise".to_owned(),
            json!(correlation.thing.kind.is_time().then_some(100.0 * correlation.slope)),
        ),
        ("reports".to_owned(), json!(correlation.reports)),
    ]);
    spelled.into()
}
