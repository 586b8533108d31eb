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
use crate::operations::{self, Token};
use crate::places::Places;
use crate::process::told_to_end;
use crate::settings::{self, Problems, Reloading};
use crate::telemetry::{self, Metrics};
use crate::{front, kept};

/// Requests that are under way when it is to end may take so long.
const LAST_ANSWERS: Duration = Duration::from_secs(10);

/// A running service.
#[derive(Debug)]
pub struct Service {
    /// Where guests ask.
    pub front: SocketAddr,
    /// Where operators look.
    pub operations: SocketAddr,
    /// What operators log in with, where nobody knows it yet.
    new_token: Option<Token>,
    _problems: Option<Problems>,
    _reloading: Option<Reloading>,
    end: oneshot::Sender<()>,
    guests: JoinHandle<io::Result<()>>,
    operators: JoinHandle<io::Result<()>>,
}

/// What there is for operators.
#[derive(Debug)]
pub enum Pages {
    /// Nothing: nobody is told what circuits do.
    None,
    /// Status page and metrics.
    All {
        /// The numbers.
        metrics: Metrics,
        /// What operators know.
        token: Token,
        /// Nobody knows it yet.
        is_new: bool,
    },
}

impl Pages {
    /// Status page and metrics; logs are written from here on.
    ///
    /// # Errors
    /// Where the logs or the metrics can't be set up.
    pub fn watched(told: &args::Service) -> Result<Self, Trouble> {
        telemetry::log(told.logs())?;
        Ok(Self::All {
            metrics: Metrics::count()?,
            is_new: told.operator_token.is_none(),
            token: told.operator_token.clone().unwrap_or_else(Token::random),
        })
    }

    fn new_token(&self) -> Option<Token> {
        match self {
            Self::All {
                token,
                is_new: true,
                ..
            } => Some(token.clone()),
            _ => None,
        }
    }

    fn router(self) -> Router {
        match self {
            Self::None => operations::health(),
            Self::All { metrics, token, .. } => operations::router(metrics, token),
        }
    }
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
        pages: Pages,
    ) -> Result<Self, Trouble> {
        let problems = matches!(pages, Pages::All { .. }).then(Problems::say);
        settings::apply(told.settings.as_deref())?;
        let reloading = told.settings.clone().map(Reloading::at_hangups);
        let clients = Arc::new(Clients::new(guard, places)?);
        let guests = listen(told.port).await?;
        let operators = listen(told.operations_port).await?;
        let (end, ends) = oneshot::channel();
        Ok(Self {
            front: guests.local_addr()?,
            operations: operators.local_addr()?,
            new_token: pages.new_token(),
            _problems: problems,
            _reloading: reloading.transpose()?,
            end,
            guests: tokio::spawn(answer(guests, front::router(clients), async {
                let _ = ends.await;
            })),
            operators: tokio::spawn(answer(operators, pages.router(), std::future::pending())),
        })
    }

    /// Says where it is.
    ///
    /// # Errors
    /// Where nothing can be printed.
    pub fn print(&self) -> io::Result<()> {
        let Self {
            front,
            operations,
            new_token,
            ..
        } = self;
        writeln!(
            io::stdout(),
            "guests      http://{front}/hotels/adlon/rooms\n\
             status page http://{operations}/circuits\n\
             metrics     http://{operations}/metrics"
        )?;
        match new_token {
            Some(token) => writeln!(
                io::stdout(),
                "to operate  http://{operations}/login/{}",
                token.reveal()
            ),
            None => Ok(()),
        }
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
    let pages = match told.bare {
        true => Pages::None,
        false => Pages::watched(&told.service)?,
    };
    // Before the first call: until its breaker enters, a state waits for it.
    if let Some(file) = &told.keep {
        kept::restore(file);
    }
    let service = Service::start(&told.service, told.guard(), &told.places, pages).await?;
    service.print()?;
    told_to_end().await?;
    let ended = service.end().await;
    // After the last call.
    if let Some(file) = &told.keep {
        kept::keep(file)?;
    }
    ended
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
