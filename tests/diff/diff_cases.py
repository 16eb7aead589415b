"""The programs of the differential tests: which compiler, which flags, what is done to the result.

A case is a list of commands, run in an empty folder with the sources at ../src; the last one leaves `prog`.
"""
import itertools
import shutil

from gsym_diff import ELSEWHERE

C_SOURCES = ("program.c", "lib/util.c")
CXX_SOURCES = ("features.cc", "features_more.cc")
INCLUDE = ["-I../src/include", "-I../src"]
PLUS_PLUS = {"gcc": "g++", "clang": "clang++", "clang-22": "clang++-22"}
LLD_22 = ["-fuse-ld=lld-22"]


class Case:
    def __init__(self, name, steps, quick=True, inlines=True, source="prog", reference=None, improvements=(),
                 nameless_calls=False):
        self.name = name
        self.steps = steps
        self.quick = quick      # part of `make check`, not only of --full
        self.inlines = inlines  # some address must have several frames, or the case tests nothing
        self.source = source    # the file to convert
        self.reference = reference or source  # what the reference converts, where it cannot read `source`
        self.improvements = improvements      # documented differences that must show
        self.nameless_calls = nameless_calls  # inlined calls that name no file: only our reader shows them

    def missing_tools(self):
        tools = {step[0] for step in self.steps}
        if any(word in LLD_22 for step in self.steps for word in step):
            tools.add("ld.lld-22")
        return sorted(tool for tool in tools if not shutil.which(tool))


def compile_steps(compiler, sources, flags, link=()):
    steps, objects = [], []
    for number, source in enumerate(sources):
        objects.append(f"{number}.o")
        steps.append([compiler, *INCLUDE, *flags, "-c", f"../src/{source}", "-o", objects[-1]])
    if any(flag.startswith("-gz") for flag in flags):
        link = [*link, next(flag for flag in flags if flag.startswith("-gz"))]
    shared = [flag for flag in flags if flag.startswith(("-flto", "-m32", "-marm", "--target", "-O"))]
    return steps + [[compiler, *shared, *objects, "-o", "prog", *link]]


def c_steps(compiler, *flags, link=(), sources=C_SOURCES):
    return compile_steps(compiler, sources, ["-g", "-w", *flags], link)


def cxx_steps(compiler, *flags, link=(), sources=CXX_SOURCES):
    return compile_steps(PLUS_PLUS[compiler], sources, ["-g", "-w", *flags], link)


def at_zero_and_elsewhere(link):
    """A program whose code begins at 0, and the same where no removed function is, for the judge."""
    name, base = ELSEWHERE
    return [[*link, "-Wl,-Ttext=0"], [*(name if word == "prog" else word for word in link), f"-Wl,-Ttext={base:#x}"]]


def product():
    """Every compiler, language, DWARF version and optimization level; some of them quick."""
    quick = {("5", "-O2"), ("4", "-O0"), ("2", "-O3"), ("3", "-O1"), ("5", "-O0")}
    for compiler, language, version, level in itertools.product(
            ("gcc", "clang", "clang-22"), ("c", "c++"), "2345", ("-O0", "-O1", "-O2", "-O3")):
        steps = (c_steps if language == "c" else cxx_steps)(compiler, f"-gdwarf-{version}", level)
        yield Case(f"{compiler}-{language}-dwarf{version}{level}", steps, quick=(version, level) in quick)


