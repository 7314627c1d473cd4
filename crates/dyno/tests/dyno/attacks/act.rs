//! Executes the actions of an attack file during the run.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use super::bench::{AttackBench, Client, DATA};
use super::file::Act;
use crate::common::TestEnv;
use crate::common::burners::Burners;

/// Actions of an attack in progress.
#[derive(Default)]
pub(crate) struct AttackActions {
    threads: Vec<JoinHandle<Result<String, String>>>,
    burners: Vec<Burners>,
    ended: Arc<AtomicBool>,
    desks: Vec<Arc<TestEnv>>,
    /// For each short one-time action, whether it is done.
    one_shot_flags: Vec<Arc<AtomicBool>>,
}

impl AttackActions {
    /// Starts `act`; a lasting action runs concurrently with the run, except before it. `desk` and `dyno`
    /// belong to the run.
    pub(crate) fn start(&mut self, bench: &mut AttackBench, desk: &TestEnv, act: &Act, dyno: Option<u32>) {
        let client = bench.client();
        let pause = Duration::from_secs_f64(act.seconds);
        if let Some(sql) = &act.sql {
            let (act, sql, stop_flag) = (act.clone(), sql.clone(), Arc::clone(&self.ended));
            let is_done = Arc::new(AtomicBool::new(false));
            if act.then.is_none() && !act.again && !act.may_fail {
                self.one_shot_flags.push(Arc::clone(&is_done));
            }
            let waits = act.at == "before" && !act.again;
            self.spawn_action(waits, move || {
                let result = run_sql(&client, &act, &sql, pause, &stop_flag);
                is_done.store(true, Ordering::SeqCst);
                if act.may_fail { Ok(String::new()) } else { result }
            });
        }
        if let Some(who) = &act.stop {
            let pids = match (who.as_str(), dyno) {
                ("dyno", Some(pid)) => vec![pid],
                (word, _) => bench.processes(word),
            };
            assert!(!pids.is_empty(), "there is no process {who}");
            self.spawn_action(false, move || {
                pids.iter().for_each(|pid| signal(*pid, "STOP"));
                std::thread::park_timeout(pause);
                pids.iter().for_each(|pid| signal(*pid, "CONT"));
                Ok(String::new())
            });
        }
        if let Some(count) = act.burn {
            self.burners.push(Burners::start(count));
        }
        if let Some(how) = &act.restart {
            bench.restart(how);
        }
        if let Some(arguments) = &act.dyno {
            let url = bench.url(act.database.as_deref());
            let its = Arc::new(TestEnv::new());
            self.desks.push(Arc::clone(&its));
            let (arguments, may_fail) = (arguments.clone(), act.may_fail);
            self.spawn_action(act.at == "before", move || {
                let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
                let output = its.dyno(&[&arguments[..], &["--target", &url], &DATA].concat());
                match output.code {
                    0 | 1 => Ok(output.out),
                    _ if may_fail => Ok(output.err),
                    _ => Err(output.err),
                }
            });
        }
        if let Some(megabytes) = act.write_mb {
            let folder = bench.scratch_folder();
            self.spawn_action(false, move || write(&folder, megabytes));
        }
        if let Some(offset) = &act.clock {
            // In one step, like a clock change: a partly written file would be an invalid time.
            desk.write("offset.new", offset);
            std::fs::rename(desk.file("offset.new"), desk.file("offset")).unwrap();
        }
    }

    fn spawn_action(
        &mut self,
        at_once: bool,
        doing: impl FnOnce() -> Result<String, String> + Send + 'static,
    ) {
        let thread = std::thread::spawn(doing);
        if at_once {
            thread
                .join()
                .unwrap()
                .unwrap_or_else(|message| panic!("what comes before a run failed: {message}"));
        } else {
            self.threads.push(thread);
        }
    }

    /// Whether a short one-time action is not done yet.
    pub(crate) fn has_pending(&self) -> bool {
        self.one_shot_flags.iter().any(|is_done| !is_done.load(Ordering::SeqCst))
    }

    /// Ends lasting actions and returns what failed: an attack without effect proves nothing.
    pub(crate) fn end(self) -> Vec<String> {
        self.ended.store(true, Ordering::SeqCst);
        drop(self.burners);
        self.threads.into_iter().filter_map(|thread| thread.join().unwrap().err()).collect()
    }
}

fn run_sql(
    client: &Client,
    act: &Act,
    sql: &str,
    pause: Duration,
    stop_flag: &AtomicBool,
) -> Result<String, String> {
    let database = act.database.as_deref();
    match &act.then {
        Some(then) => client.run_in_sequence(database, sql, then, pause),
        None if act.again => client.run_until(database, sql, stop_flag),
        None => client.run(database, sql),
    }
}

fn signal(pid: u32, name: &str) {
    let sent =
        Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).stderr(Stdio::null()).status();
    assert!(sent.is_ok(), "kill cannot be run");
}

/// Writes and syncs a file, then removes it.
fn write(folder: &Path, megabytes: usize) -> Result<String, String> {
    let path = folder.join("attack.tmp");
    let written = (|| {
        let mut file = std::fs::File::create(&path)?;
        let block: Vec<u8> =
            (0..1_u64 << 20).map(|i| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8).collect();
        for _ in 0..megabytes {
            file.write_all(&block)?;
            file.sync_data()?;
        }
        std::fs::remove_file(&path)
    })();
    written.map(|()| String::new()).map_err(|error: std::io::Error| error.to_string())
}
