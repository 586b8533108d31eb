//! Commands that the other side doesn't know: it is a Sentinel or a proxy, as a rule, and no Redis.

use super::super::connection::Refusal;
use super::rights::COMMANDS;

/// Those of the login: what is asked of a connection beside [`COMMANDS`].
const OF_LOGIN: [&str; 4] = [HELLO, "auth", "ping", "select"];

/// Which no Redis before 6.0 knows.
pub(super) const HELLO: &str = "hello";

/// What it doesn't know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unknown {
    Command(&'static str),
    /// It doesn't say which.
    OfScript,
    /// None of those that are asked.
    Other,
}

/// What it doesn't know, if that is what is wrong. It says the command, and what came with it: so only names
/// of ours are repeated.
pub(super) fn unknown(Refusal { code, details }: &Refusal) -> Option<Unknown> {
    let starts_with = |words: &str| {
        let start = details.get(..words.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(words))
    };
    if code != "ERR" {
        return None;
    }
    // 6.2 calls the script one in Lua, and knows no `Redis` there.
    if ["Unknown Redis command", "Unknown command called from"]
        .into_iter()
        .any(starts_with)
    {
        return Some(Unknown::OfScript);
    }
    if !["unknown command", "unknown subcommand"]
        .into_iter()
        .any(starts_with)
    {
        return None;
    }
    // The first that is quoted, in whatever quotes.
    let said = details.split(['\'', '`', '"']).nth(1).unwrap_or_default();
    let mut ours = COMMANDS
        .into_iter()
        .chain(OF_LOGIN)
        .flat_map(|command| command.split('|'));
    let known = ours.find(|command| command.eq_ignore_ascii_case(said));
    Some(known.map_or(Unknown::Other, Unknown::Command))
}

/// What is wrong, and what to do.
pub(super) fn in_words(unknown: Unknown) -> String {
    let what = match unknown {
        Unknown::Command(command) => format!("the command `{command}`"),
        Unknown::OfScript => "a command that the script runs".to_owned(),
        Unknown::Other => "a command that is needed".to_owned(),
    };
    format!(
        "it doesn't know {what} (ERR): of a Sentinel or a proxy write the address of the redis behind it, and \
         where a command was renamed, give its name back"
    )
}

#[cfg(test)]
mod tests {
    use super::super::{is_for_all, refusal};
    use super::*;
    use crate::error::Trouble;

    /// As Redis 6.2, 7.0 and a Sentinel say it.
    #[test]
    fn a_command_that_is_unknown_is_named_if_it_is_ours() {
        for (details, expected) in [
            (
                "unknown command 'SCRIPT', with args beginning with: 'LOAD' 'secret' ",
                Unknown::Command("script"),
            ),
            (
                "unknown command `EVALSHA`, with args beginning with: `00`, `1`, `shop:pms`, ",
                Unknown::Command("evalsha"),
            ),
            ("unknown command 'hset'", Unknown::Command("hset")),
            ("unknown command 'SUBSCRIBE'", Unknown::Command("subscribe")),
            ("unknown command 'HELLO'", Unknown::Command(HELLO)),
            (
                "unknown subcommand 'LOAD'. Try SCRIPT HELP.",
                Unknown::Command("load"),
            ),
            ("unknown command 'secret'", Unknown::Other),
            ("unknown command secret", Unknown::Other),
            ("unknown command", Unknown::Other),
            (
                "Unknown Redis command called from script script: 00, on @user_script:1.",
                Unknown::OfScript,
            ),
            (
                "Error running script (call to f_00): @user_script:7: @user_script: 7: Unknown Redis \
                 command called from Lua script",
                Unknown::OfScript,
            ),
        ] {
            let refused = Refusal::new("ERR", Some(details));
            assert_eq!(unknown(&refused), Some(expected), "{details}");
            assert!(is_for_all(&refused), "{details}");
            match (expected, refusal(&refused)) {
                (Unknown::Command(HELLO), Trouble::Protocol(_)) => {}
                (Unknown::Command(HELLO), trouble) => panic!("{trouble}"),
                (_, trouble) => {
                    let said = trouble.to_string();
                    assert!(said.contains("it doesn't know "), "{said}");
                    assert!(said.contains("a Sentinel or a proxy"), "{said}");
                    assert!(!said.contains("secret"), "{said}");
                }
            }
        }
        for (code, details) in [
            ("ERR", "wrong number of arguments for 'evalsha' command"),
            ("ERR", ""),
            ("ERR", "unknown"),
            ("NOPERM", "unknown command 'SCRIPT'"),
        ] {
            assert_eq!(unknown(&Refusal::new(code, Some(details))), None);
        }
    }
}
