//! Converts SLOB's connection parameters into the URL of a target.

use super::options::KitImportOptions;
use super::settings::{KitParameter, KitParameterReader};
use super::sheet::{KitPlanWriter, ParameterMapping, ParameterNote};
use dyno_plan::error::PlanErrorKind;

/// The URL when the file names no database. `dyno` is the ordinary user whose schema holds the tables.
const SOMEWHERE: &str = "oracle://dyno@localhost:1521/FREEPDB1";

/// The environment variable that the plan names for the password.
pub(super) const PASSWORD_ENV: &str = "DYNO_PASSWORD";

/// Converts the parameters of the connection into `[target]`.
pub(super) fn map(read: &mut KitParameterReader<'_>, sheet: &mut KitPlanWriter, options: &KitImportOptions) {
    let base = read.text("SQLNET_SERVICE_BASE");
    let admin = read.text("ADMIN_SQLNET_SERVICE");
    let most = read.whole("SQLNET_SERVICE_MAX", 1, (1, 4_096));
    check(read, &base, &admin, &most);
    let note = match (&options.target, base.is_given()) {
        (Some(_), true) => {
            ParameterNote::of(&base, ParameterMapping::Maps, "`--target` says where the database is.")
        }
        (Some(_), false) => ParameterNote::method("`--target` says where the database is."),
        (None, true) => ParameterNote::of(
            &base,
            ParameterMapping::Differs,
            alias_words(base.value.as_deref().unwrap_or_default()),
        ),
        (None, false) => ParameterNote::method(
            "SLOB connects on the host, to the instance of ORACLE_SID. Write host, port and service here.",
        ),
    };
    let url = match &options.target {
        Some(target) => target.clone(),
        None => base.value.as_deref().map_or_else(|| SOMEWHERE.to_owned(), url),
    };
    sheet.put("target.url", url, note);
    if admin.is_given() {
        let words = "Dyno has no connection as administrator: one ordinary user loads and runs.";
        sheet.leave(ParameterNote::of(&admin, ParameterMapping::None, words));
    }
    if most.is_given() {
        let words = "SLOB deals its sessions to the services with 1, 2, … behind their name. Write their URLs as target.urls.";
        sheet.leave(ParameterNote::of(&most, ParameterMapping::None, words));
    }
    secrets(read, sheet, options);
}

/// Refuses values that SLOB refuses, and values that could be a password.
fn check(
    read: &mut KitParameterReader<'_>,
    base: &KitParameter<Option<String>>,
    admin: &KitParameter<Option<String>>,
    most: &KitParameter<u64>,
) {
    for service in [base, admin] {
        let text = service.value.as_deref().unwrap_or_default();
        let plain = |c: char| c.is_ascii_alphanumeric() || "_.-:/[]".contains(c);
        if !text.chars().all(plain) {
            let hidden = KitParameter { value: (), name: service.name, line: None, written: String::new() };
            let hint = "write an alias of tnsnames.ora, or HOST:PORT/SERVICE; users and passwords have no place here";
            read.refuse(&hidden, PlanErrorKind::Secret, "not the name of a service", hint);
        }
    }
    if !base.is_given() {
        let problem = "SQLNET_SERVICE_BASE is not set, to which it belongs";
        let hint = "write SQLNET_SERVICE_BASE, or take this out";
        if admin.is_given() {
            read.refuse(admin, PlanErrorKind::Conflict, problem, hint);
        }
        if most.is_given() {
            read.refuse(most, PlanErrorKind::Conflict, problem, hint);
        }
    }
}

/// The address in `//host:port/service`; anything else is a name in `tnsnames.ora`.
fn address(service: &str) -> Option<&str> {
    service.strip_prefix("//").or_else(|| service.contains(['/', ':']).then_some(service))
}

fn url(service: &str) -> String {
    match address(service) {
        Some(address) => format!("oracle://dyno@{address}"),
        None => format!("oracle://dyno@/{service}"),
    }
}

fn alias_words(service: &str) -> &'static str {
    match address(service) {
        Some(_) => "One ordinary user, here dyno, owns the tables of all schemas.",
        None => {
            "An alias, which tnsnames.ora in TNS_ADMIN explains. One ordinary user, here dyno, owns the tables of all schemas."
        }
    }
}

fn secrets(read: &mut KitParameterReader<'_>, sheet: &mut KitPlanWriter, options: &KitImportOptions) {
    let user = read.text("DBA_PRIV_USER");
    if user.is_given() {
        let words = "No DBA is needed: the user of target.url loads and runs.";
        sheet.leave(ParameterNote::of(&user, ParameterMapping::None, words));
    }
    let password = read.secret("SYSDBA_PASSWD");
    if password.is_given() {
        let words = "It is not copied: a plan holds no password. target.password_env names the environment variable that \
                     gives the password of the user of target.url.";
        sheet.leave(ParameterNote::of(&password, ParameterMapping::None, words));
    }
    if is_oracle(options) {
        sheet.put_bare("target.password_env", PASSWORD_ENV);
        let words =
            "The environment variable that gives the password. SLOB's users have their names as passwords.";
        sheet.note("target.password_env", ParameterNote::method(words));
    }
}

/// Whether the plan is for Oracle, which is the default.
pub(super) fn is_oracle(options: &KitImportOptions) -> bool {
    options.target.as_deref().is_none_or(|target| target.trim_start().starts_with("oracle:"))
}
