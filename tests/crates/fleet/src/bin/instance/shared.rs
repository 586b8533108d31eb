//! The circuits, and the fleet that shares them.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use breaker_redis::{
    Fleet, FleetBreaker, FleetKeyedBreakers, SharedFleetBreaker, SharedFleetKeyedBreakers, Sharing,
};
use breakerbox::{
    AnyBreaker, Breaker, DefaultClock, FoundKeyed, Settings, Sliding, Trigger, Window,
};
use test_fleet::plan::{Plan, Saw};

/// For so long at most it is waited for what the fleet knows.
const READY: Duration = Duration::from_secs(60);

/// One that opens by rate. Windows of 100 calls have eight parts.
pub(crate) type ByRate = FleetBreaker<Arc<Breaker<DefaultClock, Sliding<8>>>>;

/// One circuit, or one for each key.
#[derive(Clone, Debug)]
pub(crate) enum Breakers {
    One(Arc<SharedFleetBreaker>),
    ByRate(Arc<ByRate>),
    ByKey(Arc<SharedFleetKeyedBreakers<String>>),
}

/// The circuits, and the fleet, if they are shared.
#[derive(Debug)]
pub(crate) struct Circuits {
    pub(crate) breakers: Breakers,
    name: String,
    fleet: Option<Fleet>,
}

impl Circuits {
    pub(crate) fn new(plan: &Plan) -> Result<Self, Box<dyn Error>> {
        let breakers = breakers(plan)?;
        let fleet = match &plan.redis {
            None => None,
            Some(url) => Some(share(plan, url, &breakers)?),
        };
        let name = plan.circuit.name.clone();
        Ok(Self {
            breakers,
            name,
            fleet,
        })
    }

    pub(crate) fn look(&self) -> Saw {
        let status = self.fleet.as_ref().map(Fleet::status).unwrap_or_default();
        let (state, keys) = match &self.breakers {
            Breakers::One(breaker) => (breaker.state().as_str(), BTreeMap::new()),
            Breakers::ByRate(breaker) => (breaker.state().as_str(), BTreeMap::new()),
            Breakers::ByKey(breakers) => {
                let known = breakers.breakers().into_iter();
                let states = known.map(|one| (one.key().clone(), one.state().as_str().into()));
                ("closed", states.collect())
            }
        };
        Saw::State {
            state: state.into(),
            keys,
            connected: status.is_connected,
            nonsense: status.nonsense,
            trouble: status.last_error.map(|error| error.to_string()),
        }
    }

    /// Does what an operator does: to the circuit of this key, or to all that are known.
    pub(crate) fn operate(&self, key: Option<&str>, what: &str) {
        match (&self.breakers, key) {
            (Breakers::One(breaker), _) => operate_one(&***breaker, what),
            (Breakers::ByRate(breaker), _) => operate_one(&***breaker, what),
            (Breakers::ByKey(breakers), Some(key)) => {
                let mut known = breakers.breakers().into_iter();
                match known.find(|one| one.key() == key) {
                    Some(one) => operate_one(&one, what),
                    None => eprintln!("no such key: {key:?}"),
                }
            }
            (Breakers::ByKey(_), None) => match breakerbox::find_keyed(&self.name) {
                Some(all) => operate_all(&all, what),
                None => eprintln!("no such breakers: {}", self.name),
            },
        }
    }
}

fn operate_one(breaker: &dyn AnyBreaker, what: &str) {
    let done = match what {
        "close" => breaker.close(),
        "force_open" => breaker.force_open(),
        "disable" => breaker.disable(),
        "shadow" => breaker.shadow(),
        "clear" => breaker.clear(),
        _ => return is_unknown(what),
    };
    debug_assert_eq!(done.trigger, Trigger::Operator);
}

fn operate_all(breakers: &FoundKeyed, what: &str) {
    let many = match what {
        "close" => breakers.close(),
        "force_open" => breakers.force_open(),
        "disable" => breakers.disable(),
        "shadow" => breakers.shadow(),
        "clear" => breakers.clear(),
        _ => return is_unknown(what),
    };
    debug_assert!(many <= breakers.max_keys());
}

fn is_unknown(what: &str) {
    eprintln!("no such thing for an operator to do: {what}");
}

fn breakers(plan: &Plan) -> Result<Breakers, Box<dyn Error>> {
    let (settings, how) = (&plan.circuit, &plan.sharing);
    let common = Settings::new()
        .reset(Duration::from_millis(settings.reset))
        .jitter(settings.jitter);
    let mut sharing = Sharing::new().quorum(how.quorum);
    if how.counted {
        sharing = sharing.counting();
    }
    let name = settings.name.as_str();
    if let Some(rate) = settings.rate {
        let by_rate = common
            .failure_rate(rate.failures)
            .window(Window::calls(rate.window))
            .min_calls(rate.min_calls);
        let breaker = Breaker::shared_by_rate(name, by_rate.build_rate()?)?;
        return Ok(Breakers::ByRate(Arc::new(FleetBreaker::of(
            breaker, sharing,
        ))));
    }
    let config = common.threshold(settings.threshold).build()?;
    Ok(match settings.keys {
        None => Breakers::One(FleetBreaker::shared(name, config, sharing)?),
        Some(most) => Breakers::ByKey(FleetKeyedBreakers::shared(name, config, most, sharing)?),
    })
}

fn share(plan: &Plan, url: &str, breakers: &Breakers) -> Result<Fleet, Box<dyn Error>> {
    let how = &plan.sharing;
    let millis = Duration::from_millis;
    let mut builder = Fleet::builder(url)
        .prefix(&how.prefix)
        .instance(&plan.instance)
        .lease(millis(how.lease))
        .poll(millis(how.poll))
        .answer(millis(how.answer))
        .connect(millis(how.connect))
        .alive(millis(how.poll) * 3);
    if let Some(file) = &plan.authority {
        builder = builder.root_certificates(fs::read(file)?);
    }
    if let Some((certificate, key)) = &plan.certificate {
        builder = builder.client_certificate(fs::read(certificate)?, fs::read(key)?);
    }
    if let Some((user, password)) = &plan.login {
        builder = builder.login(user, password);
    }
    if plan.trace {
        eprintln!("{builder:?}");
    }
    let fleet = builder.start()?;
    match breakers {
        Breakers::One(breaker) => fleet.share(breaker)?,
        Breakers::ByRate(breaker) => fleet.share(breaker)?,
        Breakers::ByKey(breakers) => fleet.share_keyed(breakers)?,
    }
    if plan.ready {
        fleet.ready(READY)?;
    }
    Ok(fleet)
}
