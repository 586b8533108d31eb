//! The service as it runs: one address for guests, one for operators, and an end in good order.

use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::serve::ListenerExt;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::Trouble;
use crate::args::{self, Serve};
use crate::clients::{Clients, Guard};
use crate::operations::Operations;
use crate::places::Places;
use crate::process::told_to_end;
use crate::{front, operations};

/// Requests that are under way when it is to end may take so long.
const LAST_ANSWERS: Duration = Duration::from_secs(10);

/// A running service.
#[derive(Debug)]
pub struct Service {
    /// Where guests ask.
    pub front: SocketAddr,
    /// Where operators look.
    pub operations: SocketAddr,
    end: oneshot::Sender<()>,
    guests: JoinHandle<io::Result<()>>,
    operators: JoinHandle<io::Result<()>>,
}

impl Service {
    /// Begins to answer.
    ///
    /// # Errors
    /// Where a port is taken, or the clients can't be set up.
    pub async fn start(
        told: &args::Service,
        guard: Guard,
        places: &Places,
        operations: Operations,
    ) -> Result<Self, Trouble> {
        let clients = Arc::new(Clients::new(guard, places)?);
        let guests = listen(told.port).await?;
        let operators = listen(told.operations_port).await?;
        let (end, ends) = oneshot::channel();
        Ok(Self {
            front: guests.local_addr()?,
            operations: operators.local_addr()?,
            end,
            guests: tokio::spawn(answer(guests, front::router(clients), async {
                let _ = ends.await;
            })),
            operators: tokio::spawn(answer(
                operators,
                operations::router(operations),
                std::future::pending(),
            )),
        })
    }

    /// Says where it is.
    ///
    /// # Errors
    /// Where nothing can be printed.
    pub fn print(&self) -> io::Result<()> {
        let Self {
            front, operations, ..
        } = self;
        writeln!(
            io::stdout(),
            "guests      http://{front}/hotels/adlon/rooms\n\
             status page http://{operations}/circuits\n\
             metrics     http://{operations}/metrics"
        )
    }

    /// Takes no new requests, answers those that are under way, and ends. Who looks at the status page
    /// sees it to the end: that connection never ends by itself.
    ///
    /// # Errors
    /// Where answers are still owed after 10 s.
    pub async fn end(self) -> Result<(), Trouble> {
        let _ = self.end.send(());
        let ended = timeout(LAST_ANSWERS, self.guests).await;
        self.operators.abort();
        match ended {
            Ok(served) => Ok(served??),
            Err(_) => Err("some requests were not answered in time".into()),
        }
    }
}

/// Serves until it is told to end.
///
/// # Errors
/// Where a port is taken, or answers are still owed at the end.
pub async fn serve(told: &Serve) -> Result<(), Trouble> {
    let operations = Operations::default();
    let service = Service::start(&told.service, told.guard(), &told.places, operations).await?;
    service.print()?;
    told_to_end().await?;
    service.end().await
}

async fn listen(port: u16) -> Result<TcpListener, Trouble> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let listener = TcpListener::bind(address).await;
    listener.map_err(|error| format!("can't listen at {address}: {error}").into())
}

async fn answer(
    listener: TcpListener,
    router: Router,
    end: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    // An answer is small, and is not to wait for the rest of a packet.
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, router)
        .with_graceful_shutdown(end)
        .await
}
