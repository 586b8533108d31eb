//! A power cut at every moment of writing: what was synced is on the disk; of what
//! was not, any part may be.

use super::*;
use std::collections::BTreeMap;
use std::fs;

/// What was done with the file, and what of it the program knew.
enum Step {
    Write(u64, Vec<u8>),
    SetLength(u64),
    Sync,
    Saving(u32, String),
    Saved,
}

#[derive(Default)]
struct Recorder(Vec<Step>);

impl Watch for Recorder {
    fn asked(&mut self, what: &Asked<'_>) -> Then {
        match what {
            Asked::Read => {}
            Asked::Write(offset, data) => self.0.push(Step::Write(*offset, data.to_vec())),
            Asked::SetLength(length) => self.0.push(Step::SetLength(*length)),
            Asked::Sync => self.0.push(Step::Sync),
        }
        Then::Do
    }
}

/// What each key may give after a cut: the answer that was saved, or the one that
/// was being saved.
#[derive(Clone, Default)]
struct Known {
    saved: BTreeMap<u32, String>,
    saving: Option<(u32, String)>,
}

impl Known {
    fn allows(&self, key: u32, found: Option<&String>) -> bool {
        let saving = self.saving.as_ref().filter(|(saving, _)| *saving == key);
        found == self.saved.get(&key)
            || (found.is_some() && found == saving.map(|(_, value)| value))
    }
}

/// Saves of all sizes; keys 0 to 3 stay.
fn history(path: &Path) -> (Vec<u8>, Vec<Step>) {
    let (between, recorder) = Between::new(Recorder::default());
    let disk = Disk::open_with(path, watched(&between)).unwrap();
    // Making the file is looked at by itself.
    recorder.lock().unwrap().0.clear();
    let start = fs::read(path).unwrap();
    let mut chance = Chance(7);
    for round in 0..16 {
        let key = chance.below(4) as u32;
        let length = [3, 300, 5_000, 40_000][chance.below(4)];
        let value = format!("{round}:{}", "v".repeat(length));
        recorder
            .lock()
            .unwrap()
            .0
            .push(Step::Saving(key, value.clone()));
        save(&disk, key, &value).unwrap();
        recorder.lock().unwrap().0.push(Step::Saved);
    }
    drop(disk);
    let steps = std::mem::take(&mut recorder.lock().unwrap().0);
    (start, steps)
}

fn apply(image: &mut Vec<u8>, step: &Step) {
    match step {
        Step::Write(offset, data) => {
            let start = *offset as usize;
            let end = start + data.len();
            if image.len() < end {
                image.resize(end, 0);
            }
            image[start..end].copy_from_slice(data);
        }
        Step::SetLength(length) => image.resize(*length as usize, 0),
        Step::Sync | Step::Saving(..) | Step::Saved => {}
    }
}

/// A part of a step, sector by sector.
fn apply_torn(image: &mut Vec<u8>, step: &Step, chance: &mut Chance) {
    const SECTOR: usize = 512;
    let Step::Write(offset, data) = step else {
        return;
    };
    for (sector, bytes) in data.chunks(SECTOR).enumerate() {
        if chance.below(2) == 0 {
            let offset = offset + (sector * SECTOR) as u64;
            apply(image, &Step::Write(offset, bytes.to_vec()));
        }
    }
}

fn check(image: &[u8], known: &Known, what: &str) {
    let place = somewhere();
    fs::write(&place.path, image).unwrap();
    let disk: Answers = match Disk::open_with(&place.path, each()) {
        Ok(disk) => disk,
        Err(error) => panic!("{what}: {error}"),
    };
    for key in 0..4 {
        let found = load(&disk, key).unwrap();
        let start = found.as_ref().map(|found| &found[..found.len().min(9)]);
        assert!(
            known.allows(key, found.as_ref()),
            "{what}: key {key} gives {start:?}"
        );
    }
    // And it is a file like any other.
    save(&disk, 9, "after the cut").unwrap();
    assert_eq!(load(&disk, 9).unwrap().as_deref(), Some("after the cut"));
}

#[test]
fn a_power_cut_leaves_the_old_answer_or_the_new_one() {
    let place = somewhere();
    let (start, steps) = history(&place.path);
    let mut chance = Chance(1);
    let mut synced = start;
    let mut since: Vec<&Step> = Vec::new();
    let mut known = Known::default();
    let mut cuts = 0;
    for (at, step) in steps.iter().enumerate() {
        match step {
            Step::Saving(key, value) => known.saving = Some((*key, value.clone())),
            Step::Saved => {
                if let Some((key, value)) = known.saving.take() {
                    known.saved.insert(key, value);
                }
            }
            Step::Sync => {
                for step in since.drain(..) {
                    apply(&mut synced, step);
                }
            }
            step => since.push(step),
        }
        // All that was written so far.
        let mut image = synced.clone();
        for step in &since {
            apply(&mut image, step);
        }
        check(&image, &known, &format!("cut after step {at}"));
        cuts += 1;
        if since.is_empty() {
            continue;
        }
        // Some of it, and of some a part.
        for _ in 0..2 {
            let mut image = synced.clone();
            for step in &since {
                match chance.below(3) {
                    0 => {}
                    1 => apply(&mut image, step),
                    _ => apply_torn(&mut image, step, &mut chance),
                }
            }
            check(&image, &known, &format!("cut within the steps up to {at}"));
            cuts += 1;
        }
    }
    assert!(cuts > 150, "{cuts}");
}

#[test]
fn what_was_saved_is_synced() {
    let place = somewhere();
    let (_, steps) = history(&place.path);
    let mut unsynced = false;
    for step in &steps {
        match step {
            Step::Write(..) => unsynced = true,
            Step::Sync => unsynced = false,
            Step::Saved => assert!(!unsynced),
            // The database lets go of room after the sync: whether that is seen
            // after a cut makes no difference.
            Step::SetLength(_) | Step::Saving(..) => {}
        }
    }
}

#[test]
fn a_file_whose_making_was_cut_off_is_made_anew() {
    let place = somewhere();
    let (between, recorder) = Between::new(Recorder::default());
    drop(Answers::open_with(&place.path, watched(&between)).unwrap());
    let steps = std::mem::take(&mut recorder.lock().unwrap().0);
    assert!(steps.len() > 10);
    let mut image = Vec::new();
    let mut chance = Chance(3);
    for step in &steps {
        for torn in [false, true] {
            let mut image = image.clone();
            if torn {
                apply_torn(&mut image, step, &mut chance);
            }
            let place = somewhere();
            let beside = place.directory.path().join("answers.redb.breakerbox-new");
            fs::write(&beside, &image).unwrap();
            let disk = open(&place.path);
            save(&disk, 1, "one").unwrap();
            assert_eq!(load(&disk, 1).unwrap().as_deref(), Some("one"));
            assert!(!beside.exists());
        }
        apply(&mut image, step);
    }
}
