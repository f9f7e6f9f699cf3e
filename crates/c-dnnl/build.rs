//! Names the library as programs linked with oneDNN look for it.

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libdnnl.so.3");
    println!("cargo::rerun-if-changed=build.rs");
}
