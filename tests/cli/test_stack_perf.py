"""callsign stack on what perf script prints: the kernel, moved and not, its modules, and a real recording."""
import itertools
import json
import re
import subprocess

import pytest

import gsym_make
import perf_data
from programs import need

TEXT = 0xffffffff81000000
KERNEL = [("startup_64", 0x0, 0x100, 10), ("vfs_read", 0x3669e0, 0x310, 468), ("ksys_read", 0x367550, 0xe0, 613),
          ("static_one", 0x400000, 0x100, 20), ("static_one", 0x400100, 0x100, 30), ("read_zero", 0x6b7bf0, 0x70, 514),
          ("do_syscall_64", 0xa43dc0, 0xb0, 76)]
SLIDE = 0x1b000000

# As perf 6.1 printed it: a system call of a process, on a kernel that was moved by SLIDE.
MMAPS = """\
swapper     0 [000]     0.000000: PERF_RECORD_MMAP -1/0: [0xffffffff9c000000(0xe02587) @ 0xffffffff9c000000]: x [kernel.kallsyms]_text
swapper     0 [000]     0.000000: PERF_RECORD_MMAP -1/0: [0xffffffffc0a30000(0x5000) @ 0]: x /lib/modules/6.1.0-34-amd64/kernel/net/netfilter/nf_tables.ko
cat  3131 [002]    81.100000: PERF_RECORD_MMAP2 3131/3131: [0x55d000001000(0x3000) @ 0x1000 08:01 12 0]: r-xp /nowhere/app
"""
CHAIN = """\
cat  3131 [002]    81.120003:     250000 cpu-clock:pppH: 
	ffffffff9c6b7c11 read_zero+0x21 ([kernel.kallsyms])
	ffffffff9c366a85 vfs_read+0xa5 ([kernel.kallsyms])
	ffffffffc0a31034 nft_do_chain+0x34 ([nf_tables])
	ffffffff9c3675bb ksys_read+0x6b ([kernel.kallsyms])
	ffffffff9ca43e1d do_syscall_64+0x5d ([kernel.kallsyms])
	ffffffff9cc00126 entry_SYSCALL_64_after_hwframe+0x6e ([kernel.kallsyms])
	            1004 square+0x4 (/nowhere/app)
	            2010 main+0x10 (/nowhere/app)

"""
SINGLE = "cat  3131 [002]    81.120253:     250000 cpu-clock:pppH:  ffffffff9c6b7c11 read_zero+0x21 ([kernel.kallsyms])\n"


@pytest.fixture(scope="module")
def symbols(tmp_path_factory):
    folder = tmp_path_factory.mktemp("symbols")
    gsym_make.write(folder / "vmlinux.gsym", [{"start": TEXT + at, "size": size, "name": name, "line": line}
                                              for name, at, size, line in KERNEL], base=TEXT, source=("fs", "read_write.c"))
    gsym_make.write(folder / "nf_tables.gsym", [
        {"start": 0x1000, "size": 0x80, "name": "nft_do_chain", "line": 240}], source=("net", "nf_tables_core.c"))
    gsym_make.write(folder / "app.gsym", [
        {"start": 0x1000, "size": 0x40, "name": "area", "merged": [{"name": "square"}]},
        {"start": 0x2000, "size": 0x40, "name": "main", "sites": [(0x10, gsym_make.INTERNAL, ["^square$"])]}])
    return folder


def places(callsign, symbols, text):
    """[[(function, address)]] by stack."""
    out = callsign.good("stack", "--json", "--symbols", symbols, stdin=text).splitlines()
    return [[(f["frames"][-1]["function"] if f["frames"] else None, int(f.get("address", f.get("pc")), 16))
             for f in json.loads(line)["frames"]] for line in out]


WANTED = [("read_zero", TEXT + 0x6b7c11), ("vfs_read", TEXT + 0x366a85), ("nft_do_chain", 0x1034),
          ("ksys_read", TEXT + 0x3675bb), ("do_syscall_64", TEXT + 0xa43e1d), (None, TEXT + 0xc00126), ("square", 0x1004),
          ("main", 0x2010)]


def test_blanks_for_tabs(callsign, symbols):
    """As editors and mail programs leave the text."""
    assert places(callsign, symbols, MMAPS + CHAIN.replace("\t", "        ") * 2) == [WANTED] * 2


def test_a_kernel_that_was_moved(callsign, symbols):
    assert places(callsign, symbols, MMAPS + CHAIN + SINGLE) == [WANTED, WANTED[:1]]


def test_filled_in_place(callsign, symbols):
    """What is known already stays; what is not known stays what perf made of it."""
    assert callsign.good("stack", "--in-place", "--symbols", symbols, stdin=MMAPS + CHAIN + SINGLE) == MMAPS + CHAIN + SINGLE
    unknown = CHAIN.replace("vfs_read+0xa5", "[unknown]").replace("ksys_read+0x6b", "[unknown]")
    assert callsign.good("stack", "--in-place", "--symbols", symbols, stdin=MMAPS + unknown) == MMAPS + CHAIN


def test_frames_that_perf_does_not_know(callsign, symbols):
    """A chain that went astray, as perf 6.1 shows it: addresses are no functions of the only index, whatever it has there."""
    text = "app 4242 [001] 12.345678: 1 cycles: \n\t            1004 square+0x4 (/nowhere/app)\n\t    7f9abd5b58a8 [unknown] ([unknown])\n" \
           "\t            2010 [unknown] ([unknown])\n\n"
    answer = json.loads(callsign.good("stack", "--json", "--no-search", "-i", symbols / "app.gsym", stdin=text))
    unknown = {"frames": [], "reason": "no module covers the address"}
    assert answer["frames"][1:] == [{"pc": "0x7f9abd5b58a8", **unknown}, {"pc": "0x2010", **unknown}]
    assert callsign.good("stack", "--in-place", "--no-search", "-i", symbols / "app.gsym", stdin=text).count("[unknown] ([unknown])") == 2


