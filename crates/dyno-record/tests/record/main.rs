//! Records as they are stored: schema, counters, distributions.

mod counters;
mod latency;
mod schema;
