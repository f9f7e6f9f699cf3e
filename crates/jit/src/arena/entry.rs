//! Installed code as functions: running the contents of executable memory.

use super::{Code, Entry};
use std::marker::PhantomData;

impl Code {
    /// The code as a function of one argument block.
    ///
    /// # Safety
    /// From its first byte the code must be a function `extern "C" fn(*const A)` for instruction sets that this processor has.
    pub unsafe fn entry<A>(&self) -> Entry<A> {
        Entry { code: self.clone(), arguments: PhantomData }
    }
}

impl<A> Entry<A> {
    /// The function itself; it may be called as long as this handle or a clone of it lives.
    #[inline]
    pub fn pointer(&self) -> unsafe extern "C" fn(*const A) {
        // SAFETY: the maker of the entry promised that a function of this type is there, and the handle keeps it there.
        unsafe { std::mem::transmute::<usize, unsafe extern "C" fn(*const A)>(self.code().address()) }
    }

    /// Runs the code.
    ///
    /// # Safety
    /// The arguments must be those that the code needs: every pointer in them valid for the code's reads and writes.
    #[inline]
    pub unsafe fn call(&self, arguments: &A) {
        // SAFETY: the caller vouches for the arguments; the handle keeps the code alive during the call.
        unsafe { (self.pointer())(arguments) }
    }

    /// The installed bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: installed code is readable, does not change while its handle lives, and the handle is borrowed.
        unsafe { std::slice::from_raw_parts(self.code().address() as *const u8, self.code().len()) }
    }
}
