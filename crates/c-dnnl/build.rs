//! Names the library as programs linked with oneDNN look for it, and keeps it loaded.

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libdnnl.so.3");
    // A library with threads and caches of its own stays where it is when a program closes it.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo::rerun-if-changed=build.rs");
}
