//! What nodes say of what is where, which may be anything.

use super::MOST_NODES;
use crate::background::connect::{Live, Target, Trial};
use crate::background::connection::{Answer, Connection, Refusal};
use crate::background::limited::Gauge;
use crate::background::nodes::{Range, SLOTS};
use crate::background::trouble;
use crate::error::{ConnectionError, Trouble};
use redis::Value;
use std::sync::Arc;
use tokio::task::JoinSet;

/// Where a node said that a slot is.
#[derive(Debug, PartialEq)]
pub(super) struct Elsewhere {
    pub(super) slot: u16,
    pub(super) host: String,
    pub(super) port: u16,
}

impl Elsewhere {
    /// `from`: the host of who said so, and meant where nothing else is.
    pub(super) fn read(refusal: &Refusal, from: Option<&str>) -> Option<Self> {
        let (slot, address) = refusal.details.split_once(' ')?;
        let (host, port) = address.rsplit_once(':')?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let slot = slot.parse().ok().filter(|slot| *slot < SLOTS)?;
        let host = host_of(host.as_bytes(), from?)?;
        let port = port.parse().ok()?;
        Some(Self { slot, host, port })
    }
}

/// A host that a node named. It ends in messages, so it looks like one.
fn host_of(said: &[u8], from: &str) -> Option<String> {
    if said.is_empty() {
        return Some(from.to_owned());
    }
    let is_of_host = |byte: &u8| byte.is_ascii_alphanumeric() || b".:-_%".contains(byte);
    let fits = said.len() <= 255 && said.iter().all(is_of_host);
    fits.then(|| String::from_utf8_lossy(said).into_owned())
}

/// A connection that there is, and what was read of it.
pub(super) struct Known {
    connection: Connection,
    gauge: Gauge,
}

impl Known {
    pub(super) fn of(live: &Live) -> Self {
        Self {
            connection: live.connection.clone(),
            gauge: live.gauge.clone(),
        }
    }
}

/// Which node has what, as the first one says that says something.
pub(super) async fn ask_for_map(
    asked: Vec<(Arc<Target>, Option<Known>)>,
) -> Result<Vec<Range>, ConnectionError> {
    let mut asking = JoinSet::new();
    for (target, known) in asked {
        asking.spawn(async move {
            let at = target.shown();
            let map = map_of(&target, known).await;
            map.map_err(|trouble| ConnectionError { at, trouble })
        });
    }
    let mut why = None;
    while let Some(answered) = asking.join_next().await {
        match answered {
            Ok(Ok(map)) => {
                // Others answer all the same, on connections that others use: they are heard to the end.
                asking.detach_all();
                return Ok(map);
            }
            // One that says why it won't says more than one that isn't there.
            Ok(Err(error)) if why.is_none() || !is_absence(&error.trouble) => why = Some(error),
            _ => {}
        }
    }
    Err(why.unwrap_or_else(|| ConnectionError {
        at: "the cluster".to_owned(),
        trouble: Trouble::Ended("it was closed".to_owned()),
    }))
}

fn is_absence(trouble: &Trouble) -> bool {
    matches!(
        trouble,
        Trouble::Unreachable(_) | Trouble::Silent(_) | Trouble::Ended(_)
    )
}

async fn map_of(target: &Target, known: Option<Known>) -> Result<Vec<Range>, Trouble> {
    let mut command = redis::cmd("CLUSTER");
    command.arg("SLOTS");
    let made = match known {
        Some(_) => None,
        None => Some(target.connect(Trial::Nothing).await?),
    };
    let made_one = made.as_ref().map(Known::of);
    let Some(Known {
        mut connection,
        gauge,
    }) = known.or(made_one)
    else {
        return Err(Trouble::Nonsense("no answer".to_owned()));
    };
    let expected = gauge.expect_map();
    let answers = connection.ask(&[command]).await;
    let answers = answers.map_err(|error| {
        let trouble = trouble::of_answer(&error, target.answers_within());
        gauge.explain(trouble)
    })?;
    gauge.clear();
    drop((expected, made));
    let host = target.address().map_or("", |(host, _)| host);
    match answers.into_iter().next() {
        Some(answer) => read_map(answer, host),
        None => Err(Trouble::Nonsense("no answer".to_owned())),
    }
}

