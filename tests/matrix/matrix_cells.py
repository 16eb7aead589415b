"""The cells of the support matrix: how a container, a packaging of DWARF and a producer make a file to convert.

A cell is a list of commands, run in an empty folder with the sources at `src/`. Its answers are compared with those of its
baseline, made by the same compiler as plain ELF with DWARF inside: address by address where the packaging leaves code
alone ("exact"), by the stacks that each function's code has where it only moves ("stacks"), by names, nesting and most lines
where the code itself differs ("shape")."""
import shutil

CXX = ["src/shapes.cc", "src/main.cc"]
C = ["src/plain.c"]
LLD = "-fuse-ld=lld-22"
FREE = ["-fno-exceptions", "-fno-rtti", "-fno-asynchronous-unwind-tables", "-ffreestanding", "-w"]
CLANG_CXX, CLANG = "clang++-22", "clang-22"


class Cell:
    def __init__(self, container, packaging, producer, steps, source, baseline, mode="exact", options=()):
        self.container, self.packaging, self.producer = container, packaging, producer
        self.steps, self.source, self.options = steps, source, options
        self.baseline = baseline      # (steps, source)
        self.mode = mode

    @property
    def name(self):
        return f"{self.container}/{self.packaging}/{self.producer}"

    def missing_tools(self):
        steps = self.steps + self.baseline[0]
        tools = {step[0] for step in steps}
        if any(LLD in step for step in steps):
            tools.add("ld.lld-22")
        return sorted(tool for tool in tools if not shutil.which(tool))


def compile_all(compiler, sources, flags):
    """Steps that compile each source to N.o, and the objects."""
    objects = [f"{number}.o" for number in range(len(sources))]
    return [[compiler, *flags, *FREE, "-c", source, "-o", out] for source, out in zip(sources, objects)], objects


def elf_link(objects, out="prog"):
    return ["ld.lld-22", "-e", "entry", "--build-id=sha1", *objects, "-o", out]


def elf(compiler, sources, flags, out="prog"):
    steps, objects = compile_all(compiler, sources, flags)
    return steps + [elf_link(objects, out)], out


# ---- ELF: one baseline for each producer, many packagings ----

PRODUCERS = [("g++", "-g -O2"), ("g++", "-g -gdwarf-4 -O1"), (CLANG_CXX, "-g -O2"), (CLANG_CXX, "-g -gdwarf-4 -O0")]


def separate(*more):
    """The program without its debug information, and the debug file."""
    return [["objcopy", "--only-keep-debug", "prog", "prog.debug"],
            ["objcopy", "--strip-all", "prog", "bin/prog"], *more]


def elf_packagings():
    """(name, steps after the baseline's, what to convert, options)."""
    link = ["objcopy", "--add-gnu-debuglink=prog.debug", "bin/prog"]
    tree = [["sh", "-c", "id=$(readelf -n prog | sed -n 's/.*Build ID: //p'); rest=${id#??};"
             " mkdir -p tree/.build-id/${id%$rest}; mv prog.debug tree/.build-id/${id%$rest}/$rest.debug; rm prog"]]
    bin_folder = [["mkdir", "-p", "bin/.debug", "tree"]]
    yield "zlib", [["objcopy", "--compress-debug-sections=zlib", "prog"]], "prog", ()
    yield "zdebug", [["objcopy", "--compress-debug-sections=zlib-gnu", "prog"]], "prog", ()
    yield "zstd", [["objcopy", "--compress-debug-sections=zstd", "prog"]], "prog", ()
    yield "debug-only", [["objcopy", "--only-keep-debug", "prog", "prog.debug"]], "prog.debug", ()
    yield "debug-file", bin_folder + separate(), "bin/prog", ("--debug-file", "prog.debug")
    yield "debuglink-beside", bin_folder + separate(link, ["mv", "prog.debug", "bin/"], ["rm", "prog"]), "bin/prog", ()
    yield "debuglink-.debug", bin_folder + separate(link, ["mv", "prog.debug", "bin/.debug/"], ["rm", "prog"]), "bin/prog", ()
    yield "build-id-tree", bin_folder + separate(*tree), "bin/prog", ("--debug-dir", "tree")
    yield "dwz", [["dwz", "prog"]], "prog", ()
    yield "dwz-supplement", [["cp", "prog", "copy"], ["dwz", "-m", "common.sup", "prog", "copy"]], "prog", ()
    yield ("dwz-supplement-5", [["cp", "prog", "copy"], ["dwz", "--dwarf-5", "-m", "common.sup", "prog", "copy"]], "prog",
           ())


