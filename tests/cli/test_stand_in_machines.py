"""The stand-ins over objects of other machines and containers, whose symbols and sections have rules of their own."""
import os
import re
import shutil
import subprocess

import pytest

import stand_in_pairs
from test_stand_ins import folder, need_programs, pair_for  # noqa: F401 (a fixture)

SYMBOL = re.compile(r"([0-9a-f]{8,16}) \w (\S+)$", re.M)
STEPS = [-1, *range(0, 48), 64, 100, 200, 1000]


def addresses(path):
    """Those of all symbols, with what is around them, and low ones, where sections that are not loaded begin."""
    listing = subprocess.run(["llvm-nm-22", path], capture_output=True, text=True, check=True).stdout
    starts = {int(addr, 16) for addr, _ in SYMBOL.findall(listing)} | {0}
    assert len(starts) > 1 or path.suffix == ".o"
    return sorted({start + step for start in starts for step in STEPS if start + step >= 0})


ELF, COFF = ["c-clang-obj.o", "c-riscv", "c-aarch64"], ["c-coff.o", "c-coff32.o"]
CASES = [("llvm-symbolizer", ["--verbose", "-p"], ELF + COFF), ("llvm-symbolizer", ["--no-inlines", "-f=short"], ELF + COFF),
         ("llvm-addr2line", ["-aif"], ELF + COFF), ("eu-addr2line", ["-aif"], ELF), ("eu-addr2line", ["-aSx"], ELF)]


@pytest.mark.parametrize("dialect,arguments,name", [(dialect, arguments, name) for dialect, arguments, names in CASES for name in names])
def test_other_machines(dialect, arguments, name, folder):  # noqa: F811
    need_programs(folder, name)
    pair = pair_for(dialect, folder)
    where = folder / "programs"
    requests = [hex(addr) for addr in addresses(where / name)]
    if dialect == "llvm-symbolizer":
        requests += ["DATA " + text for text in requests]
    text = "\n".join([*requests, ""]).encode()
    difference = pair.compare([*arguments, "-e", name], text, where)
    assert difference is None, stand_in_pairs.show_difference(arguments, text, difference)


LABEL_IN_DWARF = """
        .text
        .globl _start
_start: ret
        .size _start, 1
        .data
loaded: .long 1
        .section .debug_mine,"",@progbits
        .long 2
label:  .long 3
"""


@pytest.mark.parametrize("dialect,arguments", [("llvm-symbolizer", []), ("llvm-addr2line", ["-f"]), ("eu-addr2line", ["-f"]), ("eu-addr2line", ["-S"])])
@pytest.mark.parametrize("options", [["-c"], ["-static"], ["-static", "-Wl,-Ttext=0"]], ids=" ".join)
def test_labels_of_sections_that_are_not_loaded(dialect, arguments, options, folder, tmp_path):  # noqa: F811
    """LLVM ignores them, and for elfutils they are at one address. Linkers of RISC-V and LoongArch leave many in DWARF."""
    pair = pair_for(dialect, folder)
    (tmp_path / "x.s").write_text(LABEL_IN_DWARF)
    done = subprocess.run(["gcc", "-nostdlib", *options, "-o", "x", "x.s"], cwd=tmp_path, capture_output=True, check=False)
    if done.returncode:
        pytest.skip("no compiler that assembles this")
    requests = "".join(f"0x{addr:x}\n" for addr in addresses(tmp_path / "x")).encode()
    difference = pair.compare([*arguments, "-e", "x"], requests, tmp_path)
    assert difference is None, stand_in_pairs.show_difference(arguments, requests, difference)


FAKE_LABELS = """
        .globl f
f:      nop
        nop
".L0 ": nop
        nop
.Lmine: nop
        nop
        .size f, .-f
"""


