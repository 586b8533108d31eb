//! Nodes that flood, lie, or hang up: played by the tests.

use crate::support::{LONG, Lines, name, until};
use breaker_redis::{Fleet, FleetBreaker, Sharing, Trouble};
use breakerbox::{Breaker, Settings, State};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// What such a node does when it is asked something.
pub(super) enum Answer {
    /// As a node would.
    Usual,
    Say(&'static str),
    /// Begins so, and never ends.
    Flood(&'static str, &'static str),
    /// As a node with this port says it.
    Map(fn(u16) -> String),
    /// That another node has it, which is this one.
    Redirect,
    HangUp,
}

/// A node that has all slots, and what it was asked.
pub(super) struct Node {
    port: u16,
    asked: Arc<Mutex<Vec<Vec<String>>>>,
}

impl Node {
    pub(super) fn that(answers: impl Fn(&[String]) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::<Mutex<Vec<_>>>::default();
        let (heard, answers) = (Arc::clone(&asked), Arc::new(answers));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (heard, answers) = (Arc::clone(&heard), Arc::clone(&answers));
                thread::spawn(move || serve(stream, port, &heard, &*answers));
            }
        });
        Self { port, asked }
    }

    pub(super) fn fleet(&self) -> breaker_redis::FleetBuilder {
        let url = format!("redis://somebody:hush@127.0.0.1:{}", self.port);
        Fleet::builder(&url)
            .node(url)
            .lease(LONG)
            .answer(LONG)
            .connect(LONG)
    }

    pub(super) fn count(&self, of: &str) -> usize {
        let asked = self.asked.lock().unwrap();
        asked.iter().filter(|command| command[0] == of).count()
    }

    /// What the script was run with, each time.
    fn scripts(&self) -> Vec<Vec<String>> {
        let asked = self.asked.lock().unwrap();
        let is_script = |command: &&Vec<String>| command[0] == "EVALSHA";
        asked.iter().filter(is_script).cloned().collect()
    }
}

fn serve(
    mut stream: TcpStream,
    port: u16,
    heard: &Mutex<Vec<Vec<String>>>,
    answers: &dyn Fn(&[String]) -> Answer,
) {
    let mut lines = BufReader::new(stream.try_clone().unwrap());
    while let Some(command) = read(&mut lines) {
        heard.lock().unwrap().push(command.clone());
        let said = match answers(&command) {
            Answer::Usual => usual(&command, port),
            Answer::Say(text) => text.to_owned(),
            Answer::Redirect => format!("-MOVED 7 127.0.0.1:{port}\r\n"),
            Answer::HangUp => return,
            Answer::Map(map) => map(port),
            Answer::Flood(begin, more) => {
                let _ = stream.write_all(begin.as_bytes());
                let more = more.repeat(65_536 / more.len());
                while stream.write_all(more.as_bytes()).is_ok() {}
                return;
            }
        };
        if stream.write_all(said.as_bytes()).is_err() {
            return;
        }
    }
}

/// One command. `None`: there is none any more.
fn read(lines: &mut impl BufRead) -> Option<Vec<String>> {
    let words = read_number(lines)?;
    let word = |_| {
        let length = read_number(lines)?;
        let mut word = vec![0; length + 2];
        lines.read_exact(&mut word).ok()?;
        word.truncate(length);
        String::from_utf8(word).ok()
    };
    (0..words).map(word).collect()
}

/// After `*` or `$`.
fn read_number(lines: &mut impl BufRead) -> Option<usize> {
    let mut line = String::new();
    lines.read_line(&mut line).ok()?;
    line.get(1..)?.trim().parse().ok()
}

fn usual(command: &[String], port: u16) -> String {
    match command[0].as_str() {
        "HELLO" => "%1\r\n$5\r\nproto\r\n:3\r\n".to_owned(),
        "CLUSTER" => {
            format!("*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:{port}\r\n")
        }
        "SCRIPT" => format!("$40\r\n{}\r\n", "a".repeat(40)),
        "SUBSCRIBE" => {
            let of = |channel: &String| {
                let length = channel.len();
                format!(">3\r\n$9\r\nsubscribe\r\n${length}\r\n{channel}\r\n:1\r\n")
            };
            command[1..].iter().map(of).collect()
        }
        "PING" => "+PONG\r\n".to_owned(),
        _ => ":1\r\n".to_owned(),
    }
}

/// An operator's word that is to be told.
fn held_open(fleet: &Fleet) -> Arc<breaker_redis::SharedFleetBreaker> {
    let breaker = Arc::new(Breaker::new(name("told"), Settings::new().must()));
    breaker.force_open();
    let breaker = Arc::new(FleetBreaker::of(breaker, Sharing::new()));
    fleet.share(&breaker).expect("to be shared");
    breaker
}

#[test]
fn what_a_node_floods_is_not_kept() {
    let long = ["$9000000000000\r\n", "*1000000000\r\n$90000000\r\n", "+"];
    let floods = long.map(|begin| (begin, "x"));
    // Of three bytes each the parser makes many more.
    let values = ("*1000000000\r\n", "_\r\n");
    for to in ["CLUSTER", "SCRIPT", "EVALSHA"] {
        for (begin, more) in floods.into_iter().chain([values]) {
            let node = Node::that(move |command| match command[0] == to {
                true => Answer::Flood(begin, more),
                false => Answer::Usual,
            });
            let fleet = node.fleet().start().expect("a fleet");
            let breaker = held_open(&fleet);
            until("it to be refused", || fleet.status().last_error.is_some());
            let error = fleet.status().last_error.unwrap();
            let (of_map, of_answer) = (
                Trouble::Nonsense("a map of its cluster that is longer than any can be".to_owned()),
                Trouble::Nonsense("an answer of more than 1 MiB".to_owned()),
            );
            // What else is asked may be flooded while a map is waited for.
            let is_expected =
                error.trouble == of_map || to != "CLUSTER" && error.trouble == of_answer;
            assert!(is_expected, "{to} {begin:?}: {error}");
            assert_eq!(error.at, format!("127.0.0.1:{}", node.port));
            assert_eq!(breaker.state(), State::ForcedOpen);
        }
    }
}

