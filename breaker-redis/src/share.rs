//! What can be shared.

use crate::breaker::FleetBreaker;
use crate::circuit::Reach;
use crate::error::FleetError;
use crate::group::Group;
use crate::hub::Hub;
use crate::keyed::FleetKeyedBreakers;
use crate::membership::Membership;
use crate::sharing::Sharing;
use breakerbox::{AnyBreaker, Breaker, Clock, Config, KeyedBreakers, Policy, link};
use std::sync::{Arc, Weak};

pub(crate) mod sealed {
    use crate::error::FleetError;
    use crate::hub::Hub;
    use std::sync::Arc;

    /// The fleet that is joined.
    #[derive(Clone, Copy)]
    #[expect(missing_debug_implementations, reason = "nobody outside gets one")]
    pub struct To<'a>(pub(crate) &'a Arc<Hub>);

    pub trait Joins {
        fn join(self, to: To<'_>) -> Result<(), FleetError>;
    }
}

use sealed::{Joins, To};

/// What [`Fleet::share`](crate::Fleet::share) takes: a reference to a `static`
/// [`FleetBreaker`], or to one of a breaker that lives as long as it is used (`Arc`, `&'static`).
/// Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a breaker that a fleet can share",
    label = "expected a reference to a `FleetBreaker`",
    note = "of a plain breaker say how it is shared: `static PMS_FLEET: FleetBreaker = FleetBreaker::of(&PMS, Sharing::new());`",
    note = "a breaker that is kept by value must be a `static`: else make it by `FleetBreaker::shared`",
    note = "breakers by key are shared by `Fleet::share_keyed`"
)]
pub trait Share: Joins {}

/// What [`Fleet::share_keyed`](crate::Fleet::share_keyed) takes, in the same way as [`Share`]: a
/// reference to [`FleetKeyedBreakers`]. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are not breakers by key that a fleet can share",
    label = "expected a reference to `FleetKeyedBreakers`",
    note = "of plain breakers say how they are shared: `FleetKeyedBreakers::of(&HOSTS, Sharing::new())`",
    note = "a single breaker is shared by `Fleet::share`"
)]
pub trait ShareKeyed: Joins {}

fn check(hub: &Hub, name: &str, sharing: &Sharing, config: &Config) -> Result<(), FleetError> {
    let answer = hub.times().answer;
    let checked = sharing
        .check(config)
        .and_then(|()| sharing.check_in_fleet(answer));
    checked.map_err(|error| FleetError::Sharing {
        name: name.to_owned(),
        error,
    })
}

/// By a name that it has for another's sake, it would be shared with nobody, or with whom it is not meant to be:
/// who comes first differs between processes, and lines between versions.
fn check_name(name: &str) -> Result<(), FleetError> {
    match link::asked_name(name) {
        None => Ok(()),
        Some(asked) => Err(FleetError::Renamed {
            name: name.to_owned(),
            asked,
        }),
    }
}

/// One breaker joins the fleet.
fn join_one<C, P>(
    hub: &Arc<Hub>,
    breaker: &Breaker<C, P>,
    reach: Reach,
    sharing: &Sharing,
    membership: &Membership,
) -> Result<(), FleetError>
where
    C: Clock + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
{
    check(hub, breaker.name(), sharing, &breaker.config())?;
    let shared_already = || FleetError::AlreadyShared(breaker.name().to_owned());
    let linkage = membership.linkage(|link| breaker.link(link));
    // From here on it has its name for good.
    let linkage = linkage.map_err(|_| shared_already())?;
    check_name(breaker.name())?;
    let group = Group::of_one(hub, *sharing, &linkage, breaker, reach);
    if !linkage.join(&group) {
        return Err(shared_already());
    }
    // Before the background knows of it, which tells what begins now that Redis is there.
    group.begin(breaker);
    if !hub.add(&group) {
        group.withdraw();
        return Err(FleetError::NameTaken(breaker.name().to_owned()));
    }
    group.look_at_all();
    Ok(())
}

/// Breakers by key join the fleet.
fn join_keyed<O, C, P>(
    hub: &Arc<Hub>,
    breakers: &KeyedBreakers<O, C, P>,
    sharing: &Sharing,
    membership: &Membership,
) -> Result<(), FleetError>
where
    O: Send + Sync + 'static,
    C: Clock + Clone + Send + Sync + 'static,
    P: Policy + Send + Sync + 'static,
{
    check(hub, breakers.name(), sharing, &breakers.config())?;
    let shared_already = || FleetError::AlreadyShared(breakers.name().to_owned());
    let linkage = membership.linkage(|link| breakers.link(link));
    let linkage = linkage.map_err(|_| shared_already())?;
    check_name(breakers.name())?;
    let (name, config) = (breakers.name(), breakers.config());
    let group = Group::of_keys(hub, *sharing, &linkage, name, &config);
    if !linkage.join(&group) {
        return Err(shared_already());
    }
    if !hub.add(&group) {
        group.withdraw();
        return Err(FleetError::NameTaken(name.to_owned()));
    }
    group.add_known(linkage.keys());
    Ok(())
}

/// Those of each place that a breaker can be kept in, and what leads there without keeping it.
macro_rules! places {
    ($($to:ty, |$fleet:ident| $reach:expr;)*) => {$(
        impl<C, P> Joins for $to
        where
            C: Clock + Send + Sync + 'static,
            P: Policy + Send + Sync + 'static,
        {
            fn join(self, To(hub): To<'_>) -> Result<(), FleetError> {
                let $fleet = self;
                join_one(hub, self, $reach, self.sharing(), &self.membership)
            }
        }

        impl<C, P> Share for $to
        where
            C: Clock + Send + Sync + 'static,
            P: Policy + Send + Sync + 'static,
        {
        }
    )*};
}

places!(
    &'static FleetBreaker<Breaker<C, P>>, |fleet| Reach::Static(fleet.inner());
    &FleetBreaker<&'static Breaker<C, P>>, |fleet| Reach::Static(*fleet.inner());
    &FleetBreaker<Arc<Breaker<C, P>>>, |fleet| weak(fleet.inner());
    &Arc<FleetBreaker<Arc<Breaker<C, P>>>>, |fleet| weak(fleet.inner());
);

fn weak<T: AnyBreaker + 'static>(breaker: &Arc<T>) -> Reach {
    let weak: Weak<T> = Arc::downgrade(breaker);
    Reach::Weak(weak)
}

/// Those of each place that breakers by key can be kept in.
macro_rules! places_keyed {
    ($($to:ty),*) => {$(
        impl<O, C, P> Joins for $to
        where
            O: Send + Sync + 'static,
            C: Clock + Clone + Send + Sync + 'static,
            P: Policy + Send + Sync + 'static,
        {
            fn join(self, To(hub): To<'_>) -> Result<(), FleetError> {
                join_keyed(hub, self, self.sharing(), &self.membership)
            }
        }

        impl<O, C, P> ShareKeyed for $to
        where
            O: Send + Sync + 'static,
            C: Clock + Clone + Send + Sync + 'static,
            P: Policy + Send + Sync + 'static,
        {
        }
    )*};
}

places_keyed!(
    &'static FleetKeyedBreakers<KeyedBreakers<O, C, P>>,
    &FleetKeyedBreakers<&'static KeyedBreakers<O, C, P>>,
    &FleetKeyedBreakers<Arc<KeyedBreakers<O, C, P>>>,
    &Arc<FleetKeyedBreakers<Arc<KeyedBreakers<O, C, P>>>>
);
