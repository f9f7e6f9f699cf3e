//! Tests of the crate: what the tables say, graphs, shapes, and values of small operations.
