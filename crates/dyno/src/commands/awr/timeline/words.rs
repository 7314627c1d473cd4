//! Sentences about the reports of a timeline, equal in the terminal, on the page and in JSON.

use dyno_awr::timeline::{
    Anomaly, AwrLevelChange, AwrRateDeviation, AwrRateKind, AwrRateSubject, AwrTimelinePoint, Correlated,
    Flag, MEASURES, OddFigure, Timeline,
};
use dyno_report::number::{ABSENT, figure, fixed, span_s};

/// Maximum figures shown for one change or anomaly.
const FIGURES_MAX: usize = 4;

/// Space between a figure and its unit that prevents a line break.
const NARROW: char = '\u{a0}';

/// The sentence with normal spaces.
pub(super) fn plain(sentence: &str) -> String {
    sentence.replace(NARROW, " ")
}

/// Ratio of a statement's time to the interval above which one session cannot have spent it.
const BEYOND: f64 = 1.2;

/// Database and instance of the timeline.
pub(super) fn title(timeline: &Timeline) -> String {
    let first = timeline.points.first().map(|(point, _)| point);
    let database = first.and_then(|point| point.db_name.as_deref()).unwrap_or(ABSENT);
    let kind = timeline.series.kind.name();
    format!(
        "{database} / {} ({kind}, {})",
        timeline.series.instance,
        counted(timeline.points.len(), "report")
    )
}

/// Summary of the number of reports, flags and levels.
pub(super) fn summary(timeline: &Timeline) -> String {
    let flags = || timeline.points.iter().flat_map(|(_, flags)| flags);
    let count = |of: fn(&Flag) -> bool, word: &str| {
        let count = flags().filter(|flag| of(flag)).count();
        (count > 0).then(|| counted(count, word))
    };
    let counts = [
        count(|flag| matches!(flag, Flag::Level(_)), "change of level"),
        count(|flag| matches!(flag, Flag::Anomaly(_)), "report that stands out"),
        count(|flag| matches!(flag, Flag::Plan { .. }), "new plan"),
        count(|flag| matches!(flag, Flag::Gap { .. }), "gap"),
        count(|flag| matches!(flag, Flag::Overlap { .. }), "overlap"),
        count(|flag| matches!(flag, Flag::Restart), "restart"),
    ];
    let phrases: Vec<String> = counts.into_iter().flatten().collect();
    if phrases.is_empty() { "nothing stands out".to_owned() } else { phrases.join(", ") }
}

fn counted(count: usize, word: &str) -> String {
    match (count, word) {
        (1, word) => format!("1 {word}"),
        (count, "change of level") => format!("{count} changes of level"),
        (count, "report that stands out") => format!("{count} reports that stand out"),
        (count, word) => format!("{count} {word}s"),
    }
}

/// Start of a report's interval, and its snapshots.
pub(super) fn place(point: &AwrTimelinePoint) -> (String, String) {
    let begin = point.begin.map_or_else(|| ABSENT.into(), |at| at.strftime("%Y-%m-%d %H:%M").to_string());
    let snaps = point.snaps.map_or_else(|| ABSENT.into(), |(begin, end)| format!("{begin}–{end}"));
    (begin, snaps)
}

/// Name of a flag in one word.
pub(super) fn word(flag: &Flag) -> &'static str {
    match flag {
        Flag::Gap { .. } => "gap",
        Flag::Overlap { .. } => "overlap",
        Flag::Renumbered => "renumbered",
        Flag::Restart => "restart",
        Flag::Twice { .. } => "twice",
        Flag::Level(_) => "level",
        Flag::Plan { .. } => "plan",
        Flag::Anomaly(_) => "anomaly",
    }
}

/// Text of a flag as a sentence.
pub(super) fn words(flag: &Flag) -> String {
    let amount = |snapshots: &Option<u64>, minutes: &Option<f64>| match (snapshots, minutes) {
        (Some(1), _) => "1 snapshot".to_owned(),
        (Some(count), _) => format!("{count} snapshots"),
        (None, minutes) => span_s(minutes.unwrap_or(0.0) * 60.0),
    };
    match flag {
        Flag::Gap { snapshots: Some(1), .. } => {
            "gap: 1 snapshot before this report is in no report".to_owned()
        }
        Flag::Gap { snapshots, minutes } => {
            format!("gap: {} before this report are in no report", amount(snapshots, minutes))
        }
        Flag::Overlap { snapshots, minutes } => {
            format!("overlap: {} are also in the previous report", amount(snapshots, minutes))
        }
        Flag::Renumbered => {
            "renumbered: snapshot numbers start again here, reports stay in time order".to_owned()
        }
        Flag::Restart => "restart: the instance was restarted after the previous report".to_owned(),
        Flag::Twice { file } => format!("twice: {file} covers the same interval and is skipped"),
        Flag::Level(steps) => level(steps),
        Flag::Plan { statement, new, before } => {
            format!("plan: {statement} runs by {}, before by {}", new.join(", "), before.join(", "))
        }
        Flag::Anomaly(anomaly) => {
            format!(
                "anomaly: {}",
                first_few(anomaly.figures.iter().map(describe_odd).collect(), "more stand out")
            )
        }
    }
}

/// The first items, and the number of further ones.
fn first_few(all: Vec<String>, more: &str) -> String {
    let rest = all.len().saturating_sub(FIGURES_MAX);
    let mut text = all.into_iter().take(FIGURES_MAX).collect::<Vec<_>>().join("; ");
    if rest > 0 {
        text.push_str(&format!("; {rest} {more}"));
    }
    text
}

fn level(steps: &[AwrLevelChange]) -> String {
    let step = |step: &AwrLevelChange| {
        let (name, unit) = name(step.measure);
        format!("{name} {} → {}{unit}", figure(step.before), figure(step.after))
    };
    format!("level: {}", first_few(steps.iter().map(step).collect(), "more change here"))
}