#[test]
fn what_may_have_been_done_is_not_sent_again_by_itself() {
    let node = Node::that(|command| match command[0].as_str() {
        // It may have been done: nobody will ever know.
        "EVALSHA" => Answer::HangUp,
        _ => Answer::Usual,
    });
    let fleet = node.fleet().start().expect("a fleet");
    let breaker = held_open(&fleet);
    until("it to be asked again", || node.scripts().len() >= 3);
    let words: Vec<_> = node
        .scripts()
        .into_iter()
        .map(|command| (command[11].clone(), command.last().cloned().unwrap()))
        .collect();
    // The first says that it is new; those after it that they were asked before, so that they are not
    // done over what another operator said since.
    let change = |again: &str| ("change".to_owned(), again.to_owned());
    assert_eq!(words[..3], [change("0"), change("1"), change("1")]);
    let lost = fleet.status().lost;
    assert!(lost >= 2, "each time the connection was lost: {lost}");
    drop(breaker);
}

/// Nodes that don't agree who has something, and each send to the other, get no storm of questions.
#[test]
fn a_circuit_that_is_sent_to_and_fro_is_asked_for_later() {
    let node = Node::that(|command| match command[0].as_str() {
        "EVALSHA" => Answer::Redirect,
        _ => Answer::Usual,
    });
    let poll = Duration::from_millis(500);
    let fleet = node.fleet().poll(poll).start().expect("a fleet");
    let begun = Instant::now();
    let breaker = held_open(&fleet);
    // As often as it follows, and once more by itself, five times over.
    let at_once = 5;
    until("it to be asked for again", || {
        node.count("EVALSHA") > 5 * at_once
    });
    let maps = node.count("CLUSTER");
    // Later by half of a poll at least. On a busy machine it is more.
    let took = begun.elapsed();
    assert!(took >= poll * 5 / 2, "asked for all the time: {took:?}");
    let most = took.as_millis() / 100 + 2;
    assert!(maps as u128 <= most, "{maps} maps in {took:?}");
    let status = fleet.status();
    assert_eq!((status.lost, status.nonsense), (0, 0), "{status:?}");
    drop(breaker);
}

/// As where nodes don't agree who has what after a failover: it has the slot, it says, and then it hasn't.
#[test]
fn a_circuit_whose_slot_a_node_has_and_refuses_is_lost_once_and_asked_for_more_and_more_rarely() {
    let refuses = Arc::new(AtomicBool::new(true));
    let node = Node::that({
        let refuses = Arc::clone(&refuses);
        move |command| match command[0].as_str() {
            "EVALSHA" if refuses.load(Ordering::Relaxed) => {
                Answer::Say("-CLUSTERDOWN Hash slot not served\r\n")
            }
            _ => Answer::Usual,
        }
    });
    let prefix = name("refused");
    let lines = Lines::of(prefix);
    let poll = Duration::from_millis(500);
    let fleet = node.fleet().prefix(prefix).poll(poll).start();
    let (fleet, begun) = (fleet.expect("a fleet"), Instant::now());
    let breaker = held_open(&fleet);
    until("it to be asked for again", || node.count("EVALSHA") >= 6);
    // After a tenth of a second at first, and twice as long each time.
    let (took, maps) = (begun.elapsed(), node.count("CLUSTER"));
    assert!(took >= Duration::from_secs(1), "{took:?}");
    assert!(maps <= node.count("EVALSHA") + 1, "{maps} maps");
    let status = fleet.status();
    assert_eq!((status.lost, status.nonsense), (0, 0), "{status:?}");
    assert!(!status.is_connected, "{status:?}");
    let told = lines.all();
    assert!(
        matches!(&told[..], [one] if one.contains("no node of its cluster")),
        "{told:?}"
    );
    // What it answers then makes no sense, but it is an answer.
    refuses.store(false, Ordering::Relaxed);
    until("an answer", || fleet.status().nonsense > 0);
    drop(breaker);
}

#[test]
fn a_map_that_makes_no_sense_leads_nowhere() {
    for (said, expected) in [
        ("+OK\r\n", "says what makes no sense: which node has what"),
        ("*0\r\n", "its cluster has no slots"),
        (
            "*1\r\n*3\r\n:0\r\n:99999\r\n*2\r\n$3\r\na b\r\n:1\r\n",
            "its cluster has no slots",
        ),
        (
            "-ERR This instance has cluster support disabled\r\n",
            "refuses commands: it is no cluster: leave out `node`",
        ),
        (
            "-NOPERM User somebody has no permissions to run the 'cluster|slots' command\r\n",
            "the user may not run `cluster|slots`",
        ),
    ] {
        let node = Node::that(move |command| match command[0] == "CLUSTER" {
            true => Answer::Say(said),
            false => Answer::Usual,
        });
        let fleet = node.fleet().start().expect("a fleet");
        until("it to be refused", || fleet.status().last_error.is_some());
        let text = fleet.status().last_error.unwrap().to_string();
        assert!(text.contains(expected), "{text}");
        assert!(
            !text.contains("hush") && !text.contains("somebody"),
            "{text}"
        );
    }
}
