//! `dyno serve` with raw requests: who gets an answer, what may be started, and what a restart restores.

use serde_json::{Value, json};

use crate::common::json::ExpectJson;
use crate::common::web::WebServer;
use crate::common::{TestEnv, wait_until};

/// A short run on the target of these tests.
fn order(time: &str) -> Value {
    let set = json!({ "data.scale": "300 blocks", "run.warmup": "0s", "run.time": time });
    json!({ "target": "target", "set": set })
}

fn start_server(desk: &TestEnv, more: &[&str]) -> WebServer {
    WebServer::start(desk, &[&["--target", "sqlite:bench.db"], more].concat())
}

#[test]
fn server_answers_only_with_valid_token() {
    let desk = TestEnv::new();
    let web = start_server(&desk, &[]);
    for path in ["/", "/new", "/runs/last", "/assets/app.css", "/assets/none", "/none"] {
        let answer = web.send(&format!("GET {path}"), &[], "");
        assert!(answer.status == 401, "{path}: {answer:#?}");
        assert!(!answer.body.contains(&web.token), "{path}: {answer:#?}");
        assert!(answer.head.contains("content-security-policy: default-src 'none'"), "{answer:#?}");
    }
    assert_eq!(web.send("GET /api/v1/runs", &[], "").json()["error"], "the token is missing or wrong");
    assert_eq!(web.send("GET /?token=wrong", &[], "").status, 401);
    assert_eq!(web.send("GET /", &["Authorization: Bearer wrong"], "").status, 401);

    let entered = web.send(&format!("GET /?q=x&token={}", web.token), &[], "");
    assert!(entered.head.contains("httponly; samesite=strict"), "{entered:#?}");
    assert!(entered.body.contains("url=/?q=x\""), "{entered:#?}");
    assert!(!entered.body.contains(&web.token), "{entered:#?}");
    let entered = raw_cookie(&web);
    let with = format!("Cookie: {entered}");
    assert_eq!(web.send("GET /", &[&with], "").status, 200);
    let page = web.send("GET /", &[&with], "");
    assert!(!page.body.contains("<script>"), "nothing is inline: {page:#?}");
    assert!(!page.body.contains("style="), "nothing is inline: {page:#?}");
    let bearer = entered.split_once('=').unwrap().1;
    let as_bearer = web.send("GET /", &[&format!("Authorization: Bearer {bearer}")], "");
    assert_eq!(as_bearer.status, 401, "what a browser keeps is no token");
}

/// The cookie that a browser keeps after it received the token.
fn raw_cookie(web: &WebServer) -> String {
    let origin_header = format!("Origin: http://{}", web.address);
    let form = "Content-Type: application/x-www-form-urlencoded";
    web.send("POST /login", &[&origin_header, form], &format!("token={}", web.token)).raw_cookie.unwrap()
}

#[test]
fn requests_from_foreign_origins_and_hosts_are_refused() {
    let desk = TestEnv::new();
    let web = start_server(&desk, &[]);
    let cookie = format!("Cookie: {}", raw_cookie(&web));
    let bearer = format!("Authorization: Bearer {}", web.token);
    let form = "Content-Type: application/x-www-form-urlencoded";
    // A foreign host name that resolves to this server.
    let answer = web.send("GET /", &["Host: evil.example:80", &bearer], "");
    assert_eq!(answer.status, 421, "{answer:#?}");
    for origin in ["http://evil.example", "null", "https://127.0.0.1"] {
        let origin = format!("Origin: {origin}");
        for request in ["GET /api/v1/runs", "POST /new", "POST /api/v1/jobs", "POST /login"] {
            assert_eq!(
                web.send(request, &[&origin, &cookie, form], "do=start").status,
                403,
                "{request} {origin}"
            );
        }
    }
    assert_eq!(
        web.send("POST /new", &[&cookie, form], "do=check").status,
        403,
        "a browser says where it comes from"
    );
    let framed = ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors", &cookie];
    assert_eq!(web.send("GET /", &framed, "").status, 403);
    let origin_header = format!("Origin: http://{}", web.address);
    assert_eq!(
        web.send("POST /new", &[&cookie, &origin_header, form], "do=check&kind=run&target=target").status,
        200
    );
    assert_eq!(web.get("/api/v1/jobs").json(), json!([]), "nothing was started");
}

