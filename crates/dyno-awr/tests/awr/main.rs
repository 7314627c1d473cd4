//! Tests reports of every release and layout, synthetic and real ones.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod conformance;
mod details;
mod facts;
mod layouts;
mod mutations;
mod real;
mod releases;
mod sections;
mod series;
