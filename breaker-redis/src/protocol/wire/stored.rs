//! What Redis holds of a circuit, field by field: to be compared with what the rules hold of it.

use super::super::{Record, Stored};
use super::fields::{NONE, declared_text, number_text, version_text};
use std::collections::BTreeMap;

pub(crate) type Hash = BTreeMap<String, String>;

/// What the script is to have stored. Of the instances, those that count.
pub(crate) fn fields(stored: &Stored) -> Hash {
    let mut hash = Hash::new();
    if let Some(record) = &stored.record {
        hash.insert("record".into(), record_text(record));
    }
    let Some((ticks, slices, members)) = stored.members.parts() else {
        return hash;
    };
    let text = format!("{} {} {}", ticks.tick, ticks.since, ticks.settled);
    hash.insert("ticks".into(), text);
    for (i, s) in slices.iter().enumerate() {
        let text = format!(
            "{} {} {} {} {} {} {}",
            s.present, s.calls, s.failures, s.slow, s.failing, s.slowed, s.votes
        );
        hash.insert(format!("slice{i}"), text);
    }
    for (who, member) in members {
        let counts = member.says.counts;
        let text = format!(
            "{} {} {} {} {} {}",
            member.tick,
            version_text(member.term),
            counts.calls,
            counts.failures,
            counts.slow,
            u8::from(member.says.vote)
        );
        hash.insert(format!("member:{who}"), text);
    }
    hash
}

/// What the script has stored, without what the rules know nothing of: instances that don't count any
/// more, where they were looked for last, and the format.
pub(crate) fn comparable(mut hash: Hash) -> Hash {
    if let Some(format) = hash.remove("format") {
        assert_eq!(format, super::FORMAT);
    }
    let Some(ticks) = hash.get_mut("ticks") else {
        assert!(hash.keys().all(|field| field == "record"), "{hash:?}");
        return hash;
    };
    let cursor = ticks.rfind(' ').expect("a cursor");
    ticks.truncate(cursor);
    let present = first(ticks);
    hash.retain(|field, text| !field.starts_with("member:") || present - first(text) < 5);
    hash
}

fn first(text: &str) -> u64 {
    let field = text.split(' ').next();
    field
        .and_then(|field| field.parse().ok())
        .expect("a number")
}

fn record_text(record: &Record) -> String {
    let shared = record.shared;
    let (cause, number) = record.cause.as_words();
    let (holder, since, lasts) = match &record.lease {
        Some(lease) => (lease.holder.as_str(), lease.since, lease.lasts),
        None => (NONE, 0, 0),
    };
    format!(
        "{} {} {} {} {} {} {cause} {number} {} {holder} {since} {lasts} {} {} {} {}",
        version_text(Some(record.version)),
        shared.state,
        shared.wait,
        u8::from(shared.imposed),
        shared.reopenings,
        record.since,
        record.by,
        version_text(record.operated),
        version_text(record.offered),
        number_text(record.census),
        declared_text(record.declared),
    )
}
