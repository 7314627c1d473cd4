//! Dyno: a dynamometer for database platforms.
fn main() {}
