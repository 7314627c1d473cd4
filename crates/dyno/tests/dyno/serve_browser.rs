//! `dyno serve` in a browser: a run is started, watched, stopped, compared and exported, and the server is
//! lost in between.

use serde_json::json;

use crate::common::browser::{Browser, program};
use crate::common::json::ExpectJson;
use crate::common::web::WebServer;
use crate::common::{TestEnv, wait_until};

#[test]
fn browser_workflow_survives_loss_of_web_server() {
    let Some(program) = program() else {
        dyno_testbed::skip("the pages under a user's hand", "no chromium is here: apt-get install chromium");
        return;
    };
    let desk = TestEnv::new();
    let web = WebServer::start(&desk, &["--target", "sqlite:bench.db"]);
    let (address, token) = (web.address.clone(), web.token.clone());
    let mut browser = Browser::start(&program, &desk.file("profile"));
    browser.navigate(&format!("http://{address}/login"));
    browser.wait_until_true("getComputedStyle(document.querySelector('main')).borderTopLeftRadius === '8px'");
    browser.navigate(&format!("http://{address}/?token={token}"));
    browser.wait_until_true("location.search === '' && document.querySelector('nav.site')");

    // Fields of other kinds of jobs are hidden.
    browser.navigate(&format!("http://{address}/new"));
    browser.wait_until_true("document.getElementById('kind')");
    let shown = "['axes', 'limits', 'time', 'pairs', 'tests'].filter((id) => document.getElementById(id).checkVisibility()).join()";
    for (kind, fields) in [
        ("run", ""),
        ("sweep", "axes"),
        ("search", "limits"),
        ("soak", "time"),
        ("ab", "pairs"),
        ("suite", "tests"),
    ] {
        browser.run(&format!("document.getElementById('kind').value = '{kind}'"));
        assert_eq!(browser.run(shown), fields, "{kind}");
    }
    // Keys of the block workload are hidden for a ready workload.
    let shown = "['set.workload.update_pct', 'set.workload.rate'].filter((id) => document.getElementById(id).checkVisibility()).join()";
    for (workload, fields) in
        [("tpcb", "set.workload.rate"), ("", "set.workload.update_pct,set.workload.rate")]
    {
        browser.run(&format!("document.getElementById('workload').value = '{workload}'"));
        assert_eq!(browser.run(shown), fields, "{workload}");
    }
    // The target is checked without leaving the form.
    start_job(&mut browser, &address, "2s", "target");
    browser.wait_until_true("document.querySelector('#target-check pre')?.textContent.includes('SQLite')");
    browser.wait_until_true("document.getElementById('set.run.time').value === '2s'");

    // An error is shown next to its field, before anything runs.
    start_job(&mut browser, &address, "soon", "check");
    browser.wait_until_true("document.querySelector('.field.wrong .problem')");
    start_job(&mut browser, &address, "10m", "check");
    browser.wait_until_true(
        "document.querySelector('#answer .line').textContent.includes('The job can be started')",
    );
    browser.click("button[value=start]");
    browser.wait_until_true("document.querySelector('#charts.live')");
    let has_figures = "!['–', null].includes(document.querySelector('[data-live=rate]')?.textContent.trim())";
    browser.wait_until_true(has_figures);
    browser.wait_until_true("document.querySelectorAll('#charts .uplot canvas').length > 1");

    web.kill();
    let web = WebServer::start(&desk, &["--listen", &address, "--target", "sqlite:bench.db"]);
    assert_eq!(web.token, token, "bookmarks and cookies outlive a restart");
    browser.run("location.reload()");
    browser.wait_until_true("document.querySelector('#charts.live') && document.getElementById('state').textContent === 'running'");
    browser.wait_until_true(has_figures);
    browser.click("button.stop");
    browser.wait_until_true("document.getElementById('state').textContent === 'stopped'");
    browser.click("a.go");
    browser.wait_until_true(
        "document.querySelector('figure svg.chart') && document.documentElement.classList.contains('can')",
    );

    start_job(&mut browser, &address, "2s", "start");
    browser.wait_until_true("['done', 'doubtful'].includes(document.getElementById('state')?.textContent)");
    browser.navigate(&format!("http://{address}/"));
    browser.wait_until_true("document.querySelectorAll('#pick .tick input').length === 2 && document.querySelector('#pick button').disabled");
    browser.run("document.querySelectorAll('#pick .tick input').forEach((box) => box.click())");
    browser.click("#pick button");
    browser.wait_until_true("location.pathname === '/compare' && document.querySelector('table')");

    // A whole sweep, run after run, on a page that stays open.
    let set = json!({ "data.scale": "300 blocks", "run.warmup": "1s", "run.time": "2s", "sweep.sessions": "1,2", "sweep.pause": "0s" });
    let sweep = web.start_job(&json!({ "target": "target", "kind": "sweep", "set": set }));
    browser.navigate(&format!("http://{address}/jobs/{sweep}"));
    browser.wait_until_true("document.getElementById('says')?.textContent.includes('run 2 of 2')");
    browser.wait_until_true("['done', 'doubtful'].includes(document.getElementById('state')?.textContent)");
    browser.navigate(&format!("http://{address}/"));
    browser.wait_until_true(
        "document.querySelector('.card h2')?.textContent === 'Sweep: block reads, 1 to 2 sessions'",
    );
    browser.navigate(&format!("http://{address}/history"));
    browser.wait_until_true("document.querySelectorAll('select[name=like] option').length > 0");

    browser.navigate(&format!("http://{address}/export?runs=last"));
    browser.wait_until_true("document.querySelectorAll('ul.files a[download]').length > 4");
    let fetched = "Promise.all([...document.querySelectorAll('ul.files a')].map(async (link) => { const got = await fetch(link.href); \
                   return got.ok && got.headers.get('content-disposition').startsWith('attachment') && (await got.arrayBuffer()).byteLength > 0; })) \
                   .then((all) => all.every(Boolean))";
    assert_eq!(browser.run(fetched), true, "every format comes as a file");
    let complaints: Vec<&String> = browser
        .console_errors
        .iter()
        .filter(|line| !line.contains("ERR_") && !line.contains("422"))
        .collect();
    assert!(complaints.is_empty(), "{complaints:#?}");
}

