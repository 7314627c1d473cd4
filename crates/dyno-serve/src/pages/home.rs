//! The home page: cards of all runs and campaigns, filters, and the selection of two for a comparison.

use axum::extract::Query;
use axum::response::Html;
use dyno_analyze::attribution::{MARK, MARK_MEANS};
use dyno_report::number::count;
use dyno_report::text::{capital, clean};
use maud::{Markup, html};

use super::frame::{self, escaped, moment};
use crate::cards::{self, Card, CardFilterQuery, Cards};
use crate::reply::HttpError;
use crate::state::SharedServeState;

/// Kinds that the filter offers: value and label.
pub(crate) const KINDS: [(&str, &str); 10] = [
    ("run", "single runs"),
    ("sweep", "sweeps"),
    ("search", "searches"),
    ("soak", "soaks"),
    ("ab", "A/B tests"),
    ("suite", "suites"),
    ("study", "studies"),
    ("watch", "watches"),
    ("component", "calibrations"),
    ("import", "imports"),
];

const STATES: [&str; 7] = ["running", "valid", "invalid", "interrupted", "failed", "imported", "done"];

/// Answers `GET /` with the home page.
pub(crate) async fn page(
    shared: SharedServeState,
    Query(wanted): Query<CardFilterQuery>,
) -> Result<Html<String>, HttpError> {
    let request = wanted.clone();
    let made = shared.read(move |state, repository| {
        let cards = cards::cards(state, repository, &wanted)?;
        let listed = state.store.listed(repository)?;
        Ok((cards, cards::marks(&listed)))
    });
    let (cards, (variants, tags)) = made.await?;
    let open = shared.jobs.all().iter().filter(|job| !job.state.is_over()).count();
    let body = html! {
        @if open > 0 {
            p class="note" { a href="/jobs" { (open) " running or queued" } }
        }
        (filters(&request, &variants, &tags))
        (results(&request, &cards))
    };
    let head = html! { script src="/assets/home.js" defer {} };
    Ok(Html(frame::page_with("Runs", "/", &head, &body).into_string()))
}

fn filters(wanted: &CardFilterQuery, variants: &[String], tags: &[String]) -> Markup {
    let kinds: Vec<(String, String)> =
        KINDS.iter().map(|(value, words)| ((*value).into(), (*words).into())).collect();
    let same = |names: &[String]| names.iter().map(|name| (name.clone(), name.clone())).collect::<Vec<_>>();
    let states = STATES.map(str::to_owned);
    html! {
        form class="filters" method="get" action="/" role="search" {
            label { "Search" input type="search" name="q" value=(wanted.q) placeholder="name, database, tag"; }
            (select("Kind", "kind", &wanted.kind, &kinds))
            (select("State", "status", &wanted.status, &same(&states)))
            @if !variants.is_empty() { (select("Variant", "variant", &wanted.variant, &same(variants))) }
            @if !tags.is_empty() { (select("Tag", "tag", &wanted.tag, &same(tags))) }
            button type="submit" { "Filter" }
            a href="/" { "All" }
        }
    }
}

fn select(label: &str, name: &str, chosen: &str, options: &[(String, String)]) -> Markup {
    html! {
        label { (label)
            select name=(name) {
                option value="" { "all" }
                @for (value, words) in options {
                    option value=(value) selected[value == chosen] { (clean(words)) }
                }
            }
        }
    }
}

fn results(wanted: &CardFilterQuery, card_page: &Cards) -> Markup {
    html! {
        @if card_page.runs == 0 {
            section id="answer" class="none" {
                p class="line" { "There are no runs yet." }
                p { a href="/new" { "Start one" } ", or run " code { "dyno run" } " at a terminal with the same repository." }
            }
        } @else if card_page.cards.is_empty() {
            section id="answer" class="none" { p class="line" { "No run matches." } p { a href="/" { "Show all" } } }
        } @else {
            form id="pick" method="get" action="/compare" {
                p class="bar" {
                    span { (count(card_page.found as u64)) @if card_page.found == 1 { " card; " } @else { " cards; " } "the repository holds " (count(card_page.runs as u64)) @if card_page.runs == 1 { " run" } @else { " runs" } }
                    button type="submit" { "Compare selected" }
                }
                ul class="cards" { @for card in &card_page.cards { li { (self::card(card)) } } }
            }
            @if card_page.cards.iter().any(|card| card.answer.contains(MARK)) { p class="dim" { (MARK_MEANS) } }
            (pager(wanted, card_page))
        }
    }
}

fn card(card: &Card) -> Markup {
    let address = address(card);
    html! {
        article class={"card " (card.tone)} {
            h2 { a href=(address) { (title(card)) } }
            label class="tick" { input type="checkbox" name="run" value=(card.id) aria-label={"tick " (card.id)}; }
            p class="what" {
                span class={"badge " (card.tone)} { (card.status) }
                @if card.runs > 1 { " " (count(card.runs as u64)) " runs" }
                " · " time datetime=(card.started_at) { (moment(&card.started_at)) }
            }
            @if !card.answer.is_empty() { p class="says" { (clean(&card.answer)) } }
            (frame::sparkline(&card.chart))
            @if !card.more.is_empty() { p class="dim more" { (clean(&card.more)) } }
            @if !card.database.is_empty() { p class="dim where" { (clean(&card.database)) } }
            p class="dim where" { (clean(&card.target)) }
            p class="dim where" { (clean(&card.id)) }
            @if card.variant.is_some() || !card.tags.is_empty() {
                p class="marks" {
                    @if let Some(variant) = &card.variant {
                        a class="mark" href={"/?variant=" (escaped(variant))} { (clean(variant)) }
                    }
                    @for tag in &card.tags { " " a class="mark tag" href={"/?tag=" (escaped(tag))} { (clean(tag)) } }
                }
            }
        }
    }
}

/// Returns the path of the page that a card links to.
pub(crate) fn address(card: &Card) -> String {
    let section = if matches!(card.kind.as_str(), "run" | "import" | "watch" | "component") {
        "runs"
    } else {
        "sweeps"
    };
    format!("/{section}/{}", escaped(&card.id))
}

/// The kind and what ran: `Sweep: block reads, 1 to 8 sessions`.
fn title(card: &Card) -> String {
    let kind = match card.kind.as_str() {
        "ab" => "A/B test".to_owned(),
        "component" => "Calibration".to_owned(),
        kind => capital(kind),
    };
    let title = if card.what.is_empty() { &card.id } else { &card.what };
    clean(&format!("{kind}: {title}"))
}

fn pager(wanted: &CardFilterQuery, card_page: &Cards) -> Markup {
    let to = |page: usize| {
        let fields = [
            ("q", &wanted.q),
            ("kind", &wanted.kind),
            ("status", &wanted.status),
            ("variant", &wanted.variant),
            ("tag", &wanted.tag),
        ];
        let set = fields.iter().filter(|(_, value)| !value.is_empty());
        let mut address = format!("/?page={page}");
        set.for_each(|(name, value)| address.push_str(&format!("&{name}={}", escaped(value))));
        address
    };
    html! {
        @if card_page.pages > 1 {
            nav class="pager" aria-label="pages" {
                @if card_page.page > 1 { a href=(to(card_page.page - 1)) rel="prev" { "Newer" } }
                span { "page " (card_page.page) " of " (card_page.pages) }
                @if card_page.page < card_page.pages { a href=(to(card_page.page + 1)) rel="next" { "Older" } }
            }
        }
    }
}