def packaging():
    """What happens to sections and units after the compiler."""
    yield Case("gcc-lto", cxx_steps("gcc", "-O2", "-flto"))
    yield Case("gcc-lto-c", c_steps("gcc", "-O2", "-flto"))
    yield Case("clang-22-lto", cxx_steps("clang-22", "-O2", "-flto", link=LLD_22))
    yield Case("clang-22-thin-lto", c_steps("clang-22", "-O2", "-flto=thin", link=LLD_22))
    gc = ["-ffunction-sections", "-fdata-sections"]
    yield Case("gcc-gc-sections", cxx_steps("gcc", "-O2", *gc, link=["-Wl,--gc-sections"]))
    yield Case("gcc-gc-sections-dwarf4", c_steps("gcc", "-O1", "-gdwarf-4", *gc, link=["-Wl,--gc-sections"]))
    yield Case("clang-22-gc-sections", cxx_steps("clang-22", "-Os", *gc, link=[*LLD_22, "-Wl,--gc-sections"]))
    yield Case("clang-22-gc-sections-dwarf4",
               cxx_steps("clang-22", "-O1", "-gdwarf-4", *gc, link=[*LLD_22, "-Wl,--gc-sections"]))
    for compiler, version in itertools.product(("gcc", "clang-22"), "45"):
        yield Case(f"{compiler}-type-units-dwarf{version}",
                   cxx_steps(compiler, "-O1", f"-gdwarf-{version}", "-fdebug-types-section"))
    yield Case("gcc-gz", cxx_steps("gcc", "-O2", "-gz"))
    yield Case("clang-22-gz-zstd", cxx_steps("clang-22", "-O2", "-gz=zstd", link=LLD_22))
    yield Case("gcc-zdebug", c_steps("gcc", "-O2") + [["objcopy", "--compress-debug-sections=zlib-gnu", "prog", "prog.z"]],
               source="prog.z", reference="prog")
    yield Case("gcc-objcopy-zstd", c_steps("gcc", "-O2") + [["objcopy", "--compress-debug-sections=zstd", "prog"]])
    for version in "345":
        yield Case(f"gcc-dwarf64-{version}", cxx_steps("gcc", "-O2", f"-gdwarf-{version}", "-gdwarf64"),
                   quick=version != "3")
    yield Case("clang-22-dwarf64", cxx_steps("clang-22", "-O2", "-gdwarf64", link=LLD_22))
    yield Case("gcc-lazy-stubs", c_steps("gcc", "-O2", link=["-Wl,-z,lazy"]), improvements=["stubs", "section-end"])
    yield Case("gcc-ibt-stubs", c_steps("gcc", "-O2", "-fcf-protection", link=["-Wl,-z,ibtplt"]), improvements=["stubs"])
    yield Case("gcc-no-pie", c_steps("gcc", "-O2", "-fno-pie", link=["-no-pie"]))
    yield Case("clang-22-no-pie", cxx_steps("clang-22", "-O2", "-fno-pie", link=["-no-pie"]))
    yield Case("gcc-shared", cxx_steps("gcc", "-O2", "-fPIC", link=["-shared"]))
    yield Case("gcc-emit-relocs", cxx_steps("gcc", "-O2", link=["-Wl,--emit-relocs"]))
    yield Case("gcc-debug-only", cxx_steps("gcc", "-O2") + [["objcopy", "--only-keep-debug", "prog", "prog.debug"]],
               source="prog.debug")
    yield Case("clang-22-debug-only-gz",
               cxx_steps("clang-22", "-O2", "-gz", link=LLD_22) +
               [["llvm-objcopy-22", "--only-keep-debug", "prog", "prog.debug"]], source="prog.debug")
    yield Case("gcc-dwz", cxx_steps("gcc", "-O2") + [["dwz", "prog"]])
    yield Case("gcc-dwz-dwarf4", cxx_steps("gcc", "-O2", "-gdwarf-4") + [["dwz", "prog"]])
    yield Case("gcc-stripped-of-dwarf", cxx_steps("gcc", "-O2") + [["strip", "-g", "prog"]], inlines=False)
    yield Case("clang-22-icf", cxx_steps("clang-22", "-O2", "-ffunction-sections", sources=["folded.cc"],
                                         link=[*LLD_22, "-Wl,--icf=all"]))
    yield Case("clang-22-icf-stmt-sequence",
               cxx_steps("clang-22", "-O2", "-ffunction-sections", "-Xclang", "-mllvm", "-Xclang",
                         "-emit-func-debug-line-table-offsets", sources=["folded.cc"],
                         link=[*LLD_22, "-Wl,--icf=all"]))


