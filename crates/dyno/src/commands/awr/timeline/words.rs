//! What is said of reports on a line of time, in sentences: the same in the terminal, on the page and in JSON.

use dyno_awr::timeline::{
    Anomaly, Correlated, Flag, MEASURES, Moved, OddFigure, Point, Step, Thing, Timeline, What,
};
use dyno_report::number::{ABSENT, figure, fixed, span_s};

/// Figures that are told of one change or anomaly.
const FIGURES_MAX: usize = 4;

/// Between a figure and its unit, where no line is to break.
const NARROW: char = '\u{a0}';

/// The same sentence with plain spaces.
pub(super) fn plain(sentence: &str) -> String {
    sentence.replace(NARROW, " ")
}

/// Whether a statement took more time than the interval has, so that one session cannot have spent it in the interval.
const BEYOND: f64 = 1.2;

/// Whose line of time it is.
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

/// How much there is to be said.
pub(super) fn summary(timeline: &Timeline) -> String {
    let flags = || timeline.points.iter().flat_map(|(_, flags)| flags);
    let count = |of: fn(&Flag) -> bool, word: &str| {
        let count = flags().filter(|flag| of(flag)).count();
        (count > 0).then(|| counted(count, word))
    };
    let found = [
        count(|flag| matches!(flag, Flag::Level(_)), "change of level"),
        count(|flag| matches!(flag, Flag::Anomaly(_)), "report that stands out"),
        count(|flag| matches!(flag, Flag::Plan { .. }), "new plan"),
        count(|flag| matches!(flag, Flag::Gap { .. }), "gap"),
        count(|flag| matches!(flag, Flag::Overlap { .. }), "overlap"),
        count(|flag| matches!(flag, Flag::Restart), "restart"),
    ];
    let found: Vec<String> = found.into_iter().flatten().collect();
    if found.is_empty() { "nothing stands out".to_owned() } else { found.join(", ") }
}

fn counted(count: usize, word: &str) -> String {
    match (count, word) {
        (1, word) => format!("1 {word}"),
        (count, "change of level") => format!("{count} changes of level"),
        (count, "report that stands out") => format!("{count} reports that stand out"),
        (count, word) => format!("{count} {word}s"),
    }
}

/// When a report begins, and its snapshots.
pub(super) fn place(point: &Point) -> (String, String) {
    let begin = point.begin.map_or_else(|| ABSENT.into(), |at| at.strftime("%Y-%m-%d %H:%M").to_string());
    let snaps = point.snaps.map_or_else(|| ABSENT.into(), |(begin, end)| format!("{begin}–{end}"));
    (begin, snaps)
}

/// A flag in one word.
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

/// A flag as a sentence.
pub(super) fn words(flag: &Flag) -> String {
    let amount = |snapshots: &Option<u64>, minutes: &Option<f64>| match (snapshots, minutes) {
        (Some(1), _) => "1 snapshot".to_owned(),
        (Some(count), _) => format!("{count} snapshots"),
        (None, minutes) => span_s(minutes.unwrap_or(0.0) * 60.0),
    };
    match flag {
        Flag::Gap { snapshots: Some(1), .. } => "gap: 1 snapshot before this report is in none".to_owned(),
        Flag::Gap { snapshots, minutes } => {
            format!("gap: {} before this report are in none", amount(snapshots, minutes))
        }
        Flag::Overlap { snapshots, minutes } => {
            format!("overlap: {} of it are in the report before too", amount(snapshots, minutes))
        }
        Flag::Renumbered => {
            "renumbered: snapshots are numbered anew from here on, reports stay in the order of time"
                .to_owned()
        }
        Flag::Restart => "restart: the instance was started anew since the report before".to_owned(),
        Flag::Twice { file } => format!("twice: {file} is of the same interval and left out"),
        Flag::Level(steps) => level(steps),
        Flag::Plan { statement, new, before } => {
            format!("plan: {statement} runs by {}, before by {}", new.join(", "), before.join(", "))
        }
        Flag::Anomaly(anomaly) => {
            format!("anomaly: {}", told(anomaly.figures.iter().map(odd).collect(), "more stand out"))
        }
    }
}

/// The first of several, and how many more there are.
fn told(all: Vec<String>, more: &str) -> String {
    let rest = all.len().saturating_sub(FIGURES_MAX);
    let mut text = all.into_iter().take(FIGURES_MAX).collect::<Vec<_>>().join("; ");
    if rest > 0 {
        text.push_str(&format!("; {rest} {more}"));
    }
    text
}

fn level(steps: &[Step]) -> String {
    let step = |step: &Step| {
        let (name, unit) = name(step.measure);
        format!("{name} {} → {}{unit}", figure(step.before), figure(step.after))
    };
    format!("level: {}", told(steps.iter().map(step).collect(), "more change here"))
}

/// A measure's name without its unit, and the unit where it stands behind the figure.
fn name(measure: usize) -> (&'static str, &'static str) {
    let name = MEASURES[measure].name;
    name.strip_suffix(" %").map_or((name, ""), |name| (name, "\u{a0}%"))
}

