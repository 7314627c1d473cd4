//! Everything there is: cards, filters, two to be compared.

use axum::extract::Query;
use axum::response::Html;
use dyno_report::number::count;
use dyno_report::text::clean;
use maud::{Markup, html};

use super::frame::{self, escaped, moment};
use crate::cards::{self, Card, Cards, Wanted};
use crate::reply::Trouble;
use crate::state::Shared;

/// Kinds that a filter offers: value, words.
pub(crate) const KINDS: [(&str, &str); 7] = [
    ("run", "single runs"),
    ("sweep", "sweeps"),
    ("search", "searches"),
    ("soak", "soaks"),
    ("ab", "comparisons"),
    ("suite", "suites"),
    ("import", "imports"),
];

const STATES: [&str; 7] = ["running", "valid", "invalid", "interrupted", "failed", "imported", "done"];

/// `GET /`.
pub(crate) async fn page(shared: Shared, Query(wanted): Query<Wanted>) -> Result<Html<String>, Trouble> {
    let asked = wanted.clone();
    let made = shared.read(move |state, repository| {
        let cards = cards::cards(state, repository, &wanted)?;
        let listed = state.store.listed(repository)?;
        Ok((cards, cards::marks(&listed)))
    });
    let (cards, (variants, tags)) = made.await?;
    let open = shared.jobs.all().iter().filter(|job| !job.state.is_over()).count();
    let body = html! {
        @if open > 0 {
            p class="note" { a href="/jobs" { (open) " started here and not over" } }
        }
        (filters(&asked, &variants, &tags))
        (results(&asked, &cards))
    };
    let head = html! { script src="/assets/home.js" defer {} };
    Ok(Html(frame::page_with("Runs", "/", &head, &body).into_string()))
}

fn filters(wanted: &Wanted, variants: &[String], tags: &[String]) -> Markup {
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

fn results(wanted: &Wanted, found: &Cards) -> Markup {
    html! {
        @if found.runs == 0 {
            section id="answer" class="none" {
                p class="line" { "There are no runs yet." }
                p { a href="/new" { "Start one" } ", or run " code { "dyno run" } " at a terminal with the same repository." }
            }
        } @else if found.cards.is_empty() {
            section id="answer" class="none" { p class="line" { "Nothing fits." } p { a href="/" { "Show all" } } }
        } @else {
            form id="pick" method="get" action="/compare" {
                p class="bar" {
                    span { (count(found.found as u64)) @if found.found == 1 { " card; " } @else { " cards; " } "the repository holds " (count(found.runs as u64)) @if found.runs == 1 { " run" } @else { " runs" } }
                    button type="submit" { "Compare the ticked" }
                }
                ul class="cards" { @for card in &found.cards { li { (self::card(card)) } } }
            }
            (pager(wanted, found))
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
                " " (clean(&card.kind))
                @if card.runs > 1 { ", " (count(card.runs as u64)) " runs" }
                " · " time datetime=(card.started_at) { (moment(&card.started_at)) }
            }
            @if !card.spark.is_empty() { (frame::sparkline(&card.spark, "operations per second")) }
            @if !card.answer.is_empty() { p class="says" { (clean(&card.answer)) } }
            @if !card.more.is_empty() { p class="dim more" { (clean(&card.more)) } }
            p class="dim where" { (clean(&card.target)) }
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

/// Where a card leads.
pub(crate) fn address(card: &Card) -> String {
    let of = if matches!(card.kind.as_str(), "run" | "import" | "watch" | "component") {
        "runs"
    } else {
        "sweeps"
    };
    format!("/{of}/{}", escaped(&card.id))
}

fn title(card: &Card) -> String {
    let database = if card.database.is_empty() { card.id.clone() } else { card.database.clone() };
    clean(&database)
}

fn pager(wanted: &Wanted, found: &Cards) -> Markup {
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
        @if found.pages > 1 {
            nav class="pager" aria-label="pages" {
                @if found.page > 1 { a href=(to(found.page - 1)) rel="prev" { "Newer" } }
                span { "page " (found.page) " of " (found.pages) }
                @if found.page < found.pages { a href=(to(found.page + 1)) rel="next" { "Older" } }
            }
        }
    }
}
