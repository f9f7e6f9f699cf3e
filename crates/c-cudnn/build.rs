//! Linker options: the soname and symbol versions that programs linked with cuDNN expect, and `nodelete`.

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcudnn.so.9");
    // Every export has the version that is called like the library. Only GNU's linker gives versions to symbols that are listed without one,
    // as cargo lists them.
    println!("cargo::rustc-cdylib-link-arg=-fuse-ld=bfd");
    println!("cargo::rustc-cdylib-link-arg=-Wl,--default-symver");
    // A library with threads and caches of its own must not be unloaded by dlclose.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo::rerun-if-changed=build.rs");
}
