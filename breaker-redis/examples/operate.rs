//! Looks at a circuit of a fleet, or sets it for all of its processes:
//! `REDIS_URL=rediss://.. operate open pms`. A process that knows the circuit by its name alone is enough.

use breaker_redis::{Fleet, FleetBreaker, FleetKeyedBreakers, Sharing};
use breakerbox::{AnyBreaker, Settings};
use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

const USAGE: &str = "usage: REDIS_URL=redis[s]://[user:password@]host[:port] [FLEET=prefix] \
                     operate show|open|close|disable|shadow CIRCUIT [KEY]";

/// For longer than a connection may take, so that it is known what is wrong with it.
const PATIENCE: Duration = Duration::from_secs(8);
const DAY: Duration = Duration::from_secs(86_400);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ended = match words[..] {
        ["--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        [_, circuit, ..] if circuit.ends_with(']') => Err(
            "name the key by itself: `hosts adlon` for what the log calls `hosts[adlon]`".into(),
        ),
        [_, ref names @ ..] if names.contains(&"") => Err("a circuit or key without a name".into()),
        [word, circuit] if is_known(word) => operate(word, circuit, None),
        [word, circuit, key] if is_known(word) => operate(word, circuit, Some(key)),
        _ => Err(USAGE.into()),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn is_known(word: &str) -> bool {
    ["show", "open", "close", "disable", "shadow"].contains(&word)
}

fn operate(word: &str, circuit: &str, key: Option<&str>) -> Result<(), Box<dyn Error>> {
    let url = std::env::var("REDIS_URL").map_err(|_| USAGE)?;
    let prefix = std::env::var("FLEET").unwrap_or_else(|_| "breakerbox".to_owned());
    let fleet = Fleet::builder(url).prefix(prefix).start()?;
    // How it is declared stays with those that call the service: it is the state that is shared. But what
    // is left of a wait is cut to the longest that there can be by a breaker's own configuration.
    let config = Settings::new().reset(DAY).max_reset(DAY).build()?;
    let sharing = Sharing::new();
    match key {
        None => {
            let breaker = FleetBreaker::shared(circuit, config, sharing)?;
            fleet.share(&breaker)?;
            act(&fleet, word, &**breaker)
        }
        Some(key) => {
            let breakers = FleetKeyedBreakers::shared(circuit, config, 1, sharing)?;
            fleet.share_keyed(&breakers)?;
            // A key that nobody has used in this process is new here: by `get` it is asked for.
            act(&fleet, word, &breakers.get(key))
        }
    }
}

fn act(fleet: &Fleet, word: &str, breaker: &dyn AnyBreaker) -> Result<(), Box<dyn Error>> {
    fleet.ready(PATIENCE)?;
    match word {
        "open" => drop(breaker.force_open()),
        "close" => drop(breaker.close()),
        "disable" => drop(breaker.disable()),
        "shadow" => drop(breaker.shadow()),
        _ => {}
    }
    // Until then nobody else knows of it.
    fleet.ready(PATIENCE)?;
    if fleet.status().unheard > 0 {
        let (name, keys) = (breaker.name(), breaker.key().map_or("no keys", |_| "keys"));
        eprintln!(
            "no other process shares `{name}` now: are it and the fleet called so, and has it {keys}? Who \
             shares it later heeds it"
        );
    }
    match breaker.time_left() {
        Some(Duration::ZERO) => println!("{}, waits for a call to probe", breaker.state()),
        Some(left) => println!("{}, until {left:?} from now", breaker.state()),
        None => println!("{}", breaker.state()),
    }
    Ok(())
}
