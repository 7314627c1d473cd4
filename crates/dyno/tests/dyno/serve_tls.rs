//! `dyno serve` over TLS: its own, and that of a proxy in front of it, configured as in the manual.

use std::io::{BufRead as _, BufReader, Write as _};

use dyno_testbed::{Nginx, certificates};
use serde_json::json;

use crate::common::TestEnv;
use crate::common::web::WebServer;

const FORM: &str = "Content-Type: application/x-www-form-urlencoded";

#[test]
fn server_with_tls_answers_only_over_tls() {
    let desk = TestEnv::new();
    let made = certificates::make();
    desk.write("cert.pem", &made.server_cert);
    desk.write("key.pem", &made.server_key);
    let tls = ["--tls-cert", "cert.pem", "--tls-key", "key.pem"];
    let mut web = WebServer::start(&desk, &[&["--target", "sqlite:bench.db"][..], &tls].concat());
    let port = web.address.rsplit_once(':').unwrap().1.to_owned();
    assert_eq!(web.send("GET /", &[], "").status, 0, "nobody is answered without TLS");
    web.use_tls(&format!("localhost:{port}"), &made.ca_cert);
    assert_tls_requests(&web);
    assert_eq!(web.get("/api/v1/jobs").json(), json!([]));
}

#[test]
fn pages_and_live_views_work_behind_documented_proxy() {
    let desk = TestEnv::new();
    let made = certificates::make();
    desk.write("cert.pem", &made.server_cert);
    desk.write("key.pem", &made.server_key);
    let (port, listen_address) = (Nginx::free_port(), format!("127.0.0.1:{}", Nginx::free_port()));
    let host = format!("localhost:{port}");
    let mut web = WebServer::start(
        &desk,
        &["--listen", &listen_address, "--target", "sqlite:bench.db", "--host", &host, "--behind-proxy"],
    );
    assert_eq!(web.address, host, "the address that is printed is the proxy's");
    let manual = include_str!("../../../../docs/guides/serve.md");
    let server = manual.split_once("```nginx\n").and_then(|(_, rest)| rest.split_once("```")).unwrap().0;
    let of_manual = [
        ("listen 443 ssl", format!("listen 127.0.0.1:{port} ssl")),
        ("dyno.example.org", "localhost".to_owned()),
        ("/etc/ssl/dyno.pem", desk.file("cert.pem").display().to_string()),
        ("/etc/ssl/dyno.key", desk.file("key.pem").display().to_string()),
        ("127.0.0.1:7878", listen_address),
    ];
    let server = of_manual.iter().fold(server.to_owned(), |text, (there, here)| {
        assert!(text.contains(there), "{there} is not in the manual's example: {text}");
        text.replace(there, here)
    });
    let Some(_proxy) = Nginx::start(&server, port) else { return };
    web.use_tls(&host, &made.ca_cert);
    assert_tls_requests(&web);

    // A live view updates during the run: the proxy buffers nothing.
    let set = json!({ "data.scale": "300 blocks", "run.warmup": "0s", "run.time": "10m", "observe.interval": "200ms" });
    let job = web.start_job(&json!({ "target": "target", "set": set }));
    let mut stream = web.connect();
    let request =
        format!("GET /api/v1/jobs/{job}/events HTTP/1.1\r\nHost: {host}\r\n{}\r\n\r\n", web.bearer());
    stream.write_all(request.as_bytes()).unwrap();
    let mut lines = BufReader::new(stream).lines();
    assert!(lines.any(|line| line.unwrap().contains("\"event\":\"interval\"")), "the stream ended");
    assert_eq!(web.job(&job)["job"]["state"], "running");
    assert_eq!(web.post(&format!("/api/v1/jobs/{job}/stop"), &json!({})).status, 200);
    web.wait_for_job(&job, "stopped");
}

/// Access requires the token, a browser gets a cookie for TLS only, and requests from foreign pages are
/// refused.
fn assert_tls_requests(web: &WebServer) {
    let unknown = web.send("GET /", &[], "");
    assert!(unknown.status == 401, "{unknown:#?}");
    assert!(unknown.head.contains("content-security-policy"), "{unknown:#?}");
    assert_eq!(web.get("/").status, 200);
    let origin = format!("Origin: {}", web.origin());
    assert!(origin.contains("https://"));
    let entered = web.send("POST /login", &[&origin, FORM], &format!("token={}", web.token));
    assert!(entered.head.contains("; secure"), "{entered:#?}");
    let cookie = format!("Cookie: {}", entered.raw_cookie.unwrap());
    let checked = web.send("POST /new", &[&cookie, &origin, FORM], "do=check&kind=run&target=target");
    assert_eq!(checked.status, 200, "{checked:#?}");
    for other in ["http://localhost", "https://evil.example", "null"] {
        let answer = web.send("POST /new", &[&cookie, &format!("Origin: {other}"), FORM], "do=check");
        assert_eq!(answer.status, 403, "{other}: {answer:#?}");
    }
    let answer = web.send("GET /", &["Host: evil.example", &cookie], "");
    assert_eq!(answer.status, 421, "{answer:#?}");
}
