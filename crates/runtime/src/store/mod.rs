//! Compiled code and measured choices on disk: one process makes an entry, the next one finds it.
//!
//! A store is a directory of the user's own, with one file an entry. A file holds its whole key, its value and a checksum; it is written
//! under another name and renamed into place, so that any number of processes may read and write at the same time. A damaged entry counts
//! as absent, and is written anew. Keys hold everything that the value depends on: the device, the version of the generator, the source.

#[cfg(test)]
mod tests;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// The first bytes of every entry; the last one counts formats.
const MAGIC: [u8; 8] = *b"oxidnn\0\x02";
/// Magic, lengths of key and value.
const HEAD: usize = 24;
/// The checksum at the end.
const TAIL: usize = 8;
/// No entry is longer: code is not, and a wrong length must not take the memory.
const LONGEST: u64 = 256 << 20;
const SUFFIX: &str = "entry";

/// The reason why a directory cannot be a store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It cannot be made, read or written.
    #[error("{path}: {source}")]
    Io {
        /// The directory or file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// Code from it would run, so nobody else may write there.
    #[error("{path} {what}; code from there would run in this process, so it must be a directory of your own that nobody else may write")]
    Unsafe {
        /// The directory or file.
        path: PathBuf,
        /// The problem with it.
        what: &'static str,
    },
    /// An entry is not as it was written, is of another key, or is one that others may write.
    #[error("{path} is not what this library wrote there for that key; it counts as absent")]
    Damaged {
        /// Its file.
        path: PathBuf,
    },
    /// The value is longer than an entry may be.
    #[error("{bytes} bytes, at most {LONGEST}")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
}

/// A directory of entries.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Store {
    dir: PathBuf,
    budget: u64,
}

impl Store {
    /// The store in `dir`, made if it is not there, that takes at most `budget` bytes.
    ///
    /// # Errors
    /// [`StoreError`] where it cannot be made, or others may write there.
    pub fn open(dir: impl Into<PathBuf>, budget: u64) -> Result<Store, StoreError> {
        let store = Store { dir: dir.into(), budget };
        make(&store.dir).map_err(|source| StoreError::Io { path: store.dir.clone(), source })?;
        store.check()?;
        Ok(store)
    }

    /// The value of `key`, where it is there and whole.
    pub fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.find(key).ok().flatten()
    }

    /// As [`Store::get`] for callers that may not use the entry: its age stays as it was.
    pub fn peek(&self, key: &[u8]) -> Option<Vec<u8>> {
        read(&self.dir, key).ok().flatten().map(|(_, value)| value)
    }

    /// As [`Store::get`], for callers that want to say that there is an entry that they reject.
    ///
    /// # Errors
    /// [`StoreError::Damaged`].
    pub fn find(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        let Some((file, value)) = read(&self.dir, key)? else { return Ok(None) };
        // Used just now: the last to be removed.
        let _ = file.set_modified(SystemTime::now());
        Ok(Some(value))
    }

    /// Stores `value` for `key`, replacing an older value; the least recently used entries are removed if the budget is exceeded.
    ///
    /// # Errors
    /// [`StoreError`] where it cannot be written.
    pub fn put(&self, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        let bytes = encoded(key, value);
        if bytes.len() as u64 > LONGEST {
            return Err(StoreError::TooLong { bytes: value.len() });
        }
        let path = path(&self.dir, key);
        self.replace(&path, &bytes).map_err(|source| StoreError::Io { path, source })?;
        self.shrink();
        Ok(())
    }

    /// The keys of all entries, those used last first; whether their values are whole only [`Store::get`] says.
    pub fn keys(&self) -> Vec<Vec<u8>> {
        let mut entries = entries(&self.dir);
        entries.sort_by_key(|e| std::cmp::Reverse(e.used));
        entries.iter().filter_map(|e| key(&e.path)).collect()
    }

    /// Bytes of all entries.
    pub fn bytes(&self) -> u64 {
        entries(&self.dir).iter().map(|e| e.bytes).sum()
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let (mut file, temporary) = self.temporary()?;
        let written = file.write_all(bytes).and_then(|()| fs::rename(&temporary, path));
        if written.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        written
    }

    /// A new file of our own.
    fn temporary(&self) -> io::Result<(File, PathBuf)> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        loop {
            let name = format!(".{}-{}.tmp", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
            let path = self.dir.join(name);
            match private(OpenOptions::new().write(true).create_new(true)).open(&path) {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                other => return other.map(|file| (file, path)),
            }
        }
    }

    /// Removes the least recently used entries until the budget holds. Another process may remove the same.
    fn shrink(&self) {
        let mut entries = entries(&self.dir);
        let mut total: u64 = entries.iter().map(|e| e.bytes).sum();
        if total <= self.budget {
            return;
        }
        entries.sort_by_key(|e| e.used);
        for entry in entries {
            if total <= self.budget {
                break;
            }
            let _ = fs::remove_file(&entry.path);
            total -= entry.bytes;
        }
    }

    /// The directory is one, ours, and nobody else may write there.
    #[cfg(unix)]
    fn check(&self) -> Result<(), StoreError> {
        use std::os::unix::fs::MetadataExt;
        let io = |source| StoreError::Io { path: self.dir.clone(), source };
        let bad = |what| Err(StoreError::Unsafe { path: self.dir.clone(), what });
        let meta = fs::symlink_metadata(&self.dir).map_err(io)?;
        if !meta.is_dir() {
            return bad("is no directory");
        }
        // A new file belongs to the user of this process.
        let (file, path) = self.temporary().map_err(io)?;
        let me = file.metadata().map(|m| m.uid());
        let _ = fs::remove_file(path);
        match me.map_err(io)? {
            uid if uid != meta.uid() => bad("belongs to somebody else"),
            _ if meta.mode() & 0o022 != 0 => bad("may be written by others"),
            _ => Ok(()),
        }
    }

    #[cfg(not(unix))]
    fn check(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

/// Entries that somebody installed for all users of the machine: read, and never changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Installed {
    dir: PathBuf,
}

