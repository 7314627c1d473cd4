//! A workload's folder is sent to the driver hosts with the plan: they have none before and keep none
//! afterwards.

use std::path::Path;

use dyno_testbed::Nats;

use crate::common::TestEnv;
use crate::common::json::ExpectJson;
use crate::compatible::announce;
use crate::fleet_site::{FleetSite, hosts};

/// A workload with files in subfolders, one of them for this engine, and a file that it does not use.
const ASK: [(&str, &str); 5] = [
    (
        "workload.toml",
        "name = \"ask\"\n[draw]\nword = { words = \"lists/words.txt\" }\n[transaction.ask]\nsql = \"sql/ask.sql\"\n",
    ),
    ("lists/words.txt", "left\nright\nstraight on\n"),
    ("sql/ask.sql", "SELECT 'another engine'\n"),
    ("sql/ask.postgres.sql", "SELECT length(:word)\n"),
    ("sql/run-me.sh", "#!/bin/sh\ntouch it-was-run\n"),
];

fn write_workload(desk: &TestEnv) {
    for (name, text) in ASK {
        let path = desk.file("ask").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

/// Names of all files in a folder and its subfolders.
fn files_under(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| match path.is_dir() {
            true => files_under(&path),
            false => vec![path.display().to_string()],
        })
        .collect()
}

#[test]
fn agents_without_workload_folder_run_it_and_keep_no_copy() {
    let Some(site) = FleetSite::new(Nats::start(&[])) else { return };
    write_workload(&site.desk);
    let away = TestEnv::new();
    let _agents = ["a1", "a2"].map(|name| site.agent_in(&away, name, &[], &[]));
    let workload_args =
        ["--set", "workload.folder=ask", "--set", "run.ops_per_session=200", "--set", "run.warmup=0s"];
    let hooked = ["--set", "hooks.before_run=touch before-run", "--set", "hooks.after_run=touch after-run"];
    let (code, led) = site.json("run", "2", &[&workload_args[..], &hooked].concat());
    assert_eq!(code, 0, "{} {:#}", led["reasons"], led["audit"]);
    assert!(hosts(&led).iter().all(|host| host["ops"].count() > 0), "{:#}", led["fleet"]);
    let url = site.server.url();
    let alone = ["run", "--target", &url, "--set", "run.sessions_per_schema=4"];
    let (code, alone) = site.desk.json(&[&alone[..], &workload_args].concat());
    assert_eq!(code, 0, "{} {:#}", alone["reasons"], alone["audit"]);
    assert_eq!(led["workload"], alone["workload"], "the same workload, to the letter");
    assert!(site.desk.file("before-run").exists());
    assert!(site.desk.file("after-run").exists());
    assert_eq!(
        files_under(away.path()),
        Vec::<String>::new(),
        "nothing is written where agents work, and no command run"
    );
    // Agents recognize a product for themselves: sessions that take it for another one are refused.
    announce(&site.server, "version", "CockroachDB CCL v23.2.4 (x86_64-pc-linux-gnu)");
    let (code, led) = site.json("run", "2", &workload_args);
    assert_eq!((code, &led["status"]), (0, &"valid".into()), "{} {:#}", led["reasons"], led["audit"]);
    assert_eq!(led["targets"][0]["product"], "CockroachDB");
    assert!(hosts(&led).iter().all(|host| host["ops"].count() > 0), "{:#}", led["fleet"]);
}

#[test]
fn workload_results_of_lost_controller_need_no_folder() {
    let Some(site) = FleetSite::new(Nats::start(&[])) else { return };
    write_workload(&site.desk);
    let away = TestEnv::new();
    let mut agents = ["a1", "a2"].map(|name| site.agent_in(&away, name, &[], &[]));
    let leader = site.start_in_window(&["--set", "workload.folder=ask"]);
    leader.signal("KILL");
    agents.iter_mut().for_each(|agent| agent.wait_for_line("they are stored here"));
    std::fs::remove_dir_all(site.desk.file("ask")).unwrap();
    assert_eq!(site.collect_runs()["collected"][0]["hosts"], 2);
    let (_, record) = site.desk.json(&["show", "last"]);
    assert!(record["ops"]["ask"]["count"].count() > 0, "{:#}", record["ops"]);
}

#[test]
fn unsendable_workload_folder_is_refused_before_the_run() {
    let Some(site) = FleetSite::new(Nats::start(&[])) else { return };
    let _agent = site.agent("a1");
    write_workload(&site.desk);
    let deep = "1/2/3/4/5/6/7/8/words.txt";
    let path = site.desk.file("ask").join(deep);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, "word\n").unwrap();
    let main = ASK[0].1.replace("lists/words.txt", deep);
    std::fs::write(site.desk.file("ask/workload.toml"), main).unwrap();
    let args = site.args("run", "1", "60s", &["--set", "workload.folder=ask", "--set", "run.time=1s"]);
    let output = site.desk.dyno(&args.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(output.code, 2, "{output:#?}");
    assert!(output.err.contains("cannot be sent to the driver hosts"), "{}", output.err);
    assert!(output.err.contains(deep), "{}", output.err);
    assert!(output.err.contains("remove files that no transaction needs"), "{}", output.err);
}
