//! Prints the frames at addresses, as `callsign lookup` does: cargo run --example lookup -- INDEX ADDR...

use std::io::{self, Write};
use std::process::ExitCode;

use callsign::Index;

fn parse_address(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    u64::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))
}

/// Whether a function was found.
fn print_answer(index: &Index, address: u64, out: &mut impl Write) -> io::Result<bool> {
    let label = format!("{address:#x}: ");
    match index.lookup(address) {
        Ok(answer) if answer.frames.is_empty() => writeln!(out, "{label}not found: {}", answer.reason).map(|()| false),
        Ok(answer) => {
            for (number, frame) in answer.frames.iter().enumerate() {
                let indent = if number == 0 { label.clone() } else { " ".repeat(label.len()) };
                writeln!(out, "{indent}{frame}")?;
            }
            Ok(true)
        }
        Err(error) => writeln!(out, "{label}error: {error}").map(|()| false),
    }
}

fn run(arguments: &[String]) -> Result<bool, Box<dyn std::error::Error>> {
    let [path, addresses @ ..] = arguments else { return Err("usage: lookup INDEX ADDR...".into()) };
    let index = Index::open(path)?;
    let mut out = io::stdout().lock();
    let mut found_all = true;
    for text in addresses {
        let address = parse_address(text).ok_or_else(|| format!("'{text}' is not a hexadecimal address"))?;
        found_all &= print_answer(&index, address, &mut out)?;
    }
    out.flush()?;
    Ok(found_all)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("lookup: {error}");
            ExitCode::from(2)
        }
    }
}