def test_an_address_of_data_above_the_chain(callsign, symbols):
    """`perf script -F +addr`: the chain has the thread and the time of the line above."""
    text = "app 4242/4242 12.345678: 1 page-faults:     556e8c16a5c0 __progname+0x0 (/nowhere/app)\n\t            1004 square+0x4 (/nowhere/app)\n\n"
    out = [json.loads(line) for line in callsign.good("stack", "--json", "--no-search", "-s", symbols, stdin=text).splitlines()]
    assert [(o["comm"], o["tid"], o["time"]) for o in out] == [("app", 4242, 12.345678)] * 2


def test_a_kernel_that_lies_where_it_was_linked_to(callsign, symbols):
    still = (MMAPS + CHAIN + SINGLE).replace("ffffffff9c", "ffffffff81")
    assert places(callsign, symbols, still.replace("ffffffff816b7c11", hex(TEXT + 0x6b7c11)[2:])
                  .replace("ffffffff81366a85", hex(TEXT + 0x366a85)[2:])) [0][:2] == WANTED[:2]


def test_moved_by_whom_nobody_says(callsign, symbols):
    """Without the mapping's line, a function of which there is only one tells how far."""
    assert places(callsign, symbols, CHAIN + SINGLE) == [WANTED, WANTED[:1]]
    # One of several of a name, or of another build, tells nothing.
    several = f"cat 1 [002] 81.1: 1 cpu-clock:  {TEXT + SLIDE + 0x400010:x} static_one+0x10 ([kernel.kallsyms])\n"
    assert places(callsign, symbols, several) == [[(None, TEXT + SLIDE + 0x400010)]]
    assert places(callsign, symbols, several + SINGLE) == [[(None, TEXT + SLIDE + 0x400010)], WANTED[:1]]
    other = SINGLE.replace("read_zero+0x21", "read_zero+0x24")
    assert places(callsign, symbols, other) == [[(None, TEXT + SLIDE + 0x6b7c11)]]


def test_the_kernel_as_a_file(callsign, symbols):
    named = CHAIN.replace("[kernel.kallsyms]", "/usr/lib/debug/boot/vmlinux-6.1.0-34-amd64").replace(
        "[nf_tables]", "/lib/modules/6.1.0-34-amd64/kernel/net/netfilter/nf_tables.ko.xz")
    assert places(callsign, symbols, MMAPS + named) == [WANTED]


@pytest.mark.parametrize("kernel", ["c0101139", "00101139", "ffffffff81001139"])
def test_where_a_kernel_in_the_lower_half_was_entered(callsign, tmp_path, kernel):
    """Of 32 bits, or of s390: the first byte of a function was taken for a return address behind the function before."""
    index = gsym_make.write(tmp_path / "app.gsym", [{"start": 0x1000, "size": 4, "name": "before"}, {"start": 0x1004, "size": 0x40, "name": "square"}])
    text = f"app 4242 [001] 12.345678: 1 cycles: \n\t{kernel:>16} asm_entry+0x19 ([kernel.kallsyms])\n\t            1004 square+0x0 (/nowhere/app)\n\n"
    answer = json.loads(callsign.good("stack", "--json", "--no-search", "-i", index, stdin=text))
    assert [(f["function"], f["offset"]) for f in answer["frames"][1]["frames"]] == [("square", 0)]


def test_where_the_kernel_was_entered(callsign, symbols):
    """No call: what looks like a return address after a call of square() is none."""
    text = MMAPS + CHAIN.replace("\t            1004 square+0x4 (/nowhere/app)\n", "")
    line = callsign.good("stack", "--json", "--symbols", symbols, stdin=text).splitlines()[0]
    assert json.loads(line)["frames"][-1]["frames"][0]["offset"] == 0x10
    interrupted = CHAIN.replace("            1004 square", "            2010 main").replace("            2010 main+0x10 (/nowhere/app)\n\n",
                                                                                              "            1004 square+0x4 (/nowhere/app)\n\n")
    line = callsign.good("stack", "--json", "--symbols", symbols, stdin=MMAPS + interrupted).splitlines()[0]
    assert "merged" in json.loads(line)["frames"][-1]


WORK = r"""
#include <cstdio>
#include <cstdlib>
struct Item { long key, value; };
template <class T> static inline __attribute__((always_inline)) long mix(T a, long b) {
    long s = a;
    for (int i = 0; i < 200; i++) s = s * 31 + b * i;
    return s;
}
__attribute__((noinline)) long leaf(const Item &i) { return mix(i.key, i.value); }
extern "C" int compare(const void *a, const void *b) {
    long x = leaf(*(const Item *)a) + mix(1L, 2), y = leaf(*(const Item *)b) + mix(((const Item *)a)->key, 3);
    return x < y ? -1 : x > y;
}
static inline __attribute__((always_inline)) void sort_all(Item *v, long n) { std::qsort(v, n, sizeof(Item), compare); }
__attribute__((noinline)) long work(Item *v, long n) { sort_all(v, n); return v[n / 2].key + 1; }
int main() {
    static Item v[20000];
    long sum = 0;
    for (int round = 0; round < 3; round++) {
        for (long i = 0; i < 20000; i++) v[i] = {i * 7919 % 10007 + sum, i};
        sum += work(v, 20000);
    }
    std::printf("%ld\n", sum);
}
"""


@pytest.mark.parametrize("graph", ["fp", "dwarf,8192"])
def test_a_real_recording(callsign, tmp_path, graph):
    """Each frame of the program is what llvm-symbolizer says of it, inlined calls and lines included."""
    perf, symbolizer = need("perf"), need("llvm-symbolizer-22")
    (tmp_path / "work.cc").write_text(WORK)
    subprocess.run([need("g++"), "-g", "-O2", "-fno-omit-frame-pointer", "work.cc", "-o", "work"], check=True, cwd=tmp_path)
    done = subprocess.run([perf, "record", "-e", "cpu-clock", "-F", "999", "--call-graph", graph, "-o", "data", "./work"],
                          cwd=tmp_path, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"perf cannot record here: {done.stderr[:200]}")
    text = subprocess.run([perf, "script", "-i", "data", "--no-inline", "--show-mmap-events"], check=True, cwd=tmp_path,
                          capture_output=True, text=True).stdout
    callsign.good("convert", tmp_path / "work", "-o", tmp_path / "work.gsym", "-q")
    out = callsign.good("stack", "--json", "--index", tmp_path / "work.gsym", stdin=text).splitlines()
    asked = []
    for line in out:
        frames = json.loads(line)["frames"]
        for i, f in enumerate(frames):
            called = i > 0 and frames[i - 1].get("module") != "vmlinux"
            if f.get("module", "").endswith("/work") and f["frames"]:
                asked.append((int(f["address"], 16) - (1 if called and graph == "fp" else 0), f["frames"]))
    assert len(asked) >= 20
    told = subprocess.run([symbolizer, "-e", "work", "--output-style=JSON", "--no-demangle"], check=True, cwd=tmp_path,
                          capture_output=True, text=True, input="".join(f"{a:#x}\n" for a, _ in asked)).stdout
    names = set()
    for (addr, frames), line in zip(asked, told.splitlines(), strict=True):
        wanted = [(s["FunctionName"], s["Line"]) for s in json.loads(line)["Symbol"]]
        assert [(f["function"], f.get("line", 0)) for f in frames] == wanted, hex(addr)
        names |= {name for name, _ in wanted}
    assert {"_Z4leafRK4Item", "compare"} < names


