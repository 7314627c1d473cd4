//! Tests of stored records: schema, counters, distributions.

mod counters;
mod latency;
mod schema;
