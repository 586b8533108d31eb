//! The script that Redis runs for each command: the rules of `rules.rs`, done atomically.

/// The script, for [`redis::Script`](https://docs.rs/redis/latest/redis/struct.Script.html), with
/// [`Place::key`](super::Place::key) as its only key and [`arguments`](super::arguments) as its
/// arguments. It answers with a text for [`Reply::decode`](super::Reply::decode), and publishes one for
/// [`Message::decode`](super::Message::decode) on [`Place::channel`](super::Place::channel) when the
/// circuit has changed, a census has begun, or a lease was renewed.
///
/// It runs on Redis from 6.2 on, and on Valkey: the README says with which it was run. Before Redis 7 a script can't find out beforehand whether its user may
/// publish: the change is then made, nobody hears of it, and the command fails. A user of it needs
/// `+evalsha +script|load +time +exists +hmget +hset +hdel +hscan +pttl +pexpire +publish`, and his keys
/// and channels: `~prefix:* resetchannels &prefix:*`.
pub const SCRIPT: &str = concat!(
    include_str!("script/read.lua"),
    include_str!("script/members.lua"),
    include_str!("script/decide.lua"),
    include_str!("script/write.lua"),
);