DEEP = """\
static volatile unsigned long s;
static inline __attribute__((always_inline)) void inner(int i) { for (int k = 0; k < 100; k++) s += i * k; }
static inline __attribute__((always_inline)) void middle(int i) { inner(i); s ^= i; }
__attribute__((noinline)) void rec(int n) { if (n) rec(n - 1); else for (int i = 0; i < 100000; i++) middle(i); s++; }
int main() { for (int i = 0; i < 40; i++) rec(3); return 0; }
"""


@pytest.fixture(scope="module")
def inlined_recording(tmp_path_factory):
    """A function of perf script: its text with the options given."""
    folder = tmp_path_factory.mktemp("inlined")
    (folder / "deep.c").write_text(DEEP)
    subprocess.run([need("gcc"), "-g", "-O2", "deep.c", "-o", "deep"], check=True, cwd=folder)
    done = subprocess.run([need("perf"), "record", "-e", "cpu-clock", "-F", "500", "--call-graph", "dwarf,8192", "-o", "data", "./deep"],
                          cwd=folder, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"perf cannot record here: {done.stderr[:200]}")
    return lambda *options: subprocess.run(["perf", "script", "-i", "data", *options], check=True, cwd=folder, capture_output=True, text=True).stdout


def answers_of(callsign, text, *options):
    out = callsign.good("stack", "--json", "--offline", "--no-cache", *options, stdin=text).splitlines()
    frames = [[(f.get("address", f.get("pc")), [(g["function"], g.get("line")) for g in f["frames"]]) for f in json.loads(line)["frames"]]
              for line in out]
    return [[f for f in stack if f[1] and f[1][-1][0] in ("main", "rec")] + [len(stack)] for stack in frames]


FIELDS_OF_PERF = [("-F", "+srcline"), ("-F", "+srcline", "--full-source-path"), ("-F", "-symoff"), ("-F", "+srcline,-symoff")]


@pytest.mark.parametrize("fields", FIELDS_OF_PERF)
def test_inlined_calls_with_their_lines(callsign, inlined_recording, tmp_path, fields):
    """With +srcline, perf 6.1 writes (inlined) behind the source, below the frame: that was a frame of its own."""
    plain, text = inlined_recording(), inlined_recording(*fields)
    assert "(inlined)\n" in text
    wanted = answers_of(callsign, plain)
    assert answers_of(callsign, text) == wanted
    # perf 6.1 leaves out a frame of libc without --no-inline
    assert [stack[:-1] for stack in answers_of(callsign, inlined_recording("--no-inline"))] == [stack[:-1] for stack in wanted]
    (tmp_path / "plain.perf").write_text(plain)
    (tmp_path / "fields.perf").write_text(text)
    stacks = []
    for name in ("plain", "fields"):
        for options in ((), ("--no-search",)):
            callsign.good("profile", tmp_path / f"{name}.perf", "--offline", "--no-cache", "-q", *options, "-o", tmp_path / "out.folded")
            stacks.append((tmp_path / "out.folded").read_text())
    assert stacks[:2] == stacks[2:] and ";rec;middle;inner " in stacks[0] and ";rec;middle;inner " in stacks[1]


@pytest.mark.parametrize("fields", [(), *FIELDS_OF_PERF])
def test_inlined_calls_stay_in_place(callsign, inlined_recording, fields):
    """Lines that perf wrote of them were written once more, and again by each run."""
    text = inlined_recording(*fields)
    filled = callsign.good("stack", "--in-place", "--offline", "--no-cache", stdin=text)
    assert filled.count("(inlined)") == text.count("(inlined)")
    assert callsign.good("stack", "--in-place", "--offline", "--no-cache", stdin=filled) == filled
    bare = inlined_recording("--no-inline", *fields)
    filled = callsign.good("stack", "--in-place", "--offline", "--no-cache", stdin=bare)
    assert filled.count("(inlined)") == inlined_recording().count("middle+") + inlined_recording().count("inner+")
    assert callsign.good("stack", "--in-place", "--offline", "--no-cache", stdin=filled) == filled


def test_inlined_calls_without_images(callsign, symbols):
    """-F ip,sym,srcline: only the line below tells them from frames. The last one has nothing below it."""
    text = """\

\t            1004 inner
  app.c:6 (inlined)
\t            1004 square
  app.c:9
\t            2010 main
  app.c:20

\t            1004 deepest
  app.c:6 (inlined)
\t            1004 inner
\t            2010 main"""
    out = callsign.good("stack", "--json", "--index", symbols / "app.gsym", stdin=text).splitlines()
    assert [[f.get("address", f.get("pc")) for f in json.loads(line)["frames"]] for line in out] == [["0x1004", "0x2010"], ["0x1004", "0x2010"]]
    log = "".join(f"Nov 30 10:00:00 host app: {line}\n" for line in text.split("\n"))
    assert callsign.good("stack", "--json", "--index", symbols / "app.gsym", stdin=log).splitlines() == out