#[test]
fn jobs_run_and_queue_survive_a_server_restart() {
    let desk = TestEnv::new();
    let first = start_server(&desk, &[]);
    let run = first.start_job(&order("10m"));
    let waits = first.start_job(&order("1s"));
    first.wait_until_measured(&run);
    assert_eq!(first.job(&waits)["job"]["state"], "queued", "one at a time on a target");
    assert_eq!(first.job(&waits)["job"]["before"], 1);
    let second_server = WebServer::try_start(&desk, &["--target", "sqlite:bench.db"]);
    assert!(second_server.is_none(), "two servers on one state");
    first.kill();

    let again = start_server(&desk, &[]);
    assert_eq!(again.job(&run)["job"]["state"], "running");
    let last_progress_s = again.job(&run)["progress"]["last"]["at_s"].clone();
    wait_until("the run to continue", || again.job(&run)["progress"]["last"]["at_s"] != last_progress_s);
    let page = again.get(&format!("/jobs/{run}"));
    assert!(page.body.contains("data-events="), "{page:#?}");
    assert!(page.body.contains("Stop, and store"), "{page:#?}");
    assert_eq!(again.post(&format!("/api/v1/jobs/{run}/stop"), &json!({})).status, 200);
    again.wait_for_job(&run, "stopped");
    let id = again.job(&run)["progress"]["stored"][0]["id"].text().to_owned();
    assert_eq!(again.get(&format!("/api/v1/runs/{id}")).json()["status"], "interrupted");
    wait_until("what waited to end", || {
        matches!(again.job(&waits)["job"]["state"].as_str(), Some("done" | "doubtful"))
    });
    assert_eq!(again.post(&format!("/api/v1/jobs/{run}/stop"), &json!({})).status, 409);
    for page in
        ["/", "/jobs", &format!("/runs/{id}"), "/history", "/compare?run=last&run=last~1", "/export", "/awr"]
    {
        let answer = again.get(page);
        assert!(answer.status == 200, "{page}: {answer:#?}");
        assert!(answer.body.contains("nav class=\"site\""), "{page}: {answer:#?}");
    }
    let events = again.get(&format!("/api/v1/jobs/{waits}/events"));
    assert!(events.head.contains("text/event-stream"), "{events:#?}");
    assert!(events.body.contains("\"event\":\"stored\""), "{events:#?}");
}

#[test]
fn run_killed_while_web_server_is_down_is_interrupted() {
    let desk = TestEnv::new();
    let first = start_server(&desk, &[]);
    let run = first.start_job(&order("10m"));
    first.wait_until_measured(&run);
    first.kill();
    let file = desk.file(&format!("runs.serve/jobs/{run}/job.json"));
    let job: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let pid = i32::try_from(job["process"]["pid"].count()).unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    let again = start_server(&desk, &[]);
    again.wait_for_job(&run, "interrupted");
}

#[test]
fn web_job_cannot_set_database_file_or_command() {
    let desk = TestEnv::new();
    let web = start_server(&desk, &[]);
    let refused = |set: Value, why: &str| {
        let answer = web.post("/api/v1/jobs", &json!({ "target": "target", "set": set }));
        assert_eq!(answer.status, 422, "{answer:#?}");
        assert!(answer.body.contains(why), "{answer:#?}");
    };
    refused(json!({ "hooks.pre": "touch taken" }), "--allow-commands");
    refused(json!({ "sweep.pre": "touch taken" }), "--allow-commands");
    refused(json!({ "target.url": "sqlite:other.db" }), "the server's own list");
    refused(json!({ "target.password_file": "/etc/passwd" }), "the server's own list");
    refused(json!({ "workload.folder": "/etc" }), "not a folder of the server");
    refused(json!({ "workload.phases": "csv /etc/passwd" }), "cannot name a file");
    refused(json!({ "sweep.'phases'": "csv /etc/passwd" }), "cannot name a file");
    refused(json!({ "observe.hosts": "node-exporter://127.0.0.1:9" }), "is in the server's list");
    refused(json!({ "sweep.hosts": "ssh://root@127.0.0.1" }), "the server's own list");
    refused(json!({ "run.tiem": "5s" }), "run.time");
    let answer = web.post("/api/v1/jobs", &json!({ "target": "sqlite:other.db" }));
    assert!(answer.status == 422, "{answer:#?}");
    assert!(answer.body.contains("no target of that name"), "{answer:#?}");
    let side = json!({ "target": "target", "kind": "ab", "a": "x.toml", "b": "" });
    assert!(web.post("/api/v1/jobs", &side).body.contains("cannot name a file of the server"));
    let option = json!({ "target": "target", "kind": "soak", "time": "1s --allow-hooks" });
    assert!(web.post("/api/v1/jobs", &option).body.contains("not a duration"));
    assert!(!desk.file("taken").exists());
    assert!(!desk.file("other.db").exists());
    drop(web);
    let reads = WebServer::start(&desk, &["--target", "sqlite:bench.db", "--read-only"]);
    let answer = reads.post("/api/v1/jobs", &order("1s"));
    assert!(answer.status == 403, "{answer:#?}");
    assert!(answer.body.contains("read-only"), "{answer:#?}");
    assert_eq!(reads.get("/").status, 200);
    assert!(reads.get("/new").body.contains("read-only"));
}