/// A measure's name without its unit, and the unit if it follows the figure.
fn name(measure: usize) -> (&'static str, &'static str) {
    let name = MEASURES[measure].name;
    name.strip_suffix(" %").map_or((name, ""), |name| (name, "\u{a0}%"))
}

fn describe_odd(odd_figure: &OddFigure) -> String {
    let (name, unit) = name(odd_figure.measure);
    format!(
        "{name} {}{unit}, usually {}{unit}{}",
        figure(odd_figure.value),
        figure(odd_figure.usual),
        times(odd_figure.value, odd_figure.usual)
    )
}

/// Ratio to the usual value, if it is informative: ` (7.4 ×)`.
fn times(value: f64, usual: f64) -> String {
    let times = value / usual;
    if usual > 0.0 && value > 0.0 && !(0.67..1.5).contains(&times) {
        format!(" ({}{NARROW}×)", figure(times))
    } else {
        String::new()
    }
}

/// Changes that accompany an anomaly, by kind.
pub(super) fn describe_moved(
    anomaly: &Anomaly,
    point: &AwrTimelinePoint,
    names: bool,
) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    for what in AwrRateKind::ALL {
        let changes: Vec<&AwrRateDeviation> =
            anomaly.moved.iter().filter(|moved| moved.subject.kind == what).collect();
        match what {
            _ if !changes.is_empty() => {
                let all: Vec<String> = changes.iter().map(|moved| one(moved, point, names)).collect();
                lines.push((what.plural(), all.join("; ")));
            }
            AwrRateKind::Event
                if anomaly.is_compared
                    && anomaly.figures.iter().any(|figure| figure.measure == super::measures::ACTIVE) =>
            {
                lines.push((what.plural(), "none changed".to_owned()));
            }
            _ => {}
        }
    }
    lines.extend(explain_excess_time(anomaly, point).map(|words| ("note", words)));
    lines
}

fn one(moved: &AwrRateDeviation, point: &AwrTimelinePoint, names: bool) -> String {
    let name = thing_name(&moved.subject, names);
    let seconds = point.minutes.unwrap_or(0.0) * 60.0;
    let usual = |shown: &dyn Fn(f64) -> String| match moved.usual {
        Some(usual) if usual > 0.0 => format!(", usually {}", shown(usual)),
        Some(_) => ", usually none".to_owned(),
        None => ", usually not listed".to_owned(),
    };
    if moved.subject.kind.is_time() {
        let shown = |rate: f64| format!("{}{NARROW}s", figure(rate * seconds));
        let share = moved
            .share_pct
            .map_or_else(String::new, |share| format!(" ({}{NARROW}% of DB time)", fixed(share, 0)));
        return format!("{name} {}{share}{}", shown(moved.rate), usual(&shown));
    }
    let per = if moved.subject.kind == AwrRateKind::SectionLevel { "" } else { "/s" };
    let shown = |rate: f64| format!("{}{per}", figure(rate));
    format!("{name} {}{}", shown(moved.rate), usual(&shown))
}

/// Causes of a level change, by kind, with their share of the change of DB time.
pub(super) fn causes(causes: &[AwrRateDeviation], names: bool) -> Vec<(&'static str, String)> {
    let cause = |moved: &AwrRateDeviation| {
        let share = fixed(moved.share_pct.unwrap_or(0.0), 0);
        let (was, is) = (figure(moved.usual.unwrap_or(0.0)), figure(moved.rate));
        format!(
            "{} {was} → {is}{NARROW}s/s ({share}{NARROW}% of the change)",
            thing_name(&moved.subject, names)
        )
    };
    let of_kind = |what: AwrRateKind| {
        let all: Vec<String> = causes.iter().filter(|moved| moved.subject.kind == what).map(cause).collect();
        (!all.is_empty()).then(|| (what.plural(), all.join("; ")))
    };
    AwrRateKind::ALL.into_iter().filter_map(of_kind).collect()
}

/// Why a statement can have more time than the interval.
fn explain_excess_time(anomaly: &Anomaly, point: &AwrTimelinePoint) -> Option<String> {
    let statement = anomaly.moved.iter().find(|moved| moved.subject.kind == AwrRateKind::Statement)?;
    let seconds = point.minutes? * 60.0;
    (statement.rate > BEYOND).then(|| {
        format!(
            "{} has more time than the interval ({}{NARROW}s): several sessions ran it at once, or a call \
                that began earlier ended here, and all its time is counted here",
            statement.subject.name,
            figure(seconds)
        )
    })
}

/// Name of a subject; segment names only if `names`.
pub(super) fn thing_name(thing: &AwrRateSubject, names: bool) -> String {
    match &thing.object {
        Some(object) if names => format!("{} {}: {}", object.kind, object.name, thing.name.replace('_', " ")),
        Some(object) => format!("{}: {}", object.kind, thing.name.replace('_', " ")),
        None => thing.name.clone(),
    }
}

/// The items of each kind that correlate best with DB time, in rank order: statements, events, statistics.
pub(super) fn closest(timeline: &Timeline, most: usize) -> Vec<&Correlated> {
    let kinds = [AwrRateKind::Statement, AwrRateKind::Event, AwrRateKind::Counter];
    let first = |kind: AwrRateKind| {
        timeline.correlated.iter().filter(move |entry| entry.thing.kind == kind).take(most)
    };
    kinds.into_iter().flat_map(first).collect()
}

/// Correlation coefficient with its sign.
pub(super) fn signed_coefficient(value: f64) -> String {
    let sign = if value > 0.0 { "+" } else { "" };
    format!("{sign}{}", fixed(value, 2))
}