fn odd(of: &OddFigure) -> String {
    let (name, unit) = name(of.measure);
    format!(
        "{name} {}{unit}, usually {}{unit}{}",
        figure(of.value),
        figure(of.usual),
        times(of.value, of.usual)
    )
}

/// How many times the usual, where that says something: ` (7.4 ×)`.
fn times(value: f64, usual: f64) -> String {
    let times = value / usual;
    if usual > 0.0 && value > 0.0 && !(0.67..1.5).contains(&times) {
        format!(" ({}{NARROW}×)", figure(times))
    } else {
        String::new()
    }
}

/// What moved with an anomaly: each kind with what did.
pub(super) fn moved(anomaly: &Anomaly, point: &Point, names: bool) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    for what in What::ALL {
        let of: Vec<&Moved> = anomaly.moved.iter().filter(|moved| moved.thing.what == what).collect();
        match what {
            _ if !of.is_empty() => {
                let all: Vec<String> = of.iter().map(|moved| one(moved, point, names)).collect();
                lines.push((what.plural(), all.join("; ")));
            }
            What::Event
                if anomaly.is_compared
                    && anomaly.figures.iter().any(|figure| figure.measure == super::columns::ACTIVE) =>
            {
                lines.push((what.plural(), "none moved".to_owned()));
            }
            _ => {}
        }
    }
    lines.extend(beyond(anomaly, point).map(|words| ("note", words)));
    lines
}

fn one(moved: &Moved, point: &Point, names: bool) -> String {
    let name = thing(&moved.thing, names);
    let seconds = point.minutes.unwrap_or(0.0) * 60.0;
    let usual = |shown: &dyn Fn(f64) -> String| match moved.usual {
        Some(usual) if usual > 0.0 => format!(", usually {}", shown(usual)),
        Some(_) => ", usually none".to_owned(),
        None => ", usually not listed".to_owned(),
    };
    if moved.thing.what.is_time() {
        let shown = |rate: f64| format!("{}{NARROW}s", figure(rate * seconds));
        let share = moved
            .share_pct
            .map_or_else(String::new, |share| format!(" ({}{NARROW}% of DB time)", fixed(share, 0)));
        return format!("{name} {}{share}{}", shown(moved.rate), usual(&shown));
    }
    let per = if moved.thing.what == What::SectionLevel { "" } else { "/s" };
    let shown = |rate: f64| format!("{}{per}", figure(rate));
    format!("{name} {}{}", shown(moved.rate), usual(&shown))
}

/// What brought a change of level: each kind with its share of the change of DB time.
pub(super) fn causes(causes: &[Moved], names: bool) -> Vec<(&'static str, String)> {
    let cause = |moved: &Moved| {
        let share = fixed(moved.share_pct.unwrap_or(0.0), 0);
        let (was, is) = (figure(moved.usual.unwrap_or(0.0)), figure(moved.rate));
        format!("{} {was} → {is}{NARROW}s/s ({share}{NARROW}% of the change)", thing(&moved.thing, names))
    };
    let of_kind = |what: What| {
        let all: Vec<String> = causes.iter().filter(|moved| moved.thing.what == what).map(cause).collect();
        (!all.is_empty()).then(|| (what.plural(), all.join("; ")))
    };
    What::ALL.into_iter().filter_map(of_kind).collect()
}

/// The share of the rise of DB time that a time explains; absent for counts.
pub(super) fn explained(of: &Correlated) -> String {
    if of.thing.what.is_time() { fixed(100.0 * of.slope, 0) } else { ABSENT.to_owned() }
}

/// Why a statement can have more time than the interval.
fn beyond(anomaly: &Anomaly, point: &Point) -> Option<String> {
    let statement = anomaly.moved.iter().find(|moved| moved.thing.what == What::Statement)?;
    let seconds = point.minutes? * 60.0;
    (statement.rate > BEYOND).then(|| {
        format!(
            "{} has more time than the interval ({}{NARROW}s): several sessions ran it at once, or a call that began before ended \
             here and brought all its time",
            statement.thing.name,
            figure(seconds)
        )
    })
}

/// What something is called; segments without their names unless `names`.
pub(super) fn thing(thing: &Thing, names: bool) -> String {
    match &thing.object {
        Some(object) if names => format!("{} {}: {}", object.kind, object.name, thing.name.replace('_', " ")),
        Some(object) => format!("{}: {}", object.kind, thing.name.replace('_', " ")),
        None => thing.name.clone(),
    }
}

/// The closest of each kind, in the order of rank: statements, events, statistics.
pub(super) fn closest(timeline: &Timeline, most: usize) -> Vec<&Correlated> {
    let kinds = [What::Statement, What::Event, What::Counter];
    let first =
        |kind: What| timeline.correlated.iter().filter(move |entry| entry.thing.what == kind).take(most);
    kinds.into_iter().flat_map(first).collect()
}

/// A coefficient with its sign.
pub(super) fn rho(value: f64) -> String {
    let sign = if value > 0.0 { "+" } else { "" };
    format!("{sign}{}", fixed(value, 2))
}
