//! Measures what the Rust rivals do, in process, each with its own library. Built by `bench/rivals/build --rust`.
//!
//!   rivals lookup   ENGINE FILE ADDRESSES [REPEATS [BASE]]   median and minimum ns a lookup, warm
//!   rivals symcache OBJECT OUT                               converts an object to a symcache
//!
//! ENGINE: gsym-rs (a GSYM file), gsym-rs-visit (the same, its allocation-free visitor), blazesym (a GSYM file),
//! symcache (a symcache; BASE, the image's load address, is taken off each address: names and lines, no path),
//! symcache-strings (the same with every byte of names and paths read), addr2line (an ELF file; the first pass parses
//! the units). ADDRESSES: one hexadecimal address a line. The sum printed keeps the work from being optimised away.
use std::time::Instant;

type Any = Box<dyn std::error::Error>;

fn measure(addrs: &[u64], repeats: usize, mut lookup: impl FnMut(u64) -> u64) {
    let mut ns = Vec::new();
    let mut sum = 0;
    for pass in 0..repeats {
        let start = Instant::now();
        let found = addrs.iter().fold(0u64, |all, &a| all.wrapping_add(lookup(a)));
        let each = start.elapsed().as_nanos() as f64 / addrs.len() as f64;
        if pass == 0 {
            println!("first pass {each:.1} ns a lookup");
        }
        ns.push(each);
        sum = found;
    }
    ns.sort_by(f64::total_cmp);
    let hits = addrs.iter().filter(|&&a| lookup(a) != 0).count();
    println!(
        "{} addresses, {hits} found: median {:.1} ns, minimum {:.1} ns a lookup (checksum {sum})",
        addrs.len(),
        ns[ns.len() / 2],
        ns[0]
    );
}

/// Reads every byte of a string, eight at a time, as read_bytes() of bench_lookup.c does.
fn read_bytes(s: &str) -> u64 {
    let bytes = s.as_bytes();
    let n = bytes.len();
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let half = |at: usize| u64::from(u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()));
    let mut sum = n as u64;
    if n >= 8 {
        let mut at = 0;
        while at + 8 < n {
            sum = sum.wrapping_add(word(at));
            at += 8;
        }
        sum.wrapping_add(word(n - 8))
    } else if n >= 4 {
        sum.wrapping_add(half(0)).wrapping_add(half(n - 4))
    } else {
        sum + bytes.iter().map(|&b| u64::from(b)).sum::<u64>()
    }
}

/// The strings of a file, of which the library shows none but as a path that it puts together and cleans on the heap.
fn parts(file: symbolic_symcache::File<'_>) -> [Option<&str>; 6] {
    // Each of its six fields is a string or none, which are stored the same way: their order does not matter.
    unsafe { std::mem::transmute(file) }
}

fn main() -> Result<(), Any> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["symcache", object, out] => symcache(object, out),
        ["lookup", engine, file, addresses] => lookup(engine, file, addresses, 5, 0),
        ["lookup", engine, file, addresses, repeats] => lookup(engine, file, addresses, repeats.parse()?, 0),
        ["lookup", engine, file, addresses, repeats, base] => lookup(
            engine,
            file,
            addresses,
            repeats.parse()?,
            u64::from_str_radix(base.trim_start_matches("0x"), 16)?,
        ),
        _ => Err("usage: rivals lookup ENGINE FILE ADDRESSES [REPEATS [BASE]] | rivals symcache OBJECT OUT".into()),
    }
}

fn symcache(object: &str, out: &str) -> Result<(), Any> {
    let bytes = unsafe { memmap2::Mmap::map(&std::fs::File::open(object)?)? };
    let object = symbolic_debuginfo::Object::parse(&bytes)?;
    let mut converter = symbolic_symcache::SymCacheConverter::new();
    converter.process_object(&object)?;
    let mut file = std::io::BufWriter::new(std::fs::File::create(out)?);
    converter.serialize(&mut file)?;
    Ok(())
}

fn lookup(engine: &str, file: &str, addresses: &str, repeats: usize, base: u64) -> Result<(), Any> {
    let addrs: Vec<u64> = std::fs::read_to_string(addresses)?
        .lines()
        .map(|l| u64::from_str_radix(l.trim_start_matches("0x"), 16))
        .collect::<Result<_, _>>()?;
    match engine {
        "gsym-rs" => {
            let gsym = gsym::Gsym::open(file)?;
            measure(&addrs, repeats, |a| {
                gsym.lookup(a).ok().flatten().map_or(0, |l| l.frames().len() as u64)
            });
        }
        "gsym-rs-visit" => {
            let gsym = gsym::Gsym::open(file)?;
            let mut scratch = gsym::LookupScratch::with_capacity(64);
            measure(&addrs, repeats, |a| {
                let mut n = 0;
                let _ = gsym.for_each_frame(a, gsym::FrameLookupOptions::default(), &mut scratch, |_| n += 1);
                n
            });
        }
        "blazesym" => {
            use blazesym::symbolize::{source, Input, Symbolizer};
            let symbolizer = Symbolizer::builder().enable_demangling(false).build();
            let gsym = source::Source::from(source::GsymFile::new(file));
            measure(&addrs, repeats, |a| {
                let s = symbolizer.symbolize_single(&gsym, Input::VirtOffset(a));
                s.ok().and_then(|s| s.into_sym().map(|s| 1 + s.inlined.len() as u64)).unwrap_or(0)
            });
        }
        "symcache" => {
            let bytes = unsafe { memmap2::Mmap::map(&std::fs::File::open(file)?)? };
            let cache = symbolic_symcache::SymCache::parse(&bytes)?;
            measure(&addrs, repeats, |a| {
                cache.lookup(a - base).filter(|l| !l.function().name().is_empty() || l.line() > 0).count() as u64
            });
        }
        "symcache-strings" => {
            let bytes = unsafe { memmap2::Mmap::map(&std::fs::File::open(file)?)? };
            let cache = symbolic_symcache::SymCache::parse(&bytes)?;
            measure(&addrs, repeats, |a| {
                let mut sum = 0u64;
                for location in cache.lookup(a - base) {
                    sum = sum.wrapping_add(read_bytes(location.function().name())).wrapping_add(location.line().into());
                    for part in location.file().map(parts).into_iter().flatten().flatten() {
                        sum = sum.wrapping_add(read_bytes(part));
                    }
                }
                sum
            });
        }
        "addr2line" => {
            let loader = addr2line::Loader::new(file).map_err(|e| e.to_string())?;
            measure(&addrs, repeats, |a| {
                let mut n = 0;
                if let Ok(mut frames) = loader.find_frames(a) {
                    while let Ok(Some(_)) = frames.next() {
                        n += 1;
                    }
                }
                n
            });
        }
        _ => return Err("unknown engine".into()),
    }
    Ok(())
}
