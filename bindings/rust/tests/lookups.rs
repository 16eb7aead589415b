//! Over a program that the test compiles: lookups, stacks and conversions.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use callsign::{Confidence, ConvertOptions, Index, IndexOptions, Module, StackFrame, Status, Symbolicator};

/// The program's path and the addresses that it prints: two places in its code.
fn program() -> &'static (PathBuf, Vec<u64>) {
    static PROGRAM: OnceLock<(PathBuf, Vec<u64>)> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/demo/orders.cc");
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("orders");
        let status = Command::new("g++").args(["-g", "-O2"]).arg(&source).arg("-o").arg(&path).status().expect("g++ is installed");
        assert!(status.success());
        let out = Command::new(&path).output().expect("it runs");
        let addresses = String::from_utf8(out.stdout).unwrap();
        let addresses = addresses.split_whitespace().map(|text| u64::from_str_radix(&text[2..], 16).unwrap()).collect();
        (path, addresses)
    })
}

fn temporary(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn index(name: &str) -> Index {
    let path = temporary(name);
    callsign::convert(&program().0, &path, &ConvertOptions::default()).unwrap();
    Index::open(path).unwrap()
}

#[test]
fn lookup() {
    let index = index("lookup.gsym");
    let (path, addresses) = program();
    let answer = index.lookup(addresses[1]).unwrap();
    assert!(answer.frames.len() > 1 && answer.frames[0].inlined && !answer.frames.last().unwrap().inlined);
    assert!(answer.reason.is_complete());
    let out = Command::new("addr2line").args(["-f", "-i", "-e"]).arg(path).arg(format!("{:#x}", addresses[1])).output().unwrap();
    let expected: Vec<String> = String::from_utf8(out.stdout).unwrap().lines().map(str::to_owned).collect();
    for (frame, lines) in answer.frames.iter().zip(expected.chunks(2)) {
        assert_eq!(frame.function(), lines[0]);
        assert_eq!(format!("{}:{}", frame.path(), frame.line), lines[1].split(" (").next().unwrap());
    }
    assert_eq!(answer.frames.len() * 2, expected.len());
}

#[test]
fn an_uncovered_address_has_a_reason() {
    let answer_index = index("uncovered.gsym");
    let answer = answer_index.lookup(1).unwrap();
    assert!(answer.frames.is_empty());
    assert_eq!(answer.reason.text(), "the address is below the first function of the index");
}

#[test]
fn properties_and_options() {
    let options = IndexOptions { accelerator_bytes: u64::MAX, arch: None };
    let plain = index("properties.gsym");
    let fast = Index::open_with(temporary("properties.gsym"), &options).unwrap();
    assert_eq!(plain.build_id(), fast.build_id());
    assert!(plain.build_id().len() >= 16 && plain.function_count() > 3);
    assert_eq!(plain.lookup(program().1[0]).unwrap(), fast.lookup(program().1[0]).unwrap());
}

#[test]
fn a_program_is_converted_in_memory() {
    let index = Index::open(&program().0).unwrap();
    assert_eq!(index.lookup(program().1[0]).unwrap().frames[0].function(), "_ZN4shop12report_stackEv");
}

#[test]
fn errors() {
    let error = Index::open(temporary("absent")).unwrap_err();
    assert_eq!((error.status, error.os_error), (Status::Io, 2));
    assert!(error.to_string().contains("absent: "));
    std::fs::write(temporary("text"), "nothing of the kind\n").unwrap();
    assert!(matches!(Index::open(temporary("text")).unwrap_err().status, Status::Format | Status::Unsupported));
    let bytes = std::fs::read(&program().0).unwrap();
    std::fs::write(temporary("half"), &bytes[..100]).unwrap();
    let error = callsign::convert(temporary("half"), temporary("half.gsym"), &ConvertOptions::default()).unwrap_err();
    assert!(!error.message.is_empty() && !temporary("half.gsym").exists());
    assert_eq!(Index::open("a\0b").unwrap_err().status, Status::Argument);
    let unknown = ConvertOptions { format: "elf".to_owned(), ..ConvertOptions::default() };
    assert_eq!(callsign::convert(&program().0, temporary("unknown"), &unknown).unwrap_err().status, Status::Argument);
}

#[test]
fn conversions_are_reported() {
    let one = ConvertOptions { threads: 1, call_sites: true, merged_functions: true, ..ConvertOptions::default() };
    let report = callsign::convert(&program().0, temporary("one.gsym"), &one).unwrap();
    callsign::convert(&program().0, temporary("two.gsym"), &ConvertOptions { threads: 2, ..one }).unwrap();
    assert_eq!(std::fs::read(temporary("one.gsym")).unwrap(), std::fs::read(temporary("two.gsym")).unwrap());
    assert!(report.functions > 3 && report.rows > 10 && report.inlined_calls > 1 && report.call_sites > 0);
    assert_eq!(report.output_bytes, std::fs::metadata(temporary("one.gsym")).unwrap().len());
    assert_eq!(report.build_id, Index::open(temporary("one.gsym")).unwrap().build_id());
    let v2 = ConvertOptions { format: "gsym-v2".to_owned(), ..ConvertOptions::default() };
    callsign::convert(&program().0, temporary("v2.gsym"), &v2).unwrap();
    assert!(!Index::open(temporary("v2.gsym")).unwrap().lookup(program().1[0]).unwrap().frames.is_empty());
}

#[test]
fn stacks() {
    let index = index("stacks.gsym");
    let addresses = &program().1;
    let bias = 0x5500_0000_0000;
    let module = Module { index: Some(&index), start: bias, end: bias + 0x10_0000, bias };
    let mut symbolicator = Symbolicator::new(&[module]).unwrap();
    let stack = [
        StackFrame::Pc(bias + addresses[1]),
        StackFrame::Address { module: 0, address: addresses[0] + 1 },
        StackFrame::ExactAddress { module: 0, address: addresses[0] },
        StackFrame::Pc(7),
    ];
    let answers = symbolicator.answer(&stack).unwrap();
    let expected = index.lookup(addresses[1]).unwrap();
    assert_eq!(answers[0].frames, expected.frames);
    assert_eq!((answers[0].address, answers[0].module), (addresses[1], Some(0)));
    assert_eq!(answers[0].confidence, Confidence::Certain);
    assert_eq!(answers[1].frames[0].function(), "_ZN4shop12report_stackEv");
    assert_eq!(answers[1].frames[0].line, answers[2].frames[0].line);
    assert!(answers[3].frames.is_empty() && answers[3].module.is_none() && !answers[3].reason.is_complete());
    assert!(symbolicator.answer(&[]).unwrap().is_empty());
    let error = symbolicator.answer(&[StackFrame::Address { module: 9, address: 1 }]).unwrap_err();
    assert_eq!(error.status, Status::Argument);
}

#[test]
fn threads_share_an_index() {
    let index = index("threads.gsym");
    let expected = index.lookup(program().1[1]).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..1000 {
                    assert_eq!(index.lookup(program().1[1]).unwrap(), expected);
                }
            });
        }
    });
}

