//! Tests that run concurrently with each other, but with no other tests: they wait for throttled devices.

mod devices;
