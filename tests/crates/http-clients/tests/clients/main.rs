//! What the classifiers make of what HTTP's clients really give, from servers that misbehave.

mod hyper;
mod reqwest;
mod retry_after;
mod server;
mod ureq;
mod verdict;