FIELDS = """\
app  4242/4243 [001] 012.345678:     250000 cycles:u: 
	            1004 (/nowhere/app)
	            2010 main+0x10 (/nowhere/app)
  main.cc:20 (discriminator 2)
	           27249 __libc_start+0x79 (/usr/lib/nowhere/libc.so.6)
  libc.so.6[27249]

Web Content  7 12.345679: sched:sched_switch: prev_comm=app ==> next_comm=b
	            1004 area+0x4 (/nowhere/app)
  main.cc:9
	            2010 main+0x10 (/nowhere/app)
  main.cc:20

     app  4242 [001] 12.345680:     250000 cycles:u:  55d000002004 main+0x4 (/nowhere/app)
  main.cc:20
"""


def test_fields_of_perf_script(callsign, symbols):
    """-F +srcline and chains without symbols, in the format of perf 6.1 (sample__fprintf_callchain in tools/perf/util)."""
    out = callsign.good("stack", "--json", "--symbols", symbols, stdin=MMAPS.replace("3131", "4242") + FIELDS).splitlines()
    answers = [json.loads(line) for line in out]
    assert [[f["frames"][-1]["function"] if f["frames"] else None for f in a["frames"]] for a in answers] \
        == [["square", "main", None], ["square", "main"], ["main"]]
    heads = [{k: v for k, v in a.items() if k != "frames"} for a in answers]
    assert heads == [{"comm": "app", "pid": 4242, "tid": 4243, "time": 12.345678, "event": "cycles:u"},
                     {"comm": "Web Content", "pid": 7, "tid": 7, "time": 12.345679, "event": "sched:sched_switch"},
                     {"comm": "app", "pid": 4242, "tid": 4242, "time": 12.345680, "event": "cycles:u"}]
    assert '"time":12.345680,' in out[2]
    text = callsign.good("stack", "--symbols", symbols, stdin=MMAPS + FIELDS)
    assert text.startswith("app 4242/4243 12.345678: cycles:u\n#0   app 0x1004: square")
    assert "\n\nWeb Content 7/7 12.345679: sched:sched_switch\n#0 " in text
    filled = callsign.good("stack", "--in-place", "--symbols", symbols, stdin=FIELDS)
    assert filled == FIELDS.replace("1004 (/", "1004 square+0x4 (/").replace("area+", "square+")


# Samples alone, as perf 6.1 prints them without -g. The address has 16 columns.
ALONE = {
    "ip": "     55d000001004", "ip,sym": "     55d000001004 area", "ip,dso": "     55d000001004 (/nowhere/app)",
    "ip,sym,dso": "     55d000001004 area (/nowhere/app)", "ip,sym,symoff,dso": "     55d000001004 area+0x4 (/nowhere/app)",
    "ip,sym,dso,srcline": "     55d000001004 area (/nowhere/app)\n  main.cc:9", "comm,ip,sym,dso": "             app      55d000001004 area (/nowhere/app)",
    "comm of hexadecimal digits": "           cafe5      55d000001004 area (/nowhere/app)",
    "comm,tid,ip,sym,dso": "             app  3131      55d000001004 area (/nowhere/app)",
    "tid,ip,sym,dso": " 3131      55d000001004 area (/nowhere/app)", "time,ip,sym,dso": "51614.836856:      55d000001004 area (/nowhere/app)",
    "event,ip,sym,dso": "cycles:u:      55d000001004 area (/nowhere/app)", "period,ip,sym,dso": "   2004008      55d000001004 area (/nowhere/app)",
    "time,event,period,ip,sym": "51614.836856:    2004008 cycles:u:      55d000001004 area",
    "comm,tid,time,event,ip": "             app  3131 51614.836856: cycles:u:      55d000001004",
    "comm,flags,ip,sym,dso": "             app                              55d000001004 area (/nowhere/app)",
    "+insn,+insnlen": "             app  3131 51614.836856:    2004008 cycles:u:      55d000001004 area+0x4 (/nowhere/app) ilen: 3 insn: 83 c3 01",
}


@pytest.mark.parametrize("thread", [" 1008", "01008", "   1008"])
def test_threads_whose_number_is_an_address_of_the_program(callsign, symbols, thread):
    """Of perf script -F tid,ip,sym,dso: the number of a thread was a frame of its own if, read as an address, it had a function."""
    text = f"{thread} \n\t            1004 [unknown] (/nowhere/app)\n\n"
    answers = [json.loads(line) for line in callsign.good("stack", "--json", "--no-search", "-i", f"{symbols}/app.gsym", stdin=text * 2).splitlines()]
    assert [(a.get("tid"), [f["address"] for f in a["frames"]]) for a in answers] == [(1008, ["0x1004"])] * 2
    # A log of addresses, also with blanks at the end of lines
    answers = [json.loads(line) for line in callsign.good("stack", "--json", "--no-search", "-i", f"{symbols}/app.gsym", stdin="1008\n 1008\n1008 \n").splitlines()]
    assert [f["address"] for a in answers for f in a["frames"]] == ["0x1008"] * 3


@pytest.mark.parametrize("fields", ALONE)
@pytest.mark.parametrize("kernel", [False, True])
def test_fields_of_samples_alone(callsign, symbols, fields, kernel):
    """perf lists what is loaded in the kernel first, which is of no process."""
    maps = "".join("".join(line.partition("PERF_RECORD")[1:]) for line in MMAPS.splitlines(True)[0 if kernel else -1:])
    line = ALONE[fields] + "\n"
    out = callsign.good("stack", "--json", "--symbols", symbols, stdin=maps + line * 2).splitlines()
    assert [[(f["address"], f["frames"][-1]["function"]) for f in json.loads(answer)["frames"]] for answer in out] == [[("0x1004", "area")]] * 2
    # Without perf's mappings: what another program may have written is none.
    for other in ("0000000000001139 T main", "0000000000001139 main (inlined)", "    55d000001004 area", "            cafe5 (see above)"):
        assert callsign.run("stack", "--json", "--no-search", "--symbols", symbols, stdin=other + "\n").returncode == 1


