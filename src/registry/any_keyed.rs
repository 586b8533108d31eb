//! Breakers by key, of whatever type.

use super::any::AnyBreaker;
use breaker_core::Config;
use std::sync::Arc;

/// Breakers by key, of whatever key, clock and policy.
pub(crate) trait AnyKeyed: Send + Sync {
    fn name(&self) -> &str;
    fn config(&self) -> &Config;
    fn max_keys(&self) -> usize;
    fn len(&self) -> usize;
    fn any_breakers(&self) -> Vec<Arc<dyn AnyBreaker>>;
    fn find(&self, label: &str) -> Option<Arc<dyn AnyBreaker>>;
}
