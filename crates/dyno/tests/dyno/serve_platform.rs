//! Jobs of `dyno serve` besides runs: watches, calibrations, proofs and studies, with commands that need
//! consent.

use dyno_testbed::Postgres;
use serde_json::{Value, json};

use crate::common::json::ExpectJson;
use crate::common::web::WebServer;
use crate::common::{TestEnv, wait_until};

fn wait_for_end(web: &WebServer, id: &str) -> Value {
    wait_until(&format!("the end of {id}"), || web.job(id)["job"]["ended_at"].is_string());
    web.job(id)
}

#[test]
fn watch_is_started_shown_and_stopped_on_the_web() {
    let Some(version) = Postgres::available().pop() else { return };
    let (server, desk) = (Postgres::start(&version, &[]), TestEnv::new());
    let web = WebServer::start(&desk, &["--target", &server.url()]);
    let set = json!({ "observe.interval": "200ms" });
    let watch = web.start_job(&json!({ "kind": "watch", "target": "target", "watch_for": "1h", "set": set }));
    wait_until("an interval", || {
        web.job(&watch)["progress"]["watched"]["metrics"]["commits_per_s"].is_number()
    });
    let watch_status = web.job(&watch);
    assert!(watch_status["progress"]["last"].is_null(), "nobody did an operation: {watch_status:#}");
    assert_eq!(watch_status["progress"]["total_s"], 3_600.0);
    let page = web.get(&format!("/jobs/{watch}")).body;
    assert!(page.contains("data-kind=\"watch\""), "{page}");
    assert!(page.contains("commits/s"), "{page}");
    assert!(!page.contains(">operations/s<"), "{page}");
    assert_eq!(web.post(&format!("/api/v1/jobs/{watch}/stop"), &json!({})).status, 200);
    web.wait_for_job(&watch, "stopped");
    let id = web.job(&watch)["progress"]["stored"][0]["id"].text().to_owned();
    let page = web.get(&format!("/runs/{id}"));
    assert!(page.status == 200, "{page:#?}");
    assert!(page.body.contains(&format!("Watch {id}")), "{page:#?}");
    let page = web.get(&format!("/jobs/{watch}")).body;
    assert!(page.contains("Watched for"), "the job's page has the result: {page}");
    let card = web.get("/?kind=watch").body;
    assert!(card.contains(">Watch: PostgreSQL"), "{card}");
    assert!(card.contains("Watched for"), "{card}");
    let list = desk.dyno(&["list", "--json"]);
    assert!(list.out.contains("\"kind\": \"watch\""), "{list:#?}");
}

#[test]
fn jobs_without_load_have_a_result_page() {
    let desk = TestEnv::new();
    let web = WebServer::start(&desk, &["--target", "sqlite:bench.db"]);
    let set = json!({ "data.scale": "300 blocks", "run.warmup": "0s", "run.time": "1s" });
    let window = web.start_job(&json!({ "kind": "prove", "target": "target", "proof": "window" }));
    let updates =
        web.start_job(&json!({ "kind": "prove", "target": "target", "proof": "updates", "set": set }));
    let raw = web
        .start_job(&json!({ "kind": "calibrate", "target": "target", "parts": ["memory"], "quick": true }));
    for (id, says) in [(&window, "proved"), (&updates, "proved")] {
        let job_status = wait_for_end(&web, id);
        assert_eq!(job_status["job"]["state"], "done", "{job_status:#}");
        assert!(web.get(&format!("/jobs/{id}")).body.contains(says));
    }
    let raw_status = wait_for_end(&web, &raw);
    assert_eq!(raw_status["job"]["state"], "done", "{raw_status:#}");
    let id = raw_status["progress"]["stored"][0]["id"].text();
    assert_eq!(web.get(&format!("/runs/{id}")).status, 200);
    for (field, order) in [
        ("proof", json!({ "kind": "prove", "proof": "all" })),
        ("kill_command", json!({ "kind": "prove", "proof": "durability", "kill_command": "touch taken" })),
        ("kill_command", json!({ "kind": "prove", "proof": "updates", "restart_command": "touch taken" })),
        ("parts", json!({ "kind": "calibrate", "parts": ["--step=1h"] })),
        ("watch_for", json!({ "kind": "watch", "watch_for": "long" })),
        ("study", json!({ "kind": "study", "study": "wal-sync-method" })),
    ] {
        let mut order = order;
        order["target"] = json!("target");
        let answer = web.post("/api/v1/jobs", &order);
        assert!(answer.status == 422, "{field}: {answer:#?}");
        assert!(answer.body.contains(&format!("\"field\":\"{field}\"")), "{field}: {answer:#?}");
    }
    assert!(!desk.file("taken").exists());
}

