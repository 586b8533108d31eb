//! The calls of the service.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use breaker_redis::{SharedFleetBreaker, SharedFleetKeyedBreakers};
use breakerbox::{CallError, circuit_breaker};
use reqwest::Client;
use test_fleet::plan::{Answer, INSTANCE, KEY, Order, Plan, Saw, header_of};
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::task::{JoinError, JoinHandle};

use crate::shared::{Breakers, ByRate};
use crate::tell::Teller;

/// Who calls: one, or one for each key, so that none waits for another's.
pub(crate) struct Callers {
    caller: Caller,
    of_keys: BTreeMap<Option<String>, (UnboundedSender<Order>, JoinHandle<()>)>,
}

/// Makes calls, one after the other.
#[derive(Clone)]
struct Caller {
    service: Arc<Service>,
    breakers: Breakers,
    timeout: Duration,
    teller: Teller,
    key: Option<String>,
    /// How many were begun, of all callers.
    calls: Arc<AtomicU64>,
}

struct Service {
    client: Client,
    url: String,
    instance: String,
}

impl Service {
    async fn call(&self, key: Option<&str>) -> Result<(), reqwest::Error> {
        let mut request = self.client.get(&self.url).header(INSTANCE, &self.instance);
        if let Some(key) = key {
            request = request.header(KEY, header_of(key));
        }
        request.send().await?.error_for_status()?;
        Ok(())
    }
}

type Called = Result<(), CallError<reqwest::Error>>;

#[circuit_breaker(breaker = breaker, timeout = limit)]
async fn guarded(breaker: &SharedFleetBreaker, limit: Duration, service: &Service) -> Called {
    service.call(None).await.map_err(CallError::Call)
}

#[circuit_breaker(breaker = breaker, timeout = limit)]
async fn guarded_by_rate(breaker: &ByRate, limit: Duration, service: &Service) -> Called {
    service.call(None).await.map_err(CallError::Call)
}

#[circuit_breaker(breaker = breakers, key = key, timeout = limit)]
async fn guarded_by_key(
    breakers: &SharedFleetKeyedBreakers<String>,
    key: &str,
    limit: Duration,
    service: &Service,
) -> Called {
    service.call(Some(key)).await.map_err(CallError::Call)
}

impl Callers {
    pub(crate) fn new(plan: &Plan, breakers: Breakers, teller: Teller) -> Self {
        let is_one = !matches!(breakers, Breakers::ByKey(_));
        let mut callers = Self {
            caller: Caller {
                service: Arc::new(Service {
                    client: Client::new(),
                    url: plan.service.clone(),
                    instance: plan.instance.clone(),
                }),
                breakers,
                timeout: Duration::from_millis(plan.circuit.timeout),
                teller,
                key: None,
                calls: Arc::default(),
            },
            of_keys: BTreeMap::new(),
        };
        if is_one {
            callers.start(None);
        }
        callers
    }

    fn start(&mut self, key: Option<String>) {
        self.of_keys.entry(key).or_insert_with_key(|key| {
            let (to_caller, orders) = mpsc::unbounded_channel();
            let mut caller = self.caller.clone();
            caller.key.clone_from(key);
            (to_caller, tokio::spawn(caller.run(orders)))
        });
    }

    /// Tells who calls with this key; with none: all who call.
    pub(crate) fn order(&mut self, key: Option<String>, order: &Order) {
        if key.is_some() {
            self.start(key.clone());
        }
        for (of, (caller, _)) in &self.of_keys {
            if key.is_none() || *of == key {
                let _ = caller.send(order.clone());
            }
        }
    }

    /// Once all have ended: how many calls were begun.
    pub(crate) async fn end(self) -> Result<u64, JoinError> {
        for (caller, task) in self.of_keys.into_values() {
            drop(caller);
            task.await?;
        }
        Ok(self.caller.calls.load(Ordering::Relaxed))
    }
}

impl Caller {
    /// Until there are no more orders.
    async fn run(self, mut orders: UnboundedReceiver<Order>) {
        let mut pause = None;
        loop {
            let order = match pause {
                None => orders.recv().await.ok_or(TryRecvError::Disconnected),
                Some(_) => orders.try_recv(),
            };
            match (order, pause) {
                (Ok(Order::Go { pause: micros }), _) => pause = Some(Duration::from_micros(micros)),
                (Ok(Order::Call { times }), _) => {
                    for _ in 0..times {
                        self.call().await;
                    }
                }
                (Ok(_), _) => pause = None,
                (Err(TryRecvError::Empty), Some(pause)) => {
                    self.call().await;
                    tokio::time::sleep(pause).await;
                }
                (Err(_), _) => return,
            }
        }
    }

    async fn call(&self) {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        let start = Instant::now();
        let result = match (&self.breakers, &self.key) {
            (Breakers::One(breaker), _) => guarded(breaker, self.timeout, &self.service).await,
            (Breakers::ByRate(breaker), _) => {
                guarded_by_rate(breaker, self.timeout, &self.service).await
            }
            (Breakers::ByKey(breakers), key) => {
                let key = key.as_deref().unwrap_or_default();
                guarded_by_key(breakers, key, self.timeout, &self.service).await
            }
        };
        let took = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
        let result = match result {
            Ok(()) => Answer::Good,
            Err(CallError::Call(_)) => Answer::Failed,
            Err(CallError::TimedOut(_)) => Answer::TimedOut,
            Err(_) => Answer::Refused,
        };
        self.teller.tell(Saw::Call {
            number,
            result,
            took,
            key: self.key.clone(),
        });
    }
}
