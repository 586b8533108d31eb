//! `shared`: one breaker for all instances, meant so.

use std::sync::Arc;

use breakerbox::{CallError, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

struct Client<T>(T);

impl<T: Clone> Client<T> {
    #[circuit_breaker(shared)]
    async fn reference(&self) -> Answer {
        drop(self.0.clone());
        Ok(1)
    }

    #[circuit_breaker(threshold = 2, shared, reset = "1s")]
    fn unique_reference(&mut self) -> Answer {
        Ok(1)
    }

    #[circuit_breaker(shared)]
    async fn value(mut self) -> Result<T, CallError<()>> {
        self.0 = self.0.clone();
        Ok(self.0)
    }

    #[circuit_breaker(shared)]
    async fn arc(self: Arc<Self>) -> Answer {
        Ok(1)
    }
}

trait Pms {
    #[circuit_breaker(shared)]
    fn provided(&self) -> Answer {
        Ok(1)
    }
}

impl<T> Pms for Client<T> {}
impl Pms for str {}

fn main() {
    let mut client = Client(1);
    drop(client.reference());
    let _ = (client.unique_reference(), client.provided(), "x".provided());
    drop(client.value());
    drop(Arc::new(Client(1)).arc());
}