def test_fields_of_a_real_recording(callsign, tmp_path):
    """Whatever perf prints beside them, the chains are the same."""
    perf = need("perf")
    (tmp_path / "work.cc").write_text(WORK)
    subprocess.run([need("g++"), "-g", "-O2", "-fno-omit-frame-pointer", "work.cc", "-o", "work"], check=True, cwd=tmp_path)
    done = subprocess.run([perf, "record", "-e", "cpu-clock", "-F", "999", "-g", "-o", "data", "./work"], cwd=tmp_path,
                          capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"perf cannot record here: {done.stderr[:200]}")
    callsign.good("convert", tmp_path / "work", "-o", tmp_path / "work.gsym", "-q")

    def printed(*fields):
        return subprocess.run([perf, "script", "-i", "data", "--no-inline", *fields], check=True, cwd=tmp_path, capture_output=True,
                              text=True).stdout

    def answers_of(text):
        return [json.loads(line) for line in callsign.good("stack", "--json", "--index", tmp_path / "work.gsym", stdin=text).splitlines()]

    def stacks(*fields):
        return answers_of(printed(*fields))

    def frames_of(answers):
        return [[f["frames"][-1]["function"] if f["frames"] else None for f in a["frames"]] for a in answers]

    plain = stacks()
    if len(plain) < 5:
        pytest.skip(f"perf saw only {len(plain)} samples")
    assert any("_Z4leafRK4Item" in names for names in frames_of(plain))
    told = subprocess.run([perf, "script", "-i", "data", "-F", "comm,pid,tid,time,event"], check=True, cwd=tmp_path, capture_output=True,
                          text=True).stdout.splitlines()
    known = [re.fullmatch(r"\s*(?P<comm>.*?)\s+(?P<pid>\d+)/(?P<tid>\d+)\s+(?P<time>[\d.]+): +(?P<event>\S+): *", line).groupdict() for line in told]
    known = [{k: int(v) if k[1:] == "id" else float(v) if k == "time" else v for k, v in head.items()} for head in known]
    for fields in ("comm,tid", "comm,event,time", "tid,time,event", "comm", "tid", "time", "event", "comm,tid,event", "comm,pid,tid,period", "comm,tid,time,event"):
        wanted = [{k: v for k, v in head.items() if k in fields.split(",")} for head in known]
        for head in wanted:
            if "tid" in head: head.setdefault("pid", head["tid"])
        text = printed("-F", fields + ",ip,sym,dso")
        told_heads = [{k: v for k, v in a.items() if k != "frames"} for a in answers_of(text)]
        differing = [i for i, pair in enumerate(itertools.zip_longest(told_heads, wanted)) if pair[0] != pair[1]][:1]
        assert not differing, (fields, len(told_heads), len(wanted), [text.split("\n\n")[i:i + 2] for i in differing])
    for fields in (["-F", "+srcline"], ["-F", "+pid"], ["-F", "comm,pid,tid,time,event,ip,sym,symoff,dso,srcline"]):
        answers = stacks(*fields)
        assert frames_of(answers) == frames_of(plain)
        assert [a["time"] for a in answers] == [a["time"] for a in plain]
        assert {a["comm"] for a in answers} == {"work"} and {a["event"] for a in answers} == {"cpu-clock"}

    def program_frames(answers):
        return [[name for name in names if name] for names in frames_of(answers)]
    # Without their names the kernel's modules are not placed; the program's frames are.
    assert program_frames(stacks("-F", "ip,dso")) == program_frames(plain)
    assert program_frames(stacks("-F", "comm,tid,time,event,ip,dso")) == program_frames(plain)


# ---- heads ----

def heads(callsign, text, *args):
    out = callsign.run("stack", "--json", "--no-search", *args, stdin=text).stdout.splitlines()
    return [{k: v for k, v in json.loads(line).items() if k != "frames"} for line in out]


FRAMES = "\t            1004 square (/nowhere/app)\n\t            2010 main (/nowhere/app)\n\n"
THREAD, TIMED = {"pid": 1920, "tid": 1920}, {"time": 4032.298078}
NAMED, EVENT = {"comm": "thr"}, {"event": "cpu-clock"}
HEADS = {  # perf 6.1, -F of comm, pid, tid, cpu, time, period, event; the number of the thread has seven columns since Linux 6.4
    "thr  1920 ": {**NAMED, **THREAD}, "thr    1920 ": {**NAMED, **THREAD}, " 1920 ": THREAD, "thr ": NAMED, "cpu-clock: ": EVENT,
    " 1908/1920  ": {"pid": 1908, "tid": 1920}, "thr  1908/1920  [001]    2000000 cpu-clock: ": {**NAMED, "pid": 1908, "tid": 1920, **EVENT},
    "thr  1920  4032.298078: cpu-clock: ": {**NAMED, **THREAD, **TIMED, **EVENT}, " 1920  4032.298078: cpu-clock: ": {**THREAD, **TIMED, **EVENT},
    "thr  4032.298078: cpu-clock: ": {**NAMED, **TIMED, **EVENT}, " 4032.298078: ": TIMED, "[001]  4032.298078:    2000000 cpu-clock: ": {**TIMED, **EVENT},
    "thr  1920 cpu-clock: ": {**NAMED, **THREAD, **EVENT}, "thr    2000000 cpu-clock: ": {**NAMED, **EVENT}, "thr  1920    2000000 ": {**NAMED, **THREAD},
    "my pool 7  1920 sched:sched_switch: ": {"comm": "my pool 7", **THREAD, "event": "sched:sched_switch"}, "my pool 7 ": {"comm": "my pool 7"},
    ":-1    -1  4032.298078: cpu-clock: ": {"comm": ":-1", **TIMED, **EVENT}, "kworker/u8:0-events_unbound    41 ": {"comm": "kworker/u8:0-events_unbound", "pid": 41, "tid": 41},
}


@pytest.mark.parametrize("head", HEADS)
def test_what_a_head_lacks_is_left_out(callsign, symbols, head):
    """Without a number or a time all was lost, and an empty command was shown."""
    assert heads(callsign, (head + "\n" + FRAMES) * 2) == [HEADS[head]] * 2
    if not HEADS[head].get("comm", "").startswith(":"):  # samples alone have the command in 16 columns
        comm = HEADS[head].get("comm", "")
        line = (head.replace(comm, f"{comm:>16}", 1) if comm else head) + "     55d000001004 area (/nowhere/app)\n"
        assert heads(callsign, line * 2, "--format", "perf") == [HEADS[head]] * 2


