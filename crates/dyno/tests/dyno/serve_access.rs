//! Permissions of `dyno serve`: roles, logins, the queue of a server with fewer rights, and prepared folders.

use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::common::json::ExpectJson;
use crate::common::tmpfs::Tmpfs;
use crate::common::web::{WebResponse, WebServer};
use crate::common::{TestEnv, wait_until};

const FORM: &str = "Content-Type: application/x-www-form-urlencoded";

fn order(time: &str) -> Value {
    let set = json!({ "data.scale": "300 blocks", "run.warmup": "0s", "run.time": time });
    json!({ "target": "target", "set": set })
}

/// Adds a user and returns its token.
fn add_job(desk: &TestEnv, user: &str) -> String {
    let added = desk.dyno(&["serve", "--add-token", user]);
    assert_eq!(added.code, 0, "{added:#?}");
    added.out.trim().to_owned()
}

/// Sends a request with another token than the owner's.
fn ask(web: &WebServer, token: &str, request: &str, body: &Value) -> WebResponse {
    let head = [format!("authorization: bEARER {token}"), "Content-Type: application/json".to_owned()];
    web.send(request, &[&head[0], &head[1]], &body.to_string())
}

#[test]
fn token_role_decides_what_its_holder_may_do() {
    let desk = TestEnv::new();
    let (anna, ben) = (add_job(&desk, "anna=view"), add_job(&desk, "ben=run"));
    let web = WebServer::start(&desk, &["--target", "sqlite:bench.db", "--allow-commands"]);
    let eve = add_job(&desk, "eve=run");
    let start = |token: &str, order: &Value| ask(&web, token, "POST /api/v1/jobs", order);
    for token in [&anna, &ben, &eve] {
        assert_eq!(ask(&web, token, "GET /api/v1/runs", &json!({})).status, 200);
        assert_eq!(ask(&web, token, "GET /api/v1/actions", &json!({})).status, 403);
    }
    let refused = start(&anna, &order("1s"));
    assert_eq!(refused.status, 403);
    assert!(refused.json()["error"].text().contains("has the role view"), "{refused:#?}");
    // Commands require an administrator, whatever the server allows.
    let hooked = json!({ "target": "target", "set": { "hooks.pre": "touch taken" } });
    assert_eq!(start(&ben, &hooked).status, 422);
    let study = json!({ "target": "target", "kind": "study", "study": "access-time" });
    assert_eq!(start(&ben, &study).status, 422);

    let job = start(&ben, &order("10m")).json()["id"].text().to_owned();
    assert_eq!(web.job(&job)["job"]["started_by"], "ben");
    web.wait_until_measured(&job);
    let page = |token: &str| ask(&web, token, &format!("GET /jobs/{job}"), &json!({})).body;
    assert!(page(&ben).contains("class=\"stop\""));
    assert!(!page(&eve).contains("class=\"stop\""), "no button that would be refused");
    assert!(page(&eve).contains("Started by ben"));
    let stop = format!("POST /api/v1/jobs/{job}/stop");
    assert_eq!(ask(&web, &eve, &stop, &json!({})).status, 403, "it is not hers");
    assert_eq!(ask(&web, &eve, &stop.replace("stop", "steer/pause"), &json!({})).status, 403);
    assert_eq!(ask(&web, &ben, &stop, &json!({})).status, 200);
    web.wait_for_job(&job, "stopped");
    assert_eq!(ask(&web, &eve, &stop.replace("stop", "resume"), &json!({})).status, 403);

    // A removed token is invalid at once.
    assert_eq!(desk.dyno(&["serve", "--remove-token", "ben"]).code, 0);
    assert_eq!(ask(&web, &ben, "GET /api/v1/runs", &json!({})).status, 401);
    let actions = web.get("/api/v1/actions").json();
    let has = |by: &str, path: &str, status: u16| {
        let is_it =
            |action: &&Value| action["by"] == by && action["path"] == path && action["status"] == status;
        actions.items().iter().find(is_it).is_some()
    };
    assert!(has("ben", "/api/v1/jobs", 201), "{actions:#}");
    assert!(has("anna", "/api/v1/jobs", 403), "{actions:#}");
    assert!(has("eve", &format!("/api/v1/jobs/{job}/stop"), 403), "{actions:#}");
    let log = std::fs::read_to_string(desk.file("runs.serve/actions.jsonl")).unwrap();
    for token in [&anna, &ben, &eve, &web.token] {
        assert!(!log.contains(token.as_str()));
    }
}

