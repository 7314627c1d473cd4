//! Builds the effective URL of a target: the plan's URL with what environment and client files added.

use dyno_plan::TargetUrl;

use super::dial::Address;

/// The name of the effective URL among an identity's settings; only present where it differs from the plan's
/// URL.
pub const CONNECTED_TO: &str = "connected to";

/// `url` with missing user, address and database filled in, so that output shows where connections go.
///
/// An address is filled in where there is only one, since several are tried in turn. The default port is not
/// shown.
pub fn effective_url(
    url: &TargetUrl,
    addresses: &[Address],
    user: &str,
    database: &str,
    default_port: u16,
) -> TargetUrl {
    let mut effective = url.clone();
    effective.user.get_or_insert_with(|| user.to_owned());
    if effective.path.is_empty() {
        database.clone_into(&mut effective.path);
    }
    match addresses {
        [Address::Tcp(host, port, _)] => {
            effective.host.get_or_insert_with(|| host.clone());
            if *port != default_port {
                effective.port = Some(*port);
            }
        }
        [Address::Unix(socket)] if effective.host.is_none() && effective.params.is_empty() => {
            effective.host = Some(socket.display().to_string());
        }
        _ => {}
    }
    effective
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effective_url_fills_in_missing_parts() {
        let tcp = |host: &str, port| vec![Address::Tcp(host.to_owned(), port, None)];
        for (url, addresses, shown) in [
            ("postgres:///", tcp("db1", 6000), "postgres://me@db1:6000/bench"),
            ("postgres://me@db1/bench", tcp("db1", 5432), "postgres://me@db1/bench"),
            ("postgres://you@/own?service=a", tcp("db1", 6000), "postgres://you@db1:6000/own?service=a"),
            ("postgres://db2/", tcp("db2", 6000), "postgres://me@db2:6000/bench"),
            ("postgres://you@db2:1/own", tcp("db2", 1), "postgres://you@db2:1/own"),
            (
                "mysql://you@/own",
                vec![Address::Unix("/run/my.sock".into())],
                "mysql://you@%2Frun%2Fmy.sock/own",
            ),
            ("postgres:///", [tcp("a", 1), tcp("b", 1)].concat(), "postgres://me@/bench"),
        ] {
            let url: TargetUrl = url.parse().unwrap();
            assert_eq!(effective_url(&url, &addresses, "me", "bench", 5432).to_string(), shown);
        }
    }
}
