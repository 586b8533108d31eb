//! A server that doesn't know a command: as a Sentinel, a proxy, or one whose commands were renamed.

use crate::server::Server;
use crate::support::{Lines, builder, name, until};
use breaker_redis::{FleetBreaker, Sharing, Trouble};
use breakerbox::Settings;

/// Of all circuits alike, and so once: it is nothing of a single one.
#[test]
fn a_command_that_is_unknown_is_told_once_with_what_to_do() {
    for (renamed, said) in [
        ("EVALSHA", "the command `evalsha`"),
        ("SCRIPT", "the command `script`"),
        ("HSET", "the command `hset`"),
        ("PUBLISH", "the command `publish`"),
        ("SUBSCRIBE", "the command `subscribe`"),
        ("TIME", "the command `time`"),
        ("HELLO", "`HELLO`"),
    ] {
        let Some(server) = Server::start(&["--rename-command", renamed, ""]) else {
            return;
        };
        let fleet_name = name("unknown-command");
        let lines = Lines::of(fleet_name);
        let fleet = builder(&server).prefix(fleet_name).start();
        let fleet = fleet.expect("a fleet");
        let breakers = [(); 3].map(|()| {
            let config = Settings::new().must();
            let breaker = FleetBreaker::shared(name("unknown"), config, Sharing::new());
            breaker.expect("a breaker")
        });
        for breaker in &breakers {
            fleet.share(breaker).expect("to be shared");
        }
        until("it to be told", || {
            fleet.status().last_error.is_some() && lines.all().len() == 1
        });
        let error = fleet.status().last_error.expect("an error");
        match (&error.trouble, renamed) {
            (Trouble::Protocol(_), "HELLO") => {}
            (Trouble::Refuses(why), _) => assert!(why.contains("a Sentinel or a proxy"), "{why}"),
            (trouble, _) => panic!("{renamed}: {trouble:?}"),
        }
        let text = format!("it doesn't know {said}");
        assert!(error.to_string().contains(&text), "{error}");
        assert!(lines.all()[0].contains(&text), "{:?}", lines.all());
        assert!(
            lines.all()[0].contains("can't be reached, each process is on its own"),
            "{:?}",
            lines.all()
        );
        assert_eq!(fleet.status().cut_off, 3);
    }
}
