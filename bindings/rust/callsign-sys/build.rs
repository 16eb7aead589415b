//! Builds libcallsign with the `cc` crate. Optional libraries are used if pkg-config finds them, as in the build by CMake.

use std::env;
use std::path::{Path, PathBuf};

/// (name in CSNI_HAVE_NAME, name for pkg-config), as in cmake/dependencies.cmake
const OPTIONAL: [(&str, &str); 6] = [
    ("LIBDEFLATE", "libdeflate"),
    ("ZSTD", "libzstd"),
    ("LIBLZMA", "liblzma"),
    ("PCRE2", "libpcre2-8"),
    ("LIBYAML", "yaml-0.1"),
    ("ZLIB", "zlib"),
];

/// Files that become part of the library: (file, name of the array, header that declares it), as csn_embed() of CMake has them.
const EMBEDDED: [(&str, &str, &str); 1] = [("profile/profile_page.html", "csni_profile_page", "profile/profile_page.h")];

fn c_files(folder: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("an entry of the sources").path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            c_files(&path, out);
        } else if path.extension().is_some_and(|extension| extension == "c") {
            out.push(path);
        }
    }
}

/// A C file with the bytes of a file.
fn embed(source: &Path, (file, name, header): (&str, &str, &str)) -> PathBuf {
    let bytes = std::fs::read(source.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    let text: Vec<String> = bytes.iter().map(|byte| byte.to_string()).collect();
    let made = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join(format!("{name}.c"));
    let code = format!(
        "#include \"{header}\"\nconst unsigned char {name}[] = {{{}}};\nconst size_t {name}_size = sizeof({name});\n",
        text.join(",")
    );
    std::fs::write(&made, code).unwrap_or_else(|error| panic!("{}: {error}", made.display()));
    made
}

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("c");
    let (source, include) = (root.join("src"), root.join("include"));
    println!("cargo:include={}", include.display());
    println!("cargo:rerun-if-env-changed=CLIPPY_ARGS");
    if env::var_os("CLIPPY_ARGS").is_some() {
        return; // clippy links nothing
    }
    let mut files = Vec::new();
    c_files(&source, &mut files);
    files.extend(EMBEDDED.map(|embedded| embed(&source, embedded)));
    let mut build = cc::Build::new();
    build.std("c17").include(&source).include(&include).define("_FILE_OFFSET_BITS", "64").warnings(false).files(&files).file("layout.c");
    println!("cargo:rerun-if-env-changed=CALLSIGN_NO_OPTIONAL");
    if env::var_os("CALLSIGN_NO_OPTIONAL").is_none() {
        for (name, package) in OPTIONAL {
            let Ok(library) = pkg_config::Config::new().probe(package) else { continue };
            build.includes(&library.include_paths).define(&format!("CSNI_HAVE_{name}"), None);
            build.define(&format!("CSNI_{name}_VERSION"), format!("\"{}\"", library.version).as_str());
        }
    }
    build.compile("callsign");
    println!("cargo:rerun-if-changed=layout.c");
    println!("cargo:rerun-if-changed={}", source.display());
    println!("cargo:rerun-if-changed={}", include.display());
}
