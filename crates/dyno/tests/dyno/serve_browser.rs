//! `dyno serve` under a user's hand: a run is started, watched, stopped, compared and exported, and the server is lost in between.

use crate::common::Desk;
use crate::common::browser::{Browser, program};
use crate::common::web::Web;

#[test]
fn a_run_is_started_watched_stopped_compared_and_exported_and_the_server_is_lost_in_between() {
    let Some(program) = program() else {
        dyno_testbed::skip("the pages under a user's hand", "no chromium is here: apt-get install chromium");
        return;
    };
    let desk = Desk::new();
    let web = Web::start(&desk, &["--target", "sqlite:bench.db"]);
    let (address, token) = (web.address.clone(), web.token.clone());
    let mut browser = Browser::start(&program, &desk.file("profile"));
    browser.go(&format!("http://{address}/?token={token}"));
    browser.until("location.search === '' && document.querySelector('nav.site')");

    // Fields of other kinds are hidden.
    browser.go(&format!("http://{address}/new"));
    browser.until("document.getElementById('kind')");
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
    // The target is asked without leaving the form.
    start(&mut browser, &address, "2s", "target");
    browser.until("document.querySelector('#target-check pre')?.textContent.includes('SQLite')");
    browser.until("document.getElementById('set.run.time').value === '2s'");

    // What is wrong is said beside its field, before anything runs.
    start(&mut browser, &address, "soon", "check");
    browser.until("document.querySelector('.field.wrong .problem')");
    start(&mut browser, &address, "10m", "check");
    browser.until("document.querySelector('#answer .line').textContent.includes('It can be started')");
    browser.click("button[value=start]");
    browser.until("document.querySelector('#charts.live')");
    let has_figures = "!['–', null].includes(document.querySelector('[data-live=rate]')?.textContent.trim())";
    browser.until(has_figures);
    browser.until("document.querySelectorAll('#charts .uplot canvas').length > 1");

    web.kill();
    let web = Web::start(&desk, &["--listen", &address, "--target", "sqlite:bench.db"]);
    assert_eq!(web.token, token, "bookmarks and cookies outlive a restart");
    browser.run("location.reload()");
    browser.until("document.querySelector('#charts.live') && document.getElementById('state').textContent === 'running'");
    browser.until(has_figures);
    browser.click("button.stop");
    browser.until("document.getElementById('state').textContent === 'stopped'");
    browser.click("a.go");
    browser.until(
        "document.querySelector('figure svg.chart') && document.documentElement.classList.contains('can')",
    );

    start(&mut browser, &address, "2s", "start");
    browser.until("['done', 'doubtful'].includes(document.getElementById('state')?.textContent)");
    browser.go(&format!("http://{address}/"));
    browser.until("document.querySelectorAll('#pick .tick input').length === 2 && document.querySelector('#pick button').disabled");
    browser.run("document.querySelectorAll('#pick .tick input').forEach((box) => box.click())");
    browser.click("#pick button");
    browser.until("location.pathname === '/compare' && document.querySelector('table')");

    browser.go(&format!("http://{address}/export?runs=last"));
    browser.until("document.querySelectorAll('ul.files a[download]').length > 4");
    let fetched = "Promise.all([...document.querySelectorAll('ul.files a')].map(async (link) => { const got = await fetch(link.href); \
                   return got.ok && got.headers.get('content-disposition').startsWith('attachment') && (await got.arrayBuffer()).byteLength > 0; })) \
                   .then((all) => all.every(Boolean))";
    assert_eq!(browser.run(fetched), true, "every format comes as a file");
    let complaints: Vec<&String> =
        browser.complaints.iter().filter(|line| !line.contains("ERR_") && !line.contains("422")).collect();
    assert!(complaints.is_empty(), "{complaints:#?}");
}

/// Fills the form in, and presses `button`.
fn start(browser: &mut Browser, address: &str, time: &str, button: &str) {
    browser.go(&format!("http://{address}/new"));
    browser.until("location.pathname === '/new' && !document.querySelector('#answer')");
    for (key, value) in [("data.scale", "300 blocks"), ("run.warmup", "0s"), ("run.time", time)] {
        browser.write(&format!("set.{key}"), value);
    }
    browser.click(&format!("button[value={button}]"));
}
