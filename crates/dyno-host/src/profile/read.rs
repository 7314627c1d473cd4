//! Runs `perf script` as a child and aggregates its output as it arrives.

use std::fs::File;
use std::io::{BufRead, BufReader, Read as _, Seek as _, SeekFrom};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use dyno_record::CpuProfile;

use super::ProfileWindow;
use super::family::{HostProcesses, Parents};
use super::fold::Fold;
use super::refused;

/// The time limit for reading.
const READ_MAX: Duration = Duration::from_secs(300);
const LOOK: Duration = Duration::from_millis(50);
/// The longest line that is read completely.
const LINE_MAX: u64 = 64 << 10;
/// Bytes of `perf`'s error output that are kept.
const SAID_MAX: u64 = 16 << 10;

/// The profile from `perf`'s file, sampled `rate` times per second on this many processors.
pub(super) fn profile(
    mut data: File,
    cut: ProfileWindow,
    known: &HostProcesses<'_>,
    rate: (u32, u32),
    stopped: &dyn Fn() -> bool,
) -> Result<CpuProfile, String> {
    data.seek(SeekFrom::Start(0)).map_err(|error| format!("perf's samples cannot be read: {error}"))?;
    let mut command = quiet(Command::new("perf"));
    command.args([
        "script",
        "-i",
        "/proc/self/fd/0",
        "--ns",
        "--no-inline",
        "--show-lost-events",
        "--show-task-events",
    ]);
    command.args(["-F", "comm,pid,tid,cpu,time,period,event,ip,sym,dso"]);
    command.stdin(data).stdout(Stdio::piped()).stderr(Stdio::piped());
    let wrong = |error: std::io::Error| format!("perf script cannot be started: {error}");
    let mut child = KillOnDrop(command.spawn().map_err(wrong)?);
    let pipes = child.0.stdout.take().zip(child.0.stderr.take());
    let (stdout, stderr) = pipes.ok_or("perf script has no pipes")?;
    let (tell, told) = channel();
    std::thread::scope(|scope| {
        let fold = scope.spawn(move || {
            let identify = |pid: i64, thread: &str, parents: &Parents| known.identify(pid, thread, parents);
            let mut fold = Fold::new(cut, &identify);
            let whole = lines(BufReader::with_capacity(256 << 10, stdout), &mut |line| fold.line(line));
            // The receiver may be gone.
            let _ = tell.send(());
            whole.map_err(|error| format!("perf's samples cannot be read: {error}"))?;
            fold.into_profile(rate.0, rate.1, known.idle_s())
        });
        let stderr_reader = scope.spawn(move || {
            let (mut text, mut stderr) = (Vec::new(), stderr);
            let read_result = stderr.by_ref().take(SAID_MAX).read_to_end(&mut text);
            // The rest is read and discarded, so that `perf` never blocks.
            read_result.and_then(|_| std::io::copy(&mut stderr, &mut std::io::sink())).ok();
            String::from_utf8_lossy(&text).into_owned()
        });
        let until = Instant::now() + READ_MAX;
        let mut broken_off = None;
        while told.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            if stopped() {
                broken_off = Some("the run was stopped before perf's samples were read".to_owned());
            } else if Instant::now() >= until {
                broken_off = Some(format!("perf's samples were not read within {} s", READ_MAX.as_secs()));
            }
            if broken_off.is_some() {
                let _ = child.0.kill();
                break;
            }
        }
        let status = child.0.wait().map_err(|error| format!("perf script: {error}"))?;
        let messages = stderr_reader.join().unwrap_or_default();
        let profile = fold.join().map_err(|_| "reading perf's samples failed".to_owned())?;
        match broken_off {
            Some(reason) => Err(reason),
            None if !status.success() => {
                Err(format!("perf's samples cannot be read ({status}): {}", refused::reason(&messages)))
            }
            None => profile,
        }
    })
}

/// A child that is killed when this value is dropped.
struct KillOnDrop(Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(None)) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
}

/// Passes on each line without its end; characters beyond [`LINE_MAX`] are left out.
pub(super) fn lines(mut text: impl BufRead, take: &mut dyn FnMut(&str)) -> std::io::Result<()> {
    let mut line = Vec::new();
    let mut is_rest = false;
    loop {
        line.clear();
        if text.by_ref().take(LINE_MAX).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let is_end = line.last() == Some(&b'\n');
        if !is_rest {
            take(String::from_utf8_lossy(&line).trim_end_matches('\n'));
        }
        is_rest = !is_end;
    }
}

/// A command that ignores the user's `perf` settings and asks no server for symbols.
pub(super) fn quiet(mut command: Command) -> Command {
    command.env("PERF_CONFIG", "/dev/null").env("LC_ALL", "C").env_remove("DEBUGINFOD_URLS");
    command
}
