//! Sends the window of each run to Grafana as an annotation, through Grafana's HTTP API.

use dyno_campaign::CampaignEvent;
use dyno_record::RunRecord;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::post::{Post, PostError, Poster};

/// Sends one annotation to Grafana for the window of each stored run.
pub struct Annotator {
    url: String,
    dashboard: Option<String>,
    poster: Poster,
}

impl Annotator {
    /// Starts an annotator for the Grafana server at `url`, such as `https://grafana:3000`. With
    /// `?dashboardUID=…` appended, the annotations belong to that dashboard only. `token` is the token of a
    /// Grafana service account.
    ///
    /// # Errors
    /// `url` is not an HTTP address or contains a password, or the sending thread cannot be started.
    pub fn start(url: &str, token: Option<String>) -> Result<Self, PostError> {
        let refused =
            |why: &str| PostError { what: "the address for annotations".to_owned(), why: why.to_owned() };
        let (base, query) = url.split_once('?').map_or((url, None), |(base, query)| (base, Some(query)));
        let Some((_, rest)) =
            base.split_once("://").filter(|(scheme, _)| matches!(*scheme, "http" | "https"))
        else {
            return Err(refused("it must begin with http:// or https://"));
        };
        if rest.split('/').next().is_some_and(|host| host.contains('@')) {
            return Err(refused(
                "it must not contain a password: DYNO_GRAFANA_TOKEN holds a service account's token",
            ));
        }
        let dashboard = match query {
            None => None,
            Some(query) => match query.strip_prefix("dashboardUID=") {
                Some(uid) if !uid.is_empty() && !uid.contains('&') => Some(uid.to_owned()),
                _ => return Err(refused("after ? only dashboardUID=… is allowed")),
            },
        };
        let poster = Poster::start(token)
            .map_err(|error| PostError { what: "annotations".to_owned(), why: error.to_string() })?;
        Ok(Self { url: format!("{}/api/annotations", base.trim_end_matches('/')), dashboard, poster })
    }

    /// Queues an annotation if `event` stores a run; ignores all other events.
    ///
    /// # Errors
    /// The queue of unsent requests is full.
    pub fn hear(&self, event: &CampaignEvent) -> Result<(), PostError> {
        let CampaignEvent::Stored(record) = event else { return Ok(()) };
        let Some(body) = annotation(record, self.dashboard.as_deref()) else { return Ok(()) };
        self.poster.send(Post { url: self.url.clone(), body })
    }

    /// Waits a bounded time for queued requests, then returns the errors of those that failed.
    pub fn finish(&mut self) -> Vec<PostError> {
        self.poster.finish()
    }
}

/// Builds the annotation body of a run; absent if the run had no window.
fn annotation(record: &RunRecord, dashboard: Option<&str>) -> Option<Value> {
    let window = record.window.as_ref()?;
    let ms = |at: &str| at.parse::<Timestamp>().ok().map(Timestamp::as_millisecond);
    let mut tags = vec!["dyno".to_owned(), record.id.clone(), record.status.name().to_owned()];
    tags.extend(record.part_of.as_ref().map(|part| part.id.clone()));
    tags.extend(record.variant.clone());
    tags.extend(record.tags.iter().cloned());
    let ops = record.leading_ops();
    let rate = ops.map_or_else(String::new, |ops| format!(", {:.0} operations/s", ops.rate_per_s));
    let p99 = ops.and_then(|ops| ops.response_us.p99);
    let p99 = p99.map_or_else(String::new, |us| format!(", p99 {:.2} ms", us / 1_000.0));
    let text = format!("dyno {} is {}{rate}{p99}", record.id, record.status.name());
    let mut body =
        json!({ "time": ms(&window.begin)?, "timeEnd": ms(&window.end)?, "tags": tags, "text": text });
    if let Some(dashboard) = dashboard {
        body["dashboardUID"] = json!(dashboard);
    }
    Some(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str = include_str!("../../dyno-record/tests/records/full.json");

    #[test]
    fn annotation_has_the_window_and_the_run_name() {
        let mut record = RunRecord::from_json(RECORD).unwrap();
        assert_eq!(annotation(&record, None), None, "nobody knows when that window was");
        let window = record.window.as_mut().unwrap();
        (window.begin, window.end) = ("2026-03-21T14:25:03.250Z".into(), "2026-03-21T14:25:13.250Z".into());
        let body = annotation(&record, Some("abc")).unwrap();
        let ms = |name: &str| body[name].as_i64().unwrap();
        let window = record.window.as_ref().unwrap();
        assert_eq!(ms("time"), window.begin.parse::<Timestamp>().unwrap().as_millisecond());
        assert!(ms("timeEnd") > ms("time"), "{body}");
        assert!(body["tags"].as_array().unwrap().contains(&json!(record.id)), "{body}");
        assert_eq!(body["dashboardUID"], "abc");
        assert_eq!(annotation(&RunRecord { window: None, ..record }, None), None);
    }

    #[test]
    fn annotation_url_is_parsed_and_one_with_password_refused() {
        let url = |url: &str| Annotator::start(url, None).map(|one| (one.url, one.dashboard));
        let plain = url("https://grafana:3000/sub/").unwrap();
        assert_eq!(plain, ("https://grafana:3000/sub/api/annotations".to_owned(), None));
        assert_eq!(url("http://g?dashboardUID=x").unwrap().1.as_deref(), Some("x"));
        for wrong in ["grafana:3000", "ftp://g", "http://u:secret@g", "http://g?token=secret"] {
            let error = url(wrong).unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