#[test]
fn logout_ends_login_also_on_read_only_server() {
    let desk = TestEnv::new();
    assert_eq!(desk.dyno(&["load", "--target", "sqlite:bench.db", "--set", "data.scale=300 blocks"]).code, 0);
    let run =
        ["run", "--target", "sqlite:bench.db", "--set", "data.scale=300 blocks", "--set", "run.time=1s"];
    desk.dyno(&run);
    let web = WebServer::start(&desk, &["--target", "sqlite:bench.db", "--read-only"]);
    let origin = format!("Origin: {}", web.origin());
    let log_in = || {
        let answer = web.send("POST /login", &[&origin, FORM], &format!("token={}", web.token));
        format!("Cookie: {}", answer.raw_cookie.unwrap())
    };
    let (first, second) = (log_in(), log_in());
    assert_ne!(first, second, "each login has a cookie of its own");
    assert_eq!(web.send("GET /", &[&first], "").status, 200);
    assert_eq!(web.send("POST /logout", &[&first, &origin, FORM], "").status, 200);
    assert_eq!(web.send("GET /", &[&first], "").status, 401, "the cookie is worth nothing any more");
    assert_eq!(web.send("GET /", &[&second], "").status, 200);
    let value = second.split_once('=').unwrap().1;
    assert_eq!(web.send("GET /", &[&format!("Authorization: Bearer {value}")], "").status, 401);
    assert_eq!(web.post("/api/v1/jobs", &order("1s")).status, 403);
}

#[test]
fn every_error_of_the_api_is_json() {
    let desk = TestEnv::new();
    let web = WebServer::start(&desk, &["--target", "sqlite:bench.db"]);
    let bearer = web.bearer();
    let json = "Content-Type: application/json";
    let many: String = (0..9_000).map(|n| format!("\"run.tiem{n}\":\"5s\",")).collect();
    let many = format!("{{\"target\":\"target\",\"set\":{{{}}}}}", many.trim_end_matches(','));
    for (request, head, body, status) in [
        ("GET /api/v1/none", &[bearer.as_str()][..], "", 404),
        ("GET /api/v1/runs?page=x", &[&bearer], "", 400),
        ("GET /api/v1/report", &[&bearer], "", 404),
        ("DELETE /api/v1/runs", &[&bearer], "", 405),
        ("POST /api/v1/check", &[&bearer, json], "{", 400),
        ("POST /api/v1/check", &[&bearer, json], "{\"kind\":\"none\"}", 422),
        ("POST /api/v1/check", &[&bearer], "{}", 415),
        ("GET /api/v1/runs", &[], "", 401),
        ("POST /api/v1/jobs", &[], "", 403),
    ] {
        let answer = web.send(request, head, body);
        assert_eq!(answer.status, status, "{request}: {answer:#?}");
        assert!(answer.json()["error"].is_string(), "{request}: {answer:#?}");
    }
    let answer = web.send("POST /api/v1/check", &[&bearer, json], &many);
    assert!(answer.json()["wrong"][0]["problem"].text().contains("9000 settings"), "{answer:#?}");
}

#[test]
fn queued_job_with_commands_waits_until_server_allows_them() {
    let desk = TestEnv::new();
    let first = WebServer::start(&desk, &["--target", "sqlite:bench.db", "--allow-commands"]);
    let runs = first.start_job(&order("10m"));
    first.wait_until_measured(&runs);
    let mut hooked = order("1s");
    hooked["set"]["hooks.pre"] = "touch taken".into();
    let (commands, plain) = (first.start_job(&hooked), first.start_job(&order("1s")));
    first.kill();

    let reads = WebServer::start(&desk, &["--target", "sqlite:bench.db", "--read-only"]);
    assert!(reads.get(&format!("/jobs/{plain}")).body.contains("read-only"));
    reads.kill();

    let second_server = WebServer::start(&desk, &["--target", "sqlite:bench.db"]);
    assert_eq!(second_server.post(&format!("/api/v1/jobs/{runs}/stop"), &json!({})).status, 200);
    wait_until("the job without commands", || second_server.job(&plain)["job"]["ended_at"].is_string());
    assert_eq!(second_server.job(&commands)["job"]["state"], "queued");
    assert!(second_server.get(&format!("/jobs/{commands}")).body.contains("--allow-commands"));
    assert!(!desk.file("taken").exists());
    second_server.kill();

    let third = WebServer::start(&desk, &["--target", "sqlite:bench.db", "--allow-commands"]);
    wait_until("the job with commands", || third.job(&commands)["job"]["ended_at"].is_string());
    assert!(desk.file("taken").exists());
}

