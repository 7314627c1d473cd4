//! The command that is a connection, and what runs on the far side.

use std::process::Command;

use dyno_plan::HostUrl;

/// What answers there. It is one line without single quotes, backslashes and exclamation marks before a word, so that the login
/// shell may be any; and it needs nothing but a POSIX shell, `grep`, `date`, `ls`, `readlink` and `uname`. Each line that comes is a
/// mark, what is wanted, and of what; what goes back stands between two lines with the mark, and behind and before a time.
const LOOP: &str = concat!(
    "LC_ALL=C; export LC_ALL; ",
    "t() { date +%s.%N; }; ",
    "while read -r m o p; do echo \"$m begin\"; t; case $o in ",
    // With a second file grep names each line's file, in one process for all of them.
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

/// Options that hold whatever the user's configuration says: nobody is asked, nothing is forwarded or started, and a connection
/// that is dead is noticed.
const OPTIONS: [&str; 9] = [
    "BatchMode=yes",
    "ConnectTimeout=10",
    "ServerAliveInterval=5",
    "ServerAliveCountMax=3",
    "ClearAllForwardings=yes",
    "PermitLocalCommand=no",
    "EscapeChar=none",
    // One that is shared is used; one that would outlive this program is not made.
    "ControlMaster=no",
    "ControlPersist=no",
];

/// The connection to the machine at `url`.
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

/// What the login shell is given.
pub(super) fn remote() -> String {
    format!("exec sh -c '{LOOP}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_login_shell_takes_the_loop_as_one_word() {
        assert!(!LOOP.contains(['\'', '\\', '\n', '`']), "{LOOP}");
    }

    #[test]
    fn a_host_is_never_an_option() {
        let command = of(&"ssh://dba@db1:2222".parse().unwrap());
        let args: Vec<_> = command.get_args().map(|arg| arg.to_string_lossy().into_owned()).collect();
        let at = args.iter().position(|arg| arg == "--").unwrap();
        assert_eq!((args[at + 1].as_str(), args.len()), ("db1", at + 3));
        assert!(
            args.windows(2).any(|two| two == ["-l", "dba"])
                && args.windows(2).any(|two| two == ["-p", "2222"])
        );
    }
}