@pytest.mark.parametrize("target", ["riscv64", "riscv32", "loongarch64", "aarch64"])
def test_fake_labels(target, folder, tmp_path):  # noqa: F811
    """Those of RISC-V, which are in linked programs, too, name no code."""
    pair = pair_for("llvm-symbolizer", folder)
    (tmp_path / "x.s").write_text(FAKE_LABELS)
    done = subprocess.run(["clang-22", f"--target={target}-unknown-elf", "-Wa,-L", "-c", "x.s", "-o", "x.o"], cwd=tmp_path,
                          capture_output=True, check=False)
    if done.returncode:
        pytest.skip(f"clang-22 does not assemble for {target}")
    assert b".L0 " in (tmp_path / "x.o").read_bytes()
    requests = "".join(f"0x{addr:x}\n" for addr in range(24)).encode()
    difference = pair.compare(["-e", "x.o"], requests, tmp_path)
    assert difference is None, stand_in_pairs.show_difference([], requests, difference)


@pytest.mark.parametrize("name", ["c-coff.o", "c-coff32.o", "c-clang-obj.o", "c-riscv"])
def test_gsymutil_converts_other_machines(name, folder):  # noqa: F811
    need_programs(folder, name)
    pair = pair_for("llvm-gsymutil", folder)
    where, out = folder / "programs", folder / "programs/converted.gsym"
    results = []
    for which in ("theirs", "ours"):
        out.unlink(missing_ok=True)
        result = pair.run(which, [f"--convert={name}", "--out-file=converted.gsym", "--num-threads=1", "--verify"], cwd=where)
        results.append((result, out.read_bytes()))
    assert results[0] == results[1]


CODE_WITHOUT_SIZES = """
        .text
        .globl f
        .type f, %function
f:      nop
        .word 0x12345678
        nop
        .size f, .-f
g:      nop
        .word 5
        nop
        nop
        .bss
v:      .skip 8
"""