#[test]
fn state_folder_writable_by_other_users_is_refused() {
    let desk = TestEnv::new();
    let state = desk.file("state");
    let serve = |why: &str| {
        let args = [
            "serve",
            "--target",
            "sqlite:bench.db",
            "--state",
            "state",
            "--listen",
            "127.0.0.1:0",
            "--read-only",
        ];
        let output = desk.dyno(&args);
        assert!(output.code == 2, "{why}: {output:#?}");
        assert!(output.err.contains(why), "{why}: {output:#?}");
    };
    assert_eq!(desk.dyno(&["serve", "--state", "state", "--add-token", "anna=view"]).code, 0);
    std::fs::set_permissions(&state, std::fs::Permissions::from_mode(0o1777)).unwrap();
    serve("other users can write to it");
    std::fs::set_permissions(&state, std::fs::Permissions::from_mode(0o700)).unwrap();
    std::fs::set_permissions(state.join("tokens.json"), std::fs::Permissions::from_mode(0o644)).unwrap();
    serve("other users can read or write it");
    std::fs::remove_file(state.join("tokens.json")).unwrap();
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(&state, Some(65_534), None).unwrap();
        serve("belongs to user 65534");
    }
    std::os::unix::fs::chown(&state, Some(rustix::process::geteuid().as_raw()), None).unwrap();
    std::fs::set_permissions(desk.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    serve("all users can rename folders");
    std::fs::rename(&state, desk.file("moved")).unwrap();
    std::os::unix::fs::symlink(desk.file("moved"), &state).unwrap();
    std::fs::set_permissions(desk.path(), std::fs::Permissions::from_mode(0o1777)).unwrap();
    serve("a symbolic link that other users could have created");
}

#[test]
fn read_only_server_works_on_a_read_only_file_system() {
    let Some(disk) = Tmpfs::mount("a read-only file system under dyno serve", 12) else { return };
    std::fs::set_permissions(disk.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let desk = TestEnv::new();
    let repository = disk.file("r.sqlite3").display().to_string();
    let target = ["--target", "sqlite:bench.db", "--repository", &repository];
    assert_eq!(desk.dyno(&["load", "--target", "sqlite:bench.db", "--set", "data.scale=300 blocks"]).code, 0);
    let sets = ["--set", "data.scale=300 blocks", "--set", "run.time=1s", "--set", "run.warmup=0s"];
    desk.dyno(&[&["run"][..], &target, &sets].concat());
    disk.remount("ro");

    // Without a terminal nobody would learn a token that exists only in memory.
    let listen = ["serve", "--listen", "127.0.0.1:0", "--read-only"];
    let refused = desk.dyno(&[&listen[..], &target].concat());
    assert_eq!(refused.code, 2, "{refused:#?}");
    assert!(refused.err.contains("login would be impossible"), "{refused:#?}");
    assert!(refused.err.contains("--state"), "{refused:#?}");
    let web = WebServer::start(&desk, &[&target[..], &["--read-only", "--state", "state"]].concat());
    assert_eq!(web.get("/api/v1/runs").json()["cards"].items().len(), 1);
    drop(web);

    // Tokens of a read-only state remain valid.
    disk.remount("rw");
    let state = disk.file("r.serve").display().to_string();
    WebServer::start(&desk, &[&target[..], &["--state", &state]].concat()).kill();
    disk.remount("ro");
    let web = WebServer::start(&desk, &[&target[..], &["--read-only", "--state", &state]].concat());
    assert_eq!(web.get("/api/v1/runs").status, 200);
    assert_eq!(web.get("/").status, 200);
}

#[test]
fn idle_and_partial_requests_do_not_block_web_clients() {
    let desk = TestEnv::new();
    let web = WebServer::start(&desk, &["--target", "sqlite:bench.db"]);
    let mut held = Vec::new();
    for number in 0..600 {
        let mut stream = std::net::TcpStream::connect(&web.address).unwrap();
        let half: &[u8] = if number % 2 == 0 { b"" } else { b"GET / HTTP/1.1\r\nHost: x\r\nX-A: " };
        stream.write_all(half).unwrap();
        held.push(stream);
    }
    assert_eq!(web.get("/api/v1/runs").status, 200);
    // The oldest connections were closed for the later ones.
    let mut byte = [0];
    held[0].set_read_timeout(Some(std::time::Duration::from_secs(60))).unwrap();
    assert!(matches!(held[0].read(&mut byte), Ok(0) | Err(_)));
}
