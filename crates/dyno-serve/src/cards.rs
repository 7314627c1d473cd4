//! Cards: what the home page shows about a run or a campaign.

use dyno_analyze::attribution::mark;
use dyno_analyze::number::{figure, time_us};
use dyno_record::{RecordKind, Repository, RunState, RunSummary, SweepKind, SweepState, SweepSummary};
use schemars::JsonSchema;
use serde::Serialize;

use crate::card_chart::CardChart;
use crate::card_words::what_ran;
use crate::reply::HttpError;
use crate::state::ServeState;
use crate::store::RepositoryListing;
use dyno_report::text::capital;

/// The card of a run or a campaign.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Card {
    /// Name of the run or the campaign.
    pub(crate) id: String,
    /// The kind: `run`, `sweep`, `search`, `soak`, `ab`, `suite`, `import`, `watch`, `component`.
    pub(crate) kind: String,
    /// Time of the start, RFC 3339 in UTC.
    pub(crate) started_at: String,
    /// The status, such as `valid`, `running` or `done`.
    pub(crate) status: String,
    /// How far the figures can be trusted: `good` (audited, no warnings), `warn`, `bad`, `foreign` (not
    /// audited), or empty.
    pub(crate) tone: &'static str,
    /// What ran: workload, settings that a campaign varied, and sessions; what was watched or imported; empty if
    /// unknown.
    pub(crate) what: String,
    /// The result in a few words; `†` follows a figure that may include other load.
    pub(crate) answer: String,
    /// What limits the result, or why the run does not count.
    pub(crate) more: String,
    /// Product and version of the databases.
    pub(crate) database: String,
    /// The target's URL, without secrets.
    pub(crate) target: String,
    /// The variant of the platform; absent if none was given.
    pub(crate) variant: Option<String>,
    /// The tags given to the runs.
    pub(crate) tags: Vec<String>,
    /// Number of runs that the card represents.
    pub(crate) runs: usize,
    /// Its throughput as a small chart.
    pub(crate) chart: CardChart,
}

/// The filters that select cards.
#[derive(Debug, Clone, Default, serde::Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct CardFilterQuery {
    /// Words that must all occur in name, target, database, variant, tags or result.
    pub(crate) q: String,
    /// The kind, such as `sweep`; empty for all.
    pub(crate) kind: String,
    /// The status, such as `valid`; empty for all.
    pub(crate) status: String,
    /// The variant; empty for all.
    pub(crate) variant: String,
    /// The tag; empty for all.
    pub(crate) tag: String,
    /// Number of the page, from 1.
    pub(crate) page: usize,
}

/// One page of cards, newest first.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Cards {
    /// The cards of this page, newest first.
    pub(crate) cards: Vec<Card>,
    /// Number of this page, from 1.
    pub(crate) page: usize,
    /// Total number of pages for these filters.
    pub(crate) pages: usize,
    /// Number of cards on all pages.
    pub(crate) found: usize,
    /// Number of runs in the repository.
    pub(crate) runs: usize,
}

/// Number of cards on a page.
pub(crate) const PAGE: usize = 40;

/// What a card represents: a run, or a campaign.
enum CardSource<'l> {
    Run(&'l RunSummary),
    /// A campaign, absent if this repository does not know it, and its runs, newest first.
    Several(Option<&'l SweepSummary>, Vec<&'l RunSummary>),
}

/// Returns the cards that match the filters.
pub(crate) fn cards(
    state: &ServeState,
    repository: &Repository,
    wanted: &CardFilterQuery,
) -> Result<Cards, HttpError> {
    let listed = state.store.listed(repository)?;
    let entries = entries(&listed);
    let words: Vec<String> = wanted.q.to_lowercase().split_whitespace().map(str::to_owned).collect();
    let matching: Vec<&CardSource<'_>> = entries.iter().filter(|entry| fits(entry, wanted, &words)).collect();
    let pages = matching.len().div_ceil(PAGE).max(1);
    let page = wanted.page.clamp(1, pages);
    let shown = matching.iter().skip((page - 1) * PAGE).take(PAGE);
    let cards = shown.map(|entry| card(state, repository, entry)).collect::<Result<_, _>>()?;
    Ok(Cards { cards, page, pages, found: matching.len(), runs: listed.runs.len() })
}

