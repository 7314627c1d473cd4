//! Runs the remote loop under the shells of this machine, without a login; and tests malicious answers.

use std::process::Command;

use super::*;

fn now() -> Now {
    let start = Instant::now();
    Arc::new(move || start.elapsed().as_nanos() as u64)
}

/// A remote side that is the command `words` in a shell.
fn far(shell: &str, words: &str) -> SshSource {
    let mut command = Command::new(shell);
    command.args(["-c", words]);
    SshSource::of(SshConnection::open(command, "ssh://db1", &now()).unwrap())
}

const PATIENCE: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(200);

#[test]
fn remote_host_description_matches_local_one() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_str().unwrap().to_owned();
    let local = crate::facts(&[("data", folder.path())]);
    if local.facts.contains_key("unavailable") {
        return eprintln!("skipped: there is no /proc");
    }
    for shell in ["sh", "bash"] {
        let mut far = far(shell, &command::remote());
        let description = far.describe(&[("data".into(), place.clone())], PATIENCE).unwrap();
        assert_eq!((&description.host.name, &description.host.kernel), (&local.name, &local.kernel));
        assert_eq!((description.host.cpus, &description.host.mounts), (local.cpus, &local.mounts), "{shell}");
        assert_eq!(description.boot.as_ref(), local.facts.get("boot_id"));
        // Left out: facts of this process, and values that change between the readings.
        let moves = |name: &str| {
            name.starts_with("cgroup") || name.starts_with("huge_pages") || name == "sysctl.fs.aio-nr"
        };
        for (name, value) in local.facts.iter().filter(|(name, _)| !moves(name)) {
            assert_eq!(description.host.facts.get(name), Some(value), "{name}");
        }
        let mut observer = crate::HostObserver::new(&[("data", folder.path())]);
        let before = observer.snapshot();
        let reading = far.read(PATIENCE).unwrap();
        let after = observer.snapshot();
        let user = |snapshot: &crate::HostSnapshot| snapshot.cpu.unwrap().times.user;
        assert!(user(&before) <= user(&reading.snapshot));
        assert!(user(&reading.snapshot) <= user(&after));
        for (device, counters) in &before.devices {
            let (far, after) = (&reading.snapshot.devices[device], &after.devices[device]);
            assert!(counters.reads <= far.reads, "{device}");
            assert!(far.reads <= after.reads, "{device}");
        }
        assert_eq!(
            before.devices.keys().collect::<Vec<_>>(),
            reading.snapshot.devices.keys().collect::<Vec<_>>()
        );
        assert_eq!(before.fixed, reading.snapshot.fixed, "places, their devices, and ticks");
        let far_time = reading.far.unwrap();
        assert!(far_time.resolution_ns == 0);
        assert!(far_time.begin_ns <= far_time.end_ns);
        assert!(reading.asked_ns < reading.answered_ns);
    }
}

#[test]
fn missing_remote_path_has_no_device() {
    let mut far = far("sh", &command::remote());
    let description =
        far.describe(&[("data".into(), "/no/such \"place\" $(touch x)".into())], PATIENCE).unwrap();
    let (name, why) = &description.missing[0];
    assert!(name == "place.data", "{why}");
    assert!(why.contains("there is no /no/such \"place\" $(touch x) on it"), "{why}");
    assert!(description.host.mounts.is_empty());
    assert!(!description.host.facts.contains_key("place.data.device"));
}

#[test]
fn endless_remote_host_answer_is_rejected_without_retry() {
    let mut far = far("sh", "exec yes 0123456789012345678901234567890123456789");
    let error = far.read(PATIENCE).unwrap_err();
    assert_eq!(error.kind, SourceErrorKind::Nonsense, "{error}");
    assert!(error.to_string().contains("more than 4 MiB"), "{error}");
    assert_eq!(far.read(PATIENCE).unwrap_err(), error, "it is asked no more");
}

#[test]
fn invalid_remote_host_answers_are_rejected() {
    // It knows the mark and prints nothing between the marks.
    let mut mute = far("sh", "while read -r m o; do echo \"$m begin\"; echo; echo; echo \"$m end\"; done");
    assert_eq!(mute.read(PATIENCE).unwrap_err().kind, SourceErrorKind::Nonsense);
    let mut wild = far("sh", "while read -r m o; do echo \"$m end\"; done");
    assert_eq!(wild.read(PATIENCE).unwrap_err().kind, SourceErrorKind::Nonsense);
    let mut exiting = far("sh", "echo this account is closed; exit 1");
    let error = exiting.read(PATIENCE).unwrap_err();
    assert!(error.kind == SourceErrorKind::Denied, "{error}");
    assert!(error.message.contains("this account is closed"), "{error}");
}

#[test]
fn late_answer_is_not_taken_for_the_next_one() {
    // The first answer arrives together with the second request.
    let slow = "read -r m o p; read -r n q r; for k in \"$m\" \"$n\"; do echo \"$k begin\"; echo 1.000000000; \
                echo \"/proc/meminfo:MemTotal: 1 kB\"; echo 1.000000000; echo \"$k end\"; done; sleep 60";
    let mut far = far("sh", slow);
    let error = far.read(SHORT).unwrap_err();
    assert!(error.kind == SourceErrorKind::Late, "{error}");
    assert!(!error.is_final(), "{error}");
    // While an answer is overdue, no request is sent.
    assert_eq!(far.read(SHORT).unwrap_err().kind, SourceErrorKind::Late);
}

#[test]
fn late_answer_is_dropped_and_the_next_one_is_used() {
    let slow = "while read -r m o p; do sleep 0.4; echo \"$m begin\"; echo 1.000000000; echo \"/proc/meminfo:MemTotal: 1 kB\"; \
                echo 1.000000000; echo \"$m end\"; done";
    let mut far = far("sh", slow);
    assert_eq!(far.read(SHORT).unwrap_err().kind, SourceErrorKind::Late);
    let reading = far.read(PATIENCE).unwrap();
    assert_eq!(reading.snapshot.memory.unwrap().total_bytes, Some(1_024));
    assert!(
        reading.answered_ns - reading.asked_ns >= 390_000_000,
        "it is its own answer, and not the one before"
    );
}
