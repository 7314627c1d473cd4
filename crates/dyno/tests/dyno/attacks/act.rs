//! Doing what an attack file says, while the run goes on.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use super::bench::{Bench, Client, DATA};
use super::file::Act;
use crate::common::Desk;
use crate::common::burners::Burners;

/// What is under way of an attack.
#[derive(Default)]
pub(crate) struct Doings {
    threads: Vec<JoinHandle<Result<String, String>>>,
    burners: Vec<Burners>,
    ended: Arc<AtomicBool>,
    desks: Vec<Arc<Desk>>,
    /// Of each that is done once and soon over, whether it is done.
    brief: Vec<Arc<AtomicBool>>,
}

impl Doings {
    /// Does `act`; what lasts goes on beside the run, except before it. `desk` and `dyno` are the run's own.
    pub(crate) fn start(&mut self, bench: &mut Bench, desk: &Desk, act: &Act, dyno: Option<u32>) {
        let client = bench.client();
        let pause = Duration::from_secs_f64(act.seconds);
        if let Some(sql) = &act.sql {
            let (act, sql, ended) = (act.clone(), sql.clone(), Arc::clone(&self.ended));
            let is_done = Arc::new(AtomicBool::new(false));
            if act.then.is_none() && !act.again && !act.may_fail {
                self.brief.push(Arc::clone(&is_done));
            }
            let waits = act.at == "before" && !act.again;
            self.go(waits, move || {
                let done = run_sql(&client, &act, &sql, pause, &ended);
                is_done.store(true, Ordering::SeqCst);
                if act.may_fail { Ok(String::new()) } else { done }
            });
        }
        if let Some(who) = &act.stop {
            let pids = match (who.as_str(), dyno) {
                ("dyno", Some(pid)) => vec![pid],
                (word, _) => bench.processes(word),
            };
            assert!(!pids.is_empty(), "there is no process {who}");
            self.go(false, move || {
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
            let its = Arc::new(Desk::new());
            self.desks.push(Arc::clone(&its));
            let (arguments, may_fail) = (arguments.clone(), act.may_fail);
            self.go(act.at == "before", move || {
                let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
                let said = its.dyno(&[&arguments[..], &["--target", &url], &DATA].concat());
                match said.code {
                    0 | 1 => Ok(said.out),
                    _ if may_fail => Ok(said.err),
                    _ => Err(said.err),
                }
            });
        }
        if let Some(megabytes) = act.write_mb {
            let folder = bench.scratch();
            self.go(false, move || write(&folder, megabytes));
        }
        if let Some(offset) = &act.clock {
            // In one step, as the clock is set: a file that is half written would be no time.
            desk.write("offset.new", offset);
            std::fs::rename(desk.file("offset.new"), desk.file("offset")).unwrap();
        }
    }

    fn go(&mut self, at_once: bool, doing: impl FnOnce() -> Result<String, String> + Send + 'static) {
        let thread = std::thread::spawn(doing);
        if at_once {
            thread.join().unwrap().unwrap_or_else(|said| panic!("what comes before a run failed: {said}"));
        } else {
            self.threads.push(thread);
        }
    }

    /// Whether something is still being done that is done once, and soon over.
    pub(crate) fn are_late(&self) -> bool {
        self.brief.iter().any(|done| !done.load(Ordering::SeqCst))
    }

    /// Ends what goes on until the end, and returns what failed: an attack that did nothing proves nothing.
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
    ended: &AtomicBool,
) -> Result<String, String> {
    let database = act.database.as_deref();
    match &act.then {
        Some(then) => client.run_both(database, sql, then, pause),
        None if act.again => client.run_until(database, sql, ended),
        None => client.run(database, sql),
    }
}

fn signal(pid: u32, name: &str) {
    let sent =
        Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).stderr(Stdio::null()).status();
    assert!(sent.is_ok(), "kill cannot be run");
}

/// Writes and syncs a file, and removes it.
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