@pytest.mark.parametrize("line", ["accepted order 29182 of the customer ", "Backtrace:", "worker", "a\tb 29182 ", "29182", "port 50051 is now in use "])
def test_lines_before_a_chain_that_are_no_heads(callsign, line):
    """perf leaves a blank behind each field, and a command is short."""
    assert heads(callsign, line + "\n" + FRAMES) == [{}]


@pytest.mark.parametrize("between", ["\n", "another line\n", "another line of the log \n"])
def test_a_head_stands_above_its_chain(callsign, between):
    assert heads(callsign, "thr  1920 \n" + between + FRAMES) == [{}]
    assert heads(callsign, "thr  1920 \n" + FRAMES.replace("\t            ", "\t")) == [{}]


def test_lines_like_heads_pass_unchanged(callsign, symbols):
    text = "".join(f"{head}\nsome line\n" for head in HEADS if "/" not in head)
    done = callsign.run("stack", "--in-place", "--no-search", "--symbols", symbols, stdin=text)
    assert done.stdout == text and done.returncode == 1


def test_heads_as_text(callsign):
    text = "".join(head + "\n" + FRAMES for head in ["thr  1920 ", "cpu-clock: ", "thr  4032.298078: cpu-clock: "])
    shown = [line for line in callsign.run("stack", "--no-search", stdin=text).stdout.splitlines() if line and line[0] != "#"]
    assert shown == ["thr 1920/1920", "cpu-clock", "thr 4032.298078: cpu-clock"]


MAP_OF = "%s  0.000000: PERF_RECORD_MMAP2 %s: [0x55d000001000(0x3000) @ 0x1000 08:01 12 0]: r-xp /nowhere/%s\n"
TELL_PROCESS = {  # that thread 1920 is of process 1908
    "mapping": MAP_OF % ("app 1920", "1908/1920", "app"), "command": "app  1908  0.1: PERF_RECORD_COMM: app:1908/1920\n",
    "command, no fields": "PERF_RECORD_COMM exec: a b:1/2:1908/1920\n", "thread made": "app  1908  0.1: PERF_RECORD_FORK(1908:1920):(1908:1908)\n",
    "thread made, no time": "app  1908 PERF_RECORD_FORK(1908:1920):(1908:1908)\n", "thread that makes another": "PERF_RECORD_FORK(1908:1921):(1908:1920)\n",
    "head before": "app  1908/1920  0.1:          1 cycles:u: \n" + FRAMES,
}


@pytest.mark.parametrize("tell", TELL_PROCESS)
def test_the_process_of_a_thread(callsign, tmp_path, two_programs, tell):
    """Told by a line before. Where none tells it, its mappings are found if only one process has any."""
    app, other = MAP_OF % ("app 1908", "1908/1908", "app"), MAP_OF % ("ls 4343", "4343/4343", "ls")
    told = TELL_PROCESS[tell]
    worker = "thr  1920  4032.298078:          1 cycles:u: \n\t    55d000001004 \n\t    55d000002010 \n\n"

    def answer(text):
        line = json.loads(callsign.run("stack", "--json", "--no-search", "--symbols", two_programs, stdin=text).stdout.splitlines()[-1])
        return line.get("pid"), line["tid"], [f["frames"][0]["function"] if f["frames"] else None for f in line["frames"]]
    assert answer(app + other + told + worker) == (1908, 1920, ["square", "main"])
    assert answer(app + other + worker) == (1920, 1920, [None, None])
    assert answer(app + worker) == (1920, 1920, ["square", "main"])
    # the first thread of a process has its number
    assert answer(app + other + worker.replace("1920", "4343")) == (4343, 4343, ["sort_files", "list_folder"])
    callsign.good("profile", "-", "--from", "perf-script", "-s", two_programs, "-o", tmp_path / "out.folded", stdin=app + other + told + worker)
    assert (tmp_path / "out.folded").read_text().startswith("main;square ")


def test_very_many_threads(callsign):
    """The newest 4,096 or so are known, whatever their numbers; a number that is used again is of its new process."""
    for step in (1, 2, 512, 1024):
        made = [f"PERF_RECORD_FORK({10 + i // 10}:{100000 + i * step}):(7:7)\n" for i in range(20000)]
        text = "".join(made) + "".join(f"t {100000 + i * step}  1.5: cycles: \n" + FRAMES for i in (0, 18500, 19999))
        assert [h["pid"] for h in heads(callsign, text)] == [100000, 10 + 1850, 10 + 1999]
    again = "PERF_RECORD_FORK(8:1920):(7:7)\nPERF_RECORD_FORK(9:1920):(7:7)\nPERF_RECORD_EXIT(9:1920):(7:7)\n"
    assert heads(callsign, again + "t  1920 \n" + FRAMES) == [{"comm": "t", "pid": 9, "tid": 1920}]


def test_records_of_tasks_are_no_heads(callsign):
    """`-F ip,sym,dso --show-task-events`: the chain below had the thread that was made."""
    assert heads(callsign, "app  1908  0.1: PERF_RECORD_FORK(1908:1920):(1908:1908)\n\n \n" + FRAMES) == [{}]


# ---- branches ----

# What perf 6.1.192 prints of the recording that test_branches_that_perf_prints() makes; newer ones put more after the cycles.
BASE = 0x55d000000000
BRANCHES = [(BASE + 0x2010, BASE + 0x1000, perf_data.PREDICTED, 3), (BASE + 0x1004, BASE + 0x2020, perf_data.MISPREDICTED, 7),
            (0x7f0000001000, BASE + 0x2000, perf_data.PREDICTED, 0)]
