//! `perf script` as a child, whose text is added up as it comes.

use std::fs::File;
use std::io::{BufRead, BufReader, Read as _, Seek as _, SeekFrom};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use dyno_record::CpuProfile;

use super::Cut;
use super::family::{Known, Parents};
use super::fold::Fold;
use super::refused;

/// How long reading may take.
const READ_MAX: Duration = Duration::from_secs(300);
const LOOK: Duration = Duration::from_millis(50);
/// The longest line that is read whole.
const LINE_MAX: u64 = 64 << 10;
/// How much of what `perf` says is kept.
const SAID_MAX: u64 = 16 << 10;

/// The profile of `perf`'s file, which samples `rate` times a second on so many processors.
pub(super) fn profile(
    mut data: File,
    cut: Cut,
    known: &Known<'_>,
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
    let mut child = Ended(command.spawn().map_err(wrong)?);
    let pipes = child.0.stdout.take().zip(child.0.stderr.take());
    let (stdout, stderr) = pipes.ok_or("perf script has no pipes")?;
    let (tell, told) = channel();
    std::thread::scope(|scope| {
        let fold = scope.spawn(move || {
            let who = |pid: i64, thread: &str, parents: &Parents| known.who(pid, thread, parents);
            let mut fold = Fold::new(cut, &who);
            let whole = lines(BufReader::with_capacity(256 << 10, stdout), &mut |line| fold.line(line));
            // Nobody may wait any more.
            let _ = tell.send(());
            whole.map_err(|error| format!("perf's samples cannot be read: {error}"))?;
            fold.into_profile(rate.0, rate.1, known.idle_s())
        });
        let said = scope.spawn(move || {
            let (mut said, mut stderr) = (Vec::new(), stderr);
            let kept = stderr.by_ref().take(SAID_MAX).read_to_end(&mut said);
            // The rest is heard and not kept, so that it never waits for us.
            kept.and_then(|_| std::io::copy(&mut stderr, &mut std::io::sink())).ok();
            String::from_utf8_lossy(&said).into_owned()
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
        let said = said.join().unwrap_or_default();
        let profile = fold.join().map_err(|_| "reading perf's samples failed".to_owned())?;
        match broken_off {
            Some(reason) => Err(reason),
            None if !status.success() => {
                Err(format!("perf's samples cannot be read ({status}): {}", refused::reason(&said)))
            }
            None => profile,
        }
    })
}

/// A child that does not outlive this value.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(None)) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
}

/// Hands over each line without its end; what goes beyond [`LINE_MAX`] is left out.
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

/// A command that nobody's settings change, and that asks no server for symbols.
pub(super) fn quiet(mut command: Command) -> Command {
    command.env("PERF_CONFIG", "/dev/null").env("LC_ALL", "C").env_remove("DEBUGINFOD_URLS");
    command
}
