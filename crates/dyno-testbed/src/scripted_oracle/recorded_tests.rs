//! Reads recorded bytes of real servers (18c, 21c and 23ai), writes them again, and compares the result. It
//! proves that the test server writes what a real one writes, as far as the recordings go.

use super::ScriptedValue;
use super::codec::{In, Out, value_of};
use super::failure::RequestFailure;
use super::messages::{
    CallEnd, Description, MESSAGE_DESCRIBE, MESSAGE_END_OF_RESPONSE, MESSAGE_ERROR, MESSAGE_PARAMETERS,
    MESSAGE_ROW, MESSAGE_ROW_HEADER, RowHeader,
};
use super::packets::{Accept, ConnectRequest, PACKET_ACCEPT, PACKET_CONNECT, PACKET_RESEND};
use super::recording::{packets, recordings};
use super::release::{FieldVersion, ScriptedRelease};
use super::request::ExecuteRequest;

const MESSAGE_FUNCTION: u8 = 3;
const MESSAGE_LOB_DATA: u8 = 14;
const FUNCTION_EXECUTE: u8 = 94;
const FUNCTION_LOB: u8 = 96;

/// Bytes of the locator of a temporary LOB.
const LOCATOR_BYTES: usize = 40;

/// The number before a request: its function.
fn function(message: &mut In<'_>, fields: FieldVersion) -> u8 {
    assert_eq!(message.u8().unwrap(), MESSAGE_FUNCTION);
    let function = message.u8().unwrap();
    message.u8().unwrap();
    if fields >= FieldVersion::R23_TOKENS {
        message.ub().unwrap();
    }
    function
}

#[test]
fn recorded_connect_is_accepted_like_the_real_server() {
    for (server, recording) in recordings("connect") {
        let requests = packets(&recording.written, false);
        for request in &requests {
            assert_eq!(request.kind, PACKET_CONNECT, "{server}");
            let request = ConnectRequest::read(&request.body, || panic!("the descriptor fits")).unwrap();
            assert_eq!(request.sdu, 8_192, "{server}");
            let service = format!("(SERVICE_NAME={})", recording.about["service"]);
            assert!(request.descriptor.contains(&service), "{server}: {}", request.descriptor);
        }
        let answers = packets(&recording.read, false);
        let (accepted, before) = answers.split_last().unwrap();
        assert!(before.iter().all(|packet| packet.kind == PACKET_RESEND), "{server}");
        assert_eq!((answers.len(), accepted.kind), (requests.len(), PACKET_ACCEPT), "{server}");
        let accept = Accept::read(&accepted.body).unwrap();
        assert_eq!(accept.protocol, recording.number("protocol_version"), "{server}");
        assert_eq!(accept.encode(), accepted.body, "{server}");
        let can = |flag: u32| (accept.flags & flag != 0).to_string();
        assert_eq!(can(0x1000_0000), recording.about["supports_fast_auth"], "{server}");
        assert_eq!(can(0x0200_0000), recording.about["supports_end_of_response"], "{server}");
        if server == "free23" {
            let scripted = ScriptedRelease::R23ai;
            assert_eq!(accept.protocol, scripted.protocol());
            assert_eq!(accept.flags & scripted.accept_flags(), scripted.accept_flags());
        }
    }
}

/// One message of an answer to a query.
#[derive(Debug)]
enum AnswerPart {
    Description(Description),
    RowHeader(RowHeader),
    Row(Vec<Vec<u8>>),
    Parameters(Vec<u64>),
    CallEnd(CallEnd),
    End,
}

impl AnswerPart {
    fn read(message: &mut In<'_>, fields: FieldVersion, columns: usize) -> Self {
        match message.u8().unwrap() {
            MESSAGE_DESCRIBE => Self::Description(Description::read(message, fields).unwrap()),
            MESSAGE_ROW_HEADER => Self::RowHeader(RowHeader::read(message).unwrap()),
            MESSAGE_ROW => Self::Row((0..columns).map(|_| message.bytes().unwrap()).collect()),
            MESSAGE_PARAMETERS => {
                let count = message.ub().unwrap();
                let values = (0..count).map(|_| message.ub().unwrap()).collect();
                // No transaction, settings or registration.
                assert_eq!([(); 3].map(|()| message.ub().unwrap()), [0; 3]);
                Self::Parameters(values)
            }
            MESSAGE_ERROR => Self::CallEnd(CallEnd::read(message, fields).unwrap()),
            MESSAGE_END_OF_RESPONSE => Self::End,
            kind => panic!("message {kind}"),
        }
    }

    fn put(&self, out: &mut Out, fields: FieldVersion) {
        match self {
            Self::Description(description) => description.put(out, fields),
            Self::RowHeader(header) => header.put(out),
            Self::Row(values) => {
                out.u8(MESSAGE_ROW);
                for value in values {
                    out.bytes(value);
                }
            }
            Self::Parameters(values) => {
                out.u8(MESSAGE_PARAMETERS).ub(values.len() as u64);
                for &value in values {
                    out.ub(value);
                }
                out.ub_zeros(3);
            }
            Self::CallEnd(end) => end.put(out, fields),
            Self::End => drop(out.u8(MESSAGE_END_OF_RESPONSE)),
        }
    }
}

