//! A whole fleet: a Redis, a service, and instances that call it, each through a network of its own.

use std::env;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::Clock;
use crate::instance::{Call, Instance};
use crate::network::Network;
use crate::plan::{Circuit, Order, Plan, Sharing};
use crate::server::{self, Server};
use crate::service::Service;
use crate::wait;

/// What a fleet is started with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How many instances.
    pub instances: usize,
    /// Whether they share their circuits.
    pub shared: bool,
    /// Whether each has a network between itself and Redis.
    pub networks: bool,
    /// Whether each has a network between itself and the service.
    pub ways: bool,
    /// The clocks of the first ones; the others have the machine's.
    pub clocks: Vec<Arc<Clock>>,
    /// The circuit of all.
    pub circuit: Circuit,
    /// How it is shared.
    pub sharing: Sharing,
    /// Whether instances know how the fleet's circuit stands before they take orders.
    pub ready: bool,
    /// Whether instances write what they trace.
    pub trace: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            instances: 3,
            shared: true,
            networks: false,
            ways: false,
            clocks: Vec::new(),
            circuit: Circuit::default(),
            sharing: Sharing::default(),
            ready: false,
            trace: false,
        }
    }
}

/// A running fleet: in the order in which it is taken down.
#[derive(Debug)]
pub struct Fleet {
    /// Its instances.
    pub instances: Vec<Instance>,
    /// The network of each, if they have one.
    pub networks: Vec<Network>,
    /// The way of each to the service, if they have one of their own.
    pub ways: Vec<Network>,
    /// What they call.
    pub service: Service,
    /// What they share their circuits through.
    pub server: Server,
    settings: Settings,
    /// How many were started so far.
    started: usize,
}

impl Fleet {
    /// Starts instances beside this Redis, which may be down; they stand.
    ///
    /// # Panics
    /// If one doesn't start.
    #[must_use]
    pub fn start(settings: Settings, server: Server) -> Self {
        let mut fleet = Self {
            instances: Vec::new(),
            networks: Vec::new(),
            ways: Vec::new(),
            service: Service::start(),
            server,
            settings,
            started: 0,
        };
        for _ in 0..fleet.settings.instances {
            fleet.add();
        }
        fleet
    }

    /// One more instance, of a name that none had before.
    ///
    /// # Panics
    /// If it doesn't start.
    pub fn add(&mut self) -> &mut Instance {
        self.add_with(|_| {})
    }

    /// One more, of which something is otherwise.
    ///
    /// # Panics
    /// If it doesn't start.
    pub fn add_with(&mut self, change: impl FnOnce(&mut Plan)) -> &mut Instance {
        let number = self.started;
        self.started += 1;
        let mut address = self.server.address();
        if self.settings.networks {
            let network = Network::to(address);
            address = network.address();
            self.networks.push(network);
        }
        let mut service = self.service.address();
        if self.settings.ways {
            let way = Network::to(service);
            service = way.address();
            self.ways.push(way);
        }
        let mut plan = self.settings.plan(&name(number), service);
        plan.redis = self.settings.shared.then(|| server::url(address));
        change(&mut plan);
        let clock = self.settings.clocks.get(number).map(|clock| &**clock);
        self.instances
            .push(Instance::start(&program(), &plan, clock));
        self.instances.last_mut().expect("the one just started")
    }

    /// Tells all instances.
    pub fn order(&mut self, order: &Order) {
        for instance in &mut self.instances {
            instance.order(order);
        }
    }

    /// Tells one instance something of one key.
    pub fn order_of(&mut self, number: usize, key: &str, order: Order) {
        self.instances[number].order(&Order::Of {
            key: key.into(),
            order: Box::new(order),
        });
    }

    /// Lets all instances call, so many microseconds after the end of each call.
    pub fn go(&mut self, pause: u64) {
        self.order(&Order::Go { pause });
    }

    /// Waits until all instances have Redis.
    ///
    /// # Panics
    /// If one hasn't.
    pub fn connected(&mut self) {
        for instance in &mut self.instances {
            wait::until_so("an instance to have redis", || instance.look().connected);
        }
    }

    /// Waits until each instance has made so many calls more.
    ///
    /// # Panics
    /// If one doesn't.
    pub fn call_on(&self, calls: usize) {
        let so_far: Vec<usize> = self.instances.iter().map(Instance::called).collect();
        for (instance, so_far) in self.instances.iter().zip(so_far) {
            wait::until_so("calls to go on", || instance.called() >= so_far + calls);
        }
    }

    /// Waits until all circuits are in this state.
    ///
    /// # Panics
    /// If one isn't.
    pub fn all_become(&self, state: &str) {
        for instance in &self.instances {
            let found = wait::within(wait::LIMIT, || (instance.state() == state).then_some(()));
            assert!(
                found.is_some(),
                "{} is not {state}: {:?}",
                instance.name(),
                self.states()
            );
        }
    }

    /// The states of all circuits.
    #[must_use]
    pub fn states(&self) -> Vec<String> {
        self.instances.iter().map(Instance::state).collect()
    }

    /// Ends all instances, and looks that each of their calls had exactly one result, that the service
    /// got each that was made, and that none took this long.
    ///
    /// # Panics
    /// If a call has none, or two, or was so long.
    pub fn end(&mut self, too_long: Duration) {
        self.order(&Order::Stand);
        for instance in &mut self.instances {
            instance.end();
            let longest = instance.seen(|seen| seen.calls.iter().map(|call| call.took).max());
            let longest = longest.unwrap_or_default();
            assert!(
                longest < too_long,
                "{}: a call took {longest:?}",
                instance.name()
            );
            if self.ways.is_empty() {
                let made = |call: &&Call| call.result.reached_out();
                let made = instance.seen(|seen| seen.calls.iter().filter(made).count());
                let arrived = self.service.requests_of(instance.name());
                assert_eq!(arrived, made, "{}: calls were lost", instance.name());
            }
            eprintln!(
                "{}: {} calls, the longest took {longest:?}",
                instance.name(),
                instance.called()
            );
        }
    }
}

/// What an instance is called, by its number.
#[must_use]
pub fn name(number: usize) -> String {
    format!("i{number}")
}

impl Settings {
    /// What an instance of this name is told.
    #[must_use]
    pub fn plan(&self, name: &str, service: SocketAddr) -> Plan {
        Plan {
            instance: name.into(),
            service: format!("http://{service}/"),
            redis: None,
            authority: None,
            certificate: None,
            login: None,
            ready: self.ready,
            circuit: self.circuit.clone(),
            sharing: self.sharing.clone(),
            trace: self.trace,
        }
    }
}

/// The program of an instance: beside what runs this, or in the folder above that of tests.
///
/// # Panics
/// If it hasn't been built.
#[must_use]
pub fn program() -> PathBuf {
    let own = env::current_exe().expect("the path of this program");
    let mut folders = own.ancestors().skip(1).take(2);
    let program = folders.find_map(|folder| {
        let program = folder.join(format!("instance{}", env::consts::EXE_SUFFIX));
        program.is_file().then_some(program)
    });
    program.expect("the program `instance`: cargo build -p test-fleet --bins")
}
