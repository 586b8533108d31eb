//! What every program has: subtracted from the others.
#![cfg_attr(target_os = "none", no_std, no_main)]

test_size::program!(test_size::nothing);
