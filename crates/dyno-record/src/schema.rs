//! The JSON Schema of the run record, generated from the types so that both always agree.

use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use crate::counter::Counter;
use crate::record::{RunRecord, SCHEMA_VERSION};

/// The JSON Schema (draft 2020-12) of what [`RunRecord::to_json`] writes.
///
/// The file `catalog/schema/run-record.schema.json` is a copy of it; a test keeps it current.
pub fn schema() -> Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<RunRecord>();
    schema.insert("$id".into(), json!(format!("urn:dyno:run-record:{SCHEMA_VERSION}")));
    schema.insert("title".into(), json!("Dyno run record"));
    schema.insert(
        "description".into(),
        json!(
            "One window at one setting and everything known about it. Times are in microseconds, moments RFC 3339 \
             in UTC. A figure that is not known is absent with its reason, never 0. Readers skip keys they do not know."
        ),
    );
    if let Some(version) = schema.pointer_mut("/properties/schema_version") {
        version["const"] = json!(SCHEMA_VERSION);
    }
    // The generator does not describe keys of maps; readers know only these names.
    if let Some(portable) = schema.pointer_mut("/$defs/Counters/properties/portable") {
        portable["propertyNames"] = json!({ "enum": Counter::ALL.map(Counter::name) });
    }
    schema.to_value()
}