BRANCH_NAMES = ["main", "area", "area", "main", None, "main"]
BRANCH_MAP = "app  4242     0.000000: PERF_RECORD_MMAP2 4242/4242: [0x55d000001000(0x3000) @ 0x1000 08:01 12 0]: r-xp /nowhere/app\n"
HEAD = "             app  4242    12.345678:          1 cycles:uh:      55d000001004 area+0x4 (/nowhere/app)"
PRINTED = {
    "brstack": " 0x55d000002010/0x55d000001000/P/-/-/3/  0x55d000001004/0x55d000002020/M/-/-/7/  0x7f0000001000/0x55d000002000/P/-/-/0/ ",
    "brstack, Linux 5.10": " 0x55d000002010/0x55d000001000/P/-/-/3  0x55d000001004/0x55d000002020/M/-/-/7  0x7f0000001000/0x55d000002000/P/-/-/0 ",
    "brstack, Linux 6.14": " 0x55d000002010/0x55d000001000/PN/-/-/3/COND/-  0x55d000001004/0x55d000002020/M/X/A/7/RET/SPEC  "
                           "0x7f0000001000/0x55d000002000/-/-/-/0/-/- ",
    "comm,tid,time,event,brstack": "             app  4242    12.345678: cycles:uh:  0x55d000002010/0x55d000001000/P/-/-/3/  "
                                   "0x55d000001004/0x55d000002020/M/-/-/7/  0x7f0000001000/0x55d000002000/P/-/-/0/ ",
    "brstack,dso": " 0x55d000002010(/nowhere/app)/0x55d000001000(/nowhere/app)/P/-/-/3/  0x55d000001004(/nowhere/app)/0x55d000002020(/nowhere/app)"
                   "/M/-/-/7/  0x7f0000001000([unknown])/0x55d000002000(/nowhere/app)/P/-/-/0/ ",
    "brstacksym": "main+0x10/area+0x0/P/-/-/3/ area+0x4/main+0x20/M/-/-/7/ [unknown]/main+0x0/P/-/-/0/ ",
    "brstacksym,dso": "main+0x10(/nowhere/app)/area+0x0(/nowhere/app)/P/-/-/3/ area+0x4(/nowhere/app)/main+0x20(/nowhere/app)/M/-/-/7/ "
                      "[unknown]([unknown])/main+0x0(/nowhere/app)/P/-/-/0/ ",
    "brstackoff,dso": " 0x2010(/nowhere/app)/0x1000(/nowhere/app)/P/-/-/3/  0x1004(/nowhere/app)/0x2020(/nowhere/app)/M/-/-/7/  "
                      "0x7f0000001000([unknown])/0x2000(/nowhere/app)/P/-/-/0/ ",
    "brstack,dso,dsoff": " 0x55d000002010(/nowhere/app+0x2010)/0x55d000001000(/nowhere/app+0x1000)/P/-/-/3/  0x55d000001004(/nowhere/app+0x1004)/"
                         "0x55d000002020(/nowhere/app+0x2020)/M/-/-/7/  0x7f0000001000([unknown])/0x55d000002000(/nowhere/app+0x2000)/P/-/-/0/ ",
}
AFTER_HEAD = {"+brstack": HEAD + PRINTED["brstack,dso"], "+brstacksym": HEAD + PRINTED["brstacksym,dso"],
              "ip,sym,brstack": "     55d000001004 area" + PRINTED["brstack"]}


def named(callsign, symbols, text):
    out = callsign.good("stack", "--json", "--symbols", symbols, "--no-search", stdin=text).splitlines()
    return [[f["frames"][-1]["function"] if f["frames"] else None for f in json.loads(line)["frames"]] for line in out]


@pytest.fixture(scope="module")
def branch_symbols(tmp_path_factory):
    folder = tmp_path_factory.mktemp("branches")
    gsym_make.write(folder / "app.gsym", [{"start": 0x1000, "size": 0x40, "name": "area"}, {"start": 0x2000, "size": 0x40, "name": "main"}], base=0)
    return folder


@pytest.mark.parametrize("fields", {**PRINTED, **AFTER_HEAD})
def test_branches(callsign, branch_symbols, fields):
    """From and to of each, newest first; the sample's own address before them. Nothing of the line is lost."""
    line = {**PRINTED, **AFTER_HEAD}[fields]
    wanted = (["area"] if fields in AFTER_HEAD else []) + BRANCH_NAMES
    if fields == "brstacksym":  # no image is named: an index that was given has the functions
        args = ["--json", "--index", branch_symbols / "app.gsym", "--no-search"]
        answer = json.loads(callsign.good("stack", *args, stdin=BRANCH_MAP + line + "\n"))
        assert [f["frames"][-1]["function"] if f["frames"] else None for f in answer["frames"]] == wanted
    else:
        assert named(callsign, branch_symbols, BRANCH_MAP + (line + "\n") * 2) == [wanted] * 2
    filled = callsign.good("stack", "--in-place", "--symbols", branch_symbols, "--no-search", stdin=BRANCH_MAP + line + "\n")
    shown = line
    for number, place in (("2010", "main+0x10"), ("1000", "area+0x0"), ("1004", "area+0x4"), ("2020", "main+0x20"), ("2000", "main+0x0")):
        shown = shown.replace(f"0x55d00000{number}", place).replace(f"0x{number}(", f"{place}(")
    assert filled == BRANCH_MAP + shown.replace("     55d000001004 area 0x", "     55d000001004 area+0x4 0x").replace(
        "55d000001004 area m", "55d000001004 area+0x4 m") + "\n"


def test_branches_of_cxx(callsign, tmp_path):
    """Names with blanks, brackets and slashes: each branch is cut where two whole sides remain."""
    line = "ns::leaf(Item const&, int)+0x12(/no where/a b)/operator/(A const&, B)+0x3(/no where/a b)/P/-/-/3/ " \
           "(anonymous namespace)::S::run() const+0x8(/no where/a b)/do_idle+0x19([kernel.kallsyms])/P/-/-/3/\n"
    gsym_make.write(tmp_path / "a b.gsym", [
        {"start": 0x1000, "size": 0x40, "name": "_ZN2ns4leafERK4Itemi"}, {"start": 0x1040, "size": 0x40, "name": "_ZdvRK1A1B"},
        {"start": 0x1080, "size": 0x40, "name": "_ZNK12_GLOBAL__N_11S3runEv"}])
    gsym_make.write(tmp_path / "vmlinux.gsym", [{"start": TEXT, "size": 0x40, "name": "do_idle"}], base=TEXT)
    assert named(callsign, tmp_path, line) == [["_ZN2ns4leafERK4Itemi", "_ZdvRK1A1B", "_ZNK12_GLOBAL__N_11S3runEv", "do_idle"]]
    assert callsign.good("stack", "--in-place", "--symbols", tmp_path, "--no-search", stdin=line) == line


