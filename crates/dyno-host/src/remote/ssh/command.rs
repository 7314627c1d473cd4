//! Builds the ssh command of a connection, and the shell loop that runs on the other machine.

use std::process::Command;

use dyno_plan::HostUrl;

/// The loop that answers on the other machine. It is one line without single quotes, backslashes and
/// exclamation marks before a word, so that any login shell can run it. It needs only a POSIX shell, `grep`,
/// `date`, `ls`, `readlink` and `uname`. Each input line holds a mark, what is wanted, and of which files.
/// Each answer stands between two lines with the mark, with a time before and after it.
const LOOP: &str = concat!(
    "LC_ALL=C; export LC_ALL; ",
    "t() { date +%s.%N; }; ",
    "while read -r m o p; do echo \"$m begin\"; t; case $o in ",
    // With a second file, grep prints each line's file name, and one process handles all files.
    "files) grep \"\" $p /dev/null 2>/dev/null;; ",
    "links) ls -l $p 2>/dev/null;; ",
    "names) for f in $p; do if [ -e \"$f\" ]; then echo \"$f\"; fi; done;; ",
    "system) uname -m; getconf CLK_TCK;; ",
    "place) q=$p; while [ -n \"$q\" ] && [ ! -e \"$q\" ]; do q=${q%/*}; done; q=${q:-/}; ",
    "if [ \"$q\" = \"$p\" ]; then echo there; elif [ -x \"$q\" ]; then echo gone; else echo hidden; fi; ",
    "echo \"$q\"; r=$(readlink -f \"$q\" 2>/dev/null); echo \"${r:-$q}\"; ",
    "if [ -b \"$q\" ]; then stat -L -c %t:%T \"$q\" 2>/dev/null; fi;; ",
    "esac; t; echo \"$m end\"; done"
);

/// Options that override the user's configuration: no prompts, no forwarding, no other commands, and
/// detection of a dead connection.
const OPTIONS: [&str; 9] = [
    "BatchMode=yes",
    "ConnectTimeout=10",
    "ServerAliveInterval=5",
    "ServerAliveCountMax=3",
    "ClearAllForwardings=yes",
    "PermitLocalCommand=no",
    "EscapeChar=none",
    // A shared connection is used if it exists; one that would outlive this program is not created.
    "ControlMaster=no",
    "ControlPersist=no",
];

/// The ssh command for the machine at `url`.
pub(super) fn of(url: &HostUrl) -> Command {
    let mut command = Command::new("ssh");
    command.args(["-T", "-x", "-a"]);
    for option in OPTIONS {
        command.args(["-o", option]);
    }
    if let Some(port) = url.port {
        command.args(["-p", &port.to_string()]);
    }
    if let Some(user) = &url.user {
        command.args(["-l", user]);
    }
    command.args(["--", &url.host, &remote()]);
    command
}

/// The argument for the login shell.
pub(super) fn remote() -> String {
    format!("exec sh -c '{LOOP}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remote_loop_needs_no_escaping_in_any_login_shell() {
        assert!(!LOOP.contains(['\'', '\\', '\n', '`']), "{LOOP}");
    }

    #[test]
    fn ssh_host_is_never_parsed_as_an_option() {
        let command = of(&"ssh://dba@db1:2222".parse().unwrap());
        let args: Vec<_> = command.get_args().map(|arg| arg.to_string_lossy().into_owned()).collect();
        let at = args.iter().position(|arg| arg == "--").unwrap();
        assert_eq!((args[at + 1].as_str(), args.len()), ("db1", at + 3));
        assert!(args.windows(2).any(|two| two == ["-l", "dba"]));
        assert!(args.windows(2).any(|two| two == ["-p", "2222"]));
    }
}
