//! Names the library and the versions of its symbols as programs linked with cuDNN look for them, and keeps it loaded.

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcudnn.so.9");
    // Every export has the version that is called like the library. Only GNU's linker gives versions to symbols that are listed without one,
    // as cargo lists them.
    println!("cargo::rustc-cdylib-link-arg=-fuse-ld=bfd");
    println!("cargo::rustc-cdylib-link-arg=-Wl,--default-symver");
    // A library with threads and caches of its own stays where it is when a program closes it.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo::rerun-if-changed=build.rs");
}
