//! The circuit, and the fleet that shares it.

use std::error::Error;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use breaker_redis::{Fleet, FleetBreaker, SharedFleetBreaker, Sharing};
use breakerbox::Settings;
use test_fleet::plan::{Plan, Saw};

/// The circuit, and the fleet, if it is shared.
#[derive(Debug)]
pub(crate) struct Circuit {
    pub(crate) breaker: Arc<SharedFleetBreaker>,
    fleet: Option<Fleet>,
}

impl Circuit {
    pub(crate) fn new(plan: &Plan) -> Result<Self, Box<dyn Error>> {
        let (settings, how) = (&plan.circuit, &plan.sharing);
        let config = Settings::new()
            .threshold(settings.threshold)
            .reset(Duration::from_millis(settings.reset))
            .jitter(settings.jitter)
            .build()?;
        let mut sharing = Sharing::new().quorum(how.quorum);
        if how.counted {
            sharing = sharing.counting();
        }
        let breaker = FleetBreaker::shared(settings.name.as_str(), config, sharing)?;
        let fleet = match &plan.redis {
            None => None,
            Some(url) => {
                let poll = Duration::from_millis(how.poll);
                let mut builder = Fleet::builder(url)
                    .prefix(&how.prefix)
                    .instance(&plan.instance)
                    .lease(Duration::from_millis(how.lease))
                    .poll(poll)
                    .answer(Duration::from_millis(how.answer))
                    .alive(poll * 3);
                if let Some(file) = &plan.authority {
                    builder = builder.root_certificates(fs::read(file)?);
                }
                if plan.trace {
                    eprintln!("{builder:?}");
                }
                let fleet = builder.start()?;
                fleet.share(&breaker)?;
                Some(fleet)
            }
        };
        Ok(Self { breaker, fleet })
    }

    pub(crate) fn look(&self) -> Saw {
        let status = self.fleet.as_ref().map(Fleet::status).unwrap_or_default();
        Saw::State {
            state: self.breaker.state().as_str().into(),
            connected: status.is_connected,
            nonsense: status.nonsense,
            trouble: status.last_error.map(|error| error.to_string()),
        }
    }
}