@pytest.mark.parametrize("size", ["small", "large"])
@pytest.mark.parametrize("target", ["aarch64-linux-gnu", "arm-linux-gnueabihf", "riscv64-linux-gnu"])
def test_addr2line_of_other_machines_knows_their_mapping_symbols(target, size, folder, tmp_path):  # noqa: F811
    """As the tool of that machine. The x86-64 one names code after data `$x`."""
    pair_for("addr2line", folder)
    tool = shutil.which(target + "-addr2line")
    (tmp_path / "x.s").write_text(CODE_WITHOUT_SIZES + (".data\n.skip 9 << 20\n" if size == "large" else ""))
    debug = ["-g"] if size == "large" else []  # a large object with DWARF has an index after some thousands of requests
    done = subprocess.run(["clang-22", "-target", target, *debug, "-nostdlib", "-static", "-fuse-ld=lld", "-Wl,-e,f", "-o", "x", "x.s"], cwd=tmp_path,
                          capture_output=True, check=False)
    if done.returncode or not tool:
        pytest.skip(f"no {target}-addr2line, or no compiler for it")
    starts = [addr for addr in addresses(tmp_path / "x") if addr > 1000]
    requests = "".join(f"{addr:x}\n" for addr in starts * (1 if size == "small" else 4096 // len(starts) + 2)).encode()
    (tmp_path / target).mkdir()
    ours = tmp_path / target / (target + "-addr2line")
    ours.symlink_to(folder / "ours/addr2line")
    env = dict(os.environ, CALLSIGN_CACHE=str(tmp_path / "cache"))
    results = [subprocess.run([path, "-fa", "-e", "x"], input=requests, cwd=tmp_path, env=env, capture_output=True, check=True).stdout
               for path in (tool, ours)]
    assert results[0] == results[1]
    assert size == "small" or target != "riscv64-linux-gnu" or any((tmp_path / "cache").glob("addresses/*"))
    assert b"$" not in results[1] and b"\ng\n" in results[1]


THUMB_IFUNC = """
        .syntax unified
        .thumb
        .globl f, before
        .type before, %function
        .thumb_func
before: nop
        bx lr
        .size before, .-before
        .type impl, %function
        .thumb_func
impl:
        .type f, %gnu_indirect_function
f:      nop
        bx lr
        .size f, .-f
        .size impl, .-impl
"""


@pytest.mark.parametrize("dialect", ["llvm-symbolizer", "llvm-addr2line"])
@pytest.mark.parametrize("options", [["-c"], ["-nostdlib", "-static", "-fuse-ld=lld", "-Wl,-e,before"]], ids=["object", "program"])
def test_ifuncs_of_thumb(options, dialect, folder, tmp_path):  # noqa: F811
    """LLVM leaves the bit for Thumb in the address of an IFUNC: the first byte has another name than the second."""
    pair = pair_for(dialect, folder)
    (tmp_path / "x.s").write_text(THUMB_IFUNC)
    done = subprocess.run(["clang-22", "-target", "armv7-linux-gnueabihf", *options, "x.s", "-o", "x"], cwd=tmp_path, capture_output=True, check=False)
    if done.returncode:
        pytest.skip("clang-22 does not assemble or lld does not link for ARM")
    start = 0 if options == ["-c"] else int(next(line.split()[0] for line in subprocess.run(
        ["llvm-nm-22", "x"], cwd=tmp_path, capture_output=True, check=True).stdout.decode().splitlines() if line.endswith(" before")), 16) & ~1
    requests = "".join(f"{start + i:#x}\n" for i in range(10)).encode()
    arguments = ["-f", "--verbose", "-e", "x"]
    difference = pair.compare(arguments, requests, tmp_path)
    assert difference is None, stand_in_pairs.show_difference(arguments, requests, difference)
    assert {b"before", b"impl", b"f"} <= set(pair.run("ours", arguments, requests, tmp_path).out.splitlines())


# Tag_CPU_arch
ARM_NAMES = {10: "v7", 11: "v6m", 13: "v7em", 14: "v8a", 15: "v8r", 16: "v8m.base", 17: "v8m.main", 18: "", 21: "v8.1m.main", 22: "v9a"}


@pytest.mark.parametrize("order", ["arm", "armeb"])
@pytest.mark.parametrize("version", ARM_NAMES)
def test_names_of_arm(version, order, folder, tmp_path):  # noqa: F811
    pair = pair_for("llvm-gsymutil", folder)
    (tmp_path / "x.s").write_text(f'.eabi_attribute 6, {version}\n.section .debug_info,"",%progbits\n')
    done = subprocess.run(["clang-22", "-target", order + "v7-none-eabi", "-c", "x.s", "-o", "x.o"], cwd=tmp_path, capture_output=True, check=False)
    if done.returncode:
        pytest.skip("clang-22 does not assemble for ARM")
    results = [pair.run(which, ["--convert=x.o", "--out-file=x.gsym"], cwd=tmp_path) for which in ("theirs", "ours")]
    assert results[0].out.splitlines()[1] == results[1].out.splitlines()[1]
    assert b"(arm%s%s)" % (ARM_NAMES[version].encode(), b"eb" * (order == "armeb")) in results[1].out


@pytest.mark.parametrize("target", ["armv7-apple-ios9", "armv6-apple-ios5", "arm64-apple-macos11", "i386-apple-macos10.13", "x86_64h-apple-macos11",
                                    "armv7-windows-msvc", "aarch64-windows-msvc", "arm64ec-windows-msvc"])
def test_names_of_other_containers(target, folder, tmp_path):  # noqa: F811
    pair = pair_for("llvm-gsymutil", folder)
    (tmp_path / "x.c").write_text("int f(int x) { return x; }\n")
    done = subprocess.run(["clang-22", "-target", target, "-g", "-c", "x.c", "-o", "x.o"], cwd=tmp_path, capture_output=True, check=False)
    if done.returncode:
        pytest.skip(f"clang-22 does not compile for {target}")
    results = [pair.run(which, ["--convert=x.o", "--out-file=x.gsym"], cwd=tmp_path) for which in ("theirs", "ours")]
    assert b"Output file (" in results[0].out and results[0].out.splitlines()[1] == results[1].out.splitlines()[1]