def elf_cells():
    for compiler, flags in PRODUCERS:
        base = elf(compiler, CXX, flags.split())
        for packaging, steps, source, options in elf_packagings():
            if packaging.startswith("dwz") and compiler == CLANG_CXX and "dwarf-4" not in flags:
                continue # dwz does not read the indexed forms of DWARF 5
            yield Cell("elf", packaging, f"{compiler} {flags}", base[0] + steps, source, base, options=options)


def split_cells():
    for compiler, flags in PRODUCERS:
        base = elf(compiler, CXX, flags.split())
        split = elf(compiler, CXX, [*flags.split(), "-gsplit-dwarf", "-ggnu-pubnames"])
        name = f"{compiler} {flags}"
        yield Cell("elf", "dwo", name, split[0], "prog", base)
        if compiler == "g++" and "dwarf-4" not in flags:
            continue # Debian's tools cannot package DWARF 5 of g++: a unit test builds that
        packer = ["llvm-dwp-22", "-e", "prog", "-o", "prog.dwp"] if compiler != "g++" else ["dwp", "-e", "prog", "-o", "prog.dwp"]
        yield Cell("elf", "dwp", name, split[0] + [packer, ["sh", "-c", "rm *.dwo"]], "prog", base)


def target_cells():
    """Relocatable objects and other machines."""
    for compiler, flags in PRODUCERS:
        base = elf(compiler, ["src/shapes.cc"], flags.split())
        steps, objects = compile_all(compiler, ["src/shapes.cc"], flags.split())
        yield Cell("elf", "relocatable", f"{compiler} {flags}", steps, objects[0], base, mode="stacks")
        steps, objects = compile_all(compiler, CXX, [*flags.split(), "-ffunction-sections"])
        whole = elf(compiler, CXX, flags.split())
        yield Cell("elf", "function-sections", f"{compiler} {flags}",
                   steps + [["ld.lld-22", "-r", *objects, "-o", "all.o"]], "all.o", whole, mode="stacks")
    for triple in ("aarch64-linux-gnu", "riscv64-linux-gnu", "s390x-linux-gnu", "powerpc64le-linux-gnu", "i386-linux-gnu",
                   "armv7-linux-gnueabihf"):
        steps, objects = compile_all(CLANG_CXX, ["src/shapes.cc"], [f"--target={triple}", "-g", "-O1"])
        yield Cell("elf", "relocatable", f"{CLANG_CXX} {triple}", steps, objects[0],
                   elf(CLANG_CXX, ["src/shapes.cc"], ["-g", "-O1"]), mode="shape")


# ---- Mach-O ----

def macho(arch, flags, sources=CXX):
    target = f"--target={arch}-apple-macos13"
    steps, objects = compile_all(CLANG_CXX, sources, [target, *flags])
    link = ["ld64.lld-22", "-arch", arch, "-platform_version", "macos", "13.0", "13.0", "-e", "_entry", "-dylib",
            "-undefined", "dynamic_lookup", *objects, "-o", "prog"]
    return steps + [link]


def macho_cells():
    for arch in ("x86_64", "arm64"):
        machine = {"x86_64": "x86_64", "arm64": "aarch64"}[arch]
        for flags in ("-g -O1", "-g -gdwarf-4 -O0"):
            name = f"{CLANG_CXX} {arch} {flags}"
            base = elf(CLANG_CXX, CXX, [f"--target={machine}-linux-gnu", "-fPIC", *flags.split()])
            image = macho(arch, flags.split())
            dsym = image + [["dsymutil-22", "prog", "-o", "prog.dSYM"]]
            inner = "prog.dSYM/Contents/Resources/DWARF/prog"
            for packaging, source in (("dsym-bundle", "prog.dSYM"), ("dsym-beside", "prog"), ("dsym-inner", inner)):
                drop = [["sh", "-c", "rm *.o"]]
                yield Cell("mach-o", packaging, name, dsym + drop, source, base, mode="shape")
            # The debug map must answer as the dSYM does, address by address.
            yield Cell("mach-o", "debug-map", name, image, "prog", (dsym, inner))
            in_archive = [*image[:-1], ["llvm-ar-22", "rc", "libshapes.a", "0.o"],
                          [word if word != "0.o" else "libshapes.a" for word in image[-1]]]
            yield Cell("mach-o", "debug-map-archive", name, in_archive, "prog", (in_archive + dsym[-1:], inner))
            steps, objects = compile_all(CLANG_CXX, ["src/shapes.cc"], [f"--target={arch}-apple-macos13", *flags.split()])
            yield Cell("mach-o", "object", name, steps, objects[0],
                       elf(CLANG_CXX, ["src/shapes.cc"], [f"--target={machine}-linux-gnu", "-fPIC", *flags.split()]),
                       mode="shape")
    both = [["sh", "-c", f"mkdir {arch}; ln -s ../src {arch}/src"] for arch in ("x86_64", "arm64")]
    for arch in ("x86_64", "arm64"):
        steps = both + [["sh", "-c", "cd " + one + "; " + "; ".join(" ".join(step) for step in
                         macho(one, ["-g", "-O1"]) + [["dsymutil-22", "prog", "-o", "prog.dSYM"]])]
                        for one in ("x86_64", "arm64")]
        inner = "/prog.dSYM/Contents/Resources/DWARF/prog"
        steps += [["llvm-lipo-22", "-create", "x86_64" + inner, "arm64" + inner, "-output", "fat"]]
        yield Cell("mach-o", "universal", f"{CLANG_CXX} {arch}", steps, "fat", (steps, arch + inner), options=("--arch", arch))


