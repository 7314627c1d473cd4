//! Tests runs on scripted databases, whose every operation is known.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(unreachable_pub, reason = "what tests share is public to them")]

mod intervals;
mod phases;
mod scene;
mod scripted;
mod several;
