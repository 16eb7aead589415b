"""Text files of symbols: /proc/kallsyms, System.map, perf maps."""
import pathlib
import subprocess

import pytest

import gsym_make
import programs
from programs import need

KALLSYMS = """ffffffff81000000 T _text
ffffffff81000000 T startup
ffffffff81000040 t helper
ffffffff81000100 D data
ffffffffc0000000 t init_module\t[sample]
ffffffffc0000020 t exit_module\t[sample]
"""


def test_kernel_list(callsign, tmp_path):
    path, out = tmp_path / "kallsyms", tmp_path / "k.gsym"
    path.write_text(KALLSYMS)
    callsign.good("convert", path, "-o", out, "-q")
    answers = callsign.good("lookup", out, "0xffffffff81000010", "0xffffffff810000ff", "0xffffffffc0000004",
                            "0xffffffffc0000fff")
    for text in ("startup + 16", "helper + 191", "init_module + 4", "exit_module + 4063"):
        assert text in answers
    assert callsign.run("lookup", out, "0xffffffff81000100").returncode == 1
    assert callsign.run("lookup", out, "0xffffffffc0001000").returncode == 1
    assert "helper + 1 " in callsign.good("lookup", path, "0xffffffff81000041")


NM = """                 U _Unwind_Resume@GCC_3.0
                 w __gmon_start__
0000000000001000 T _init
000000000000113a 0000000000000033 T ns::S::f(int, char const*) const
000000000000116d 000000000000003b T main
00000000000011a8 0000000000000010 W int twice<int>(int)
00000000000011b8 0000000000000010 t walk(Tree*) [clone .cold]
0000000000002000 0000000000000004 R _IO_stdin_used
"""


@pytest.mark.parametrize("imports", [0, 1, 1000])
def test_the_list_of_nm(callsign, tmp_path, imports):
    """With what the program uses, sizes (-S) and names for people (-C)."""
    path = tmp_path / "app.list"
    path.write_text("".join(f"                 U used_{i}\n" for i in range(imports)) + NM)
    callsign.good("convert", "-q", path, "-o", tmp_path / "app.gsym")
    answers = callsign.good("lookup", tmp_path / "app.gsym", "0x1004", "0x113e", "0x1171", "0x11ac", "0x11bc").splitlines()
    names = [line.split(": ", 1)[1].split(" + 4")[0] for line in answers if line]
    assert names == ["_init", "ns::S::f(int, char const*) const", "main", "int twice<int>(int)", "walk(Tree*) [clone .cold]"]
    assert callsign.run("lookup", tmp_path / "app.gsym", "0x11c8").returncode == 1


@pytest.mark.parametrize("lines, base", [
    ("{f:016x} T f\n", 0x400000), ("{c:016x} r __abi_tag\n{f:016x} T f\n", 0x400000), ("{c:016x} R big\n{f:016x} T f\n", 0x200000),
    ("{f:016x} T f\n", 0x200000), ("{b:016x} A __ImageBase\n{f:016x} T f\n", 0x7ff600000000), ("{c:016x} r __abi_tag\n{f:016x} T f\n", 0)])
@pytest.mark.parametrize("distance", [0x1000, 0x26000, 0x1c0000])
def test_where_the_image_of_a_list_begins(callsign, tmp_path, lines, base, distance):
    """By a linker's symbol or constants, or by where linkers put programs: code may be far behind the headers."""
    (tmp_path / "app.list").write_text(lines.format(b=base, c=base + 0x318, f=base + distance) + f"{base + distance + 0x40:016x} T g\n")
    callsign.good("convert", "-q", tmp_path / "app.list", "-o", tmp_path / "app.gsym")
    for index in ("app.list", "app.gsym"):
        out = callsign.good("stack", "--no-search", "-i", f"app={tmp_path / index}", stdin=f"#0 app+{distance + 0x44:#x}\n")
        assert "g + 4 " in out, out
        load = base or 0x7f0000000000
        assert "g + 4 " in callsign.good("lookup", "--load-address", hex(load), tmp_path / index, hex(load + distance + 0x44))


VERSIONED = """\
0000000000001000 i memcpy@@GLIBC_2.14
0000000000001040 T memcpy@GLIBC_2.2.5
0000000000001080 T _ZNSo3putEc@@GLIBCXX_3.4
00000000000010c0 T _stdcall@8
0000000000001100 T @fastcall@8
0000000000001140 T ?msvc@@YAXXZ
0000000000001180 T last
"""


