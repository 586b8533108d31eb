//! What others declare otherwise: noticed where it is certain that somebody goes by it now.

use super::{ByHand, done, told, with};
use crate::node::CLOSED;
use crate::races::options;
use crate::world::SECOND;
use breaker_redis::instance::{Instance, Options};
use breaker_redis::protocol::{Cause, Declared, Told};
use std::sync::Arc;

fn otherwise(counter: u64, by: &str) -> Told {
    let here = options(0).declared();
    Told {
        declared: Some(Declared {
            reset: here.reset + 1,
            ..here
        }),
        ..told(counter, CLOSED, Cause::Recovered, by)
    }
}

fn finds(instance: &Instance, told: &Told, by_message: bool) -> bool {
    let found = instance.declared_otherwise(told, by_message);
    assert!(found.is_none() || found == told.declared);
    found.is_some()
}

#[test]
fn what_stood_there_before_may_be_of_a_deploy_that_is_gone() {
    let mut instance = with(options(0));
    let (asked, _) = instance.asks(SECOND);
    let there = otherwise(4, "other");
    assert!(!finds(&instance, &there, false), "it is read");
    instance.replied(SECOND, asked, Ok(&done(there.clone())));
    assert!(!finds(&instance, &there, false), "it is read again");
    assert!(
        finds(&instance, &otherwise(5, "other"), false),
        "it was written since"
    );
    assert!(finds(&instance, &otherwise(5, "other"), true));
    assert!(
        finds(&instance, &there, true),
        "its message comes after it was read"
    );
    assert!(
        !finds(&instance, &otherwise(3, "other"), true),
        "it is late"
    );
}

#[test]
fn a_message_is_of_now_whatever_is_known() {
    let instance = with(options(0));
    assert!(finds(&instance, &otherwise(4, "other"), true));
}

#[test]
fn the_same_is_no_difference_nor_what_nobody_declares() {
    let instance = with(options(0));
    let declared = Some(options(0).declared());
    let same = Told {
        declared,
        ..otherwise(4, "other")
    };
    let none = Told {
        declared: None,
        ..same.clone()
    };
    assert!(!finds(&instance, &same, true));
    assert!(!finds(&instance, &none, true));
    assert_eq!(instance.caller().declared, declared, "others hear it");
}

#[test]
fn after_a_change_of_settings_its_own_word_of_before_is_no_difference() {
    let mut instance = with(options(0));
    let before = Told {
        declared: Some(options(0).declared()),
        ..otherwise(4, "node-0")
    };
    instance.set_options(Arc::new(Options {
        reset: std::time::Duration::from_secs(77),
        ..options(0)
    }));
    assert!(!finds(&instance, &before, true));
    // But a census is of whoever began it, although the state is its own.
    let census = Told {
        census: Some(0),
        ..before
    };
    assert!(finds(&instance, &census, true));
}
