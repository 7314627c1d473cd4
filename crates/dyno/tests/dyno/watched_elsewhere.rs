//! Data for monitoring systems: a real Prometheus scrapes a run and answers each query of the dashboard. Stub
//! servers receive the data for Grafana and for a collector, because Grafana itself is not available here.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};

use dyno_testbed::{Postgres, Prometheus};
use serde_json::{Value, json};

use crate::common::json::ExpectJson;
use crate::common::{TestEnv, low_load_args, wait_until};

const DASHBOARD: &str = include_str!("../../../../catalog/dashboards/dyno.json");

fn get(address: &str, accept: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: {accept}\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

/// The value of a series in the text format.
fn value(text: &str, series: &str) -> Option<f64> {
    text.lines().find_map(|line| line.strip_prefix(series)?.trim().parse().ok())
}

/// The address at which a command serves metrics, from its message.
fn metrics_address(stderr: &str) -> String {
    let line = stderr.lines().find_map(|line| line.strip_prefix("metrics at http://")).unwrap();
    line.strip_suffix("/metrics").unwrap().to_owned()
}

#[test]
fn prometheus_scrapes_run_and_answers_dashboard_queries() {
    let Some(version) = Postgres::available().into_iter().next() else { return };
    let server = Postgres::start(&version, &[]);
    let (desk, url) = (TestEnv::new(), server.url());
    let data = ["--target", &url, "--set", "data.scale=500 blocks", "--metrics", "127.0.0.1:0"];
    assert_eq!(desk.dyno(&[&["load"][..], &data].concat()).code, 0);
    let more = [
        "--set",
        "run.time=10m",
        "--set",
        "run.warmup=0s",
        "--set",
        "observe.interval=250ms",
        "--set",
        "workload.rate=200/s",
        "--set",
        "workload.update_pct=30",
        "--set",
        "observe.waits=50/s",
    ];
    let sweep = ["--set", "sweep.sessions=2,4", "--set", "sweep.order=up"];
    let mut run = desk.start(&[&["sweep"][..], &data, &more, &sweep].concat());
    run.wait_for_line("metrics at http://");
    let address = metrics_address(&run.stderr_text);
    let Some(prometheus) = Prometheus::start(&address) else { return };

    wait_until("an interval with waits", || get(&address, "*/*").1.contains("dyno_waiting_sessions{"));
    let (head, plain) = get(&address, "*/*");
    assert!(head.contains("text/plain; version=0.0.4"), "{head}");
    assert_eq!(Prometheus::check(&plain), "", "{plain}");
    let (head, open) = get(&address, "application/openmetrics-text;version=1.0.0");
    assert!(head.contains("application/openmetrics-text"), "{head}");
    assert!(open.ends_with("# EOF\n"), "{open}");
    assert!(open.contains("# TYPE dyno_operations counter\n"), "{open}");
    assert!(open.contains("pg_stat_database_xact_commit{target=\"postgres://"), "{open}");
    let class = |text: &str| value(text, "dyno_operations_total{class=\"select\"}").unwrap_or(0.0);
    wait_until("further operations", || class(&get(&address, "*/*").1) > class(&plain));

    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    for query in queries(&dashboard) {
        // Queries about stored runs are sent after there is one.
        if query.contains("dyno_audit_checks") || query.contains("dyno_runs_total") {
            continue;
        }
        wait_until(&format!("an answer to {query}"), || has_answer(&prometheus.query(&query), &query));
    }
    run.signal("INT");
    let output = run.wait();
    assert_eq!(output.code, 130, "{output:#?}");
}

/// Every query of the dashboard, with its variables filled in like Grafana does.
fn queries(dashboard: &Value) -> Vec<String> {
    let targets = dashboard["panels"].items().iter().flat_map(|panel| panel["targets"].items());
    let filled =
        |target: &Value| target["expr"].text().replace("$__rate_interval", "30s").replace("$instance", ".*");
    targets.map(filled).collect()
}

fn has_answer(answer: &str, query: &str) -> bool {
    let answer: Value = serde_json::from_str(answer).unwrap_or_else(|error| panic!("{error}: {answer}"));
    assert_eq!(answer["status"], "success", "{query}: {answer:#}");
    !answer["data"]["result"].items().is_empty()
}

/// Counters of a process accumulate over its runs, and stored runs are counted.
#[test]
fn exported_counters_never_decrease_between_runs() {
    let desk = TestEnv::new();
    let target = format!("sqlite:{}", desk.file("b.db").display());
    let args = ["sweep", "--target", &target, "--set", "data.scale=200 blocks", "--metrics", "127.0.0.1:0"];
    let more = ["--set", "sweep.sessions=1,2", "--set", "sweep.repeats=3", "--set", "sweep.pause=1s"];
    let mut run = desk.start(&low_load_args(&[&args[..], &more].concat()));
    run.wait_for_line("metrics at http://");
    let address = metrics_address(&run.stderr_text);
    let (mut last, mut increases) = (0.0, 0);
    let mut line = run.next_line();
    while line.is_some() && increases < 20 {
        if let Ok(stream) = TcpStream::connect(&address) {
            drop(stream);
            let text = get(&address, "*/*").1;
            let count = value(&text, "dyno_operation_duration_seconds_count").unwrap();
            assert!(count >= last, "{count} after {last}: {text}");
            increases += 1;
            last = count;
            if value(&text, "dyno_runs_total{status=\"valid\"}") == Some(2.0) {
                assert!(text.contains("dyno_audit_checks{status=\"pass\"}"), "{text}");
                break;
            }
        }
        line = run.next_line();
    }
    assert!(last > 0.0, "{last} {increases}");
    assert!(increases > 1, "{last} {increases}");
    run.signal("INT");
    run.wait();
}

#[test]
fn watch_command_serves_scrapeable_metrics() {
    let Some(version) = Postgres::available().into_iter().next() else { return };
    let mut server = Postgres::start(&version, &[]);
    let (desk, url) = (TestEnv::new(), server.url());
    let args = ["watch", &url, "--for", "1h", "--interval", "200ms", "--metrics", "127.0.0.1:0"];
    let mut watch = desk.start(&args);
    watch.wait_for_line("metrics at http://");
    let address = metrics_address(&watch.stderr_text);
    wait_until("an interval", || get(&address, "*/*").1.contains("dyno_watch_commits_per_second "));
    let text = get(&address, "*/*").1;
    assert!(text.contains("dyno_phase{phase=\"watching\"} 1\n"), "{text}");
    assert!(text.contains("kind=\"watch\""), "{text}");
    assert!(value(&text, "dyno_watch_up ") == Some(1.0), "{text}");
    assert_eq!(value(&text, "dyno_watch_length_seconds "), Some(3_600.0));
    if let Some(prometheus) = Prometheus::start(&address) {
        assert_eq!(Prometheus::check(&text), "", "{text}");
        wait_until("an answer", || {
            has_answer(&prometheus.query("dyno_watch_commits_per_second"), "dyno_watch_commits_per_second")
        });
    }
    // The server's own counters, under the names that exporters use, with the server's values.
    let counted = |name: &str, text: &str| {
        let line = text
            .lines()
            .find(|line| line.starts_with(&format!("{name}{{target=\"postgres://")))
            .map(str::to_owned);
        line.and_then(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok())
    };
    let commits = |text: &str| counted("pg_stat_database_xact_commit", text);
    assert!(commits(&text).is_some(), "{text}");
    assert!(counted("dyno_database_commits_total", &text).is_some(), "{text}");
    server.psql("DO $$ BEGIN FOR i IN 1..5000 LOOP COMMIT; END LOOP; END $$");
    wait_until("commits of others", || commits(&get(&address, "*/*").1).is_some_and(|more| more >= 5_000.0));
    server.kill9();
    wait_until("the server to be missed", || value(&get(&address, "*/*").1, "dyno_watch_up ") == Some(0.0));
    let text = get(&address, "*/*").1;
    assert!(!text.contains("dyno_watch_commits_per_second "), "{text}");
    assert!(!text.contains("pg_stat_database_"), "{text}");
    // Recovery discards the statistics: the scraper sees a counter reset.
    server.restart();
    wait_until("the server to be back", || commits(&get(&address, "*/*").1).is_some());
    let after = commits(&get(&address, "*/*").1).unwrap();
    assert!(after < 5_000.0, "{after}");
    drop(server);
    watch.signal("INT");
    let output = watch.wait();
    assert_eq!(output.code, 130, "{output:#?}");
}

#[test]
fn grafana_dashboard_is_valid_and_panels_do_not_overlap() {
    let target = json!({ "type": "object", "required": ["refId", "expr"], "properties": { "expr": { "type": "string", "minLength": 1 } } });
    let place = json!({ "type": "object", "required": ["x", "y", "w", "h"], "properties": {
        "x": { "type": "integer", "minimum": 0, "maximum": 23 }, "w": { "type": "integer", "minimum": 1, "maximum": 24 },
        "y": { "type": "integer", "minimum": 0 }, "h": { "type": "integer", "minimum": 1 } } });
    let panel = json!({ "type": "object", "required": ["id", "type", "title", "gridPos", "targets", "datasource"], "properties": {
        "type": { "enum": ["timeseries", "stat", "heatmap", "table"] }, "gridPos": place,
        "targets": { "type": "array", "minItems": 1, "items": target } } });
    let schema = json!({ "type": "object", "required": ["title", "uid", "schemaVersion", "panels", "templating", "time", "annotations"],
        "properties": { "uid": { "type": "string", "maxLength": 40 }, "schemaVersion": { "type": "integer", "minimum": 36 },
            "panels": { "type": "array", "minItems": 5, "items": panel } } });
    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<_> = validator.iter_errors(&dashboard).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    let panels = dashboard["panels"].items();
    for (at, panel) in panels.iter().enumerate() {
        let side = |panel: &Value, name: &str| panel["gridPos"][name].count();
        assert!(side(panel, "x") + side(panel, "w") <= 24, "{panel:#}");
        for other in &panels[at + 1..] {
            assert_ne!(panel["id"], other["id"]);
            let apart =
                |a: &Value, b: &Value, from: &str, size: &str| side(a, from) + side(a, size) <= side(b, from);
            let beside = apart(panel, other, "x", "w") || apart(other, panel, "x", "w");
            let below = apart(panel, other, "y", "h") || apart(other, panel, "y", "h");
            assert!(beside || below, "{} lies over {}", panel["title"], other["title"]);
        }
    }
}

/// A server that answers every request with `status`, and returns the received head and body.
fn start_http_stub(status: &'static str) -> (String, Receiver<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (send, requests) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut bytes = Vec::new();
            let mut part = [0; 4_096];
            let (head, body) = loop {
                let read = stream.read(&mut part).unwrap();
                bytes.extend_from_slice(&part[..read]);
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
                let lower = head.to_ascii_lowercase();
                let length = lower.lines().find_map(|line| line.strip_prefix("content-length:"));
                if length.is_none_or(|length| body.len() >= length.trim().parse().unwrap()) {
                    break (head.to_owned(), body.to_owned());
                }
            };
            let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}");
            stream.write_all(answer.as_bytes()).unwrap();
            if send.send((head, serde_json::from_str(&body).unwrap())).is_err() {
                return;
            }
        }
    });
    (address, requests)
}