def test_versions_and_choosers_of_a_list(callsign, tmp_path):
    """nm -D shows versions as no symbol is called; functions that choose another one (IFUNC) are of type i."""
    (tmp_path / "libc.list").write_text(VERSIONED)
    found = callsign.good("lookup", "-C", tmp_path / "libc.list", *(hex(0x1004 + 64 * k) for k in range(6))).splitlines()
    names = [line.split(": ", 1)[1].split(" + 4")[0] for line in found]
    assert names[:3] == ["memcpy", "memcpy", "std::ostream::put(char)"] and names[3:5] == ["_stdcall@8", "@fastcall@8"] and "msvc" in names[5]
    assert callsign.good("find", tmp_path / "libc.list", "memcpy").count("\n") == 2


PE = """\
1400071a0 b .bss
1400071a0 b .bss
140001530 t .text
140001530 t _ZN2ns6hiddenEi
140003000 d .data
140001550 T main
140001558 t .l_end
1400080f4 i .idata$2
140001590 t last
"""


@pytest.mark.parametrize("width", [9, 16])
def test_the_list_of_a_windows_program(callsign, tmp_path, width):
    """llvm-nm's first lines may be a perf map's; sections and local labels are no functions."""
    (tmp_path / "app.list").write_text("".join(f"{line[:9].rjust(width, '0')}{line[9:]}\n" for line in PE.splitlines()))
    out = callsign.good("lookup", "-C", tmp_path / "app.list", "0x140001534", "0x140001554", "0x14000155c").splitlines()
    assert [line.split(": ", 1)[1].split(" (")[0] for line in out] == ["ns::hidden(int) + 4", "main + 4", "main + 12"]
    (tmp_path / "perf.map").write_text("7f0000001 a first\n7f0000010 b second\n7f0000100 20 third\n")
    assert "third + 0 " in callsign.good("lookup", tmp_path / "perf.map", "0x7f0000100")


def test_a_size_that_does_not_fit(callsign, tmp_path):
    (tmp_path / "app.list").write_text("0000000000001000 0000000200000000 T big\n0000000300001000 0000000000000010 T f\n")
    done = callsign.run("convert", tmp_path / "app.list", "-o", tmp_path / "app.gsym")
    assert done.returncode == 0 and "clipped: function-too-large (first: line 1: 0x1000 has 0x200000000 bytes)" in done.stderr


LAST = 0xffffffffffffff00


@pytest.mark.parametrize("name, content", [
    ("app.list", f"{LAST:016x} 0000000000000100 T top\n"), ("perf-1.map", f"{LAST:x} 100 top\n"),
    ("app.sym", f"MODULE Linux x86_64 0 app\nFUNC {LAST:x} 100 0 top\n")])
def test_an_end_past_the_last_address(callsign, tmp_path, name, content):
    """The function is not too large."""
    (tmp_path / name).write_text(content)
    done = callsign.run("convert", tmp_path / name, "-o", tmp_path / "app.gsym")
    assert done.returncode == 0 and "1 clipped: function-past-last-address (first: " in done.stderr, done.stderr
    assert f"{LAST:#x} has 0x100 bytes, it would end past the last address)" in done.stderr
    assert "too-large" not in done.stderr and f"{LAST:#x}..0xffffffffffffffff top" in callsign.good("dump", tmp_path / "app.gsym")


def test_an_index_with_an_end_past_the_last_address(callsign, tmp_path):
    index = gsym_make.write(tmp_path / "a.gsym", [{"start": LAST, "size": 0x100, "name": "top"}], base=LAST)
    done = callsign.run("convert", index, "-o", tmp_path / "b.gsym")
    assert done.returncode == 0 and "1 clipped: function-past-last-address" in done.stderr, done.stderr


@pytest.mark.parametrize("tool", ["nm", "llvm-nm-22"])
@pytest.mark.parametrize("options", [[], ["-n"], ["-a"], ["-S"], ["-r"], ["-p"]])
def test_lists_of_a_windows_program(callsign, tmp_path, tool, options):
    """Each function as the program itself has it."""
    source, program = tmp_path / "main.c", tmp_path / "main.exe"
    source.write_text("static int hidden(int a) { return a * 2; }\nint main(int c, char **v) { (void)v; return hidden(c); }\n")
    programs.compile_files(need("x86_64-w64-mingw32-gcc"), program, [source], ["-g", "-O0"])
    lines = subprocess.run([need(tool), *options, program], capture_output=True, text=True, check=True).stdout
    (tmp_path / "list").write_text(lines)
    at = {line.split()[-1]: int(line.split()[0], 16) for line in lines.splitlines() if line.split()[-1] in ("main", "hidden", "WinMainCRTStartup")}
    assert {"main", "WinMainCRTStartup"} <= set(at)  # llvm-nm shows static functions with -a alone
    for name, start in at.items():
        assert f": {name} + 2 " in callsign.good("lookup", tmp_path / "list", hex(start + 2)), name


