//! Describes the program for bug reports: `dyno --version`.

use std::sync::LazyLock;

use crate::engines::NAMES;

/// The version, and how and for what the program was built.
pub(super) static DESCRIPTION: LazyLock<String> = LazyLock::new(|| {
    let commit = option_env!("DYNO_COMMIT").unwrap_or("not recorded");
    let (arch, os) = (std::env::consts::ARCH, std::env::consts::OS);
    let linked = if cfg!(target_feature = "crt-static") { "static" } else { "dynamic" };
    let profile = if cfg!(debug_assertions) { "debug" } else { "release" };
    let optional = [
        ("serve", cfg!(feature = "serve")),
        ("fleet", cfg!(feature = "fleet")),
        ("otlp", cfg!(feature = "otlp")),
    ];
    let features: Vec<&str> =
        optional.into_iter().filter(|(_, is_on)| *is_on).map(|(name, _)| name).collect();
    format!(
        "{}\ncommit:   {commit}\nbuild:    {arch} {os}, {linked}, {profile}\nengines:  {}\nfeatures: {}",
        env!("CARGO_PKG_VERSION"),
        NAMES.replace('|', ", "),
        features.join(", "),
    )
});