/// The messages of an answer, each checked to be written as it was read.
fn answer_parts(answer: &[u8], fields: FieldVersion) -> Vec<AnswerPart> {
    let mut message = In::new(answer);
    let mut parts = Vec::new();
    while !message.is_empty() {
        let columns = parts.iter().find_map(|part| match part {
            AnswerPart::Description(description) => Some(description.columns.len()),
            _ => None,
        });
        parts.push(AnswerPart::read(&mut message, fields, columns.unwrap_or(0)));
    }
    let mut out = Out::default();
    for part in &parts {
        part.put(&mut out, fields);
    }
    assert_eq!(out.0, answer);
    parts
}

#[test]
fn recorded_queries_and_answers_round_trip() {
    for (server, recording) in recordings("postauth") {
        let fields = recording.fields();
        let requests = recording.messages(&recording.written);
        let [request] = &requests[..] else { panic!("{server}: {requests:?}") };
        let mut message = In::new(request);
        assert_eq!(function(&mut message, fields), FUNCTION_EXECUTE, "{server}");
        let Ok(request) = ExecuteRequest::read(&mut message, fields) else { panic!("{server}: {request:?}") };
        assert!(message.is_empty(), "{server}");
        let expected = ExecuteRequest {
            cursor: 0,
            sql: Some(recording.about["sql"].clone()),
            is_executed: true,
            is_definition: false,
            fetched: 2,
            binds: Vec::new(),
            executions: vec![Vec::new()],
        };
        assert_eq!(request, expected, "{server}");

        let answers = recording.messages(&recording.read);
        let [answer] = &answers[..] else { panic!("{server}: {answers:?}") };
        let parts = answer_parts(answer, fields);
        let (mut names, mut values, mut end) = (Vec::new(), Vec::new(), None);
        for part in parts {
            match part {
                AnswerPart::Description(description) => names = description.columns,
                AnswerPart::Row(row) => {
                    values.extend(row.into_iter().map(|bytes| value_of(names[0].kind, bytes)));
                }
                AnswerPart::CallEnd(call_end) => end = Some(call_end),
                _ => {}
            }
        }
        assert_eq!((names.len(), names[0].name.as_str(), names[0].precision), (1, "V", 6), "{server}");
        let value = recording.about["expected_value"].parse().unwrap();
        assert_eq!(values, [ScriptedValue::Int(value)], "{server}");
        let end = end.unwrap();
        assert_eq!((end.number, end.rows, end.cursor, end.call), (1_403, 1, 1, 3), "{server}");
        assert_eq!(end.text, "ORA-01403: no data found\n", "{server}");
    }
}

#[test]
fn truncated_recorded_requests_are_reported_as_short() {
    for (server, recording) in recordings("postauth") {
        let fields = recording.fields();
        let request = recording.messages(&recording.written).remove(0);
        for length in 5..request.len() {
            let mut message = In::new(&request[..length]);
            function(&mut message, fields);
            let read = ExecuteRequest::read(&mut message, fields);
            assert!(matches!(read, Err(RequestFailure::Short)), "{server}: {length} of {}", request.len());
        }
    }
}

#[test]
fn recorded_lob_operations_round_trip() {
    for (server, recording) in recordings("lob") {
        let fields = recording.fields();
        for request in recording.messages(&recording.written) {
            assert_eq!(function(&mut In::new(&request), fields), FUNCTION_LOB, "{server}");
        }
        let mut contents = Vec::new();
        for answer in recording.messages(&recording.read) {
            let (mut message, mut out) = (In::new(&answer), Out::default());
            let mut kind = message.u8().unwrap();
            if kind == MESSAGE_LOB_DATA {
                contents = message.bytes().unwrap();
                // In chunks, whatever its length.
                out.u8(kind).u8(254).ub(contents.len() as u64).raw(&contents).u8(0);
                kind = message.u8().unwrap();
            }
            assert_eq!(kind, MESSAGE_PARAMETERS, "{server}");
            out.u8(kind).raw(message.raw(LOCATOR_BYTES).unwrap());
            let first = out.0.len() == LOCATOR_BYTES + 1;
            // Character set and flag after creation; the length after a read.
            let mut next = message.u8().unwrap();
            if next != MESSAGE_ERROR {
                let size = message.raw(next.into()).unwrap();
                out.u8(next).raw(size);
                if first {
                    out.u8(message.u8().unwrap());
                }
                next = message.u8().unwrap();
            }
            assert_eq!(next, MESSAGE_ERROR, "{server}");
            let end = CallEnd::read(&mut message, fields).unwrap();
            assert_eq!(end.number, 0, "{server}");
            end.put(&mut out, fields);
            if !message.is_empty() {
                out.u8(message.u8().unwrap());
                assert_eq!(out.0.last(), Some(&MESSAGE_END_OF_RESPONSE), "{server}");
            }
            assert_eq!(out.0, answer, "{server}");
        }
        assert_eq!(contents, recording.about["expected_value"].as_bytes(), "{server}");
    }
}