#[test]
fn served_page_escapes_user_supplied_names() {
    let desk = TestEnv::new();
    let web = start_server(&desk, &[]);
    let attack = "<script>alert(1)</script>\"'><img src=x>";
    let set = json!({ "data.scale": "300 blocks", "run.warmup": "0s", "run.time": "1s" });
    let mut order = json!({ "target": "target", "set": set });
    (order["variant"], order["tags"]) = (json!(attack), json!([attack]));
    let job = web.start_job(&order);
    wait_until("its end", || web.job(&job)["job"]["ended_at"].is_string());
    let id = web.job(&job)["progress"]["stored"][0]["id"].text().to_owned();
    let query = "%3Cscript%3Ealert(1)%3C%2Fscript%3E";
    for page in [
        "/",
        &format!("/?q={query}"),
        &format!("/jobs/{job}"),
        &format!("/runs/{id}"),
        &format!("/runs/{query}"),
        &format!("/compare?run=last&run={query}"),
    ] {
        let answer = web.get(page);
        assert!(!answer.body.contains("<script>alert"), "{page}: {answer:#?}");
        assert!(!answer.body.contains("<img"), "{page}: {answer:#?}");
    }
    assert!(web.get("/").body.contains("&lt;script&gt;alert(1)"));
}

#[test]
fn openapi_document_matches_responses() {
    let desk = TestEnv::new();
    desk.write("report.txt", include_str!("../../../dyno-awr/tests/reports/awr_12.2_rac.txt"));
    assert_eq!(desk.dyno(&["awr", "report.txt", "--import"]).code, 0);
    let web = start_server(&desk, &[]);
    let interval = web.get("/api/v1/awr").json()[0]["id"].text().to_owned();
    let short = json!({ "data.scale": "300 blocks", "run.warmup": "0s", "run.time": "1s", "sweep.sessions": "1,2", "sweep.pause": "0s" });
    let sweep = web.start_job(&json!({ "target": "target", "kind": "sweep", "set": short }));
    wait_until("the sweep to end", || web.job(&sweep)["job"]["ended_at"].is_string());
    let name = web.job(&sweep)["progress"]["sweep"].text().to_owned();
    let document = web.get("/api/v1/openapi.json").json();
    let mut request_count = 0;
    for (path, operations) in document["paths"].fields() {
        for (method, operation) in operations.fields() {
            let id = if path.contains("/jobs/") {
                &sweep
            } else if path.contains("/sweeps/") {
                &name
            } else {
                "last"
            };
            let real = path.replace("{id}", id).replace("{word}", "pause");
            let query = match path.as_str() {
                "/api/v1/report" => format!("?runs={name}"),
                "/api/v1/compare" => "?a=last~1&b=last".to_owned(),
                "/api/v1/awr/diff" => format!("?a={interval}&b={interval}"),
                _ => String::new(),
            };
            let answer = match method.as_str() {
                "get" => web.get(&format!("{real}{query}")),
                _ if path.ends_with("/check") => web.post(&real, &order("1s")),
                _ => web.post(&real, &json!({ "target": "none" })),
            };
            assert!(answer.status != 404, "{method} {real} is in the document only: {answer:#?}");
            assert!(answer.status != 405, "{method} {real} is in the document only: {answer:#?}");
            request_count += 1;
            let documented = &operation["responses"][answer.status.to_string()];
            let response = if documented.is_null() { &operation["responses"]["default"] } else { documented };
            let schema = &response["content"]["application/json"]["schema"];
            // A refusal because of invalid data has its own format.
            if schema.is_null() || answer.status == 422 {
                continue;
            }
            let whole = json!({ "allOf": [schema], "components": document["components"] });
            let validator = jsonschema::validator_for(&whole).unwrap();
            let problems: Vec<String> =
                validator.iter_errors(&answer.json()).map(|e| e.to_string()).collect();
            assert!(problems.is_empty(), "{method} {real}: {problems:#?}\n{}", answer.body);
        }
    }
    assert!(request_count >= 18, "{request_count}");
}

