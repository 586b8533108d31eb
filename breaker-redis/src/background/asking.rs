//! Commands, asked several at once, and what Redis answers.

use super::connect::Live;
use super::connection::{Answer as Raw, Connection, Refusal};
use super::trouble;
use crate::circuit::Circuit;
use crate::error::Trouble;
use crate::instance::Asked;
use crate::protocol::{Caller, Cause, Command, Reply, SCRIPT, Unusable, arguments};
use redis::{Cmd, Value};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How long Redis keeps a circuit that nobody uses: a week.
const LIVES: Duration = Duration::from_secs(7 * 86_400);

/// A command of a circuit.
pub(crate) struct Question {
    pub(crate) circuit: Arc<Circuit>,
    /// `None`: nobody waits for what comes of it.
    pub(crate) asked: Option<Asked>,
    arguments: Vec<String>,
    /// An operator's word.
    pub(crate) is_order: bool,
    /// It was no matter of urgency.
    pub(crate) can_wait: bool,
    /// Asked of the node that the circuit is just being moved to, which must be told so.
    pub(crate) is_moving: bool,
    /// How often it was asked of the wrong node.
    #[cfg_attr(not(feature = "cluster"), expect(dead_code, reason = "of a cluster"))]
    pub(crate) detours: u8,
}

/// What came of it.
pub(crate) struct Answered {
    pub(crate) question: Question,
    pub(crate) answer: Answer,
}

/// What Redis answered.
pub(crate) enum Answer {
    Reply(Reply),
    /// What makes no sense, or an error that has to do with this circuit alone.
    Unusable(Wrong),
    /// Another node of the cluster has it: nothing was done.
    Elsewhere(Refusal),
    /// An error that has to do with all.
    Refused(Trouble),
}

/// What is wrong with a circuit, or an answer about it.
pub(crate) enum Wrong {
    Nonsense(Unusable),
    Refused(Trouble),
    NoText,
}

/// What came of asking for messages.
pub(crate) enum Hearing {
    Done,
    /// The user may not hear this channel, or one of these.
    Refused(Trouble),
}

impl Question {
    pub(crate) fn new(
        circuit: &Arc<Circuit>,
        caller: &Caller,
        asked: Option<Asked>,
        command: &Command,
    ) -> Self {
        Self {
            circuit: Arc::clone(circuit),
            asked,
            arguments: arguments(&circuit.place, caller, LIVES, command),
            is_order: matches!(
                command,
                Command::Change {
                    cause: Cause::Operator,
                    ..
                }
            ),
            can_wait: false,
            is_moving: false,
            detours: 0,
        }
    }

    /// What a circuit has to say before nobody asks for it any more: once.
    pub(crate) fn last(circuit: &Arc<Circuit>, now: u64) -> Vec<Self> {
        if circuit.has_parted.swap(true, Ordering::AcqRel) {
            return Vec::new();
        }
        let mut instance = circuit.instance();
        let (caller, commands) = (instance.caller(), instance.farewell(now));
        drop(instance);
        let commands = commands.iter();
        commands
            .map(|command| Self::new(circuit, &caller, None, command))
            .collect()
    }

    fn command(&self, script: &str) -> Cmd {
        let mut command = redis::cmd("EVALSHA");
        command
            .arg(script)
            .arg(1)
            .arg(self.circuit.place.key())
            .arg(&self.arguments);
        command
    }
}

/// Asks all of them at once.
pub(crate) fn ask(
    live: &Live,
    questions: Vec<Question>,
    within: Duration,
) -> impl Future<Output = Result<Vec<Answered>, Trouble>> + use<> {
    let (mut connection, script) = (live.connection.clone(), live.script.clone());
    let gauge = live.gauge.clone();
    async move {
        let sent = send(&mut connection, &script, &questions, within).await;
        let mut answers = sent.map_err(|trouble| gauge.explain(trouble))?;
        gauge.clear();
        if answers.iter().any(is_without_script) {
            // Somebody has emptied its scripts. Those that did nothing for it are asked again.
            load(&mut connection, within).await?;
            let again = questions.iter().zip(&answers);
            let again = again.filter(|(_, answer)| is_without_script(answer));
            let again: Vec<_> = again.map(|(question, _)| question).collect();
            let others = send(&mut connection, &script, again, within).await?;
            gauge.clear();
            let asked_again = answers
                .iter_mut()
                .filter(|answer| is_without_script(answer));
            for (answer, other) in asked_again.zip(others) {
                *answer = other;
            }
        }
        if answers.len() != questions.len() {
            return Err(Trouble::Nonsense(
                "more or fewer answers than were asked".to_owned(),
            ));
        }
        let answered = questions.into_iter().zip(answers);
        let read = |(question, answer)| Answered {
            question,
            answer: read(answer),
        };
        Ok(answered.map(read).collect())
    }
}

