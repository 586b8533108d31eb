//! What a user of Redis may not do, and the rule that it needs.

use super::super::connection::Refusal;
use crate::error::{Right, Trouble};
use crate::protocol::Prefix;

/// Commands that Redis names where a user may not run them: those of a connection, then those of the
/// script.
pub(super) const COMMANDS: [&str; 15] = [
    "asking",
    "cluster|slots",
    "evalsha",
    "script|load",
    "subscribe",
    "unsubscribe",
    "hset",
    "pexpire",
    "publish",
    "time",
    "exists",
    "hmget",
    "hdel",
    "hscan",
    "pttl",
];

/// What a user may not do, if that is what is wrong. Newer ones than 7.0 also name the user, so nothing
/// of what Redis says is repeated. Of keys and channels the pattern is yet to be said: [`with_prefix`].
pub(super) fn missing(Refusal { code, details }: &Refusal) -> Option<Right> {
    // Of what a script does itself, Redis says so under a common code: first 7.0, then later ones.
    let by_script = [
        "The user executing the script can't",
        "ACL failure in script",
    ];
    let is_by_script = code == "ERR" && by_script.iter().any(|words| details.starts_with(words));
    if code != "NOPERM" && !is_by_script {
        return None;
    }
    // A user may be called `channel`, and so may a key.
    let said = details
        .split_once(" has no permissions ")
        .map_or(details.as_str(), |(_, said)| said);
    let of = said.rsplit_once("' ").map_or(said, |(_, of)| of);
    let mut commands = COMMANDS.into_iter();
    let command = commands.find(|command| said.contains(&format!("'{command}' command")));
    Some(match command {
        Some(command) => Right::Command(command),
        None if is_by_script && said.contains("can't run") => Right::Script,
        // Before Redis 7 it is not said which of its kind.
        None if said.contains("'script' command") => Right::Command("script|load"),
        None if of.contains("channel") => Right::Channels(String::new()),
        None if of.contains("key") => Right::Keys(String::new()),
        None if is_by_script => Right::Script,
        None => Right::Unnamed,
    })
}

/// With the rule that gives a user all keys, or channels, of this fleet.
pub(crate) fn with_prefix(trouble: Trouble, prefix: &Prefix) -> Trouble {
    match trouble {
        Trouble::Forbidden(Right::Keys(_)) => {
            Trouble::Forbidden(Right::Keys(pattern(prefix.as_str())))
        }
        Trouble::Forbidden(Right::Channels(_)) => {
            Trouble::Forbidden(Right::Channels(pattern(prefix.as_str())))
        }
        trouble => trouble,
    }
}

/// What matches all that begins with this prefix, and nothing else.
pub(crate) fn pattern(prefix: &str) -> String {
    let mut pattern = String::with_capacity(prefix.len() + 2);
    for letter in prefix.chars() {
        if matches!(letter, '*' | '?' | '[' | '\\') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern.push_str(":*");
    pattern
}

#[cfg(test)]
mod tests {
    use super::super::refusal;
    use super::*;

    fn said(code: &str, details: &str) -> String {
        let trouble = refusal(&Refusal::new(code, Some(details)));
        let prefix = Prefix::new("sh*p:[1]").expect("a prefix");
        with_prefix(trouble, &prefix).to_string()
    }

    /// As Redis 6.2, 7.0 and 7.4 say it.
    #[test]
    fn a_missing_right_is_named_with_its_rule_and_the_user_is_not() {
        for (code, details, expected) in [
            (
                "NOPERM",
                "this user has no permissions to run the 'evalsha' command",
                "may not run `evalsha`: give it `+evalsha`",
            ),
            (
                "NOPERM",
                "User shop has no permissions to run the 'script|load' command",
                "may not run `script|load`: give it `+script|load`",
            ),
            (
                "NOPERM",
                "this user has no permissions to run the 'script' command or its subcommand",
                "may not run `script|load`: give it `+script|load`",
            ),
            (
                "NOPERM",
                "this user has no permissions to access one of the keys used as arguments",
                r"may not use keys that begin with the prefix: give it `~sh\*p:\[1]:*`",
            ),
            (
                "NOPERM",
                "No permissions to access a channel",
                r"may not use channels that begin with the prefix: give it `&sh\*p:\[1]:*`",
            ),
            (
                "NOPERM",
                "User shop has no permissions to access the 'shop' channel",
                r"may not use channels that begin with the prefix: give it `&sh\*p:\[1]:*`",
            ),
            (
                "NOPERM",
                "User shop has no permissions to access the 'shop:a-channel' key",
                r"give it `~sh\*p:\[1]:*`",
            ),
            (
                "NOPERM",
                "User shop-channel-keys has no permissions to access one of the keys used as arguments",
                r"give it `~sh\*p:\[1]:*`",
            ),
            (
                "NOPERM",
                "User shop-of-keys has no permissions to run the 'object|freq' command",
                "may not do what is needed",
            ),
            ("NOPERM", "shop", "may not do what is needed"),
            (
                "ERR",
                "The user executing the script can't run this command or subcommand script: 00, on \
                 @user_script:1.",
                "may not run a command that the script runs",
            ),
            (
                "ERR",
                "The user executing the script can't access at least one of the keys mentioned in the \
                 command arguments script: 00",
                r"give it `~sh\*p:\[1]:*`",
            ),
            (
                "ERR",
                "ACL failure in script: User shop has no permissions to run the 'time' command",
                "may not run `time`: give it `+time`",
            ),
            (
                "ERR",
                "ACL failure in script: No permissions to access a key",
                r"give it `~sh\*p:\[1]:*`",
            ),
        ] {
            let said = said(code, details);
            assert!(said.contains(expected), "{said}");
            assert!(
                said.starts_with("refuses commands: the user may not"),
                "{said}"
            );
            assert!(said.contains("`FleetBuilder::login`"), "{said}");
            assert!(!said.contains("shop"), "{said}");
        }
        assert!(!said("ERR", "unknown command").contains("login"));
        assert!(said("OOM", "'evalsha'").contains("memory is full"));
    }

    #[test]
    fn a_pattern_matches_the_prefix_as_it_is() {
        for (prefix, expected) in [
            ("shop", "shop:*"),
            ("shop:a", "shop:a:*"),
            ("{shop}", "{shop}:*"),
            ("a*b?c", r"a\*b\?c:*"),
            ("[ab]", r"\[ab]:*"),
            (r"a\b", r"a\\b:*"),
            ("(a)", "(a):*"),
        ] {
            assert!(Prefix::new(prefix).is_ok());
            assert_eq!(pattern(prefix), expected);
        }
    }
}
