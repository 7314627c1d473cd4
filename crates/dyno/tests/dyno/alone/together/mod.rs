//! Tests that run beside each other and beside nothing else: one takes one processor, and the others wait for devices that let little
//! pass.

mod devices;
mod one_processor;
