//! A study of mounts on loop files and of settings of the kernel, killed at random moments: nothing stays behind.

use std::collections::BTreeSet;
use std::process::{Child, Command, Stdio};

use crate::common::{Desk, Running};
use crate::kills::draw::{Draw, seed};

/// A setting that each network namespace has for itself, so that nobody else's is touched.
const SETTING: &str = "net.ipv4.tcp_fin_timeout";

/// Namespaces of mounts and of the network in which the study works; they last as long as this.
struct Room(Child);

impl Room {
    /// Nothing, and the test is skipped, where none can be made or there are no loop devices.
    fn new(what: &str) -> Option<Self> {
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
            dyno_testbed::skip(what, "unshare cannot be run");
            return None;
        };
        let mut said = String::new();
        let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
        let _ = std::io::BufRead::read_line(&mut out, &mut said);
        let room = Self(child);
        let tools = ["losetup --find", "command -v mkfs.ext4"];
        let is_fit = |tool: &str| {
            room.command("sh").args(["-c", tool]).output().is_ok_and(|output| output.status.success())
        };
        if said.trim() != "in" || !tools.into_iter().all(is_fit) {
            dyno_testbed::skip(what, "no namespaces, loop devices or mkfs.ext4, which need root");
            return None;
        }
        Some(room)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--target", &self.0.id().to_string(), "--mount", "--net", program]);
        command
    }

    fn reads(&self, file: &str) -> String {
        let output = self.command("cat").arg(file).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    /// The program in these namespaces.
    fn dyno(&self, desk: &Desk, args: &[&str]) -> Command {
        let own = desk.command(args);
        let mut command = self.command(env!("CARGO_BIN_EXE_dyno"));
        command.args(args).current_dir(desk.path()).env_clear().stdin(Stdio::null());
        command.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn text(run: bool) -> String {
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

/// Kills the study `kills` times, each time at another moment, then lets it come to its end.
fn killed(what: &str, kills: u64, run: bool) {
    let Some(room) = Room::new(what) else { return };
    let seed = seed();
    eprintln!("{}={seed}", crate::kills::draw::SEED);
    let desk = Desk::new();
    desk.write("study.toml", &text(run));
    // Whoever enters a namespace of mounts begins at its root.
    let (home, file) = (desk.file("studies"), desk.file("study.toml"));
    let before = room.reads("/proc/sys/net/ipv4/tcp_fin_timeout");
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
        let mut running = Running::of(room.dyno(&desk, args));
        // What it says is of the moments at which it does something: one of the first forty lines, or a little after it.
        let mut draw = Draw::of(seed, what, number);
        let line = (draw.fraction() * 40.0) as usize + 3;
        let mut last = String::new();
        for _ in 0..line {
            match running.line() {
                Some(next) => last = next,
                None => break,
            }
        }
        if draw.coin() {
            std::thread::park_timeout(std::time::Duration::from_secs_f64(draw.fraction() * 0.2));
        }
        running.signal("KILL");
        let said = running.end();
        moments.insert(last.split(':').next().unwrap_or_default().trim().to_owned());
        assert!(!said.err.contains("could not be put back"), "{said:#?}");
    }
    let done = room.dyno(&desk, &["study", "resume", "--json"]).output().unwrap();
    let talk = String::from_utf8_lossy(&done.stderr).into_owned();
    let said: serde_json::Value = match done.stdout.is_empty() {
        // It may have come to its end before the last kill.
        true if talk.contains("no study was cut off") => {
            let report = room.dyno(&desk, &["study", "report", "--json"]).output().unwrap();
            serde_json::from_slice(&report.stdout).unwrap()
        }
        _ => serde_json::from_slice(&done.stdout).unwrap_or_else(|error| panic!("{error}: {talk}")),
    };
    let rows = said["figures"]["rows"].as_array().unwrap();
    assert!(!rows.is_empty(), "{said:#}");
    for row in rows {
        let runs = |values: &serde_json::Value| values.as_array().unwrap().len();
        assert_eq!(
            (runs(&row["base"]), runs(&row["cells"][1]["b_runs"])),
            (4, 4),
            "killed at {moments:?}: {row:#}"
        );
    }
    let folder = home.to_str().unwrap();
    assert!(!room.reads("/proc/self/mountinfo").contains(folder), "a mount is left");
    let loops = Command::new("losetup").args(["--all", "--output", "NAME,BACK-FILE"]).output().unwrap();
    assert!(!String::from_utf8_lossy(&loops.stdout).contains(folder), "a loop device is left");
    assert_eq!(room.reads("/proc/sys/net/ipv4/tcp_fin_timeout"), before, "a setting is left");
    assert_eq!(super::left(&desk), Vec::<String>::new(), "files are left");
}

#[test]
fn killed_at_random_moments_it_leaves_no_mount_no_loop_device_and_no_setting() {
    killed("study-kills", 4, false);
}

#[test]
#[ignore = "takes minutes: make faults"]
fn killed_at_twenty_random_moments_with_runs_it_leaves_nothing() {
    killed("study-kills-long", 20, true);
}
