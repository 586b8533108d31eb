//! A connection to Redis, or to all nodes of a cluster: as far as they differ.

#[cfg(feature = "cluster")]
pub(crate) mod cluster;

use redis::aio::MultiplexedConnection;
use redis::{Cmd, RedisResult, Value};

/// A connection to Redis.
#[derive(Clone)]
pub(crate) enum Connection {
    One(MultiplexedConnection),
    #[cfg(feature = "cluster")]
    Cluster(redis::cluster_async::ClusterConnection),
}

/// What Redis answered; `Err`: an error that it answered with.
pub(crate) type Answer = Result<Value, Refusal>;

/// An error that Redis answered with. Not to be shown: it may repeat anything.
pub(crate) struct Refusal {
    pub(crate) code: String,
    pub(crate) details: String,
}

impl Refusal {
    pub(crate) fn new(code: &str, details: Option<&str>) -> Self {
        Self {
            code: code.to_owned(),
            details: details.unwrap_or_default().to_owned(),
        }
    }
}

impl Connection {
    /// Asks all of them at once. `Err`: there is no telling what became of them.
    pub(crate) async fn ask(&mut self, commands: &[Cmd]) -> RedisResult<Vec<Answer>> {
        match self {
            Self::One(connection) => {
                let mut pipeline = redis::pipe();
                for command in commands {
                    pipeline.add_command(command.clone());
                }
                let answers = connection.send_packed_commands(&pipeline, 0, commands.len());
                Ok(answers.await?.into_iter().map(refused).collect())
            }
            #[cfg(feature = "cluster")]
            Self::Cluster(connection) => cluster::ask(connection, commands).await,
        }
    }

    /// Messages of these channels are to arrive.
    pub(crate) async fn subscribe(&mut self, channels: &[String]) -> RedisResult<()> {
        match self {
            Self::One(connection) => connection.subscribe(channels).await,
            #[cfg(feature = "cluster")]
            Self::Cluster(connection) => connection.subscribe(channels).await,
        }
    }

    /// Messages of these channels need not arrive any more.
    pub(crate) async fn unsubscribe(&mut self, channels: &[String]) -> RedisResult<()> {
        match self {
            Self::One(connection) => connection.unsubscribe(channels).await,
            #[cfg(feature = "cluster")]
            Self::Cluster(connection) => connection.unsubscribe(channels).await,
        }
    }
}

fn refused(answer: Value) -> Answer {
    match answer {
        Value::ServerError(error) => Err(Refusal::new(error.code(), error.details())),
        answer => Ok(answer),
    }
}
