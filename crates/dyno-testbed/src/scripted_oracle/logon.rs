//! Log-on: the server's capabilities and the keys for the client. Nothing is verified.

use super::ScriptedOptions;
use super::codec::{In, Out, Short};
use super::failure::{RequestFailure, unexpected};
use super::messages::MESSAGE_PARAMETERS;
use super::release::ScriptedRelease;

pub(super) const MESSAGE_PROTOCOL: u8 = 1;
pub(super) const MESSAGE_DATA_TYPES: u8 = 2;
pub(super) const MESSAGE_FUNCTION: u8 = 3;
pub(super) const MESSAGE_FAST_AUTHENTICATION: u8 = 34;

/// Function number of the first log-on message.
pub(super) const FUNCTION_LOGON_FIRST: u8 = 118;

/// Field version of fast authentication until the server has sent its own.
const FAST_AUTHENTICATION_FIELDS: u8 = 13;

const KEY: &str = "ABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABAB";
const OLD_KEY: &str =
    "ABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABAB";

/// Positions in the list of capabilities, and the notice that a service is about to end.
const CAPABILITY_FIELDS: usize = 7;
const CAPABILITY_READINESS: usize = 54;
const READINESS: u8 = 4;

pub(super) fn protocol(release: ScriptedRelease) -> Out {
    let (mut compile_time, mut run_time) = ([0; 55], [0; 11]);
    compile_time[CAPABILITY_FIELDS] = release.fields().0;
    if release == ScriptedRelease::R23ai {
        compile_time[CAPABILITY_READINESS] = READINESS;
    }
    run_time[6] = 4;
    let mut out = Out::default();
    out.u8(MESSAGE_PROTOCOL).raw(&[6, 0]).raw(b"x86_64/Linux 2.4.xx\0");
    out.raw(&873_u16.to_le_bytes()).u8(1).raw(&[0, 0]).u16(11).zeros(5).zeros(4).u16(2_000);
    out.bytes(&compile_time).bytes(&run_time);
    out
}

/// The keys with which a client encrypts its password.
pub(super) fn challenge(options: &ScriptedOptions) -> Vec<(&'static str, String)> {
    let challenge: &[(&str, &str)] = match options.has_old_verifier {
        true => &[("AUTH_SESSKEY", OLD_KEY), ("AUTH_VFR_DATA", "CDCDCDCDCDCDCDCDCDCD")],
        false => &[
            ("AUTH_SESSKEY", KEY),
            ("AUTH_VFR_DATA", "CDCDCDCDCDCDCDCDCDCDCDCDCDCDCDCD"),
            ("AUTH_PBKDF2_CSK_SALT", "EFEFEFEFEFEFEFEFEFEFEFEFEFEFEFEF"),
            // A real database requests thousands of rounds, which take a client longer than the rest of a
            // test.
            ("AUTH_PBKDF2_VGEN_COUNT", "16"),
            ("AUTH_PBKDF2_SDER_COUNT", "3"),
        ],
    };
    challenge.iter().map(|(name, value)| (*name, (*value).to_owned())).collect()
}

/// The session parameters that a client receives; the session has this number and this instance.
pub(super) fn session(release: ScriptedRelease, number: u64, instance: &str) -> Vec<(&'static str, String)> {
    vec![
        ("AUTH_VERSION_NO", release.number().to_string()),
        ("AUTH_SESSION_ID", number.to_string()),
        ("AUTH_SERIAL_NUM", "4242".to_owned()),
        ("AUTH_MAX_OPEN_CURSORS", "300".to_owned()),
        ("AUTH_SC_DBUNIQUE_NAME", "ORCL".to_owned()),
        ("AUTH_INSTANCENAME", instance.to_owned()),
    ]
}

/// Writes names and values of log-on parameters.
pub(super) fn put_parameters(out: &mut Out, parameters: &[(&str, String)]) {
    out.u8(MESSAGE_PARAMETERS).ub(parameters.len() as u64);
    for (name, value) in parameters {
        out.text(name).text(value).ub(0);
    }
}

/// Reads a fast authentication message after its kind: protocol, data types and the first log-on message in
/// one.
pub(super) fn read_fast_authentication(message: &mut In<'_>) -> Result<(), RequestFailure> {
    message.skip_u8(3)?;
    expect(message, MESSAGE_PROTOCOL)?;
    read_protocol(message)?;
    message.skip_u8(5)?;
    expect(message, FAST_AUTHENTICATION_FIELDS)?;
    expect(message, MESSAGE_DATA_TYPES)?;
    read_data_types(message)?;
    expect(message, MESSAGE_FUNCTION)?;
    expect(message, FUNCTION_LOGON_FIRST)?;
    message.skip_u8(1)?;
    read_logon(message)
}

/// Reads a protocol message after its kind: versions, and the client's name.
pub(super) fn read_protocol(message: &mut In<'_>) -> Result<(), Short> {
    message.until_zero()?;
    message.until_zero()?;
    Ok(())
}

/// Reads a data types message after its kind: character sets, the client's capabilities, and the types.
pub(super) fn read_data_types(message: &mut In<'_>) -> Result<(), Short> {
    message.skip_u8(5)?;
    message.bytes()?;
    message.bytes()?;
    while message.u16()? != 0 {
        message.skip_u8(6)?;
    }
    Ok(())
}

/// Reads a log-on message after its head: the user, and names with values.
pub(super) fn read_logon(message: &mut In<'_>) -> Result<(), RequestFailure> {
    message.skip_u8(1)?;
    message.skip_ub(2)?;
    message.skip_u8(1)?;
    let pairs = message.ub()?;
    message.skip_u8(2)?;
    message.bytes()?;
    for _ in 0..pairs {
        message.text()?;
        message.text()?;
        message.ub()?;
    }
    Ok(())
}

fn expect(message: &mut In<'_>, wanted: u8) -> Result<(), RequestFailure> {
    match message.u8()? {
        byte if byte == wanted => Ok(()),
        byte => Err(unexpected(format!("{byte} in place of {wanted} in fast authentication"))),
    }
}