#[test]
fn commands_run_only_with_consent_to_exactly_these() {
    let desk = TestEnv::new();
    let web = WebServer::start(&desk, &["--target", "sqlite:bench.db", "--allow-commands"]);
    // The machine is in use, so jobs started here wait, and none of their commands runs.
    let set = json!({ "data.scale": "300 blocks", "run.warmup": "0s", "run.time": "10m" });
    let run = web.start_job(&json!({ "target": "target", "set": set }));
    web.wait_until_measured(&run);

    let mut study = json!({ "kind": "study", "target": "target", "study": "wal-sync-method", "params": { "port": "54998" } });
    let checked = web.post("/api/v1/check", &study).json();
    let commands = &checked["made"]["commands"];
    let shown = commands["steps"].to_string();
    assert!(shown.contains("study-db set 'wal_sync_method = fdatasync'"), "{checked:#}");
    assert!(shown.contains("study-db down"), "{checked:#}");
    let plan_text = desk.dyno(&["study", "plan", "wal-sync-method", "--param", "port=54998"]).out;
    for step in commands["steps"].items() {
        let (when, what) = (step["when"].text(), step["what"].text());
        assert!(plan_text.contains(when), "{when} {what} in {plan_text}");
        assert!(plan_text.contains(what), "{when} {what} in {plan_text}");
    }
    let refused = |order: &Value, why: &str| {
        let answer = web.post("/api/v1/jobs", order);
        assert!(answer.status == 422, "{answer:#?}");
        assert!(answer.body.contains(why), "{answer:#?}");
        assert!(
            answer.json()["made"]["commands"]["mark"].is_string(),
            "what it would run is shown: {answer:#?}"
        );
    };
    refused(&study, "are not confirmed");
    study["confirmed"] = commands["mark"].clone();
    study["params"]["port"] = json!("54997");
    refused(&study, "the commands differ from those that were confirmed");
    study["params"]["port"] = json!("54998");
    let waits = web.start_job(&study);
    assert_eq!(web.job(&waits)["job"]["state"], "queued", "it has the machine to itself");
    let behind = web.start_job(&json!({ "kind": "prove", "target": "target", "proof": "window" }));
    assert_eq!(web.job(&behind)["job"]["before"], 2, "what waits for the machine is not overtaken");
    for id in [&waits, &behind] {
        assert_eq!(web.post(&format!("/api/v1/jobs/{id}/stop"), &json!({})).status, 200);
        web.wait_for_job(id, "stopped");
    }

    let mut kills =
        json!({ "kind": "prove", "target": "target", "proof": "durability", "kill_command": "touch taken" });
    let page = web.post("/api/v1/check", &kills).json();
    refused(&kills, "are not confirmed");
    kills["confirmed"] = page["made"]["commands"]["mark"].clone();
    let waits = web.start_job(&kills);
    assert_eq!(web.post(&format!("/api/v1/jobs/{waits}/stop"), &json!({})).status, 200);
    assert!(!desk.file("taken").exists());
    assert_eq!(web.post(&format!("/api/v1/jobs/{run}/stop"), &json!({})).status, 200);
    web.wait_for_job(&run, "stopped");
    drop(web);
    let reads = WebServer::start(&desk, &["--target", "sqlite:bench.db", "--read-only"]);
    for order in [&study, &kills, &json!({ "kind": "watch", "target": "target" })] {
        assert_eq!(reads.post("/api/v1/jobs", order).status, 403);
    }
}
