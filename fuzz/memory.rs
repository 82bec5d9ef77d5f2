//! The memory of every target: whoever asks for too much at once is stopped there, also where nothing is written to it and
//! the fuzzer's own limit sees nothing.

use std::alloc::System;

use cap::Cap;

/// Bytes that a target may hold.
const MEMORY_MAX: usize = 1024 * 1024 * 1024;

#[global_allocator]
static MEMORY: Cap<System> = Cap::new(System, MEMORY_MAX);
