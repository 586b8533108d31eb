//! Nothing: its test compiles what needs a feature that is not there.
#![no_std]
