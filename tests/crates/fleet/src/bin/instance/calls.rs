//! The calls of the service.

use std::sync::Arc;
use std::time::{Duration, Instant};

use breaker_redis::SharedFleetBreaker;
use breakerbox::{CallError, circuit_breaker};
use reqwest::Client;
use test_fleet::plan::{Answer, INSTANCE, Order, Plan, Saw};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::mpsc::error::TryRecvError;

use crate::tell::Teller;

/// Makes the calls, one after the other.
pub(crate) struct Caller {
    service: Service,
    breaker: Arc<SharedFleetBreaker>,
    timeout: Duration,
    teller: Teller,
    calls: u64,
}

struct Service {
    client: Client,
    url: String,
    instance: String,
}

impl Service {
    async fn call(&self) -> Result<(), reqwest::Error> {
        let request = self.client.get(&self.url).header(INSTANCE, &self.instance);
        request.send().await?.error_for_status()?;
        Ok(())
    }
}

#[circuit_breaker(breaker = breaker, timeout = limit)]
async fn guarded(
    breaker: &SharedFleetBreaker,
    limit: Duration,
    service: &Service,
) -> Result<(), CallError<reqwest::Error>> {
    service.call().await.map_err(CallError::Call)
}

impl Caller {
    pub(crate) fn new(plan: &Plan, breaker: Arc<SharedFleetBreaker>, teller: Teller) -> Self {
        Self {
            service: Service {
                client: Client::new(),
                url: plan.service.clone(),
                instance: plan.instance.clone(),
            },
            breaker,
            timeout: Duration::from_millis(plan.circuit.timeout),
            teller,
            calls: 0,
        }
    }

    /// Until there are no more orders; returns how many calls were begun.
    pub(crate) async fn run(mut self, mut orders: UnboundedReceiver<Order>) -> u64 {
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
                (Err(_), _) => return self.calls,
            }
        }
    }

    async fn call(&mut self) {
        let number = self.calls;
        self.calls += 1;
        let start = Instant::now();
        let result = guarded(&self.breaker, self.timeout, &self.service).await;
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
        });
    }
}