async fn send<'q>(
    connection: &mut Connection,
    script: &str,
    questions: impl IntoIterator<Item = &'q Question>,
    within: Duration,
) -> Result<Vec<Raw>, Trouble> {
    let (mut commands, mut is_asked) = (Vec::new(), Vec::new());
    for question in questions {
        if question.is_moving {
            commands.push(redis::cmd("ASKING"));
            is_asked.push(false);
        }
        commands.push(question.command(script));
        is_asked.push(true);
    }
    let answers = connection.ask(&commands).await;
    let answers = answers.map_err(|error| trouble::of_answer(&error, within))?;
    let answers = answers.into_iter().zip(is_asked);
    Ok(answers
        .filter_map(|(answer, is_asked)| is_asked.then_some(answer))
        .collect())
}

async fn load(connection: &mut Connection, within: Duration) -> Result<(), Trouble> {
    let mut load = redis::cmd("SCRIPT");
    load.arg("LOAD").arg(SCRIPT);
    let answers = connection.ask(&[load]).await;
    let answers = answers.map_err(|error| trouble::of_answer(&error, within))?;
    match answers.into_iter().next() {
        Some(Err(refusal)) => Err(trouble::refusal(&refusal)),
        _ => Ok(()),
    }
}

/// Whether Redis still does anything.
pub(crate) fn is_alive(
    live: &Live,
    within: Duration,
) -> impl Future<Output = Result<(), Trouble>> + use<> {
    let (mut connection, gauge) = (live.connection.clone(), live.gauge.clone());
    async move {
        // An error is a sign of life, too.
        let answered = connection.ask(&[redis::cmd("PING")]).await;
        let answered = answered.map_err(|error| trouble::of_answer(&error, within));
        answered.map_err(|trouble| gauge.explain(trouble))?;
        // Where nothing else is ever asked, answers would add up.
        gauge.clear();
        Ok(())
    }
}

/// Messages of these channels are to arrive, or need not any more.
pub(crate) fn listen(
    live: &Live,
    channels: Vec<String>,
    is_to: bool,
    within: Duration,
) -> impl Future<Output = Result<Hearing, Trouble>> + use<> {
    let mut connection = live.connection.clone();
    async move {
        let done = match is_to {
            true => connection.subscribe(&channels).await,
            false => connection.unsubscribe(&channels).await,
        };
        match done {
            Ok(()) => Ok(Hearing::Done),
            Err(error) => match trouble::of_channel(&error) {
                Some(why) => Ok(Hearing::Refused(why)),
                None => Err(trouble::of_answer(&error, within)),
            },
        }
    }
}

fn is_without_script(answer: &Raw) -> bool {
    answer
        .as_ref()
        .is_err_and(|refusal| refusal.code == "NOSCRIPT")
}

fn read(answer: Raw) -> Answer {
    let text = match answer {
        Ok(Value::BulkString(text)) => text,
        Ok(Value::SimpleString(text)) => text.into_bytes(),
        Err(refusal) if refusal.is_elsewhere() => return Answer::Elsewhere(refusal),
        Err(refusal) if trouble::is_for_all(&refusal) => {
            return Answer::Refused(trouble::refusal(&refusal));
        }
        Err(refusal) => return Answer::Unusable(Wrong::Refused(trouble::refusal(&refusal))),
        Ok(_) => return Answer::Unusable(Wrong::NoText),
    };
    match Reply::decode(&text) {
        Ok(reply) => Answer::Reply(reply),
        Err(why) => Answer::Unusable(Wrong::Nonsense(why)),
    }
}