/// Every kind of job can be started: it runs the command line itself, so each ends with the expected kind of
/// result.
#[test]
fn every_kind_of_job_can_be_started() {
    let desk = TestEnv::new();
    let web = start_server(&desk, &[]);
    let set = json!({
        "data.scale": "300 blocks", "run.warmup": "0s", "run.time": "1s", "workload.work_unit": "8",
        "observe.interval": "200ms", "sweep.pause": "0s",
    });
    let suite = json!({ "data.scale": "2M", "run.time": "1s", "run.warmup": "0s" });
    let orders = [
        json!({ "kind": "check", "set": set }),
        json!({ "kind": "load", "set": set }),
        json!({ "kind": "search", "set": set, "limits": ["p99 <= 10m"], "max": "2" }),
        json!({ "kind": "soak", "set": set, "time": "2s" }),
        json!({ "kind": "ab", "set": set, "b": "workload.work_unit=4", "pairs": 1 }),
        json!({ "kind": "suite", "set": suite, "tests": ["cpu-integer"] }),
    ];
    let jobs: Vec<String> = orders
        .into_iter()
        .map(|mut order| {
            order["target"] = json!("target");
            web.start_job(&order)
        })
        .collect();
    for id in &jobs {
        wait_until(&format!("the end of {id}"), || web.job(id)["job"]["ended_at"].is_string());
        let job_status = web.job(id);
        let kind = job_status["job"]["kind"].text();
        let state = job_status["job"]["state"].text();
        // On a busy machine an audit may doubt a run of a second; it has run nevertheless.
        assert!(matches!(state, "done" | "doubtful"), "{kind}: {job_status:#}");
        let page = web.get(&format!("/jobs/{id}"));
        assert_eq!(page.status, 200, "{kind}");
        match kind {
            "check" => assert!(page.body.contains("SQLite") && page.body.contains("at sqlite:"), "{page:#?}"),
            "load" => {}
            _ => {
                let name = job_status["progress"]["sweep"].text();
                assert!(page.body.contains(&format!("Full report of {name}")), "{kind}: {page:#?}");
                assert!(page.body.contains("<section id=\"answer\""), "{kind}: {page:#?}");
                let concluded = web.get(&format!("/api/v1/sweeps/{name}")).json();
                assert_eq!(concluded["conclusion"]["figures"]["kind"], kind, "{concluded:#}");
                let page = web.get(&format!("/sweeps/{name}"));
                assert!(page.status == 200, "{page:#?}");
                assert!(page.body.contains("id=\"answer\""), "{page:#?}");
            }
        }
    }
    for (kind, field, value) in
        [("search", "over", "sea"), ("search", "max", "-1"), ("suite", "tests", "--from=x")]
    {
        let mut order = json!({ "target": "target", "kind": kind, "limits": ["p99 <= 1s"] });
        order[field] = if field == "tests" { json!([value]) } else { json!(value) };
        let answer = web.post("/api/v1/jobs", &order);
        assert!(answer.status == 422, "{answer:#?}");
        assert!(answer.body.contains(&format!("\"field\":\"{field}\"")), "{answer:#?}");
    }
}

#[test]
fn serve_requires_tls_on_public_addresses() {
    let desk = TestEnv::new();
    let open_output = desk.dyno(&["serve", "--listen", "0.0.0.0:0"]);
    assert!(open_output.code == 2, "{open_output:#?}");
    assert!(open_output.err.contains("without TLS"), "{open_output:#?}");
    assert!(open_output.err.contains("hint: give --tls-cert"), "{open_output:#?}");
    desk.write("targets.toml", "[targets.a]\nurl = \"sqlite:x\"\npassword = \"geheim\"\n");
    let targets_output = desk.dyno(&["serve", "--listen", "127.0.0.1:0", "--targets", "targets.toml"]);
    assert!(targets_output.code == 2, "{targets_output:#?}");
    assert!(!targets_output.err.contains("geheim"), "{targets_output:#?}");
}