fn read_map(answer: Answer, from: &str) -> Result<Vec<Range>, Trouble> {
    let ranges = match answer {
        Ok(Value::Array(ranges)) => ranges,
        Err(refusal) if refusal.code == "ERR" && refusal.details.contains("cluster support") => {
            return Err(Trouble::Refuses(
                "it is no cluster: leave out `node`".to_owned(),
            ));
        }
        Err(refusal) => return Err(trouble::refusal(&refusal)),
        Ok(_) => return Err(Trouble::Nonsense("which node has what".to_owned())),
    };
    let ranges = ranges.iter().filter_map(|range| read_range(range, from));
    let ranges: Vec<_> = ranges.take(usize::from(SLOTS)).collect();
    let mut nodes: Vec<_> = ranges
        .iter()
        .map(|range| (&range.host, range.port))
        .collect();
    nodes.sort_unstable();
    nodes.dedup();
    if nodes.len() > MOST_NODES {
        let what = format!("a cluster of more than {MOST_NODES} nodes");
        return Err(Trouble::Nonsense(what));
    }
    if ranges.is_empty() {
        return Err(Trouble::Refuses(
            "its cluster has no slots: it isn't set up yet".to_owned(),
        ));
    }
    Ok(ranges)
}

/// One line of the map. `None`: it makes no sense, or its node isn't known.
fn read_range(range: &Value, from: &str) -> Option<Range> {
    let Value::Array(range) = range else {
        return None;
    };
    let [
        Value::Int(first),
        Value::Int(last),
        Value::Array(primary),
        ..,
    ] = range.as_slice()
    else {
        return None;
    };
    let [host, Value::Int(port), ..] = primary.as_slice() else {
        return None;
    };
    let host = match host {
        Value::BulkString(host) => host_of(host, from)?,
        Value::SimpleString(host) => host_of(host.as_bytes(), from)?,
        Value::Nil => from.to_owned(),
        _ => return None,
    };
    let slot = |slot: &i64| u16::try_from(*slot).ok().filter(|slot| *slot < SLOTS);
    let (first, last) = (slot(first)?, slot(last)?);
    let port = u16::try_from(*port).ok().filter(|port| *port != 0)?;
    (first <= last).then_some(Range {
        first,
        last,
        host,
        port,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fleet;
    use crate::background::asking;
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    const LONG: Duration = Duration::from_secs(60);

    /// A node that says what is where once it is told what to say, and does all else at once.
    fn node(map: mpsc::Receiver<String>) -> Arc<Target> {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a connection");
            let lines = BufReader::new(stream.try_clone().expect("the same one"));
            for line in lines.lines().map_while(Result::ok) {
                let said = match line.as_str() {
                    "HELLO" => "%1\r\n$5\r\nproto\r\n:3\r\n".to_owned(),
                    "SLOTS" => map.recv().expect("what to say"),
                    "PING" => "+PONG\r\n".to_owned(),
                    _ => continue,
                };
                if stream.write_all(said.as_bytes()).is_err() {
                    return;
                }
            }
        });
        let settings = Fleet::builder(format!("redis://{address}"));
        let settings = settings.lease(LONG).answer(LONG).connect(LONG);
        Arc::new(Target::new(&settings).expect("a target"))
    }

    /// A map with so many lines.
    fn map_of(lines: u16) -> String {
        let host = "h".repeat(64);
        let line = |slot| format!("*3\r\n:{slot}\r\n:{slot}\r\n*2\r\n$64\r\n{host}\r\n:6379\r\n");
        format!("*{lines}\r\n{}", (0..lines).map(line).collect::<String>())
    }

    /// Its connection is that of its circuits, and would end of an answer that long which nobody waits for.
    #[test]
    fn a_map_that_comes_late_ends_no_connection() {
        let [(say_at_once, at_once), (say_late, late)] = [(); 2].map(|()| mpsc::channel());
        let targets = [node(at_once), node(late)];
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().expect("a runtime");
        let live = [0, 1].map(|at: usize| {
            let live = runtime.block_on(targets[at].connect(Trial::Nothing));
            live.expect("a connection")
        });
        let asked = targets.into_iter().zip(&live);
        let asked = asked.map(|(target, live)| (target, Some(Known::of(live))));
        say_at_once.send(map_of(1)).expect("somebody to say it");
        let map = runtime.block_on(ask_for_map(asked.collect()));
        assert_eq!(map.expect("a map").len(), 1);
        let long = map_of(SLOTS);
        assert!(long.len() > 1 << 20);
        say_late.send(long).expect("somebody to say it");
        for live in &live {
            let alive = runtime.block_on(asking::is_alive(live, LONG));
            assert_eq!(alive, Ok(()));
        }
    }

    #[test]
    fn where_a_node_sends_is_read_or_left_alone() {
        let read = |details| Elsewhere::read(&Refusal::new("MOVED", Some(details)), Some("here"));
        let to = |slot, host: &str, port| {
            let host = host.to_owned();
            Some(Elsewhere { slot, host, port })
        };
        assert_eq!(read("3999 10.0.0.7:6381"), to(3999, "10.0.0.7", 6381));
        assert_eq!(read("0 [::1]:6381"), to(0, "::1", 6381));
        assert_eq!(read("16383 node-7.redis:1"), to(16_383, "node-7.redis", 1));
        assert_eq!(read("1 :6381"), to(1, "here", 6381), "the same host");
        for nonsense in [
            "",
            "1",
            "16384 10.0.0.7:6381",
            "-1 10.0.0.7:6381",
            "1 10.0.0.7",
            "1 10.0.0.7:65536",
            "1 ?:6381",
            "1 a b:6381",
            "1 a\u{1b}[2J:6381",
        ] {
            assert_eq!(read(nonsense), None, "{nonsense:?}");
        }
        let long = format!("1 {}:6381", "x".repeat(256));
        assert_eq!(read(&long), None);
    }

    #[test]
    fn of_a_map_only_what_makes_sense_counts() {
        let text = |text: &str| Value::BulkString(text.into());
        let line = |first, last, host: Value, port| {
            let node = Value::Array(vec![host, Value::Int(port)]);
            Value::Array(vec![Value::Int(first), Value::Int(last), node])
        };
        let good = [
            line(0, 5, text("10.0.0.7"), 6381),
            line(6, 6, Value::Nil, 6382),
            line(7, 16_383, text(""), 6383),
        ];
        let bad = [
            line(5, 4, text("a"), 1),
            line(-1, 4, text("a"), 1),
            line(0, 16_384, text("a"), 1),
            line(0, 1, text("a"), 0),
            line(0, 1, text("a"), 65_536),
            line(0, 1, text("?"), 1),
            line(0, 1, Value::Int(7), 1),
            Value::Array(vec![]),
            Value::Int(7),
        ];
        let all = [&bad[..], &good, &bad].concat();
        let ranges = read_map(Ok(Value::Array(all)), "here").expect("a map");
        let found = ranges
            .iter()
            .map(|it| (it.first, it.last, it.host.as_str(), it.port));
        let expected = [
            (0, 5, "10.0.0.7", 6381),
            (6, 6, "here", 6382),
            (7, 16_383, "here", 6383),
        ];
        assert_eq!(found.collect::<Vec<_>>(), expected);
        assert!(read_map(Ok(Value::Array(bad.into())), "here").is_err());
        let many = (0..2000).map(|port| line(port, port, text("a"), port + 1));
        let many = read_map(Ok(Value::Array(many.collect())), "here");
        assert!(matches!(many, Err(Trouble::Nonsense(_))), "{many:?}");
    }
}
