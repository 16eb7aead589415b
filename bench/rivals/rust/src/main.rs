//! Measures what the Rust rivals do, in process, each with its own library. Built by `bench/rivals/build --rust`.
//!
//!   rivals lookup   ENGINE FILE ADDRESSES [REPEATS [BASE]]   median and minimum ns a lookup, warm
//!   rivals symcache OBJECT OUT                               converts an object to a symcache
//!
//! ENGINE: gsym-rs (a GSYM file), gsym-rs-visit (the same, its allocation-free visitor), blazesym (a GSYM file),
//! symcache (a symcache; BASE, the image's load address, is taken off each address), addr2line (an ELF file; the first
//! pass parses the units). ADDRESSES: one hexadecimal address a line. The frame count printed keeps the work from being
//! optimised away.
use std::time::Instant;

type Any = Box<dyn std::error::Error>;

fn measure(addrs: &[u64], repeats: usize, mut lookup: impl FnMut(u64) -> u64) {
    let mut ns = Vec::new();
    let mut frames = 0;
    for pass in 0..repeats {
        let start = Instant::now();
        let found: u64 = addrs.iter().map(|&a| lookup(a)).sum();
        let each = start.elapsed().as_nanos() as f64 / addrs.len() as f64;
        if pass == 0 {
            println!("first pass {each:.1} ns a lookup");
        }
        ns.push(each);
        frames = found;
    }
    ns.sort_by(f64::total_cmp);
    println!(
        "{} addresses: median {:.1} ns, minimum {:.1} ns a lookup ({frames} frames)",
        addrs.len(),
        ns[ns.len() / 2],
        ns[0]
    );
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
