//! The guide: what each option does, and how to choose.
//!
//! It is here for readers alone: no code, and nothing of it is compiled into a program. Each chapter
//! is a file in `src/guide/`; every example in it is run by `cargo test --doc --all-features`, and
//! shows what it says by asserting it.
//!
//! | chapter | what it answers |
//! | --- | --- |
//! | [Options](options) | what can be written in the brackets, with an example for each |
//! | [Threshold and reset](choosing) | which numbers to begin with, and what they cost |
//! | [Failures](failures) | which errors are outages, and which are answers |
//! | [Classifiers](classifiers) | which classifier, for which client and which error |
//! | [Dependencies](dependencies) | how many breakers there should be, and of what |
//! | [Timeouts and cancellation](timeouts) | what becomes of a call that takes too long, or is dropped |
//! | [Composing](composing) | in which order retries, rate limits, timeouts, races and breakers stand, and why |
//! | [Last-good answers](last_good) | what to say while the dependency says nothing, and how old it may be |
//! | [Observing](observing) | which circuit is open, and why: in the log, as numbers, by asking |
//! | [Operating](operating) | what to do when a circuit is open, settings at run time, and bringing a breaker in by shadow |
//! | [One circuit for a fleet](sharing) | when instances should share a circuit through Redis, what it takes, and what it does at scale |
//! | [Operating a fleet](operating_fleets) | a health page, an operator's program, one key of many, and how long each takes to be known everywhere |
//! | [At the edge](edge) | edge workers, browsers, Node: what is different there |
//! | [Testing](testing) | tests of annotated functions that never sleep |
//!
//! A newcomer may read [Failures](failures) and [Threshold and reset](choosing) first: these two
//! are decisions, and the rest can be looked up.

// Without the features that they are about, some links lead nowhere.
#![cfg_attr(
    not(all(
        feature = "last-good-disk",
        feature = "tokio",
        feature = "test-util",
        feature = "aws",
        feature = "reqwest",
        feature = "tonic",
        feature = "tower"
    )),
    allow(rustdoc::broken_intra_doc_links)
)]

#[doc = include_str!("guide/options.md")]
pub mod options {
    #[doc = include_str!("guide/options/opening.md")]
    pub mod opening {}

    #[doc = include_str!("guide/options/recovery.md")]
    pub mod recovery {}

    #[doc = include_str!("guide/options/breakers.md")]
    pub mod breakers {}

    #[doc = include_str!("guide/options/call.md")]
    pub mod call {}

    #[doc = include_str!("guide/options/answers.md")]
    pub mod answers {}
}

#[doc = include_str!("guide/choosing.md")]
pub mod choosing {}

#[doc = include_str!("guide/failures.md")]
pub mod failures {}

#[doc = include_str!("guide/classifiers.md")]
pub mod classifiers {}

#[doc = include_str!("guide/dependencies.md")]
pub mod dependencies {}

#[doc = include_str!("guide/timeouts.md")]
pub mod timeouts {}

#[doc = include_str!("guide/composing.md")]
pub mod composing {}

#[doc = include_str!("guide/last_good.md")]
pub mod last_good {}

#[doc = include_str!("guide/edge.md")]
pub mod edge {}

#[doc = include_str!("guide/observing.md")]
pub mod observing {}

#[doc = include_str!("guide/operating.md")]
pub mod operating {}

// Its example is run by `breaker-redis`, which it is about. The plots stand before it as definitions of
// the references that it shows, since no file is copied beside the pages.
#[cfg_attr(not(doctest), doc = include_str!("guide/fleet/images.md"))]
#[cfg_attr(not(doctest), doc = include_str!("guide/sharing.md"))]
pub mod sharing {}

// Likewise.
#[cfg_attr(not(doctest), doc = include_str!("guide/operating_fleets.md"))]
pub mod operating_fleets {}

#[doc = include_str!("guide/testing.md")]
pub mod testing {}