/// Contrast, names, headings and order of every page in both appearances, and a comparison without a mouse.
#[test]
fn pages_are_accessible_with_low_vision_and_keyboard_only() {
    let Some(program) = program() else {
        dyno_testbed::skip("the audit of the pages", "no chromium is here: apt-get install chromium");
        return;
    };
    let desk = TestEnv::new();
    let reports = concat!(env!("CARGO_MANIFEST_DIR"), "/../dyno-awr/tests/reports");
    let imported = desk.dyno(&["awr", reports, "--import"]);
    assert!(desk.dyno(&["list"]).out.lines().count() > 2, "{imported:#?}");
    let web = WebServer::start(&desk, &["--target", "sqlite:bench.db"]);
    let set = json!({ "data.scale": "300 blocks", "run.warmup": "0s", "run.time": "1s", "sweep.sessions": "1,2", "sweep.pause": "0s" });
    let sweep = web.start_job(&json!({ "target": "target", "kind": "sweep", "set": set }));
    wait_until("the sweep to end", || web.job(&sweep)["job"]["ended_at"].is_string());
    let stored = web.job(&sweep);
    let run = stored["progress"]["stored"][0]["id"].text();
    let name = stored["progress"]["sweep"].text();
    let awr = web.get("/api/v1/awr").json();
    let interval = |at: usize| awr[at]["id"].text();
    let running = web
        .start_job(&json!({ "target": "target", "set": { "data.scale": "300 blocks", "run.time": "10m" } }));
    web.wait_until_measured(&running);

    let mut browser = Browser::start(&program, &desk.file("profile"));
    let base = format!("http://{}", web.address);
    browser.navigate(&format!("{base}/?token={}", web.token));
    browser.wait_until_true("document.querySelector('nav.site')");
    let mut wrong = Vec::new();
    for page in [
        "/".to_owned(),
        "/new".to_owned(),
        "/jobs".to_owned(),
        format!("/jobs/{sweep}"),
        format!("/jobs/{running}"),
        format!("/runs/{run}"),
        format!("/sweeps/{name}"),
        format!("/compare?a={name}&b={run}"),
        "/compare".to_owned(),
        format!("/history?like={run}"),
        "/export?runs=last".to_owned(),
        "/awr".to_owned(),
        format!("/awr/diff?a={}&b={}", interval(0), interval(1)),
        format!("/runs/{}", interval(0)),
        "/none".to_owned(),
    ] {
        browser.navigate(&format!("{base}{page}"));
        browser.wait_until_true(&format!(
            "location.href === '{base}{page}' && document.querySelector('nav.site')"
        ));
        wrong.extend(browser.audit().into_iter().map(|line| format!("{page}: {line}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");

    browser.navigate(&format!("{base}/?kind=sweep"));
    browser.wait_until_true("location.search === '?kind=sweep' && document.querySelector('#pick button')");
    let focus_script = "(() => { const at = document.activeElement, style = getComputedStyle(at); return style.outlineStyle !== 'none' && at.checkVisibility() ? at.getAttribute('aria-label') ?? at.textContent : 'unseen'; })()";
    browser.press("Tab");
    assert_eq!(browser.run(focus_script), "Skip to content", "what skips the navigation comes first");
    wait_until("the tick of the card by the keyboard", || {
        browser.press("Tab");
        let at = browser.run(focus_script);
        assert_ne!(at, "unseen", "where the keyboard is has to be seen");
        at == format!("tick {name}")
    });
    browser.press("Space");
    assert_eq!(browser.run("document.activeElement.checked"), true);
    next_run_replaces_last_one(&web, &mut browser);
    assert_eq!(web.post(&format!("/api/v1/jobs/{running}/stop"), &json!({})).status, 200);
    web.wait_for_job(&running, "stopped");
}

/// The live page of a sweep with waits: at the next run, figures, charts and table are those of that run. A
/// queued job has the page without events of its own; the test sends them.
fn next_run_replaces_last_one(web: &WebServer, browser: &mut Browser) {
    let set = json!({ "data.scale": "300 blocks", "run.time": "1s" });
    let queued = web.start_job(&json!({ "target": "target", "set": set }));
    browser.navigate(&format!("http://{}/jobs/{queued}", web.address));
    browser.wait_until_true(&format!("location.pathname === '/jobs/{queued}' && window.uPlot"));
    // Without timers nothing counts as news that reloads the page; it draws by an interval.
    browser.run(
        "window.EventSource = class { constructor() { window.source = this; } addEventListener() {} close() {} }; \
         window.setTimeout = () => 0; \
         document.getElementById('charts').replaceChildren(); \
         document.getElementById('intervals').open = true; \
         document.body.insertAdjacentHTML('beforeend', '<b data-live=\"rate\"></b>'); \
         const script = document.createElement('script'); script.src = '/assets/live.js'; document.body.append(script);",
    );
    browser.wait_until_true("window.source?.onmessage");
    let send = |browser: &mut Browser, events: &[serde_json::Value]| {
        for event in events {
            browser.run(&format!("window.source.onmessage({{ data: {:?} }})", event.to_string()));
        }
    };
    let begin = |number: u32| {
        [
            json!({ "event": "next", "step": { "number": number }, "of": 2 }),
            json!({ "event": "phase", "phase": "warm-up", "seconds": 0 }),
        ]
    };
    let interval =
        |at_s: u32| json!({ "event": "interval", "at_s": at_s, "seconds": 1, "ops": 500, "metrics": {} });
    let waits = |at_s: u32| {
        json!({ "event": "complete", "at_s": at_s, "heat": [[10, 5]], "looks": 1, "found": [],
            "samples": 10 * (at_s + 1), "waits": [["CPU", 1.0], ["User I/O", 0.5]] })
    };
    let drawn =
        |intervals: usize| format!("document.querySelectorAll('#intervals tbody tr').length === {intervals}");
    send(browser, &begin(1));
    send(browser, &[interval(0), interval(1), waits(0), waits(1)]);
    browser.wait_until_true(&drawn(2));
    let has_waits =
        "[...document.querySelectorAll('#charts h3')].some((head) => head.textContent === 'Waits over time')";
    assert_eq!(browser.run(has_waits), true);
    send(browser, &begin(2));
    assert_eq!(browser.run("document.querySelector('[data-live=rate]').textContent"), "–");
    send(browser, &[interval(0)]);
    // The table comes last: an error in a chart would leave that of the first run.
    browser.wait_until_true(&drawn(1));
    assert_eq!(web.post(&format!("/api/v1/jobs/{queued}/stop"), &json!({})).status, 200);
}

/// Fills in the form, and presses `button`.
fn start_job(browser: &mut Browser, address: &str, time: &str, button: &str) {
    browser.navigate(&format!("http://{address}/new"));
    browser.wait_until_true("location.pathname === '/new' && !document.querySelector('#answer')");
    for (key, value) in [("data.scale", "300 blocks"), ("run.warmup", "0s"), ("run.time", time)] {
        browser.write(&format!("set.{key}"), value);
    }
    browser.click(&format!("button[value={button}]"));
}