#[test]
fn names() {
    assert_eq!(callsign::demangle("_ZN2ns4areaEi"), "ns::area(int)");
    assert_eq!(callsign::demangle("main"), "main");
    let long = format!("_ZN{}{}E3fooEv", 3000, "a".repeat(3000)).replace("E3foo", "3foo");
    assert!(callsign::demangle(&long).len() > 3000);
    assert!(!callsign::version().is_empty());
}

/// The example prints what the command prints.
#[test]
fn example_prints_as_the_command() {
    let Some(command) = std::env::var_os("CALLSIGN") else {
        eprintln!("CALLSIGN does not name the command: the example is not compared");
        return;
    };
    let index_path = temporary("example.gsym");
    callsign::convert(&program().0, &index_path, &ConvertOptions::default()).unwrap();
    let mut addresses: Vec<String> = program().1.iter().map(|address| format!("{address:#x}")).collect();
    addresses.extend((0..200).map(|number| format!("{:x}", 0x1000 + number * 13)));
    let expected = Command::new(command).arg("lookup").arg(&index_path).args(&addresses).output().unwrap();
    let mut example = std::env::current_exe().unwrap();
    example.pop();
    example.pop();
    let found = Command::new(example.join("examples/lookup")).arg(&index_path).args(&addresses).output().unwrap();
    assert_eq!(String::from_utf8(found.stdout).unwrap(), String::from_utf8(expected.stdout).unwrap());
    assert_eq!(found.status.code(), expected.status.code());
}