def test_the_list_of_an_object_file(callsign, tmp_path):
    """Its one function is at 0, which hides nothing."""
    (tmp_path / "a.c").write_text("int f(int x) { return x * 3; }\n")
    subprocess.run([need("gcc"), "-O1", "-c", "a.c"], check=True, cwd=tmp_path)
    for options in ([], ["-S"], ["-a"]):
        (tmp_path / "list").write_bytes(subprocess.run([need("nm"), *options, "a.o"], check=True, capture_output=True, cwd=tmp_path).stdout)
        assert callsign.good("lookup", tmp_path / "list", "2").startswith("0x2: f + 2 ")


def test_the_list_of_nm_of_a_program(callsign, tmp_path):
    """Every function of it has the name and the end that the program's own index has."""
    (tmp_path / "a.cc").write_text("struct S { int f(int, const char *) const; };\nint S::f(int a, const char *) const { return a; }\n"
                                   "template <class T> T twice(T a) { return a + a; }\nint main(int c, char **v) { return S().f(twice(c), v[0]); }\n")
    subprocess.run([need("g++"), "-o", "app", "a.cc"], check=True, cwd=tmp_path)
    names = set()
    for options in (["-n"], ["-nS"], ["-nC"], ["-nSC"], ["-S"], ["-p", "-l"]):
        text = subprocess.run([need("nm"), *options, "app"], check=True, capture_output=True, text=True, cwd=tmp_path).stdout
        (tmp_path / "list").write_text(text)
        callsign.good("convert", "-q", tmp_path / "list", "-o", tmp_path / "list.gsym")
        functions = callsign.good("lookup", tmp_path / "list.gsym", *(hex(int(callsign.good("find", tmp_path / "app", name).split()[0], 16) + 2)
                                                                       for name in ("main", "_ZNK1S1fEiPKc", "_Z5twiceIiET_S0_")))
        names.add(functions)
    assert len(names) == 2 and all("main + 2" in answer for answer in names)
    assert any("S::f(int, char const*) const + 2" in answer and "int twice<int>(int) + 2" in answer for answer in names), names


def test_hidden_addresses(callsign, tmp_path):
    path = tmp_path / "kallsyms"
    path.write_text("0000000000000000 T _text\n0000000000000000 t helper\n")
    line = callsign.bad("convert", path, "-o", tmp_path / "out")
    assert "kernel.kptr_restrict" in line and "all 2 addresses are 0" in line


def test_perf_map(callsign, tmp_path):
    path, out = tmp_path / "perf-12.map", tmp_path / "p.gsym"
    path.write_text("7f0000 20 old\n7f0040 10 LazyCompile:*f /app/x y.js:3\r\n7f0000 18 new\nrubbish\n")
    done = callsign.run("convert", path, "-o", out)
    assert done.returncode == 1 and "line 4: no start, size and name: rubbish" in done.stderr
    answers = callsign.good("lookup", out, "0x7f0010", "0x7f0044")
    assert "new + 16" in answers and "LazyCompile:*f + 4 at /app/x y.js:3" in answers and "old" not in answers
    assert callsign.run("convert", "--strict", path, "-o", out).returncode == 2


def test_list_of_this_kernel(callsign, tmp_path):
    """A file that says it has no bytes."""
    path = pathlib.Path("/proc/kallsyms")
    lines = path.read_text().splitlines() if path.exists() else []
    functions = [line.split() for line in lines if line.split()[1] in "tTwW" and int(line.split()[0], 16)]
    if not functions:
        pytest.skip("this kernel shows no symbols")
    out = tmp_path / "k.gsym"
    callsign.good("convert", path, "-o", out, "-q")
    names = {}
    for addr, _, name, *_ in functions:
        names.setdefault(int(addr, 16), set()).add(name)
    sample = sorted(names)[::97]
    answers = callsign.good("lookup", out, stdin="".join(f"{a:#x}\n" for a in sample)).splitlines()
    told = [line.split(": ", 1)[1].split(" + 0")[0] for line in answers if line.strip()]
    assert len(told) == len(sample)
    assert [t for a, t in zip(sample, told) if t not in names[a]] == []


@pytest.mark.parametrize("name,text", [
    ("kallsyms", b"0000000000001000 T first\0other\n0000000000002000 T second\n"), ("perf-1.map", b"1000 10 first\0other\n2000 10 second\n")])
def test_a_name_ends_at_nul(callsign, tmp_path, name, text):
    """As readers of an index have it. The bytes after it were in the index all the same, until that was written anew."""
    (tmp_path / name).write_bytes(text)
    callsign.good("convert", "-q", tmp_path / name, "-o", tmp_path / "one.gsym")
    callsign.good("convert", "-q", tmp_path / "one.gsym", "-o", tmp_path / "two.gsym")
    assert b"other" not in (tmp_path / "one.gsym").read_bytes()
    assert (tmp_path / "one.gsym").read_bytes() == (tmp_path / "two.gsym").read_bytes()
    assert callsign.good("lookup", tmp_path / "one.gsym", "0x1004").startswith("0x1004: first + 4")
