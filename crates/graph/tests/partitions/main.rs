//! Partitions: which operations end in one, and that they compute what their operations compute one by one.

mod allocations;
mod folds;
mod fuzz;
mod in_place;
mod nets;
mod open;
mod patterns;