/// Returns all variants and tags, for the filters.
pub(crate) fn marks(listed: &RepositoryListing) -> (Vec<String>, Vec<String>) {
    let mut variants: Vec<String> = listed.runs.iter().filter_map(|run| run.variant.clone()).collect();
    let mut tags: Vec<String> = listed.runs.iter().flat_map(|run| run.tags.iter().cloned()).collect();
    for names in [&mut variants, &mut tags] {
        names.sort();
        names.dedup();
    }
    (variants, tags)
}

fn entries(listed: &RepositoryListing) -> Vec<CardSource<'_>> {
    let noted: std::collections::HashMap<&str, &SweepSummary> =
        listed.sweeps.iter().map(|sweep| (sweep.id.as_str(), sweep)).collect();
    let mut places: std::collections::HashMap<&str, usize> = std::collections::HashMap::new();
    let mut entries: Vec<CardSource<'_>> = Vec::new();
    for run in &listed.runs {
        let Some(part) = &run.part_of else {
            entries.push(CardSource::Run(run));
            continue;
        };
        match places.get(part.id.as_str()) {
            Some(place) => {
                if let CardSource::Several(_, runs) = &mut entries[*place] {
                    runs.push(run);
                }
            }
            None => {
                places.insert(&part.id, entries.len());
                entries.push(CardSource::Several(noted.get(part.id.as_str()).copied(), vec![run]));
            }
        }
    }
    entries
}

fn fits(entry: &CardSource<'_>, wanted: &CardFilterQuery, words: &[String]) -> bool {
    let (first, runs): (&RunSummary, &[&RunSummary]) = match entry {
        CardSource::Run(run) => (run, std::slice::from_ref(run)),
        CardSource::Several(_, runs) => (runs[0], runs),
    };
    let part = first.part_of.as_ref();
    let kind = part.map_or(first.kind.name(), |part| part.kind.name());
    let status = match entry {
        CardSource::Several(Some(sweep), _) => sweep.status.name(),
        _ => first.status.name(),
    };
    let of_kind = wanted.kind.is_empty() || wanted.kind == kind;
    let of_status = wanted.status.is_empty()
        || wanted.status == status
        || runs.iter().any(|run| run.status.name() == wanted.status);
    let of_variant =
        wanted.variant.is_empty() || runs.iter().any(|run| run.variant.as_ref() == Some(&wanted.variant));
    let of_tag = wanted.tag.is_empty() || runs.iter().any(|run| run.tags.contains(&wanted.tag));
    if !(of_kind && of_status && of_variant && of_tag) {
        return false;
    }
    if words.is_empty() {
        return true;
    }
    let mut text = format!("{} {} {} {}", part.map_or("", |part| &part.id), first.target, kind, status);
    for run in runs {
        for part in [Some(&run.id), run.database.as_ref(), run.variant.as_ref()].into_iter().flatten() {
            text.push(' ');
            text.push_str(part);
        }
        for tag in &run.tags {
            text.push(' ');
            text.push_str(tag);
        }
    }
    let text = text.to_lowercase();
    words.iter().all(|word| text.contains(word.as_str()))
}

fn card(state: &ServeState, repository: &Repository, entry: &CardSource<'_>) -> Result<Card, HttpError> {
    Ok(match entry {
        CardSource::Run(run) => of_run(state, repository, run),
        CardSource::Several(sweep, runs) => of_several(state, repository, *sweep, runs)?,
    })
}

/// `31,204 operations/s, p99 210 µs`.
fn figures(run: &RunSummary) -> String {
    let Some(rate) = run.ops_per_s else { return String::new() };
    let p99 = run.p99_us.map_or_else(String::new, |us| format!(", p99 {}", time_us(us)));
    let is_marked = run.marked.iter().any(|name| name == "ops_per_s");
    format!("{} operations/s{p99}", mark(figure(rate), is_marked))
}

/// How far a run can be trusted, as a name of a style.
fn tone(status: RunState, is_warned: bool, is_marked: bool) -> &'static str {
    match status {
        RunState::Valid if is_warned || is_marked => "warn",
        RunState::Valid => "good",
        RunState::Imported => "foreign",
        RunState::Invalid | RunState::Failed => "bad",
        RunState::Interrupted | RunState::Unknown => "warn",
        RunState::Running => "",
    }
}

