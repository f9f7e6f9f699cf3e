//! How much work a problem is: operations and bytes, for benchmarks and schedules.