impl Installed {
    /// The entries in `dir`.
    ///
    /// # Errors
    /// [`StoreError`] if there is no such directory, if others than its owner may write there, or if the owner is neither the superuser nor
    /// the user of this process.
    pub fn open(dir: impl Into<PathBuf>) -> Result<Installed, StoreError> {
        let dir = dir.into();
        trusted(&dir)?;
        Ok(Installed { dir })
    }

    /// The value of `key`, where it is there and whole.
    pub fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        read(&self.dir, key).ok().flatten().map(|(_, value)| value)
    }

    /// The keys of all entries, as [`Store::keys`] has them but for their order.
    pub fn keys(&self) -> Vec<Vec<u8>> {
        entries(&self.dir).iter().filter_map(|e| key(&e.path)).collect()
    }
}

fn entries(dir: &Path) -> Vec<Entry> {
    let Ok(list) = fs::read_dir(dir) else { return Vec::new() };
    let entry = |path: PathBuf| {
        let meta = fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file)?;
        Some(Entry { bytes: meta.len(), used: meta.modified().ok()?, path })
    };
    list.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == SUFFIX)).filter_map(entry).collect()
}

/// The key of the entry in a file.
fn key(path: &Path) -> Option<Vec<u8>> {
    let mut file = File::open(path).ok()?;
    let mut head = [0; HEAD];
    file.read_exact(&mut head).ok()?;
    let (magic, lengths) = head.split_first_chunk::<8>()?;
    let len = u64::from_le_bytes(*lengths.first_chunk::<8>()?);
    if *magic != MAGIC || len > file.metadata().ok()?.len() {
        return None;
    }
    let mut key = Vec::with_capacity(len as usize);
    file.take(len).read_to_end(&mut key).ok()?;
    (key.len() as u64 == len).then_some(key)
}

/// The folder of the entries of a kind in the user's cache directory, which need not be there; none where the system names no such directory.
pub fn user_folder(kind: &str) -> Option<PathBuf> {
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
    let base = std::env::var_os("XDG_CACHE_HOME").map(Into::into).or_else(home)?;
    Some(base.join("oxidnn").join(kind))
}

/// The file of a key.
fn path(dir: &Path, key: &[u8]) -> PathBuf {
    dir.join(format!("{:032x}.{SUFFIX}", digest(key)))
}

/// The entry of `key` with its file, where it is there and whole.
fn read(dir: &Path, key: &[u8]) -> Result<Option<(File, Vec<u8>)>, StoreError> {
    let path = path(dir, key);
    let Ok(file) = File::open(&path) else { return Ok(None) };
    let whole = || {
        let meta = file.metadata().ok().filter(|meta| meta.is_file() && meta.len() <= LONGEST && is_ours(meta, dir))?;
        let mut bytes = Vec::with_capacity(meta.len() as usize);
        (&file).take(LONGEST).read_to_end(&mut bytes).ok()?;
        decoded(&bytes, key).map(<[u8]>::to_vec)
    };
    let value = whole().ok_or(StoreError::Damaged { path })?;
    Ok(Some((file, value)))
}