fn of_run(state: &ServeState, repository: &Repository, run: &RunSummary) -> Card {
    let facts = state.store.facts(repository, run);
    let reason = run.reason.as_ref().filter(|_| run.status != RunState::Valid).map(|reason| capital(reason));
    let limit = Some(&facts.limit).filter(|limit| !limit.is_empty() && run.ops_per_s.is_some());
    let limited = limit.map(|limit| format!("Limited by: {limit}"));
    let more = reason.into_iter().chain(limited).chain(run.notes.iter().map(|note| capital(note)));
    Card {
        id: run.id.clone(),
        kind: run.kind.name().to_owned(),
        started_at: run.started_at.clone(),
        status: run.status.name().to_owned(),
        tone: tone(run.status, facts.is_warned, !run.marked.is_empty()),
        what: match run.kind {
            RecordKind::Watch => {
                let database = run.database.as_deref().unwrap_or(&run.engine);
                // Without the build of a package.
                database.split(" (").next().unwrap_or(database).to_owned()
            }
            RecordKind::Component => run.target.clone(),
            RecordKind::Run | RecordKind::Import => what_ran(&facts.workload, &[run]),
        },
        answer: if run.kind == RecordKind::Watch { facts.answer.clone() } else { figures(run) },
        more: more.collect::<Vec<_>>().join(". "),
        database: run.database.clone().unwrap_or_else(|| run.engine.clone()),
        target: run.target.clone(),
        variant: run.variant.clone(),
        tags: run.tags.clone(),
        runs: 1,
        chart: CardChart::of_window(run.kind, &facts.spark),
    }
}

fn of_several(
    state: &ServeState,
    repository: &Repository,
    sweep: Option<&SweepSummary>,
    runs: &[&RunSummary],
) -> Result<Card, HttpError> {
    let newest = runs[0];
    let part = newest.part_of.as_ref();
    let id = part.map(|part| part.id.clone()).unwrap_or_default();
    let concluded = repository.conclusion(&id)?;
    let line = concluded.as_ref().and_then(|value| value["line"].as_str()).map(str::to_owned);
    let best = runs.iter().filter(|run| run.status == RunState::Valid && run.ops_per_s.is_some());
    let best = best.max_by(|a, b| a.ops_per_s.unwrap_or(0.0).total_cmp(&b.ops_per_s.unwrap_or(0.0)));
    let most = || match best {
        Some(best) => format!("at most {}", figures(best)),
        None => "no run has a valid result".to_owned(),
    };
    let notes: std::collections::BTreeSet<&str> =
        runs.iter().flat_map(|run| &run.notes).map(String::as_str).collect();
    let (bad, unsure) = runs.iter().fold((0, 0), |(bad, unsure), run| match run.status {
        RunState::Invalid | RunState::Failed => (bad + 1, unsure),
        RunState::Interrupted | RunState::Unknown => (bad, unsure + 1),
        _ => (bad, unsure),
    });
    let all_foreign = runs.iter().all(|run| run.status == RunState::Imported);
    let status = sweep.map_or("imported", |sweep| sweep.status.name());
    let tone = match (best.is_some(), all_foreign) {
        (_, true) => "foreign",
        (false, _) if status == "running" => "",
        (false, _) => "bad",
        _ if bad + unsure > 0 || sweep.is_some_and(|sweep| sweep.status == SweepState::Interrupted) => "warn",
        _ if runs.iter().any(|run| !run.marked.is_empty()) => "warn",
        _ => "good",
    };
    let mut tags: Vec<String> = runs.iter().flat_map(|run| run.tags.iter().cloned()).collect();
    tags.sort();
    tags.dedup();
    let facts = state.store.facts(repository, newest);
    Ok(Card {
        id,
        what: what_ran(&facts.workload, runs),
        kind: part.map_or("sweep", |part| part.kind.name()).to_owned(),
        started_at: sweep.map_or(&newest.started_at, |sweep| &sweep.started_at).clone(),
        status: status.to_owned(),
        tone,
        answer: capital(&line.unwrap_or_else(most)),
        more: notes.into_iter().map(capital).collect::<Vec<_>>().join(". "),
        database: newest.database.clone().unwrap_or_else(|| newest.engine.clone()),
        target: newest.target.clone(),
        variant: newest.variant.clone(),
        tags,
        runs: runs.len(),
        chart: CardChart::of_campaign(part.map_or(SweepKind::Sweep, |part| part.kind), runs),
    })
}