#[test]
fn window_is_annotated_in_grafana_without_leaking_the_token() {
    let desk = TestEnv::new();
    let target = format!("sqlite:{}", desk.file("b.db").display());
    assert_eq!(desk.dyno(&["load", "--target", &target, "--set", "data.scale=200 blocks"]).code, 0);
    let (address, requests) = start_http_stub("200 OK");
    let url = format!("http://{address}?dashboardUID=dyno");
    let args = [
        "run",
        "--target",
        &target,
        "--set",
        "data.scale=200 blocks",
        "--annotate",
        &url,
        "--json",
        "--verbose",
    ];
    let output = desk.dyno_with(("DYNO_GRAFANA_TOKEN", "glsa_hush"), &low_load_args(&args));
    assert_eq!(output.code, 0, "{output:#?}");
    let (head, body) = requests.recv().unwrap();
    assert!(head.starts_with("POST /api/annotations HTTP/1.1\r\n"), "{head}");
    assert!(head.to_ascii_lowercase().contains("authorization: bearer glsa_hush"), "{head}");
    let record: Value = serde_json::from_str(&output.out).unwrap();
    let tags = body["tags"].items();
    assert!(tags.contains(&record["id"]), "{body:#}");
    assert!(tags.contains(&json!("dyno")), "{body:#}");
    assert_eq!(body["dashboardUID"], "dyno");
    let length_ms = body["timeEnd"].as_i64().unwrap() - body["time"].as_i64().unwrap();
    assert!((900..60_000).contains(&length_ms), "{body:#}");
    assert!(!format!("{}{}", output.out, output.err).contains("hush"), "{output:#?}");

    // Data that is not accepted is reported, and the run is still valid.
    let (address, _heard) = start_http_stub("401 Unauthorized");
    let url = format!("http://{address}");
    let args = ["run", "--target", &target, "--set", "data.scale=200 blocks", "--annotate", &url];
    let unauthorized = desk.dyno_with(("DYNO_GRAFANA_TOKEN", "glsa_hush"), &low_load_args(&args));
    assert_eq!(unauthorized.code, 0, "{unauthorized:#?}");
    assert!(unauthorized.err.contains("warning: not sent"), "{unauthorized:#?}");
    assert!(unauthorized.err.contains("401"), "{unauthorized:#?}");
    assert!(!unauthorized.err.contains("hush"), "{unauthorized:#?}");
    let missing_token = desk.dyno(&["run", "--target", &target, "--annotate", "http://u:hush@h"]);
    assert!(missing_token.code == 2, "{missing_token:#?}");
    assert!(missing_token.err.contains("DYNO_GRAFANA_TOKEN"), "{missing_token:#?}");
    assert!(!missing_token.err.contains("hush"), "{missing_token:#?}");
}

