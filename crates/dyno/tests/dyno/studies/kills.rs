//! A study of mounts on loop files and kernel settings, killed at random times: nothing stays behind.

use std::collections::BTreeSet;
use std::process::{Child, Command, Stdio};

use crate::common::json::ExpectJson;
use crate::common::{Running, TestEnv};
use crate::kills::draw::{KillDraw, seed};

/// A setting that is separate in each network namespace, so that no other process is affected.
const SETTING: &str = "net.ipv4.tcp_fin_timeout";

/// Mount and network namespaces in which the study works; they exist as long as this value.
struct StudyNamespace(Child);

impl StudyNamespace {
    /// `None`, with the test skipped, if no namespace can be created or there are no loop devices.
    fn new(scenario: &str) -> Option<Self> {
        let mut command = Command::new("unshare");
        command.args([
            "--mount",
            "--net",
            "--propagation",
            "private",
            "sh",
            "-c",
            "echo in; exec sleep 3600",
        ]);
        let Ok(mut child) = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn() else {
            dyno_testbed::skip(scenario, "unshare cannot be run");
            return None;
        };
        let mut marker = String::new();
        let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
        let _ = std::io::BufRead::read_line(&mut out, &mut marker);
        let room = Self(child);
        let tools = ["losetup --find", "command -v mkfs.ext4"];
        let is_fit = |tool: &str| {
            room.command("sh").args(["-c", tool]).output().is_ok_and(|output| output.status.success())
        };
        if marker.trim() != "in" || !tools.into_iter().all(is_fit) {
            dyno_testbed::skip(scenario, "no namespaces, loop devices or mkfs.ext4, which need root");
            return None;
        }
        Some(room)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--target", &self.0.id().to_string(), "--mount", "--net", program]);
        command
    }

    fn read_file(&self, file: &str) -> String {
        let output = self.command("cat").arg(file).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs the program in these namespaces.
    fn dyno(&self, desk: &TestEnv, args: &[&str]) -> Command {
        let env_command = desk.command(args);
        let mut command = self.command(env!("CARGO_BIN_EXE_dyno"));
        command.args(args).current_dir(desk.path()).env_clear().stdin(Stdio::null());
        command.envs(env_command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command
    }
}

impl Drop for StudyNamespace {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn study_toml(run: bool) -> String {
    let up = "study-fs up ext4 -b 1024 -- noatime";
    let part = |name: &str, value: u32| {
        format!(
            "[[variant]]\nname = \"{name}\"\nneeds = [\"root\"]\n\
             apply = [\"{up}\", \"study-keep set {SETTING} {value}\"]\n\
             verify = [\"study-fs is ext4\", \"study-fs has noatime\", \"study-keep is {SETTING} {value}\"]\n\
             revert = [\"study-fs down\", \"study-keep back {SETTING}\"]\n"
        )
    };
    format!(
        "[study]\ntitle = \"kills\"\n[params]\nsize = \"24M\"\n[target]\nurl = \"sqlite:${{STUDY}}/mnt/bench.db\"\n\
         [data]\nscale = \"100 blocks\"\n[run]\ntime = \"1s\"\nwarmup = \"100ms\"\n\
         [[task]]\nname = \"load\"\nrun = {run}\n{}{}",
        part("short", 33),
        part("long", 77)
    )
}

/// Kills the study `kills` times, each time at another moment, then lets it complete.
fn assert_killed_study_cleans_up(scenario: &str, kills: u64, run: bool) {
    let Some(room) = StudyNamespace::new(scenario) else { return };
    let seed = seed();
    eprintln!("{}={seed}", crate::kills::draw::SEED);
    let desk = TestEnv::new();
    desk.write("study.toml", &study_toml(run));
    // A process that enters a mount namespace starts at its root.
    let (home, file) = (desk.file("studies"), desk.file("study.toml"));
    let before = room.read_file("/proc/sys/net/ipv4/tcp_fin_timeout");
    let mut moments = BTreeSet::new();
    for number in 0..kills {
        let begin = [
            "study",
            "run",
            file.to_str().unwrap(),
            "--allow-hooks",
            "--verbose",
            "--dir",
            home.to_str().unwrap(),
        ];
        let args: &[&str] = if number == 0 { &begin } else { &["study", "resume", "--verbose"] };
        let mut running = Running::spawn(room.dyno(&desk, args));
        // The messages mark the times of its actions: the kill comes at one of the first forty lines, or
        // shortly after it.
        let mut draw = KillDraw::for_kill(seed, scenario, number);
        let line = (draw.fraction() * 40.0) as usize + 3;
        let mut last = String::new();
        for _ in 0..line {
            match running.next_line() {
                Some(next) => last = next,
                None => break,
            }
        }
        if draw.next_bool() {
            std::thread::park_timeout(std::time::Duration::from_secs_f64(draw.fraction() * 0.2));
        }
        running.signal("KILL");
        let killed_output = running.wait();
        moments.insert(last.split(':').next().unwrap_or_default().trim().to_owned());
        assert!(!killed_output.err.contains("could not be reverted"), "{killed_output:#?}");
    }
    let resume_output = room.dyno(&desk, &["study", "resume", "--json"]).output().unwrap();
    let talk = String::from_utf8_lossy(&resume_output.stderr).into_owned();
    let final_report: serde_json::Value = match resume_output.stdout.is_empty() {
        // The study may have completed before the last kill.
        true if talk.contains("no study was interrupted") => {
            let report = room.dyno(&desk, &["study", "report", "--json"]).output().unwrap();
            serde_json::from_slice(&report.stdout).unwrap()
        }
        _ => serde_json::from_slice(&resume_output.stdout).unwrap_or_else(|error| panic!("{error}: {talk}")),
    };
    let rows = final_report["figures"]["rows"].items();
    assert!(!rows.is_empty(), "{final_report:#}");
    for row in rows {
        let runs = |values: &serde_json::Value| values.items().len();
        assert_eq!(
            (runs(&row["base"]), runs(&row["cells"][1]["b_runs"])),
            (4, 4),
            "killed at {moments:?}: {row:#}"
        );
    }
    let folder = home.to_str().unwrap();
    assert!(!room.read_file("/proc/self/mountinfo").contains(folder), "a mount is left");
    let loops = Command::new("losetup").args(["--all", "--output", "NAME,BACK-FILE"]).output().unwrap();
    assert!(!String::from_utf8_lossy(&loops.stdout).contains(folder), "a loop device is left");
    assert_eq!(room.read_file("/proc/sys/net/ipv4/tcp_fin_timeout"), before, "a setting is left");
    assert_eq!(super::leftover_files(&desk), Vec::<String>::new(), "files are left");
}

#[test]
fn killed_study_leaves_no_mount_loop_device_or_setting() {
    assert_killed_study_cleans_up("study-kills", 4, false);
}

#[test]
#[ignore = "takes minutes: make faults"]
fn study_with_runs_killed_twenty_times_leaves_nothing() {
    assert_killed_study_cleans_up("study-kills-long", 20, true);
}