# ---- PE/COFF ----

def mingw(machine, compiler, sources, flags, link=()):
    return [[f"{machine}-w64-mingw32-{compiler}", *flags, "-w", *sources, *link, "-o", "prog.exe"]]


def pe_cells():
    for machine, bits in (("x86_64", "-m64"), ("i686", "-m32")):
        for flags in ("-g -O2", "-g -gdwarf-4 -O0"):
            host = [["g++", bits, *flags.split(), *FREE, "-fno-pie", "-c", source, "-o", f"{i}.o"] for i, source in enumerate(CXX)]
            base = host + [["ld.lld-22", "-e", "entry", "0.o", "1.o", "-o", "prog"]], "prog"
            name = f"{machine}-w64-mingw32-g++ {flags}"
            steps = mingw(machine, "g++", CXX, [*flags.split(), *FREE])
            yield Cell("pe", "image", name, steps, "prog.exe", base, mode="shape")
            dll = mingw(machine, "g++", CXX, [*flags.split(), *FREE], ["-shared"])
            yield Cell("pe", "dll", name, dll, "prog.exe", base, mode="shape")
            strip = [[f"{machine}-w64-mingw32-objcopy", "--only-keep-debug", "prog.exe", "prog.debug"]]
            link = strip + [[f"{machine}-w64-mingw32-strip", "prog.exe"],
                            [f"{machine}-w64-mingw32-objcopy", "--add-gnu-debuglink=prog.debug", "prog.exe"]]
            yield Cell("pe", "debuglink-beside", name, steps + link, "prog.exe", (steps, "prog.exe"))
            yield Cell("pe", "debug-only", name, steps + strip, "prog.debug", (steps, "prog.exe"))
    base = elf(CLANG, C, ["-g", "-O1"])
    steps, objects = compile_all(CLANG, C, ["--target=x86_64-pc-windows-msvc", "-gdwarf", "-O1"])
    link = ["lld-link-22", "/entry:entry", "/subsystem:console", "/debug:dwarf", "/nodefaultlib", *objects, "/out:prog.exe"]
    yield Cell("pe", "image", f"{CLANG} msvc lld-link", steps + [link], "prog.exe", base, mode="shape")
    yield Cell("coff", "object", f"{CLANG} msvc", steps, objects[0], base, mode="shape")
    for triple in ("x86_64-w64-mingw32", "aarch64-w64-mingw32", "i686-w64-mingw32"):
        steps, objects = compile_all(CLANG_CXX, ["src/shapes.cc"], [f"--target={triple}", "-g", "-O1"])
        yield Cell("coff", "object", f"{CLANG_CXX} {triple}", steps, objects[0],
                   elf(CLANG_CXX, ["src/shapes.cc"], ["-g", "-O1"]), mode="shape")


# ---- WebAssembly ----

def wasm_cells():
    for flags in ("-g -O1", "-g -gdwarf-4 -O0"):
        steps, objects = compile_all(CLANG_CXX, CXX, ["--target=wasm32", *flags.split()])
        link = ["wasm-ld-22", "--no-entry", "--export=entry", *objects, "-o", "prog.wasm"]
        yield Cell("wasm", "module", f"{CLANG_CXX} {flags}", steps + [link], "prog.wasm",
                   elf(CLANG_CXX, CXX, flags.split()), mode="shape")


    steps, objects = compile_all(CLANG_CXX, ["src/shapes.cc"], ["--target=wasm32", "-g", "-O1"])
    yield Cell("wasm", "object", CLANG_CXX, steps, objects[0], elf(CLANG_CXX, ["src/shapes.cc"], ["-g", "-O1"]), mode="shape")


def all_cells():
    for cells in (elf_cells, split_cells, target_cells, macho_cells, pe_cells, wasm_cells):
        yield from cells()
