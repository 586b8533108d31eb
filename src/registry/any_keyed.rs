//! Breakers by key, of whatever type.

use super::any::AnyBreaker;
use breaker_core::{Config, Overrides, Reconfiguration, ReconfigureError};
use std::sync::Arc;

/// Breakers by key, of whatever key, clock and policy.
pub(crate) trait AnyKeyed: Send + Sync {
    fn name(&self) -> &str;
    fn config(&self) -> Config;
    fn declared(&self) -> &Config;
    fn overrides(&self) -> Overrides;
    /// Also from within a test scope.
    fn reconfigure_outside(&self, overrides: &Overrides) -> Result<(), ReconfigureError>;
    /// Without telling the observers.
    fn reconfigure_quietly(
        &self,
        overrides: &Overrides,
    ) -> Result<Reconfiguration, ReconfigureError>;
    fn tell_reconfigured(&self, change: &Reconfiguration);
    fn reconfigure(&self, overrides: &Overrides) -> Result<Reconfiguration, ReconfigureError>;
    fn clear_overrides(&self) -> Option<Reconfiguration>;
    fn max_keys(&self) -> usize;
    fn len(&self) -> usize;
    fn any_breakers(&self) -> Vec<Arc<dyn AnyBreaker>>;
    fn find(&self, label: &str) -> Option<Arc<dyn AnyBreaker>>;
}