@pytest.mark.parametrize("line", ["/P/-/-/3", "a/P/-/-/3", "0x10/P/-/-/3/", "x+0x1//P/-/-/3", "/" * 3000 + "/P/-/-/3", "0x1/0x2/Q/-/-/3", "a+0x1/b+0x2/P/-/-"])
def test_lines_that_are_no_branches(callsign, line):
    assert callsign.run("stack", "--json", "--no-search", "--format", "perf", stdin=line + "\n").stdout == ""


BLOCK = "\tmain:\n\t000055d000002000\tinsn: 8d 4f 0a \n\t000055d000002010\tinsn: 39 cf                   \t# MISPRED 7 cycles [7] 1.00 IPC\n" \
        "\tarea:\n\t000055d000001000\tinsn: e8 db ff ff ff \n"


def test_blocks_between_branches(callsign, branch_symbols):
    """-F +brstackinsn of perf 6.1: the instructions are a stack of their own."""
    assert named(callsign, branch_symbols, BRANCH_MAP + HEAD + "\n" + BLOCK) == [["area"], ["main", "main", "area"]]
    filled = callsign.good("stack", "--in-place", "--symbols", branch_symbols, "--no-search", stdin=BRANCH_MAP + BLOCK)
    assert filled == BRANCH_MAP + BLOCK.replace("0a \n", "0a (main) \n").replace("IPC\n", "IPC (main)\n").replace("ff \n", "ff (area) \n")


BRANCHING = """
volatile int sink;
__attribute__((noinline)) static int area(int x) { if (x) sink += x; return x * 3; }
static inline __attribute__((always_inline)) int inner(int x) { return area(x) + 1; }
__attribute__((noinline)) int middle(int x) { return inner(x) * 2; }
int main(int c, char **v) { int t = 0; for (int i = 0; i < 10; i++) t += middle(i + c); return t & 1; }
"""


def test_branches_that_perf_prints(callsign, tmp_path):
    """The file is made here, as machines without branch records cannot record it; the text is the real perf's. Every place that addr2line
    names is named so."""
    perf, addr2line = need("perf"), need("addr2line")
    (tmp_path / "app.c").write_text(BRANCHING)
    subprocess.run([need("gcc"), "-g", "-O2", "app.c", "-o", "app"], check=True, cwd=tmp_path)
    symbols = {words[2]: int(words[0], 16) for words in map(str.split, subprocess.run(
        ["nm", "app"], check=True, cwd=tmp_path, capture_output=True, text=True).stdout.splitlines()) if len(words) == 3}
    places = [symbols["middle"] + 5, symbols["area"], symbols["main"] + 8, symbols["middle"], symbols["main"] + 13, symbols["main"] + 8]
    perf_data.write(tmp_path / "perf.data", 4242, "app", [(BASE, 0x10000, 0, tmp_path / "app")], [
        (12345678000, BASE + symbols["area"] + 4, [(BASE + a, BASE + b, perf_data.PREDICTED, 3) for a, b in zip(places[::2], places[1::2])])])
    told = subprocess.run([addr2line, "-e", "app", "-f", *map(hex, places)], check=True, cwd=tmp_path, capture_output=True, text=True).stdout
    # addr2line without -i names the innermost inlined function
    wanted = told.splitlines()[::2]
    for fields in ("brstack", "brstack,dso", "brstackoff,dso", "brstacksym,dso", "comm,tid,time,event,brstack", "+brstack", "+brstacksym", "ip,sym,brstack"):
        text = subprocess.run([perf, "script", "-i", "perf.data", "--show-mmap-events", "-F", fields], check=True, cwd=tmp_path, capture_output=True,
                              text=True).stdout
        line = callsign.good("stack", "--json", "--offline", "--cache-dir", tmp_path / "cache", stdin=text)
        frames = [f["frames"][0]["function"] for f in json.loads(line)["frames"]]
        assert frames[-len(wanted):] == wanted, fields
        assert len(frames) == len(wanted) + (fields[0] == "+" or fields[:2] == "ip"), fields


TWO_PROCESSES = """\
app  4242  0.000000: PERF_RECORD_MMAP2 4242/4242: [0x55d000001000(0x3000) @ 0x1000 08:01 12 0]: r-xp /nowhere/app
ls   4343  0.000001: PERF_RECORD_MMAP2 4343/4343: [0x55d000001000(0x3000) @ 0x1000 08:01 13 0]: r-xp /nowhere/ls
%sapp  4242  1.000000:      250000 cpu-clock:pppH:
	    55d000001004
	    55d000002010

ls  4343  1.100000:      250000 cpu-clock:pppH:
	    55d000001004
	    55d000002010

"""


@pytest.fixture(scope="module")
def two_programs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("two")
    for name, functions in (("app", ["square", "main"]), ("ls", ["sort_files", "list_folder"])):
        gsym_make.write(folder / f"{name}.gsym", [{"start": 0x1000 * (i + 1), "size": 0x100, "name": of} for i, of in enumerate(functions)])
    return folder


@pytest.mark.parametrize("single", ["", "app  4242  0.500000:     250000 cpu-clock:pppH:      55d000001004 \n"], ids=["chains", "after a sample alone"])
def test_chains_without_images_are_of_their_process(callsign, two_programs, tmp_path, single):
    """`perf script --show-mmap-events -F comm,pid,time,period,event,ip`: the same addresses in two programs."""
    text = TWO_PROCESSES % single
    out = [[frame["frames"][0]["function"] for frame in json.loads(line)["frames"]]
           for line in callsign.good("stack", "--json", "--symbols", two_programs, stdin=text).splitlines()]
    assert out == [["square"]] * bool(single) + [["square", "main"], ["sort_files", "list_folder"]]
    callsign.good("profile", "-", "--from", "perf-script", "-s", two_programs, "-o", tmp_path / "out.folded", stdin=text)
    assert sorted(line.split(" ")[0] for line in (tmp_path / "out.folded").read_text().splitlines()) == sorted(
        ["square"] * bool(single) + ["main;square", "list_folder;sort_files"])