#[cfg(feature = "otlp")]
#[test]
fn otlp_collector_receives_durations_and_trace_per_run() {
    let desk = TestEnv::new();
    let target = format!("sqlite:{}", desk.file("b.db").display());
    assert_eq!(desk.dyno(&["load", "--target", &target, "--set", "data.scale=200 blocks"]).code, 0);
    let (address, heard) = start_http_stub("200 OK");
    let url = format!("http://{address}/");
    let args = ["run", "--target", &target, "--set", "data.scale=200 blocks", "--otlp", &url, "--json"];
    let said = desk.dyno(&low_load_args(&args));
    assert_eq!(said.code, 0, "{said:#?}");
    let record: Value = serde_json::from_str(&said.out).unwrap();
    let ((first, trace), (second, metrics)) = (heard.recv().unwrap(), heard.recv().unwrap());
    assert!(first.starts_with("POST /v1/traces "), "{first} {second}");
    assert!(second.starts_with("POST /v1/metrics "), "{first} {second}");
    let spans = trace["resourceSpans"][0]["scopeSpans"][0]["spans"].items();
    let names: Vec<_> = spans.iter().map(|span| span["name"].text()).collect();
    assert_eq!(names, ["dyno run", "connect", "warmup", "window", "close", "drain", "store"]);
    assert!(spans[0]["attributes"].to_string().contains(record["id"].text()), "{trace:#}");
    let metric = &metrics["resourceMetrics"][0]["scopeMetrics"][0]["metrics"][0];
    assert_eq!(metric["name"], "db.client.operation.duration");
    for point in metric["histogram"]["dataPoints"].items() {
        let attributes = point["attributes"].items();
        let of = |key: &str| {
            let found = attributes.iter().find(|one| one["key"] == key).unwrap();
            found["value"]["stringValue"].text()
        };
        assert_eq!(of("db.system.name"), "sqlite");
        let timed = record["ops"][of("db.operation.name")]["service_us"]["count"].count();
        assert_eq!(point["count"].text().parse::<u64>().unwrap(), timed);
    }
}
