use super::{HEAD, Installed, Store, StoreError, digest, encoded};
use crate::rounds;
use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A directory of this test's own, removed at its end.
struct Dir(PathBuf);

impl Dir {
    fn new() -> Dir {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("oxidnn-store-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        Dir(std::env::temp_dir().join(name))
    }
    fn store(&self, budget: u64) -> Store {
        Store::open(&self.0, budget).unwrap()
    }
    fn files(&self) -> Vec<PathBuf> {
        fs::read_dir(&self.0).unwrap().map(|e| e.unwrap().path()).collect()
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri cannot set when a file was used")]
fn what_is_put_is_found_by_any_store_of_the_directory() {
    let dir = Dir::new();
    dir.store(1 << 20).put(b"key", b"value").unwrap();
    let again = dir.store(1 << 20);
    assert_eq!(again.get(b"key").as_deref(), Some(&b"value"[..]));
    assert!(matches!(again.find(b"other"), Ok(None)));
    again.put(b"key", b"").unwrap();
    assert_eq!(again.get(b"key").as_deref(), Some(&b""[..]));
    assert_eq!(dir.files().len(), 1, "one file an entry, nothing temporary left");
    assert_eq!([again.keys(), Installed::open(&dir.0).unwrap().keys()], [[b"key".to_vec()], [b"key".to_vec()]]);
}

#[test]
#[cfg_attr(miri, ignore = "Miri cannot set when a file was used")]
fn damaged_entries_are_absent_and_written_anew() {
    let dir = Dir::new();
    let store = dir.store(1 << 20);
    store.put(b"key", b"some code").unwrap();
    let path = dir.files().remove(0);
    let whole = fs::read(&path).unwrap();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x41;
        fs::write(&path, &bytes).unwrap();
        assert_eq!(store.get(b"key"), None, "byte {at}");
        assert!(matches!(store.find(b"key"), Err(StoreError::Damaged { .. })), "byte {at}");
        fs::write(&path, &whole[..at]).unwrap();
        assert_eq!(store.get(b"key"), None, "cut to {at} bytes");
    }
    let mut long = whole.clone();
    long[8..HEAD].fill(0xff);
    fs::write(&path, &long).unwrap();
    assert_eq!(store.get(b"key"), None, "lengths beyond the file");
    store.put(b"key", b"some code").unwrap();
    assert_eq!(fs::read(&path).unwrap(), whole);
    assert_eq!(store.get(b"key").as_deref(), Some(&b"some code"[..]));
}

#[test]
fn an_entry_of_another_key_is_not_taken_for_ours() {
    let dir = Dir::new();
    let store = dir.store(1 << 20);
    store.put(b"key", b"value").unwrap();
    fs::write(dir.files().remove(0), encoded(b"other", b"value")).unwrap();
    assert_eq!(store.get(b"key"), None);
}

#[test]
#[cfg_attr(miri, ignore = "Miri cannot set when a file was used")]
fn the_budget_holds_and_the_last_used_stay() {
    let dir = Dir::new();
    let store = dir.store(4 * 1100);
    for i in 0..12u8 {
        store.put(&[i], &[i; 1000]).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(5));
        assert!(i == 0 || store.get(&[0]).is_some(), "used every time");
    }
    assert!(store.bytes() <= 4 * 1100);
    assert!(store.get(&[11]).is_some() && store.get(&[1]).is_none());
}

#[cfg(unix)]
#[test]
fn directories_that_others_may_write_are_refused() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let dir = Dir::new();
    let made = dir.store(1);
    assert_eq!(fs::metadata(&dir.0).unwrap().permissions().mode() & 0o777, 0o700);
    drop(made);
    fs::set_permissions(&dir.0, fs::Permissions::from_mode(0o777)).unwrap();
    assert!(matches!(Store::open(&dir.0, 1), Err(StoreError::Unsafe { .. })));
    fs::set_permissions(&dir.0, fs::Permissions::from_mode(0o700)).unwrap();
    let link = Dir::new();
    symlink(&dir.0, &link.0).unwrap();
    assert!(matches!(Store::open(&link.0, 1), Err(StoreError::Unsafe { .. })));
    fs::remove_file(&link.0).unwrap();
    fs::write(&link.0, "").unwrap();
    assert!(Store::open(&link.0, 1).is_err());
    fs::remove_file(&link.0).unwrap();
    let store = dir.store(1 << 20);
    store.put(b"key", b"value").unwrap();
    let file = dir.files().remove(0);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(store.get(b"key"), None, "an entry that others may write");
}

#[test]
#[cfg_attr(miri, ignore = "Miri cannot set when a file was used")]
fn many_writers_and_readers_see_whole_entries_only() {
    let dir = Dir::new();
    let store = dir.store(1 << 20);
    std::thread::scope(|scope| {
        for t in 0..4u8 {
            let store = store.clone();
            scope.spawn(move || {
                for i in 0..rounds(50) as u8 {
                    store.put(b"shared", &vec![t; 4096 + usize::from(i)]).unwrap();
                    let found = store.get(b"shared").expect("an entry is always there");
                    assert!(found.iter().all(|&b| b == found[0]));
                }
            });
        }
    });
}

#[cfg(unix)]
#[test]
fn what_is_installed_is_read_and_never_changed() {
    use std::os::unix::fs::PermissionsExt;
    let dir = Dir::new();
    dir.store(1 << 20).put(b"key", b"value").unwrap();
    let file = dir.files().remove(0);
    let mode = |path: &PathBuf, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    mode(&file, 0o444);
    mode(&dir.0, 0o555);
    let modified = fs::metadata(&file).unwrap().modified().unwrap();
    let installed = Installed::open(&dir.0).unwrap();
    assert_eq!(installed.get(b"key").as_deref(), Some(&b"value"[..]));
    assert_eq!(installed.get(b"other"), None);
    assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), modified);
    // Whoever may write there could have anything run here.
    mode(&file, 0o646);
    assert_eq!(installed.get(b"key"), None);
    mode(&dir.0, 0o777);
    assert!(matches!(Installed::open(&dir.0), Err(StoreError::Unsafe { .. })));
    assert!(matches!(Installed::open(dir.0.join("missing")), Err(StoreError::Io { .. })));
}

#[test]
fn every_bit_and_every_length_changes_a_digest() {
    let text: Vec<u8> = (1..=200u32).map(|i| (i * 37 % 251) as u8).collect();
    let mut known = HashSet::new();
    for len in 0..=text.len() {
        assert!(known.insert(digest(&text[..len])), "{len} bytes");
    }
    for len in 1..70 {
        assert!(known.insert(digest(&vec![0; len])), "{len} zeros");
    }
    for bit in 0..text.len() * 8 {
        let mut other = text.clone();
        other[bit / 8] ^= 1 << (bit % 8);
        assert!(known.insert(digest(&other)), "bit {bit}");
    }
}
