//! The names of this server, which `Host` and `Origin` of a request must match.
//!
//! With DNS rebinding, a foreign page whose name points to this server sends its own name as `Host`. A
//! foreign form sends its own `Origin`.

use std::net::{IpAddr, SocketAddr};

/// The names of this server.
#[derive(Debug, Clone)]
pub(crate) struct ServeHostNames {
    /// Accepted values of `Host`, in lower case.
    hosts: Vec<String>,
    scheme: &'static str,
    /// The port that a name without a port implies.
    usual_port: u16,
}

impl ServeHostNames {
    /// The names of a server that listens on `address`, and the additional names from its options.
    pub(crate) fn new(address: SocketAddr, names: &[String], is_tls: bool) -> Self {
        let (scheme, usual_port) = if is_tls { ("https", 443) } else { ("http", 80) };
        let port = address.port();
        let mut hosts = Vec::new();
        if address.ip().is_loopback() || address.ip().is_unspecified() {
            hosts.extend(["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{port}")));
        }
        if !address.ip().is_unspecified() {
            hosts.push(match address.ip() {
                IpAddr::V4(ip) => format!("{ip}:{port}"),
                IpAddr::V6(ip) => format!("[{ip}]:{port}"),
            });
        }
        for name in names {
            let name = name.to_ascii_lowercase();
            if !has_port(&name) {
                hosts.push(format!("{name}:{port}"));
            }
            hosts.push(name);
        }
        if port == usual_port {
            let bare =
                hosts.iter().filter_map(|host| host.strip_suffix(&format!(":{port}")).map(str::to_owned));
            hosts.extend(bare.collect::<Vec<_>>());
        }
        Self { hosts, scheme, usual_port }
    }

    /// Whether a request may have this `Host`.
    pub(crate) fn knows(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        let bare = host.strip_suffix(&format!(":{}", self.usual_port)).unwrap_or(&host);
        self.hosts.iter().any(|known| *known == host || known == bare)
    }

    /// Whether a request may come from a page of this origin.
    pub(crate) fn is_own(&self, origin: &str) -> bool {
        let rest = origin.strip_prefix(self.scheme).and_then(|rest| rest.strip_prefix("://"));
        rest.is_some_and(|host| self.knows(host))
    }

    /// `http` or `https`, as browsers use it.
    pub(crate) fn scheme(&self) -> &'static str {
        self.scheme
    }
}

fn has_port(name: &str) -> bool {
    let behind = name.rsplit_once(']').map_or(name, |(_, rest)| rest);
    behind.contains(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_check_accepts_only_names_of_this_server() {
        let hosts =
            ServeHostNames::new("127.0.0.1:7878".parse().unwrap(), &["Dyno.example.org".into()], false);
        for host in
            ["127.0.0.1:7878", "LOCALHOST:7878", "[::1]:7878", "dyno.example.org", "dyno.example.org:7878"]
        {
            assert!(hosts.knows(host), "{host}");
            assert!(hosts.is_own(&format!("http://{host}")), "{host}");
        }
        for host in
            ["evil.example", "127.0.0.1", "127.0.0.1:80", "localhost", "localhost:7878.evil.example", ""]
        {
            assert!(!hosts.knows(host), "{host}");
        }
        for origin in ["null", "https://localhost:7878", "http://localhost", "localhost:7878", ""] {
            assert!(!hosts.is_own(origin), "{origin}");
        }
    }

    #[test]
    fn public_host_name_is_accepted_behind_tls_proxy() {
        let hosts =
            ServeHostNames::new("127.0.0.1:7878".parse().unwrap(), &["dyno.example.org".into()], true);
        assert!(hosts.is_own("https://dyno.example.org"));
        assert!(hosts.knows("dyno.example.org:443"));
        assert!(!hosts.is_own("http://dyno.example.org"));
    }
}
