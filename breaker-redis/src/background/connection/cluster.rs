//! All nodes of a cluster. Its client finds out which node has which circuit, and reads what nodes
//! answer: so neither is limited in size, nor TLS spoken.

use super::{Answer, Refusal};
use crate::error::Trouble;
use redis::aio::{AsyncPushSender, ConnectionLike};
use redis::cluster::ClusterClientBuilder;
use redis::cluster_async::ClusterConnection;
use redis::{Cmd, ConnectionInfo, ErrorKind, ProtocolVersion, RedisError, RedisResult};
use std::time::Duration;

/// How often a command is sent again where nodes have moved.
const RETRIES: u32 = 3;

/// What is said of a circuit whose node can't be reached, while others can.
const NO_NODE: &str = "NONODE";

/// Connects to the nodes that these know of.
pub(crate) async fn connect(
    nodes: &[ConnectionInfo],
    within: Duration,
    answer: Duration,
    listener: impl AsyncPushSender,
) -> Result<ClusterConnection, RedisError> {
    let client = ClusterClientBuilder::new(nodes.to_vec())
        .use_protocol(ProtocolVersion::RESP3)
        .connection_timeout(within)
        .response_timeout(answer)
        .overall_response_timeout(Some(answer))
        .retries(RETRIES)
        .push_sender(listener)
        .build()?;
    client.get_async_connection().await
}

/// Each to its node, all at once.
pub(super) async fn ask(
    connection: &ClusterConnection,
    commands: &[Cmd],
) -> RedisResult<Vec<Answer>> {
    let asked = commands.iter().map(|command| {
        let (mut connection, command) = (connection.clone(), command.clone());
        tokio::spawn(async move { connection.req_packed_command(&command).await })
    });
    // All are on their way before the first is waited for.
    let asked: Vec<_> = asked.collect();
    let (mut answers, mut unanswered) = (Vec::with_capacity(asked.len()), None);
    for answer in asked {
        let answer = answer.await.unwrap_or_else(|_| Err(abandoned()));
        answers.push(match answer {
            Ok(value) => super::refused(value),
            Err(error) => match error.code() {
                Some(code) => Err(Refusal::new(code, error.detail())),
                None => {
                    unanswered = Some(error);
                    Err(Refusal::new(NO_NODE, None))
                }
            },
        });
    }
    let is_none_answered = answers.iter().all(|answer| {
        answer
            .as_ref()
            .is_err_and(|refusal| refusal.code == NO_NODE)
    });
    match unanswered {
        Some(error) if is_none_answered => Err(error),
        _ => Ok(answers),
    }
}

fn abandoned() -> RedisError {
    (ErrorKind::Client, "the task has ended").into()
}

/// While connecting.
pub(crate) fn trouble(error: &RedisError, otherwise: Trouble) -> Trouble {
    match error.kind() {
        ErrorKind::ClusterConnectionNotFound | ErrorKind::Io => {
            Trouble::Unreachable("no node of the cluster answers".to_owned())
        }
        _ => otherwise,
    }
}
