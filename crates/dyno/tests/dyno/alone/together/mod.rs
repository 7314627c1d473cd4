//! Tests that run beside each other and beside nothing else: they wait for devices that let little pass.

mod devices;
