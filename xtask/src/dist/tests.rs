//! The package of a library that was built without care for speed: programs find it and run on it.

use super::*;

/// What the proof needs besides cargo.
fn missing(tree: &Tree) -> Option<String> {
    let absent = |tool: &&&str| Command::new(tool).arg("--version").output().is_err();
    let tool = ["cmake", "g++", "strip"].iter().find(absent).map(|tool| format!("{tool} is not installed"));
    tool.or_else(|| Headers::find(tree).err().map(|e| format!("{e:#}")))
}

#[test]
fn a_cmake_project_finds_the_package() {
    let tree = Tree::here().unwrap();
    if let Some(why) = missing(&tree) {
        eprintln!("not tested: {why}");
        return;
    }
    let folder = tree.root().join("target/dist-test");
    let library = build(&tree, false).unwrap();
    let package = lay_out(&tree, &Headers::find(&tree).unwrap(), &library, &folder.join("package")).unwrap();
    let printed = proof::cmake(&package.root, &folder).unwrap();
    assert!(printed.ends_with(": right"), "{printed}");
    assert!(proof::first_primitive(&package.root, &folder).unwrap().loaded > 0.0);
}

#[test]
fn libcudnn_is_found_by_all_its_names() {
    let tree = Tree::here().unwrap();
    if let Some(why) = missing(&tree) {
        eprintln!("not tested: {why}");
        return;
    }
    let folder = tree.root().join("target/dist-test");
    let library = build_of(&tree, false, cudnn::BUILT).unwrap();
    let package = cudnn::lay_out(&tree, &library, &folder.join("cudnn")).unwrap();
    assert_eq!(cudnn::proof(&package, &folder).unwrap(), "cuDNN 92700 by 20 names");
}

#[test]
fn versions_come_from_the_headers() {
    let version = Version { major: 3, minor: 13, patch: 2 };
    assert_eq!(version.fill("@MAJOR@.@MINOR@.@PATCH@ @MAJOR@"), "3.13.2 3");
}

#[test]
fn the_library_is_where_cargo_says() {
    let messages = r#"{"reason":"compiler-artifact","filenames":["/elsewhere/debug/libspec.rlib"]}
not a message
{"reason":"compiler-artifact","filenames":["/elsewhere/debug/libdnnl.so","/elsewhere/debug/libdnnl.a"]}
{"reason":"build-finished","success":true}"#;
    assert_eq!(built(messages, LIBRARY), Some(PathBuf::from("/elsewhere/debug/libdnnl.so")));
    assert_eq!(built("{}", LIBRARY), None);
}
