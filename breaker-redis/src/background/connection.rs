//! A connection to Redis: commands in, what it answers out.

use super::trouble;
use redis::aio::MultiplexedConnection;
use redis::{Cmd, RedisResult, Value};

/// A connection to Redis. It never sends anything twice.
#[derive(Clone)]
pub(crate) struct Connection(pub(crate) MultiplexedConnection);

/// What Redis answered; `Err`: an error that it answered with.
pub(crate) type Answer = Result<Value, Refusal>;

/// An error that Redis answered with. Not to be shown: it may repeat anything.
pub(crate) struct Refusal {
    pub(crate) code: String,
    pub(crate) details: String,
}

impl Refusal {
    pub(crate) fn new(code: &str, details: Option<&str>) -> Self {
        let (code, details) = trouble::met_by_script(code, details.unwrap_or_default());
        Self {
            code: code.to_owned(),
            details: details.to_owned(),
        }
    }

    /// Whether this node of a cluster doesn't have what was asked about: another has it, or none.
    pub(crate) fn is_elsewhere(&self) -> bool {
        matches!(self.code.as_str(), "MOVED" | "ASK") || self.is_nowhere()
    }

    /// Whether no node has its slot, as far as this one knows. Where the whole cluster is down, Redis says so
    /// in other words.
    pub(crate) fn is_nowhere(&self) -> bool {
        self.code == "CLUSTERDOWN" && self.details.starts_with("Hash slot not served")
    }
}

impl Connection {
    /// Asks all of them at once. `Err`: there is no telling what became of them.
    pub(crate) async fn ask(&mut self, commands: &[Cmd]) -> RedisResult<Vec<Answer>> {
        let mut pipeline = redis::pipe();
        for command in commands {
            pipeline.add_command(command.clone());
        }
        let answers = self
            .0
            .send_packed_commands(&pipeline, 0, commands.len())
            .await?;
        Ok(answers.into_iter().map(refused).collect())
    }

    /// Messages of these channels are to arrive.
    pub(crate) async fn subscribe(&mut self, channels: &[String]) -> RedisResult<()> {
        self.0.subscribe(channels).await
    }

    /// Messages of these channels need not arrive any more.
    pub(crate) async fn unsubscribe(&mut self, channels: &[String]) -> RedisResult<()> {
        self.0.unsubscribe(channels).await
    }
}

fn refused(answer: Value) -> Answer {
    match answer {
        Value::ServerError(error) => Err(Refusal::new(error.code(), error.details())),
        answer => Ok(answer),
    }
}