/// Whether code from a directory that somebody installed may run here.
#[cfg(unix)]
fn trusted(dir: &Path) -> Result<(), StoreError> {
    use std::os::unix::fs::MetadataExt;
    let bad = |what| Err(StoreError::Unsafe { path: dir.to_owned(), what });
    let meta = fs::symlink_metadata(dir).map_err(|source| StoreError::Io { path: dir.to_owned(), source })?;
    // Whose this process is; the superuser's alone where the system does not say.
    let me = fs::metadata("/proc/self").map_or(0, |m| m.uid());
    match () {
        () if !meta.is_dir() => bad("is no directory"),
        () if meta.uid() != 0 && meta.uid() != me => bad("belongs to somebody else"),
        () if meta.mode() & 0o022 != 0 => bad("may be written by others"),
        () => Ok(()),
    }
}

#[cfg(not(unix))]
fn trusted(dir: &Path) -> Result<(), StoreError> {
    fs::metadata(dir).map(drop).map_err(|source| StoreError::Io { path: dir.to_owned(), source })
}

/// An entry's file.
struct Entry {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
}

#[cfg(unix)]
fn make(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

#[cfg(not(unix))]
fn make(dir: &Path) -> io::Result<()> {
    fs::create_dir_all(dir)
}

#[cfg(unix)]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600)
}

#[cfg(not(unix))]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Whether an entry belongs to the owner of the directory.
#[cfg(unix)]
fn is_ours(meta: &fs::Metadata, dir: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(dir).is_ok_and(|d| d.uid() == meta.uid()) && meta.mode() & 0o022 == 0
}

#[cfg(not(unix))]
fn is_ours(_: &fs::Metadata, _: &Path) -> bool {
    true
}

/// A hash of `bytes` that stays the same from version to version: the name of an entry's file, and a substitute for long texts in keys.
pub fn digest(bytes: &[u8]) -> u128 {
    let (a, b) = (hash(bytes, 0xcbf2_9ce4_8422_2325), hash(bytes, 0x9e37_79b9_7f4a_7c15));
    u128::from(a) << 64 | u128::from(b)
}

/// A factor of [`hash`]: odd, with bits set everywhere.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// 64 bits that depend on all of `bytes` and a basis, at several bytes a clock cycle, because entries of code are tens of kilobytes and are
/// read while somebody waits. Four lanes take 8 bytes in turn, each by a bijective step, so different words give different states. A word
/// is multiplied on both sides of a rotation before it enters the state, so that no single bit of the next word undoes the effect of one
/// bit of this word.
fn hash(bytes: &[u8], basis: u64) -> u64 {
    let mix = |word: u64| word.wrapping_mul(FACTOR).rotate_left(31).wrapping_mul(FACTOR);
    let step = |state: u64, word: u64| (state ^ mix(word)).rotate_left(27).wrapping_mul(FACTOR);
    let mut lanes = [0, 1, 2, 3].map(|i| step(basis, i));
    let mut add = |block: &[u8; 32]| {
        for (lane, word) in lanes.iter_mut().zip(block.as_chunks::<8>().0) {
            *lane = step(*lane, u64::from_le_bytes(*word));
        }
    };
    let (blocks, rest) = bytes.as_chunks::<32>();
    blocks.iter().for_each(&mut add);
    let mut last = [0; 32];
    last[..rest.len()].copy_from_slice(rest);
    add(&last);
    let all = lanes.iter().fold(bytes.len() as u64, |state, &lane| step(state, lane));
    let mixed = (all ^ all >> 32).wrapping_mul(FACTOR);
    mixed ^ mixed >> 29
}

fn encoded(key: &[u8], value: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD + key.len() + value.len() + TAIL);
    bytes.extend(MAGIC);
    bytes.extend((key.len() as u64).to_le_bytes());
    bytes.extend((value.len() as u64).to_le_bytes());
    bytes.extend(key);
    bytes.extend(value);
    bytes.extend(hash(&bytes, u64::from_le_bytes(MAGIC)).to_le_bytes());
    bytes
}

/// The value in an entry, where the entry is whole and of this key.
fn decoded<'a>(bytes: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let (body, sum) = bytes.split_last_chunk::<TAIL>()?;
    let (magic, rest) = body.split_first_chunk::<8>()?;
    let (key_len, rest) = rest.split_first_chunk::<8>()?;
    let (value_len, rest) = rest.split_first_chunk::<8>()?;
    let (key_len, value_len) = (usize::try_from(u64::from_le_bytes(*key_len)).ok()?, usize::try_from(u64::from_le_bytes(*value_len)).ok()?);
    if *magic != MAGIC || key_len.checked_add(value_len)? != rest.len() {
        return None;
    }
    let (found, value) = rest.split_at(key_len);
    (found == key && u64::from_le_bytes(*sum) == hash(body, u64::from_le_bytes(MAGIC))).then_some(value)
}
