//! Lines of time as JSON.

use dyno_awr::timeline::{
    Anomaly, Correlated, Flag, MEASURES, Moved, OddFigure, Point, Span, Step, Thing, Timeline, What,
};
use serde_json::{Map, Value, json};

use super::words;

/// A line of time; segments by name only if `names`.
pub(super) fn spelled(timeline: &Timeline, names: bool) -> Value {
    let causes = |at: usize| {
        timeline.causes.get(&at).map(|causes| causes.iter().map(|of| one(of, names)).collect::<Value>())
    };
    let point = |(at, (point, flags)): (usize, &(Point, Vec<Flag>))| {
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
            "flags": flags.iter().map(|of| flag(of, point, names)).collect::<Value>(),
        })
    };
    let span = |span: &Span| json!({ "first": span.first, "last": span.last, "median": span.median });
    let levels = MEASURES.iter().zip(&timeline.levels).filter(|(_, spans)| !spans.is_empty());
    let levels =
        levels.map(|(measure, spans)| (measure.column.to_owned(), spans.iter().map(span).collect::<Value>()));
    json!({
        "report_type": timeline.series.kind.name(),
        "database": timeline.series.database,
        "instance": timeline.series.instance,
        "reports": timeline.points.iter().enumerate().map(point).collect::<Value>(),
        "levels": levels.collect::<Map<_, _>>(),
        "goes_with_db_time": timeline.correlated.iter().map(|of| correlated(of, names)).collect::<Value>(),
    })
}

fn flag(of: &Flag, point: &Point, names: bool) -> Value {
    let mut spelled = match of {
        Flag::Gap { snapshots, minutes } | Flag::Overlap { snapshots, minutes } => {
            json!({ "snapshots": snapshots, "minutes": minutes })
        }
        Flag::Renumbered | Flag::Restart => json!({}),
        Flag::Twice { file } => json!({ "file": file }),
        Flag::Level(steps) => json!({ "figures": steps.iter().map(step).collect::<Value>() }),
        Flag::Plan { statement, new, before } => json!({ "sql_id": statement, "new": new, "before": before }),
        Flag::Anomaly(of) => anomaly(of, point, names),
    };
    if let Value::Object(object) = &mut spelled {
        object.insert("flag".into(), words::word(of).into());
        object.insert("reason".into(), words::plain(&words::words(of)).into());
    }
    spelled
}

fn step(of: &Step) -> Value {
    json!({ "measure": MEASURES[of.measure].column, "before": of.before, "after": of.after })
}

fn anomaly(of: &Anomaly, point: &Point, names: bool) -> Value {
    let figure = |of: &OddFigure| json!({ "measure": MEASURES[of.measure].column, "value": of.value, "usual": of.usual, "score": of.score });
    let moved = |what: What| {
        of.moved.iter().filter(|moved| moved.thing.what == what).map(|of| one(of, names)).collect::<Value>()
    };
    json!({
        "figures": of.figures.iter().map(figure).collect::<Value>(),
        "statements": moved(What::Statement),
        "events": moved(What::Event),
        "time_model": moved(What::Time),
        "segments": moved(What::Segment),
        "statistics": moved(What::Counter),
        "details": words::moved(of, point, names).into_iter().map(|(what, words)| json!({ "kind": what, "words": words::plain(&words) })).collect::<Value>(),
    })
}

/// What moved; a score beyond all others, of what was never there before, has no number.
fn one(of: &Moved, names: bool) -> Value {
    let mut spelled = thing(&of.thing, names);
    spelled.extend([
        ("per_s".to_owned(), json!(of.rate)),
        ("usual_per_s".to_owned(), json!(of.usual)),
        ("score".to_owned(), json!(of.score.is_finite().then_some(of.score))),
        ("pct_db_time".to_owned(), json!(of.share_pct)),
    ]);
    spelled.into()
}

fn thing(of: &Thing, names: bool) -> Map<String, Value> {
    let mut spelled = Map::new();
    let key = if of.what == What::Statement { "sql_id" } else { "name" };
    spelled.insert(key.into(), of.name.as_str().into());
    if let Some(object) = &of.object {
        spelled.insert("type".into(), object.kind.as_str().into());
        if names {
            spelled.insert("segment".into(), object.name.as_str().into());
        }
    }
    spelled
}

fn correlated(of: &Correlated, names: bool) -> Value {
    let mut spelled = thing(&of.thing, names);
    spelled.extend([
        ("kind".to_owned(), of.thing.what.plural().into()),
        ("rho".to_owned(), json!(of.over_all.rho)),
        ("p".to_owned(), json!(of.over_all.p)),
        ("rho_within_levels".to_owned(), json!(of.within.map(|within| within.rho))),
        ("p_within_levels".to_owned(), json!(of.within.map(|within| within.p))),
        ("slope".to_owned(), json!(of.slope)),
        ("pct_of_rise".to_owned(), json!(of.thing.what.is_time().then_some(100.0 * of.slope))),
        ("reports".to_owned(), json!(of.reports)),
    ]);
    spelled.into()
}