def shapes_of_dwarf():
    """Flags that change what the compiler writes."""
    yield Case("gcc-basic-blocks-cold", cxx_steps("gcc", "-O3", "-freorder-blocks-and-partition", "-fno-exceptions",
                                                  "-DNO_EXCEPTIONS"))
    yield Case("clang-22-block-sections", cxx_steps("clang-22", "-O2", "-fbasic-block-sections=all", link=LLD_22),
               improvements=["rows-begin-late", "inlined-clipped"])
    yield Case("clang-22-block-sections-dwarf4",
               c_steps("clang-22", "-O2", "-gdwarf-4", "-fbasic-block-sections=all", link=LLD_22),
               improvements=["inlined-clipped"])
    yield Case("gcc-g1", cxx_steps("gcc", "-O2", "-g1"))
    yield Case("gcc-g3", c_steps("gcc", "-O2", "-g3"))
    yield Case("clang-22-line-tables-only", cxx_steps("clang-22", "-O2", "-gline-tables-only"))
    yield Case("clang-line-tables-only-c", c_steps("clang", "-O2", "-gline-tables-only"))
    yield Case("gcc-own-line-program", c_steps("gcc", "-O2", "-gno-as-loc-support"))
    yield Case("gcc-own-line-program-dwarf4", cxx_steps("gcc", "-O2", "-gdwarf-4", "-gno-as-loc-support"))
    yield Case("gcc-strict-dwarf", cxx_steps("gcc", "-O2", "-gstrict-dwarf", "-gdwarf-3"))
    yield Case("gcc-strict-dwarf2", cxx_steps("gcc", "-O2", "-gstrict-dwarf", "-gdwarf-2"), inlines=False, nameless_calls=True)
    yield Case("gcc-no-columns", c_steps("gcc", "-O2", "-gno-column-info", "-gno-statement-frontiers"))
    yield Case("clang-22-embedded-source", c_steps("clang-22", "-O2", "-gembed-source"))
    yield Case("gcc-prefix-map", c_steps("gcc", "-O2", "-ffile-prefix-map=../src=/mapped/source"))
    yield Case("gcc-prefix-map-dwarf4", c_steps("gcc", "-O2", "-gdwarf-4", "-fdebug-prefix-map=../src=relative"))
    yield Case("clang-22-relative-comp-dir", c_steps("clang-22", "-O2", "-fdebug-compilation-dir=."))
    yield Case("clang-22-relative-comp-dir-dwarf4",
               c_steps("clang-22", "-O2", "-gdwarf-4", "-fdebug-compilation-dir=."))
    yield Case("gcc-assembly", c_steps("gcc", "-O2", "-DASSEMBLY", sources=[*C_SOURCES, "entry.s"]),
               improvements=["labels"])
    yield Case("gcc-assembly-dwarf3",
               c_steps("gcc", "-O2", "-DASSEMBLY", "-gdwarf-3", sources=[*C_SOURCES, "entry.s"]),
               improvements=["labels"])
    yield Case("clang-22-assembly", c_steps("clang-22", "-O2", "-DASSEMBLY", sources=[*C_SOURCES, "entry.s"]),
               improvements=["labels"])
    half = c_steps("gcc", "-O2")
    half[1] = [word for word in half[1] if word != "-g"]
    yield Case("gcc-half-without-debug-info", half)
    for standard in ("-std=c++17", "-std=c++20"):
        yield Case(f"clang-22{standard}", cxx_steps("clang-22", "-O2", standard))
    for standard in ("-std=gnu89", "-std=gnu99", "-std=gnu17"):
        yield Case(f"clang-22{standard}", c_steps("clang-22", "-O2", standard), quick=standard == "-std=gnu89")


def improvements():
    """One case for each entry of docs/differences-from-llvm-gsymutil.md."""
    late = [["gcc", *INCLUDE, "-g", "-O2", "-gno-variable-location-views", "-S", "../src/late.c", "-o", "late.s"],
            ["sed", "-i", r"/^late:/,/imul/{/\.loc/d}", "late.s"], ["gcc", "late.s", "-o", "prog"]]
    yield Case("gcc-rows-begin-late", late, improvements=["rows-begin-late"])
    # the same without DW_AT_decl_file, as in assembly: nothing stands in for the rows that are missing
    undeclared = ["sed", "-i", r"s/\.uleb128 0x3a$/.uleb128 0x2fff/", "late.s"]
    yield Case("gcc-rows-begin-late-undeclared", [*late[:-1], undeclared, late[-1]], improvements=["rows-begin-late"])
    # one function in two units: the linker drops the code of the second, not what is written about it
    units = [["g++", *INCLUDE, "-g", "-O2", *flags, "-c", "../src/copies.cc", "-o", f"{number}.o"]
             for number, flags in enumerate(([], ["-DSECOND"]))]
    yield Case("gcc-copies", [*units, ["g++", "0.o", "1.o", "-o", "prog"]], improvements=["first-copy"])


def targets():
    """Other machines, both byte orders and both classes; nothing is run."""
    free = ["-DFREESTANDING", "-ffreestanding", "-fno-stack-protector", "-O2"]
    alone = ["-nostdlib", "-static"]
    yield Case("s390x-gcc", c_steps("s390x-linux-gnu-gcc", *free, link=alone))
    yield Case("s390x-gcc-dwarf4", c_steps("s390x-linux-gnu-gcc", *free, "-gdwarf-4", link=alone))
    yield Case("s390x-gcc-gz", c_steps("s390x-linux-gnu-gcc", *free, "-gz", link=alone))
    thumb = [*alone, "-Wl,--unresolved-symbols=ignore-all"]  # the division helpers of libgcc
    yield Case("arm-gcc-thumb", c_steps("arm-linux-gnueabihf-gcc", *free, link=thumb))
    yield Case("arm-gcc-arm", c_steps("arm-linux-gnueabihf-gcc", *free, "-marm", link=thumb))
    # symbols name descriptors: the reference knows functions by their DIEs only
    yield Case("powerpc64-gcc-descriptors", c_steps("powerpc64-linux-gnu-gcc", *free, link=alone))
    yield Case("powerpc64-gcc-static", c_steps("powerpc64-linux-gnu-gcc", "-O2", link=["-static"]), quick=False, improvements=["labels"])
    yield Case("i386-gcc", c_steps("gcc", *free, "-m32", "-fno-pie", link=[*alone, "-no-pie"]))
    yield Case("i386-gcc-shared", c_steps("gcc", *free, "-m32", "-fPIC", link=["-nostdlib", "-shared"]),
               improvements=["bounded-by-frame", "stubs"])
    *objects, link = c_steps("gcc", *free, "-ffunction-sections", "-fno-pie", link=[*alone, "-no-pie", "-Wl,--gc-sections"])
    yield Case("gcc-text-at-zero", [*objects, *at_zero_and_elsewhere(link)], improvements=["code-at-0"])
    lld = [*alone, *LLD_22]
    quick = {"aarch64", "riscv64", "powerpc64"}
    for machine in ("aarch64", "aarch64_be", "riscv64", "riscv32", "powerpc64", "powerpc64le", "powerpc", "mips64",
                    "mipsel", "s390x", "i686", "loongarch64"):
        triple = f"--target={machine}-linux-gnu"
        link = [*lld, "-Wl,--unresolved-symbols=ignore-all"]
        # ELFv2 functions begin with two instructions that have no row
        expected = ["rows-begin-late"] if machine == "powerpc64le" else []
        yield Case(f"{machine}-clang-22", c_steps("clang-22", triple, *free, link=link), quick=machine in quick,
                   improvements=expected)
        yield Case(f"{machine}-clang-22-dwarf4", c_steps("clang-22", triple, *free, "-gdwarf-4", link=link),
                   quick=False, improvements=expected)


def mach_o():
    """dSYMs, made on Linux: a dylib whose unresolved symbols are left to the loader needs no SDK."""
    free = ["-DFREESTANDING", "-ffreestanding", "-w", "-g"]
    for arch, version, level in itertools.product(("x86_64", "arm64"), "45", ("-O0", "-O2")):
        target = [f"--target={arch}-apple-macos11", *INCLUDE, f"-gdwarf-{version}", level]
        for language, compiler, flags, sources in (("c", "clang-22", free, C_SOURCES),
                                                   ("c++", "clang++-22", ["-w", "-g"], CXX_SOURCES)):
            objects = [f"{number}.o" for number in range(len(sources))]
            steps = [[compiler, *target, *flags, "-c", f"../src/{source}", "-o", name]
                     for source, name in zip(sources, objects)]
            steps.append(["ld64.lld-22", "-arch", arch, "-platform_version", "macos", "11.0", "11.0", "-dylib",
                          "-undefined", "dynamic_lookup", "-o", "libprog.dylib", *objects])
            steps.append(["dsymutil-22", "--flat", "libprog.dylib", "-o", "prog"])
            yield Case(f"macho-{arch}-{language}-dwarf{version}{level}", steps, quick=(version, level) != ("4", "-O0"))


def all_cases():
    cases = [*product(), *packaging(), *shapes_of_dwarf(), *improvements(), *targets(), *mach_o()]
    assert len({case.name for case in cases}) == len(cases)
    return cases
