"""callsign stack on the logs of other programs: samples that these wrote, and what must become of each line.

The samples are in tests/data/stacks, whose README has the programs, and what llvm-symbolizer-22 says of each address. Samples in this file
follow the form that the program's authors or users published: `source` names where; module names and addresses are those of the programs
in tests/data/stacks."""
import json
import pathlib
import re
import shutil
import subprocess
import uuid
from dataclasses import dataclass, field

import pytest

import gsym_make

DATA = pathlib.Path(__file__).resolve().parents[1] / "data" / "stacks"
LIB = ["-i", DATA / "liborders.so"]
BOTH = [*LIB, "-i", DATA / "orders"]
FIXED = ["-i", DATA / "orders-fixed"]
WASM = ["-i", DATA / "orders.wasm"]

L = "/opt/app/liborders.c:"
CHECK = f" (check at {L}9, inlined into parse_line at {L}16)"
LOAD = f" (orders_load at {L}21)"
ON_CHECK, ON_CRASH, MAIN = " (on_check at /opt/app/orders.c:13)", " (on_check at /opt/app/orders.c:23)", " (main at /opt/app/orders.c:31)"
WASM_CHECK = " (check at /opt/app/worders.c:2, inlined into parse_line at /opt/app/worders.c:6)"
WASM_LOAD = " (orders_load at /opt/app/worders.c:11)"


def bare(text):
    """Without the brackets."""
    return " " + text[2:-1]


@dataclass
class Sample:
    index: list
    source: str            # the program that wrote it; or where its form is published
    lines: dict            # number of a line, from 1: what is added to it, or (after "=") what replaces it
    counts: tuple          # stacks, frames, named
    text: str = None       # None: tests/data/stacks/NAME.txt
    functions: dict = field(default_factory=dict)  # of an index that is made for it; or a list of these


def laid_out(start, sizes):
    """Functions of (name, size, line), one after the other."""
    out = []
    for name, size, line in sizes:
        out.append({"start": start, "size": size, "name": name, "line": line})
        start += size
    return out


SAMPLES = {
    "glibc-fd": Sample(BOTH, "glibc 2.36, backtrace_symbols_fd()", {
        1: ON_CHECK, 2: CHECK, 3: LOAD, 4: MAIN, 7: " (_start)"}, (1, 7, 5)),
    "glibc-symbols": Sample(BOTH, "glibc 2.36, backtrace_symbols()", {
        1: ON_CHECK, 2: CHECK, 3: LOAD, 4: MAIN, 7: " (_start)"}, (1, 7, 5)),
    "python": Sample(BOTH, "docs.python.org, faulthandler: the C stack since Python 3.14", {
        4: CHECK, 5: LOAD, 6: LOAD}, (1, 5, 3),
        "Fatal Python error: Segmentation fault\n\nCurrent thread's C stack trace (most recent call first):\n"
        "  Binary file \"/opt/app/liborders.so\", at +0x113b [0x7f93bcfd913b]\n"
        "  Binary file \"/opt/app/liborders.so\", at orders_load+0x9 [0x7f93bcfd9161]\n"
        "  Binary file \"/opt/app/liborders.so\" [0x7f93bcfd9161]\n"
        "  Binary file \"/usr/lib/libc.so.6\", at +0x3def0 [0x77b73226bef0]\n  Binary file '<unknown>' [0x7b93bcfd9161]\n"
        "  <truncated rest of calls>\n"),
    "node": Sample([], "Node 20.20.2, process.abort(), with an addon's frame; nm: 0xf513c0 HandleApiCallHelper, 0xf50ab0 Call, 0xd3a370 Abort", {
        3: " (_ZN4nodeL5AbortERKN2v820FunctionCallbackInfoINS0_5ValueEEE at /opt/app/liborders.c:1)",
        4: " (_ZN2v88internal25FunctionCallbackArguments4CallENS0_15CallHandlerInfoE at /opt/app/liborders.c:2)",
        5: " (helper at /opt/app/liborders.c:3)"}, (1, 4, 3),
        "----- Native stack trace -----\n\n 1: 0xd3a3c0  [node]\n"
        " 2: 0xf50bdf v8::internal::FunctionCallbackArguments::Call(v8::internal::CallHandlerInfo) [node]\n 3: 0xf5144d  [node]\n"
        " 4: 0x7f93bcfd9161  [/opt/app/addon.node]\n\n----- JavaScript stack trace -----\n\n1: [eval]:1:9\n"
        "2: runScriptInThisContext (node:internal/vm:209:10)\n",
        functions={"name": "node", "list": [
            {"start": 0xd3a370, "size": 0x50, "name": "_ZN4nodeL5AbortERKN2v820FunctionCallbackInfoINS0_5ValueEEE", "line": 1},
            {"start": 0xf50ab0, "size": 0x500, "name": "_ZN2v88internal25FunctionCallbackArguments4CallENS0_15CallHandlerInfoE", "line": 2},
            {"start": 0xf513c0, "size": 0x300, "name": "helper", "line": 3}]}),
    "libunwind": Sample(FIXED, "libunwind 1.6.2, unw_get_proc_name() as its manual shows it", {1: CHECK, 2: LOAD}, (1, 6, 2)),
    "libunwind-pie": Sample(LIB, "the same in a position independent program", {1: CHECK, 2: LOAD}, (1, 6, 2)),
    "boost": Sample(["-i", f"boost-fixed={DATA / 'orders-fixed'}"], "Boost 1.74, boost::stacktrace", {
        2: f"= 1# check at {L}9 (inlined)\n 1# parse_line at {L}16", 3: f"= 2# orders_load at {L}21"}, (1, 6, 2)),
    "glog": Sample(FIXED, "glog 0.6.0, LOG(FATAL)", {8: CHECK, 9: LOAD}, (1, 11, 2)),
    "glog-cxx": Sample([], "glog 0.6.0 in a position independent program in C++; llvm-symbolizer: 0x1235 shop.cc:5, 0x1257 :6, 0x12d3 :8", {
        7: " (_ZN4shop12_GLOBAL__N_15priceIiEEiRKSt6vectorIT_SaIS3_EE at /opt/app/liborders.c:5)",
        8: " (_ZNK4shop12_GLOBAL__N_14Cart5totalEi at /opt/app/liborders.c:6)", 9: " (main at /opt/app/liborders.c:8)"}, (1, 10, 3),
        functions={"name": "shop", "list": [
            {"start": 0x11ba, "size": 0x8d, "name": "_ZN4shop12_GLOBAL__N_15priceIiEEiRKSt6vectorIT_SaIS3_EE", "line": 5},
            {"start": 0x1248, "size": 0x19, "name": "_ZNK4shop12_GLOBAL__N_14Cart5totalEi", "line": 6},
            {"start": 0x1261, "size": 0xb1, "name": "main", "line": 8}]}),
    "absl": Sample(FIXED, "Abseil 20220623, InstallFailureSignalHandler()", {2: f" (parse_line at {L}15)"}, (1, 2, 1)),
    "absl-pie": Sample(LIB, "the same in a position independent program", {2: f" (parse_line at {L}15)"}, (1, 2, 1)),
    "rust": Sample(LIB, "rustc 1.95.0, RUST_BACKTRACE=full", {5: CHECK, 9: LOAD}, (1, 4, 2)),
    "gdb": Sample(BOTH, "gdb 13.1, run and bt, without symbols", {
        1: "=0x000055555555527b in on_check () at /opt/app/orders.c:23",
        2: "=#0  0x000055555555527b in on_check () at /opt/app/orders.c:23",
        3: f"=#1  0x00007ffff7fbc13b in check () at {L}9\n#2  parse_line () at {L}16",
        4: f"=#3  0x00007ffff7fbc161 in orders_load () at {L}21",
        5: "=#4  0x0000555555555461 in main () at /opt/app/orders.c:31",
        6: "=#5{rest}", 7: "=#6{rest}", 8: "=#7  0x0000555555555131 in _start ()"}, (2, 8, 6)),
    "lldb": Sample(BOTH, "lldb 14.0.6, run and bt, without symbols", {
        4: "=  * frame #0: 0x000055555555527b orders`on_check at /opt/app/orders.c:23",
        5: f"=    frame #1: 0x00007ffff7fbc13b liborders.so`parse_line [inlined] check at {L}9\n"
           f"    frame #2: 0x00007ffff7fbc13b liborders.so`parse_line at {L}16",
        6: f"=    frame #3: 0x00007ffff7fbc161 liborders.so`orders_load at {L}21",
        7: "=    frame #4: 0x0000555555555461 orders`main at /opt/app/orders.c:31",
        8: "=    frame #5{rest}", 9: "=    frame #6{rest}", 10: "=    frame #7: 0x0000555555555131 orders`_start + 33"}, (1, 7, 5)),
    "perf brstack": Sample(BOTH, "tools/perf/Documentation/perf-script.txt and builtin-script.c, perf_sample__fprintf_brstack()", {
        2: "=orders  4242 12.345678:          1 cycles:u:  on_check+0x82/on_check+0x22d/P/-/-/3  main+0x34/on_check+0x27/M/-/-/1",
        3: "=\ton_check+0x82/on_check+0x22d/P/-/-/3/CALL/-"}, (2, 6, 6),
        "orders  4242 12.345678: PERF_RECORD_MMAP2 4242/4242: [0x55d000001000(0x1000) @ 0x1000 08:01 12 0]: r-xp /opt/app/orders\n"
        "orders  4242 12.345678:          1 cycles:u:  0x55d00000127b/0x55d000001426/P/-/-/3  0x55d000001460/0x55d000001220/M/-/-/1\n"
        "\t0x55d00000127b/0x55d000001426/P/-/-/3/CALL/-\n"),
    "asan unindented": Sample(LIB, "clang 22's run-time library, ASAN_OPTIONS=stack_trace_format='#%n %p %F %L', of asan.txt", {
        1: f"=#1 0x7f71e124213a in check {L}9\n#2 0x7f71e124213a in parse_line {L}16", 2: f"=#3 0x7f71e1242160 in orders_load {L}21"},
        (1, 2, 2),
        "#1 0x7f71e124213a  (/opt/app/liborders.so+0x113a) (BuildId: e94d6cf35a16f9fe17e170306ed6b2ccb6944b8e)\n"
        "#2 0x7f71e1242160  (/opt/app/liborders.so+0x1160) (BuildId: e94d6cf35a16f9fe17e170306ed6b2ccb6944b8e)\n"),
    "valgrind": Sample(BOTH, "Valgrind 3.19.0, without symbols", {
        2: "===23276==    at 0x10927B: on_check (/opt/app/orders.c:23)",
        3: f"===23276==    by 0x485313A: check ({L}9)\n==23276==    by 0x485313A: parse_line ({L}16)",
        4: f"===23276==    by 0x4853160: orders_load ({L}21)",
        5: "===23276==    by 0x109460: main (/opt/app/orders.c:31)"}, (1, 4, 4)),
    "strace": Sample(BOTH, "strace 6.1 with libunwind, -k", {
        4: " (on_check at /opt/app/orders.c:25)", 5: CHECK, 6: LOAD, 7: MAIN, 10: " (_start)"}, (1, 8, 5)),
    "jvm": Sample(LIB, "OpenJDK 17.0.15, its message and hs_err file", {7: LOAD}, (2, 9, 1)),
    "jvm, a call of no function": Sample([], "OpenJDK 17.0.15, hs_err file of a call of NULL; the frame without a library: "
                                         "src/hotspot/share/runtime/frame.cpp, print_C_frame()", {
        4: " (leaf at /opt/app/liborders.c:2)", 7: " (leaf at /opt/app/liborders.c:2)", 9: " (Java_Crash_mid at /opt/app/liborders.c:5)",
        13: " (Java_Crash_mid at /opt/app/liborders.c:5)"}, (3, 5, 4),
        "#\n#  SIGSEGV (0xb) at pc=0x0000000000000000, pid=26031, tid=26032\n# Problematic frame:\n# C  [libcrash.so+0x1120]  leaf+0x20\n#\n"
        "Native frames: (J=compiled Java code, j=interpreted, Vv=VM code, C=native code)\nC  [libcrash.so+0x1120]  leaf+0x20\n"
        "C  0x00007f5a1c0d7161\nC  [libcrash.so+0x1140]  Java_Crash_mid+0x20\nj  Crash.mid(J)I+0\n\n"
        "#  SIGSEGV (0xb) at pc=0x00007f5a1c0d7120, pid=1, tid=2\nC  [libcrash.so+0x1120]  interrupted+0x0\n",
        functions={"name": "libcrash.so", "list": [
            {"start": 0x1100, "size": 0x20, "name": "leaf", "line": 2}, {"start": 0x1120, "size": 0x20, "name": "Java_Crash_mid", "line": 5}]}),
    "segfault": Sample(BOTH, "Linux 6.18", {
        1: "=[12906.677165] orders[12817]: segfault at 0 ip 0000561ae465727b sp 00007ffd8d018630 error 6 in "
           "orders[127b,561ae4657000+1000] (on_check at /opt/app/orders.c:23) likely on CPU 0 (core 0, socket 0)"}, (1, 1, 1)),
    "asan": Sample(LIB, "clang 22.1.8 -fsanitize=address, symbolize=0", {
        4: f"=    #1 0x7f71e124213a in check {L}9\n    #2 0x7f71e124213a in parse_line {L}16",
        5: f"=    #3 0x7f71e1242160 in orders_load {L}21", 6: "=    #4{rest}", 7: "=    #5{rest}", 8: "=    #6{rest}",
        9: "=    #7{rest}"}, (1, 7, 2)),
    "ubsan": Sample(LIB, "clang 22.1.8 -fsanitize=undefined, print_stacktrace=1:symbolize=0", {
        3: f"=    #1 0x7f30818fe13a in check {L}9\n    #2 0x7f30818fe13a in parse_line {L}16",
        4: f"=    #3 0x7f30818fe160 in orders_load {L}21", 5: "=    #4{rest}", 6: "=    #5{rest}", 7: "=    #6{rest}",
        8: "=    #7{rest}"}, (1, 7, 2)),
    "msan": Sample(LIB, "clang 22.1.8 -fsanitize=memory, symbolize=0", {
        3: f"=    #1 0x7faf51e6b13a in check {L}9\n    #2 0x7faf51e6b13a in parse_line {L}16",
        4: f"=    #3 0x7faf51e6b160 in orders_load {L}21", 5: "=    #4{rest}", 6: "=    #5{rest}", 7: "=    #6{rest}",
        8: "=    #7{rest}"}, (1, 7, 2)),
    "tsan": Sample([], "clang 22.1.8 -fsanitize=thread, symbolize=0; llvm-symbolizer: 0xe92f8 thread uorders.c:19, 0xe933a orders_load", {
        4: f"=    #1 orders_load {L}21 (tsan+0xe933a) (BuildId: 8785d366884f419e8726b841f77ed2ec33735374)"}, (1, 4, 1),
        functions={"name": "tsan", "list": [{"start": 0xe9320, "size": 0x46, "name": "orders_load", "line": 21}]}),
    "go": Sample([], "go 1.19 with -ldflags='-s -w', integer divide by zero", {
        5: " main.parseLine at /opt/app/liborders.c:8", 9: " main.main at /opt/app/liborders.c:13"}, (1, 2, 2),
        functions={"name": "orders", "list": [{"start": 0x457c60, "size": 0x60, "name": "main.parseLine", "line": 8},
                                              {"start": 0x457cc0, "size": 0x52, "name": "main.main", "line": 13}]}),
    # Functions end where their last call returns: the byte before is theirs.
    "go, GOTRACEBACK=system": Sample([], "go 1.26, a nil pointer in an inlined call, of which a deferred function made another panic; cut", {
        2: "=[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x49e6e0 (main.fail at /opt/app/liborders.c:14)]",
        6: " runtime.gopanic at /opt/app/liborders.c:860", 8: " main.main.func2.1 at /opt/app/liborders.c:46",
        10: " runtime.gopanic at /opt/app/liborders.c:860", 14: " runtime.sigpanic at /opt/app/liborders.c:931",
        16: " main.fail at /opt/app/liborders.c:14", 20: " main.Square.Area at /opt/app/liborders.c:23",
        22: " main.main at /opt/app/liborders.c:43", 24: " main.main at /opt/app/liborders.c:43",
        28: " runtime.gopanic at /opt/app/liborders.c:860"}, (3, 10, 10),
        "panic: runtime error: invalid memory address or nil pointer dereference [recovered]\n"
        "[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x49e6e0]\n\ngoroutine 1 gp=0x1c2ce45e01e0 m=0 mp=0x586140 [running]:\n"
        "panic({0x4a95e0?, 0x1c2ce4600050?})\n\t/usr/local/go/src/runtime/panic.go:879 +0x16f fp=0x1c2ce468acb0 sp=0x1c2ce468ac00 pc=0x47932f\n"
        "main.main.func2.1()\n\t/src/main.go:46 +0x5b fp=0x1c2ce468acf8 sp=0x1c2ce468acb0 pc=0x49e9bb\n"
        "panic({0x4ae600?, 0x57f4e0?})\n\t/usr/local/go/src/runtime/panic.go:860 +0x13a fp=0x1c2ce468ada8 sp=0x1c2ce468acf8 pc=0x4792fa\n"
        "runtime.panicmem(...)\n\t/usr/local/go/src/runtime/panic.go:336\n"
        "runtime.sigpanic()\n\t/usr/local/go/src/runtime/signal_unix.go:931 +0x378 fp=0x1c2ce468ae08 sp=0x1c2ce468ada8 pc=0x47ac18\n"
        "main.fail(0x4781c5?)\n\t/src/main.go:14 fp=0x1c2ce468ae10 sp=0x1c2ce468ae08 pc=0x49e6e0\n"
        "main.inl(...)\n\t/src/main.go:17\n"
        "main.Square.Area({0x480013?}, 0x1c2ce468ae60?)\n\t/src/main.go:23 +0x2b fp=0x1c2ce468ae30 sp=0x1c2ce468ae10 pc=0x49e72b\n"
        "main.main()\n\t/src/main.go:43 +0xa5 fp=0x1c2ce468af48 sp=0x1c2ce468aec8 pc=0x49e805\n"
        "created by main.main in goroutine 1\n\t/src/main.go:38 +0x4f\n\n"
        "runtime stack:\npanic({0x4a95e0?, 0x1c2ce4600050?})\n\t/usr/local/go/src/runtime/panic.go:879 +0x16f fp=0x1 sp=0x2 pc=0x47932f\n",
        functions={"name": "orders", "list": [
            {"start": 0x4791c0, "size": 0x16f, "name": "runtime.gopanic", "line": 860}, {"start": 0x47932f, "size": 0x10, "name": "other", "line": 1},
            {"start": 0x47a8a0, "size": 0x378, "name": "runtime.sigpanic", "line": 931}, {"start": 0x47ac18, "size": 8, "name": "more", "line": 2},
            {"start": 0x49e6d0, "size": 0x10, "name": "before", "line": 3}, {"start": 0x49e6e0, "size": 0x20, "name": "main.fail", "line": 14},
            {"start": 0x49e700, "size": 0x2b, "name": "main.Square.Area", "line": 23}, {"start": 0x49e72b, "size": 0x35, "name": "last", "line": 4},
            {"start": 0x49e760, "size": 0xa5, "name": "main.main", "line": 43}, {"start": 0x49e805, "size": 0x15b, "name": "end", "line": 5},
            {"start": 0x49e960, "size": 0x5b, "name": "main.main.func2.1", "line": 46}, {"start": 0x49e9bb, "size": 5, "name": "past", "line": 6}]}),
    "go, a signal": Sample([], "go 1.26, a nil pointer at the first instruction; dumps of stacks too deep and of another thread; cut", {
        2: "=[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x49e6e0 (main.fail at /opt/app/liborders.c:14)]",
        6: " main.fail at /opt/app/liborders.c:14", 10: " main.Square.Area at /opt/app/liborders.c:23",
        13: " main.Square.Area at /opt/app/liborders.c:23", 18: " main.Square.Area at /opt/app/liborders.c:23"}, (3, 5, 5),
        "panic: runtime error: invalid memory address or nil pointer dereference\n"
        "[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x49e6e0]\n\ngoroutine 1 [running]:\n"
        "main.fail(0x4781c5?)\n\t/src/main.go:14\nmain.inl(...)\n\t/src/main.go:17\n"
        "main.Square.Area({0x480013?}, 0x289f9650ae60?)\n\t/src/main.go:23 +0x2b\n...87187 frames elided...\n"
        "main.Square.Area({0x0?}, 0x0?)\n\t/src/main.go:21 +0x1b\n\n"
        "goroutine 2 [running]:\n\tgoroutine running on other thread; stack unavailable\ncreated by main.Square.Area in goroutine 1\n"
        "\t/src/main.go:21 +0x1b\n",
        functions={"name": "orders", "list": [
            {"start": 0x49e6d0, "size": 0x10, "name": "before", "line": 3}, {"start": 0x49e6e0, "size": 0x20, "name": "main.fail", "line": 14},
            {"start": 0x49e700, "size": 0x40, "name": "main.Square.Area", "line": 23}]}),
    "go, panics": Sample([], "go 1.26, a signal in a deferred function, both names of panic() without addresses; cut", {
        2: "=[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x49e705 (main.second at /opt/app/liborders.c:9)]",
        6: " runtime.gopanic at /opt/app/liborders.c:860", 8: " main.second at /opt/app/liborders.c:9",
        10: " runtime.gopanic at /opt/app/liborders.c:860", 12: " main.first at /opt/app/liborders.c:8"}, (2, 5, 5),
        "panic: a\n[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x49e705]\n\ngoroutine 1 [running]:\n"
        "panic({0x4a95e0?, 0x1c2ce4600050?})\n\t/usr/local/go/src/runtime/panic.go:860 +0x13a\n"
        "main.second()\n\t/src/main.go:9 +0x5\npanic({0x4a95e0?, 0x1c2ce4600050?})\n\t/usr/local/go/src/runtime/panic.go:860 +0x13a\n"
        "main.first()\n\t/src/main.go:8 +0x20\n",
        functions={"name": "orders", "list": [
            {"start": 0x4791c0, "size": 0x16f, "name": "runtime.gopanic", "line": 860}, {"start": 0x49e6e0, "size": 0x20, "name": "main.first", "line": 8},
            {"start": 0x49e700, "size": 0x20, "name": "main.second", "line": 9}]}),
    "go-race": Sample([], "go 1.26.8, go build -race; llvm-symbolizer: 0x54f38a main.parseLine, where check() was inlined, 0x54f5a8 and 0x54f59e main.main", {
        7: " main.parseLine at /opt/app/liborders.c:15", 9: " main.load at /opt/app/liborders.c:22", 11: " main.main at /opt/app/liborders.c:28",
        17: " main.parseLine at /opt/app/liborders.c:15", 19: " main.load at /opt/app/liborders.c:22", 21: " main.main.func1 at /opt/app/liborders.c:27",
        25: " main.main at /opt/app/liborders.c:28"}, (3, 9, 7),
        functions={"name": "orders", "list": [
            {"start": 0x54f360, "size": 0x87, "name": "main.parseLine", "line": 15}, {"start": 0x54f400, "size": 0x50, "name": "main.load", "line": 22},
            {"start": 0x54f460, "size": 0x32a, "name": "main.main", "line": 28}, {"start": 0x54f7a0, "size": 0x57, "name": "main.main.func1", "line": 27}]}),
    "go-ancestors": Sample([], "go 1.26.8, GODEBUG=tracebackancestors=5", {
        5: " main.main.func3.1 at /opt/app/liborders.c:44", 7: " main.main.func3 at /opt/app/liborders.c:43", 10: " main.main.func3 at /opt/app/liborders.c:43",
        12: " main.main at /opt/app/liborders.c:42", 15: " main.main at /opt/app/liborders.c:42"}, (3, 5, 5),
        functions={"name": "orders", "list": [
            {"start": 0x4d9960, "size": 0x24a, "name": "main.main", "line": 42}, {"start": 0x4d9c60, "size": 0x36, "name": "main.main.func3", "line": 43},
            {"start": 0x4d9ca0, "size": 0x2d, "name": "main.main.func3.1", "line": 44}]}),
    "go-cgo": Sample([], "go 1.26.8, a signal in C code that Go's called; llvm-symbolizer: 0x48b500 fail, 0x48b46e _cgoexp_d606e0a302d8_on_order; cut", {
        2: " fail at /opt/app/liborders.c:5", 11: " main.on_order at /opt/app/liborders.c:14",
        13: " _cgoexp_d606e0a302d8_on_order at /opt/app/liborders.c:59", 29: " main.main at /opt/app/liborders.c:17",
        31: " runtime.main at /opt/app/liborders.c:290"}, (2, 15, 5),
        functions={"name": "orders", "list": [
            {"start": 0x448e40, "size": 0x42a, "name": "runtime.main", "line": 290}, {"start": 0x48b3c0, "size": 0x34, "name": "main.on_order", "line": 14},
            {"start": 0x48b400, "size": 0x58, "name": "main.main", "line": 17},
            {"start": 0x48b460, "size": 0x18, "name": "_cgoexp_d606e0a302d8_on_order", "line": 59},
            {"start": 0x48b500, "size": 0xc, "name": "fail", "line": 5}]}),
    "go-pprof": Sample([], "go 1.26.8, /debug/pprof: goroutine?debug=1, goroutine?debug=2, heap?debug=1; cut. llvm-symbolizer: 0x480d64 time.Sleep, "
                           "0x4d9c3c main.main.func2, 0x4d9b32 main.main", {
        2: "=1 @ 0x442bd1 0x47cfbd 0x4c7451 0x4c7285 0x4c4109 0x4d9aae (main.main at /opt/app/liborders.c:34) 0x44cd15 0x484081",
        9: "=1 @ 0x47dbce 0x480d65 (time.Sleep at /opt/app/liborders.c:363) 0x4d9c3d (main.main.func2 at /opt/app/liborders.c:32) 0x484081",
        21: " main.main at /opt/app/liborders.c:34", 25: " time.Sleep at /opt/app/liborders.c:363", 27: " main.main.func2 at /opt/app/liborders.c:32",
        29: " main.main at /opt/app/liborders.c:34",
        31: "=0: 0 [2: 32] @ 0x47c305 0x41e4c5 0x429351 0x4271ef 0x426b5b 0x4d9b33 (main.main at /opt/app/liborders.c:34) 0x44cd15 0x484081",
        35: "=0: 0 [1: 1048576] @ 0x47c333 0x47f249 0x4c72f0 0x4c7265 0x4c4109 0x4d9b0f (main.main at /opt/app/liborders.c:34) 0x44cd15 0x484081"},
        (6, 35, 9),
        functions={"name": "orders", "list": [
            {"start": 0x480c00, "size": 0x185, "name": "time.Sleep", "line": 363}, {"start": 0x4d9960, "size": 0x24a, "name": "main.main", "line": 34},
            {"start": 0x4d9c20, "size": 0x2a, "name": "main.main.func2", "line": 32}]}),
    "eu-stack": Sample(BOTH, "elfutils 0.188, eu-stack of a core (also -i -m and -v), of one of stripped files (-l), and of processes of these (-v and -m)", {
        3: ON_CRASH, 4: CHECK, 5: LOAD, 6: MAIN, 9: " (_start)", 12: ON_CRASH, 13: CHECK, 15: LOAD, 16: MAIN, 19: " (_start)",
        22: ON_CRASH, 24: CHECK, 28: LOAD, 30: MAIN, 36: " (_start)", 60: ON_CRASH, 61: CHECK, 62: LOAD, 63: MAIN, 66: " (_start)",
        70: CHECK, 71: LOAD, 81: CHECK, 82: LOAD}, (6, 42, 24)),
    "backward": Sample(BOTH, "backward-cpp 1.6, SignalHandling, without and with libdw", {
        7: LOAD, 8: f"=#1    Object \"/opt/app/liborders.so\", at 0x7ffb632e313a, in{CHECK} ", 13: " (_start)"}, (2, 16, 7)),
    "gperftools-heap": Sample(LIB, "gperftools 2.10, HEAPPROFILE; mappings were cut", {
        2: f"=     1:     3000 [     1:     3000] @ 0x5623c9d93157 0x7fa7ec76f13b{CHECK} 0x7fa7ec76f161{LOAD} 0x5623c9d9317e 0x7fa7ec24524a "
           "0x7fa7ec245305 0x5623c9d93081"}, (1, 7, 2)),
    "gperftools-leaks": Sample(LIB, "gperftools 2.10, HEAPCHECK=draconian without and with pprof; cut", {18: CHECK, 19: LOAD}, (2, 14, 2)),
    "bpftrace": Sample(LIB, "bpftrace 0.17, ustack(), ustack(perf) and a map of stacks", {
        2: f" (orders_load at {L}20)", 7: f" (orders_load at {L}20)", 13: f" orders_load at {L}20"}, (3, 9, 3)),
    "bpftrace-kernel": Sample([], "bpftrace 0.17 on Linux 6.18, kstack() and kstack(perf)", {
        7: " (do_idle at /opt/app/liborders.c:300)", 15: " (do_idle at /opt/app/liborders.c:300)"}, (2, 12, 2),
        functions={"name": "vmlinux", "list": [{"start": 0xffffffff813c3870, "size": 0x200, "name": "do_idle", "line": 300}]}),
    "wasmtime": Sample(WASM, "wasmtime 50.0.1, with and without names", {2: WASM_CHECK, 3: WASM_LOAD, 10: WASM_CHECK, 11: WASM_LOAD},
                       (2, 4, 4)),
    "v8": Sample(WASM, "Node 20.20.2, with and without names", {2: WASM_CHECK, 3: WASM_LOAD, 5: WASM_CHECK, 6: WASM_LOAD}, (2, 4, 4)),
    "wine": Sample([], "Wine 8.0, winedbg; llvm-symbolizer: 0x25a2113dc orders_load liborders.c:21", {
        3: LOAD}, (1, 6, 1),
        functions={"name": "orders", "base": 0x25a210000, "list": [{"start": 0x25a210000, "size": 1, "name": "base"},
                                                                   {"start": 0x25a2113d0, "size": 0x21, "name": "orders_load", "line": 21}]}),
    "bare-with-maps": Sample(BOTH, "glibc 2.36, backtrace() after /proc/self/maps", {
        12: bare(ON_CHECK), 13: bare(CHECK), 14: bare(LOAD), 15: bare(MAIN), 18: " _start"}, (1, 7, 5)),
    "llvm": Sample(LIB, "clang 22.1.8, its crash handler and llvm-symbolizer, of a program without debug information", {
        7: CHECK, 8: LOAD}, (1, 10, 2)),
    "llvm-dump": Sample(LIB, "llvm-symbolizer 22.1.8, its crash handler, LLVM_DISABLE_SYMBOLIZATION=1", {
        8: "=5  liborders.so    0x00007fbf4552a13b check + 16 (liborders.c:9) [inlined]\n"
           "5  liborders.so    0x00007fbf4552a13b parse_line + 66 (liborders.c:16)",
        9: "=6  liborders.so    0x00007fbf4552a161 orders_load + 9 (liborders.c:21)"}, (1, 10, 2)),
    "firefox": Sample(LIB, "Firefox ESR 153.7.0, MozWalkTheStack()", {
        2: f"=#02: check ({L}9)\n#02: parse_line ({L}16)", 3: f"=#03: orders_load ({L}21)"}, (1, 7, 2)),
    "chromium": Sample([], "Chromium 156, a process whose file descriptor another closed; nm -D: ChromeMain at 0x2d92160", {
        11: " (ChromeMain at /opt/app/liborders.c:30)"}, (1, 11, 1),
        functions={"name": "chromium", "list": [{"start": 0x2d92160, "size": 0x400, "name": "ChromeMain", "line": 30}]}),
    "minidump-stackwalk": Sample(LIB, "minidump-stackwalk 0.27.0, of a crash of Chromium 156 as Crashpad wrote it", {
        13: f"= 1  liborders.so!check [{L[:-1]} : 9]\n 2  liborders.so!parse_line [{L[:-1]} : 16]",
        17: f"= 3  liborders.so!orders_load [{L[:-1]} : 21]", 21: "= 4  hook.so + 0x1272", 25: "= 5  libc.so.6 + 0x891f4",
        28: "= 6  libc.so.6 + 0x88eef", 31: "= 7  libc.so.6 + 0x1098eb"}, (1, 7, 2)),
    "elfutils": Sample(BOTH, "elfutils 0.188, eu-stack -m -b of a core dump, of stripped files", {
        3: ON_CRASH, 5: CHECK, 7: LOAD, 9: MAIN, 15: " (_start)"}, (1, 7, 5)),
    "elfutils-v": Sample(BOTH, "elfutils 0.188, eu-stack -v -i of a process", {
        3: " (on_check at /opt/app/orders.c:26)", 5: CHECK, 9: LOAD, 11: MAIN, 17: " (_start)"}, (1, 7, 5)),
    "coredumpctl": Sample(BOTH, "systemd 252, coredumpctl info, of stripped files", {
        18: ON_CRASH, 19: CHECK, 20: LOAD, 21: MAIN, 24: " (_start)"}, (1, 7, 5)),
    "kernel-x86-64": Sample([], "Linux 6.1.192 (Debian's 6.1.0-56-amd64) in QEMU, a module's WARN_ON and its read of NULL; the sizes are the kernel's", {
        1: "=[    7.288396] WARNING: CPU: 0 PID: 1 at /opt/app/orders.c:9 parse_line+0x1e/0x30 (/opt/app/liborders.c:9) [orders]",
        3: "=[    7.291142] RIP: 0010:parse_line+0x1e/0x30 (/opt/app/liborders.c:9) [orders]",
        6: "=[    7.296569]  orders_load+0xa/0x20 (/opt/app/liborders.c:17) [orders]",
        7: "=[    7.296685]  on_write+0x25/0xfb0 (/opt/app/liborders.c:22) [orders]",
        8: " (/opt/app/liborders.c:340)", 9: " (/opt/app/liborders.c:582)", 10: " (/opt/app/liborders.c:815)",
        16: "=[    7.315174] RIP: 0010:parse_line+0x11/0x30 (/opt/app/liborders.c:9) [orders]",
        19: "=[    7.316082]  orders_load+0xa/0x20 (/opt/app/liborders.c:17) [orders]",
        20: "=[    7.316138]  on_write+0x25/0xfb0 (/opt/app/liborders.c:22) [orders]",
        21: " (/opt/app/liborders.c:340)", 22: " (/opt/app/liborders.c:582)", 23: " (/opt/app/liborders.c:1335)",
        28: "=[    7.319222] RIP: 0010:parse_line+0x11/0x30 (/opt/app/liborders.c:9) [orders]"}, (4, 16, 14),
        functions=[{"name": "vmlinux", "list": [
            {"start": 0xffffffff812e79d0, "size": 0x2f0, "name": "page_add_file_rmap", "line": 1335},
            {"start": 0xffffffff81367160, "size": 0x3f0, "name": "vfs_write", "line": 582},
            {"start": 0xffffffff81405880, "size": 0xa0, "name": "proc_reg_write", "line": 340},
            {"start": 0xffffffff8147da70, "size": 0x200, "name": "tomoyo_path_perm", "line": 815}]},
            {"name": "orders", "list": laid_out(0x10, [("parse_line", 0x30, 9), ("orders_load", 0x20, 17), ("on_write", 0x34, 22)])}]),
    "kernel-arm64": Sample([], "Linux 6.1.192 (Debian's 6.1.0-56-arm64) in QEMU, Alt+SysRq+p and c; the sizes are the kernel's", {
        3: " (/opt/app/liborders.c:1)", 4: " (/opt/app/liborders.c:1)", 7: " (/opt/app/liborders.c:1)", 8: " (/opt/app/liborders.c:2)",
        9: " (/opt/app/liborders.c:3)", 10: " (/opt/app/liborders.c:4)", 11: " (/opt/app/liborders.c:5)", 15: " (/opt/app/liborders.c:6)",
        16: " (/opt/app/liborders.c:7)", 17: " (/opt/app/liborders.c:8)", 18: " (/opt/app/liborders.c:9)", 19: " (/opt/app/liborders.c:10)"},
        (3, 12, 12),
        functions={"name": "vmlinux", "list": laid_out(0xffff800008010000, [
            ("arch_cpu_idle", 0x2c, 1), ("default_idle_call", 0x13c, 2), ("do_idle", 0x310, 3), ("arch_post_acpi_subsys_init", 0x28, 4),
            ("start_kernel", 0x75c, 5), ("dump_backtrace", 0x140, 6), ("panic", 0x364, 7), ("sysrq_reset_seq_param_set", 0xa0, 8),
            ("__handle_sysrq", 0x19c, 9), ("write_sysrq_trigger", 0xc8, 10), ("next", 4, 11)])}),
    "segfault-6.1": Sample(BOTH, "Linux 6.1.192 (Debian's 6.1.0-56-amd64) in QEMU", {
        1: "=[    7.264694] orders[89]: segfault at 0 ip 00005638f74b527b sp 00007ffeb05c1c80 error 6 in orders[5638f74b5000+1000] "
           "(on_check at /opt/app/orders.c:23) likely on CPU 0 (core 0, socket 0)"}, (1, 1, 1)),
    "hwasan": Sample([], "gcc 12.2.0 -fsanitize=hwaddress for arm64 in qemu-user, symbolize=0; llvm-symbolizer: 0x432d8 parse_line, "
                     "0x432f8 orders_load, 0x43330 and 0x43318 main", {
        4: "=    #1 0x55000432d8 in parse_line /opt/app/liborders.c:3", 5: "=    #2 0x55000432f8 in orders_load /opt/app/liborders.c:4",
        6: "=    #3 0x5500043330 in main /opt/app/liborders.c:5", 15: "=    #1 0x5500043318 in main /opt/app/liborders.c:5"}, (2, 12, 4),
        functions={"name": "hw", "base": 0, "list": laid_out(0x432c4, [("parse_line", 0x2c, 3), ("orders_load", 0x18, 4), ("main", 0x38, 5)])}),
    "folded-flamegraph": Sample(LIB, "perf 6.1 and stackcollapse-perf.pl --addrs of github.com/brendangregg/FlameGraph", {
        1: "=orders;__libc_start_call_main;main;orders_load;parse_line;check;on_check 3898989860"}, (1, 1, 1)),
    "spidermonkey": Sample(WASM, "SpiderMonkey 102.15.1, its shell", {2: WASM_CHECK, 3: WASM_LOAD}, (1, 2, 2)),

    # ---- published forms ----
    "gdb program": Sample(BOTH, "gdb 13.1, of which the program is known; a core of it", {
        2: "=#0  0x000055555555527b in on_check () at /opt/app/orders.c:23",
        3: f"=#1  0x00007ffff7fbc161 in orders_load () at {L}21"}, (1, 3, 2),
        "Reading symbols from /opt/app/orders...\n#0  0x000055555555527b in ?? ()\n#1  0x00007ffff7fbc161 in orders_load () from "
        "/opt/app/liborders.so\n#2  0x000055d000001461 in ?? ()\n"),
    "folly": Sample(FIXED, "folly/debugging/symbolizer/SignalHandler.cpp, StackTracePrinter", {3: CHECK, 5: LOAD}, (1, 2, 2),
                    "*** Aborted at 1795377803 (Unix time, try 'date -d @1795377803') ***\n"
                    "*** Signal 11 (SIGSEGV) (0x0) received by PID 42 (pthread TID 0x7f) (linux TID 42), stack trace: ***\n"
                    "    @ 000000001000003f parse_line\n                       /opt/app/orders-fixed\n"
                    "    @ 0000000010000066 (unknown)\n"),
    "android": Sample(LIB, "github.com/AdamGuidarini/MediTrak/issues/207", {2: CHECK, 3: LOAD}, (1, 3, 2),
                      "backtrace:\n      #00 pc 000000000000113a  /data/app/liborders.so (parse_line+65) (BuildId: "
                      "e94d6cf35a16f9fe17e170306ed6b2ccb6944b8e)\n      #01 pc 0000000000001160  /data/app/base.apk!liborders.so (offset 0x3000)"
                      " (orders_load+8)\n      #02 pc 000000000006fcac  /apex/com.android.runtime/lib64/bionic/libc.so (__libc_init+124)\n"),
    "logcat": Sample(LIB, "github.com/Kitt-AI/snowboy/issues/595 and linphone-android/issues/389", {1: CHECK, 2: LOAD, 3: LOAD}, (2, 3, 3),
                     "03-16 22:29:06.642 11157 11157 F DEBUG   :       #00 pc 000000000000113a  /data/app/liborders.so\n"
                     "2019-07-21 14:28:56.432 14666-14666/? A/DEBUG:     #01 pc 0000000000001160  /data/app/liborders.so (orders_load+8)\n"
                     "F/art     ( 1234):   native: #00 pc 00001160  /data/app/liborders.so (orders_load+8)\n"),
    "coredumpctl, older": Sample(LIB, "github.com/systemd/systemd/pull/19135 and 13798", {4: CHECK, 5: LOAD}, (1, 3, 2),
                          "Process 666897 (orders) of user 1000 dumped core.\n\nModule /opt/app/liborders.so with build-id "
                          "e94d6cf35a16f9fe17e170306ed6b2ccb6944b8e\n          #0  0x00007f7b5c82813a n/a (liborders.so + 0x113a)\n"
                          "          #1  0x00007f7b5c828161 orders_load (liborders.so + 0x1161)\n"
                          "          #2  0x0000555668fbe139 n/a (/tmp/a.out + 0x1139)\n"),
    "old segfault": Sample(BOTH, "Linux before 6.6, arch/x86/mm/fault.c show_signal_msg()", {
        1: "=orders[42]: segfault at 0 ip 0000561ae465727b sp 00007ffd8d018630 error 6 in orders[561ae4657000+1000] "
           "(on_check at /opt/app/orders.c:23)",
        2: "=traps: orders[42] general protection fault ip:561ae465727b sp:7ffd8d018630 error:0 in orders[561ae4657000+1000] "
           "(on_check at /opt/app/orders.c:23)"}, (2, 2, 2),
        "orders[42]: segfault at 0 ip 0000561ae465727b sp 00007ffd8d018630 error 6 in orders[561ae4657000+1000]\n"
        "traps: orders[42] general protection fault ip:561ae465727b sp:7ffd8d018630 error:0 in orders[561ae4657000+1000]\n"),
    "hwasan of clang": Sample(LIB, "github.com/python-cffi/cffi/issues/93", {3: f"=    #0 0xffff7d8a613a in check {L}9\n"
                                                                       f"    #1 0xffff7d8a613a in parse_line {L}16"}, (1, 1, 1),
                     "==75==ERROR: HWAddressSanitizer: tag-mismatch on address 0xffff7d9c8560 at pc 0xffff7d8a613a\n"
                     "READ of size 8 at 0xffff7d9c8560 tags: b0/00 (ptr/mem) in thread T0\n"
                     "    #0 0xffff7d8a613a  (/opt/app/liborders.so+0x113a) (BuildId: e94d6cf35a16f9fe17e170306ed6b2ccb6944b8e)\n"),
    "kasan": Sample([], "github.com/zen-kernel/zen-kernel/issues/95 and radxa/kernel/issues/530", {
        1: "=[    0.594647] BUG: KASAN: slab-out-of-bounds in sched_init_smp+0xc6d/0xfa8 (/opt/app/liborders.c:70)",
        4: "=[    0.594702]  sched_init_smp+0xc6d/0xfa8 (/opt/app/liborders.c:70)"}, (2, 2, 2),
        "[    0.594647] BUG: KASAN: slab-out-of-bounds in sched_init_smp+0xc6d/0xfa8\n[    0.594656] Write of size 8 by task MuQSS/0/1\n"
        "[    0.594677] Call Trace:\n[    0.594702]  sched_init_smp+0xc6d/0xfa8\n",
        functions={"name": "vmlinux", "list": [{"start": 0xffffffff81000000, "size": 0xfa8, "name": "sched_init_smp", "line": 70},
                                               {"start": 0xffffffff81000fa8, "size": 8, "name": "next"}]}),
    "kernel oops arm64": Sample([], "github.com/libre-computer-project/libretech-linux/issues/8; the form of Kernel Offset: "
                                "arch/arm64/kernel/setup.c, dump_kernel_offset()", {
        2: "=[    1.087708] pc : page_frag_alloc_align+0x230/0x580 (/opt/app/liborders.c:70)",
        3: "=[    1.089746] lr : free_reserved_area+0x98/0x138 (/opt/app/liborders.c:80)",
        6: "=[    1.120001]  page_frag_alloc_align+0x230/0x580 (/opt/app/liborders.c:70)",
        7: "=[    1.120002]  free_reserved_area+0x98/0x138 (/opt/app/liborders.c:80)"}, (2, 4, 4),
        "[    1.085534] pstate: 40000005 (nZcv daif -PAN -UAO -TCO -DIT -SSBS BTYPE=--)\n"
        "[    1.087708] pc : page_frag_alloc_align+0x230/0x580\n[    1.089746] lr : free_reserved_area+0x98/0x138\n"
        "[    1.091787] sp : ffff80000802be10\n[    1.120000] Call trace:\n[    1.120001]  page_frag_alloc_align+0x230/0x580\n"
        "[    1.120002]  free_reserved_area+0x98/0x138\n[    1.120010] Code: f9400001 b4000061 (b9400020)\n"
        "[    1.120020] Kernel Offset: 0x27b23c000000 from 0xffff800008000000\n[    1.120021] PHYS_OFFSET: 0xffffb73500000000\n",
        functions={"name": "vmlinux", "list": [{"start": 0xffff800008200000, "size": 0x580, "name": "page_frag_alloc_align", "line": 70},
                                               {"start": 0xffff800008200580, "size": 0x138, "name": "free_reserved_area", "line": 80},
                                               {"start": 0xffff8000082006b8, "size": 8, "name": "next"}]}),
    "kernel oops x86-64": Sample([], "github.com/OpenChannelSSD/linux/issues/2", {
        2: "=[  470.910078]  [<ffffffff810a9105>] ? kmsg_dump+0x25/0x110 (/opt/app/liborders.c:70)",
        3: "=[  470.910078]  [<ffffffff810065ed>] oops_end+0x8d/0xd0 (/opt/app/liborders.c:80)"}, (1, 2, 2),
        "[  470.910078] Call Trace:\n[  470.910078]  [<ffffffff810a9105>] ? kmsg_dump+0x25/0x110\n"
        "[  470.910078]  [<ffffffff810065ed>] oops_end+0x8d/0xd0\n",
        functions={"name": "vmlinux", "list": [{"start": 0xffffffff81006560, "size": 0xd0, "name": "oops_end", "line": 80},
                                               {"start": 0xffffffff81006630, "size": 8, "name": "other"},
                                               {"start": 0xffffffff810a90e0, "size": 0x110, "name": "kmsg_dump", "line": 70},
                                               {"start": 0xffffffff810a91f0, "size": 8, "name": "next"}]}),
    "kernel warning": Sample([], "github.com/intel/ccc-linux-guest-hardening/issues/98; Linux's /proc/PID/stack", {
        1: "=WARNING: CPU: 0 PID: 79 at mm/slub.c:3567 kfree+0x8/0x40 (/opt/app/liborders.c:70)",
        2: "=[<0>] kfree+0x8/0x40 (/opt/app/liborders.c:70)"}, (1, 2, 2),
        "WARNING: CPU: 0 PID: 79 at mm/slub.c:3567 kfree+0x8/0x40\n[<0>] kfree+0x8/0x40\n",
        functions={"name": "vmlinux", "list": [{"start": 0xffffffff81000000, "size": 0x40, "name": "kfree", "line": 70}]}),
    "kernel oops, PowerPC": Sample([], "github.com/open-power/skiboot/issues/194", {
        1: "=[   12.345678] NIP [c000000000a1b2c0] kfree+0x0/0x40 (/opt/app/liborders.c:70)",
        2: "=[   12.345678] LR [c000000000a1b300] vfs_write+0x10/0x40 (/opt/app/liborders.c:80)",
        4: "=[   12.345678] [c000000003f3f9f0] [c000000000a1b300] kfree+0x40/0x40 (/opt/app/liborders.c:70) (unreliable)",
        5: "=[   12.345678] [c000000003f3fa20] [c000000000a1b310] vfs_write+0x10/0x40 (/opt/app/liborders.c:80)"}, (1, 4, 4),
        "[   12.345678] NIP [c000000000a1b2c0] kfree+0x0/0x40\n[   12.345678] LR [c000000000a1b300] vfs_write+0x10/0x40\n"
        "[   12.345678] Call Trace:\n[   12.345678] [c000000003f3f9f0] [c000000000a1b300] kfree+0x40/0x40 (unreliable)\n"
        "[   12.345678] [c000000003f3fa20] [c000000000a1b310] vfs_write+0x10/0x40\n",
        functions={"name": "vmlinux", "list": laid_out(0xc000000000a1b2c0, [("kfree", 0x40, 70), ("vfs_write", 0x40, 80)])}),
    "kernel oops, s390": Sample([], "arch/s390/kernel/dumpstack.c, show_registers() and show_stack()", {
        1: "=Krnl PSW : 0404c00180000000 00000000001a2b3c (kfree+0x0/0x40 (/opt/app/liborders.c:70))",
        3: "=([<00000000001a2b7c>] kfree+0x40/0x40 (/opt/app/liborders.c:70))",
        4: "= [<00000000001a2b8c>] vfs_write+0x10/0x40 (/opt/app/liborders.c:80)"}, (1, 3, 3),
        "Krnl PSW : 0404c00180000000 00000000001a2b3c (kfree+0x0/0x40)\nCall Trace:\n([<00000000001a2b7c>] kfree+0x40/0x40)\n"
        " [<00000000001a2b8c>] vfs_write+0x10/0x40\n",
        functions={"name": "vmlinux", "list": laid_out(0x1a2b3c, [("kfree", 0x40, 70), ("vfs_write", 0x40, 80)])}),
    "kernel warning, newer": Sample([], "kernel/panic.c of Linux 6.18, __warn()", {
        1: "=WARNING: mm/slub.c:3567 at kfree+0x0/0x40 (/opt/app/liborders.c:70), CPU#0: swapper/0/1",
        2: "=WARNING: at vfs_write+0x10/0x40 (/opt/app/liborders.c:80), CPU#3: orders/42",
        3: "=WARNING: drivers/a.c:5 at parse_line+0x8/0x20 (/opt/app/liborders.c:9) [orders], CPU#3: orders/42"}, (3, 3, 3),
        "WARNING: mm/slub.c:3567 at kfree+0x0/0x40, CPU#0: swapper/0/1\nWARNING: at vfs_write+0x10/0x40, CPU#3: orders/42\n"
        "WARNING: drivers/a.c:5 at parse_line+0x8/0x20 [orders], CPU#3: orders/42\n",
        functions=[{"name": "vmlinux", "list": laid_out(0xffffffff81000000, [("kfree", 0x40, 70), ("vfs_write", 0x40, 80)])},
                   {"name": "orders", "list": laid_out(0x10, [("parse_line", 0x20, 9)])}]),
    "kernel oops, older x86": Sample([], "arch/x86 of Linux 3.10 (\"IP: [<\", \"RIP  [<\"), 4.14 (\"IP: \", \"RIP: kfree RSP\") and of i386; "
                                     "kernel/panic.c of 3.10", {
        1: "=IP: [<ffffffff81000000>] kfree+0x0/0x40 (/opt/app/liborders.c:70)", 2: "=IP: kfree+0x0/0x40 (/opt/app/liborders.c:70)",
        3: "=RIP  [<ffffffff81000000>] kfree+0x0/0x40 (/opt/app/liborders.c:70)", 4: "= RSP <ffff880036e4bd58>",
        5: "=RIP: kfree+0x0/0x40 (/opt/app/liborders.c:70) RSP: ffffc90000e0bd58", 6: "=EIP is at kfree+0x0/0x40 (/opt/app/liborders.c:70)",
        7: "=EIP: [<c1000010>] kfree+0x0/0x40 (/opt/app/liborders.c:70) SS:ESP 0068:f5c6bf0c",
        8: "=WARNING: CPU: 0 PID: 1 at fs/sysfs/dir.c:31 kfree+0x0/0x40() (/opt/app/liborders.c:70)"}, (7, 7, 7),
        "IP: [<ffffffff81000000>] kfree+0x0/0x40\nIP: kfree+0x0/0x40\nRIP  [<ffffffff81000000>] kfree+0x0/0x40\n RSP <ffff880036e4bd58>\n"
        "RIP: kfree+0x0/0x40 RSP: ffffc90000e0bd58\nEIP is at kfree+0x0/0x40\n"
        "EIP: [<c1000010>] kfree+0x0/0x40 SS:ESP 0068:f5c6bf0c\nWARNING: CPU: 0 PID: 1 at fs/sysfs/dir.c:31 kfree+0x0/0x40()\n",
        functions={"name": "vmlinux", "list": laid_out(0xffffffff81000000, [("kfree", 0x40, 70), ("vfs_write", 0x40, 80)])}),
    "kernel oops, arm": Sample([], "arch/arm/kernel/traps.c of Linux 5.16, dump_backtrace_entry()", {
        1: "=[   12.345678]  kfree from vfs_write+0x40/0x40 (/opt/app/liborders.c:80)",
        3: "=[   12.345678]  parse_line [orders] from vfs_write+0x20/0x40 (/opt/app/liborders.c:80)",
        4: "=[   12.345678]  vfs_write from parse_line+0x8/0x20 (/opt/app/liborders.c:9) [orders]"}, (2, 3, 3),
        "[   12.345678]  kfree from vfs_write+0x40/0x40\n[   12.345678]  r7:c0000000 r6:c0000001\n"
        "[   12.345678]  parse_line [orders] from vfs_write+0x20/0x40\n[   12.345678]  vfs_write from parse_line+0x8/0x20 [orders]\n",
        functions=[{"name": "vmlinux", "list": laid_out(0xc0000000, [("kfree", 0x40, 70), ("vfs_write", 0x40, 80), ("next", 4, 1)])},
                   {"name": "orders", "list": laid_out(0x10, [("parse_line", 0x20, 9)])}]),
    "kernel oops, LoongArch": Sample([], "arch/loongarch/kernel/traps.c, __show_regs()", {
        1: "=   ra: 9000000000221e40 kfree+0x40/0x40 (/opt/app/liborders.c:70)",
        2: "=  ERA: 9000000000221e40 vfs_write+0x0/0x40 (/opt/app/liborders.c:80)"}, (2, 2, 2),
        "   ra: 9000000000221e40 kfree+0x40/0x40\n  ERA: 9000000000221e40 vfs_write+0x0/0x40\n",
        functions={"name": "vmlinux", "list": laid_out(0x9000000000221e00, [("kfree", 0x40, 70), ("vfs_write", 0x40, 80)])}),
    "mozilla": Sample(LIB, "github.com/mozilla/fix-stacks and kenz-gelsoft/gecko-dev/issues/52", {
        1: f"=#01: check ({L}9)\n#01: parse_line ({L}16)", 2: f"= 4:16.44 GECKO(129) #02: orders_load ({L}21)"}, (1, 3, 2),
        "#01: ???[/opt/app/liborders.so +0x113b]\n 4:16.44 GECKO(129) #02: orders_load[/opt/app/liborders.so +0x1161]\n"
        "#03: ???[./firefox +0x1234]\n#04: ??? (???:???)\n"),
    "chromedriver": Sample(FIXED, "github.com/qxf2/qxf2-page-object-model/issues/412", {2: CHECK, 3: LOAD}, (1, 3, 2),
                       "Stacktrace:\n#0 0x00001000003f <unknown>\n#1 0x000010000066 orders_load\n#2 0x7f9130e94ac3 <unknown>\n"),
    "llvm, both": Sample(LIB, "llvm/lib/Support/Unix/Signals.inc", {1: CHECK, 2: LOAD}, (1, 2, 2),
                   " #0 0x00007f1af12fe13b (/opt/app/liborders.so+0x113b)\n #1 0x00007f1af12fe161 orders_load (/opt/app/liborders.so+0x1161)\n"),
    "apple": Sample(LIB, "github.com/acheong08/ChatGPT-Proxy/issues/14: backtrace_symbols() of macOS", {
        1: f"=0   liborders.so             0x00000001030c4102 parse_line + 9 (liborders.c:15)",
        2: f"=1   liborders.so             0x00000001030c4161 orders_load + 9 (liborders.c:21)"}, (1, 2, 2),
        "0   liborders.so             0x00000001030c4102 liborders.so + 4354\n"
        "1   liborders.so             0x00000001030c4161 liborders.so + 4449\n"),
    "minidump": Sample(LIB, "github.com/rust-minidump/rust-minidump/pull/157", {
        2: f"= 0  liborders.so!parse_line [{L[:-1]} : 15]", 5: f"= 1  liborders.so!orders_load [{L[:-1]} : 21]"}, (1, 2, 2),
        "Thread 0 (crashed)\n 0  liborders.so + 0x1102\n    rsp = 0x00007ffeea75d090   rip = 0x0000000107121102\n    Found by: given as "
        "instruction pointer in context\n 1  liborders.so + 0x1160\n    Found by: previous frame's frame pointer\n"
        " 2  libdyld.dylib!start + 0x0\n    Found by: previous frame's frame pointer\n"),
    "minidump -m": Sample(LIB, "Breakpad, src/processor/stackwalk_common.cc", {
        2: f"=0|0|liborders.so|parse_line|{L[:-1]}|15|0x9", 3: f"=0|1|liborders.so|orders_load|{L[:-1]}|21|0x9"}, (1, 2, 2),
        "Module|liborders.so||liborders.so|000|0x7f1af12fd000|0x7f1af1301fff|0\n0|0|liborders.so||||0x1102\n0|1|liborders.so||||0x1161\n"),
    "folded": Sample(LIB, "github.com/brendangregg/FlameGraph, stackcollapse-perf.pl --addrs", {
        1: "=orders;main;orders_load;parse_line;check 12", 2: "=orders;[unknown];orders_load;parse_line;check 3"}, (2, 4, 4),
        "orders;main;[liborders.so <1161>];[liborders.so <113a>] 12\norders;[unknown];liborders.so+0x1161;liborders.so+0x113a 3\n"
        "orders;main;read 5\n"),
    "ltrace": Sample(BOTH, "ltrace 0.8, output.c: -w", {2: CHECK, 3: LOAD}, (1, 2, 2),
                     "write(1, \"five orders\\n\", 12) = 12\n > /opt/app/liborders.so(parse_line+0x41) [0x7f1af12fe13a]\n"
                     " > /opt/app/liborders.so(orders_load+0x9) [0x7f1af12fe161]\n"),
    "firefox wasm": Sample(WASM, "MDN, WebAssembly.RuntimeError", {1: WASM_CHECK, 2: WASM_LOAD}, (1, 2, 2),
                           "parse_line@http://localhost/orders.wasm:wasm-function[0]:0x58\n"
                           "orders_load@http://localhost/orders.wasm:wasm-function[1]:0x8b\n"),
    "esp-idf": Sample(FIXED, "github.com/espressif/arduino-esp32/issues/4870 and jomjol/AI-on-the-edge-device/issues/592", {
        3: f"=Backtrace: 0x10000009:0x3ffe3540 (parse_line at {L}15) 0x10000063:0x3ffe3840{LOAD} 0x400792a9:0x3ffe3cc0 |<-CORRUPTED",
        4: f"=Backtrace:0x1000003e:0x3ffc3440{CHECK}"}, (2, 4, 3),
        "Guru Meditation Error: Core  0 panic'ed (LoadProhibited). Exception was unhandled.\n\n"
        "Backtrace: 0x10000009:0x3ffe3540 0x10000063:0x3ffe3840 0x400792a9:0x3ffe3cc0 |<-CORRUPTED\n"
        "Backtrace:0x1000003e:0x3ffc3440\n"),
    "esp-idf registers": Sample(FIXED, "github.com/kripthor/io433/issues/12", {
        1: f"=PC      : 0x10000009 (parse_line at {L}15)  PS      : 0x00060f30  A0      : 0x800d277b  A1      : 0x3ffb1f10",
        2: f"=MEPC    : 0x10000009 (parse_line at {L}15)  RA      : 0x10000066{LOAD}  SP      : 0x3fc91e70"}, (2, 3, 3),
        "PC      : 0x10000009  PS      : 0x00060f30  A0      : 0x800d277b  A1      : 0x3ffb1f10\n"
        "MEPC    : 0x10000009  RA      : 0x10000066  SP      : 0x3fc91e70\n"),
    "zephyr": Sample(FIXED, "github.com/arduino/ArduinoCore-zephyr/issues/52 and zephyrproject-rtos/zephyr/issues/70374", {
        2: f"=[00:00:02.616,241] <err> os: r3/a4:  0x10a21878 r12/ip:  0x00000000 r14/lr:  0x10000066{LOAD}",
        3: f"=[00:00:02.636,352] <err> os: Faulting instruction address (r15/pc): 0x10000009 (parse_line at {L}15)",
        4: f"=[00:00:00.069,000] <err> os:    mepc: 10000009 (parse_line at {L}15)"}, (3, 3, 3),
        "[00:00:02.586,456] <err> os: ***** USAGE FAULT *****\n"
        "[00:00:02.616,241] <err> os: r3/a4:  0x10a21878 r12/ip:  0x00000000 r14/lr:  0x10000066\n"
        "[00:00:02.636,352] <err> os: Faulting instruction address (r15/pc): 0x10000009\n"
        "[00:00:00.069,000] <err> os:    mepc: 10000009\n"),
    "windows": Sample(["-i", f"orders.dll={DATA / 'liborders.so'}"], "learn.microsoft.com, event 1000; Sysinternals Process Monitor", {
        2: f" (parse_line at {L}15)", 3: LOAD, 4: LOAD}, (1, 3, 3),
        "Faulting module name: orders.dll, version: 1.0.0.0, time stamp: 0x5f5f5f5f\nFault offset: 0x0000000000001102\n"
        "  [3] orders.dll+0x1161\n0x00007ff612341161 orders.dll + 0x1161\n"),
    "tcmalloc": Sample(FIXED, "github.com/gperftools/gperftools/issues/497, ColossalAI and others: large alloc; jeprof(1) of jemalloc", {
        1: f"=tcmalloc: large alloc 1258299392 bytes == 0x55d2c2a3e000 @  0x7f2f3e1f5887 0x1000003f{CHECK} 0x10000066{LOAD}",
        3: f"=@ 0x1000003f{CHECK} 0x10000066{LOAD}"}, (2, 5, 4),
        "tcmalloc: large alloc 1258299392 bytes == 0x55d2c2a3e000 @  0x7f2f3e1f5887 0x1000003f 0x10000066\nheap_v2/524288\n"
        "@ 0x1000003f 0x10000066\n  t*: 1: 4096 [0: 0]\nmeet me @ 0x10000066\n"),
    "windbg": Sample(["-i", f"orders.exe={DATA / 'liborders.so'}"],
                     "learn.microsoft.com, k, kb, kc, kd, kp, kP, kv; github.com/xinali/articles/issues/7; analyze-v.com, Args to Child; std::stacktrace of MSVC", {
        4: f" (parse_line at {L}15)", 6: LOAD, 10: f" (parse_line at {L}15)", 11: LOAD, 14: f" (parse_line at {L}15)", 16: LOAD,
        18: LOAD, 22: LOAD}, (4, 11, 10),
        "ModLoad: 00007ff6`12340000 00007ff6`12346000   C:\\app\\orders.exe\n0:000> kn\n # Child-SP          RetAddr               Call Site\n"
        "00 000000ab`cdeff5a8 00007ff6`12341161     orders!parse_line+0x12\n"
        "01 000000ab`cdeff5d8 00007ff6`12341161     orders!orders_load+0x9 [C:\\src\\orders.c @ 21] \n"
        "02 000000ab`cdeff608 00000000`00000000     0x00007ff6`12341161\n0:000> kv\n"
        "Child-SP          RetAddr           : Args to Child                                                           : Call Site\n"
        "0:000> * the same\n"
        "000000ab`cdeff5a8 00007ff6`12341161 : 00000000`00000005 00000000`00000000 00000000`00000000 00000000`00000000 : orders!parse_line+0x12\n"
        "000000ab`cdeff5d8 00007ff6`12341461 : 00000000`00000005 00000000`00000000 00000000`00000000 00000000`00000000 : orders+0x1161\n"
        "\nChildEBP RetAddr  Args to Child\nba50bc74 990c851f 862ecc08 e13cf65c ba50bd54 orders!parse_line+0x12 (FPO: [2,1,4])\n"
        "WARNING: Stack unwind information not available. Following frames may be wrong.\n"
        "ba50bc84 80581377 862ecc08 86106000 00000000 orders+0x1161\n0c (Inline Function) --------`--------     orders!check+0x5 [C:\\src\\orders.c @ 9]\n"
        "ba50bc94 80581377 orders!orders_load(char * text = 0x00000000 \"5\")+0x9\n"
        "00000000 00000000 00000000 00000000 00000000 nt!KiThreadStartup+0x16\n\n"
        "0> C:\\src\\orders.cpp(12): orders!parse_line+0x12\n1> orders!orders_load+0x9\n"),
    "dr. memory": Sample(["-i", f"orders.dll={DATA / 'liborders.so'}"], "github.com/DynamoRIO/drmemory/issues/701", {1: f" (parse_line at {L}15)", 2: LOAD},
                         (1, 2, 2),
                         "#0 orders.dll!orders_load+0xec1b (0x77001102 <orders.dll+0x1102>)\n"
                         "#1 orders_load+0x5d [f:\\src\\orders.c:21](0x76ff1161 <orders.dll+0x1161>)\n"),
    "bsd kernels": Sample([], "github.com/FreeBSDDesktop/DEPRECATED-freebsd-base-graphics/issues/140, FreeBSDFoundation/freebsd/issues/16; NetBSD's and "
                              "OpenBSD's ddb(4)", {
        2: " (kdb_backtrace at /opt/app/liborders.c:1)", 3: " (vpanic at /opt/app/liborders.c:2)",
        5: "=vpanic() at vpanic+0x20 (vpanic at /opt/app/liborders.c:2)/frame 0xfffffe034def4720",
        7: "=trap_pfault() at trap_pfault+0x10 (trap_pfault at /opt/app/liborders.c:3)/frame 0xfffffe034def48f0",
        9: " (vpanic at /opt/app/liborders.c:2)", 11: " (vpanic at /opt/app/liborders.c:2)", 13: " (vpanic at /opt/app/liborders.c:2)"}, (5, 7, 7),
        "KDB: stack backtrace:\n#0 0xffffffff80c0e465 at kdb_backtrace+0x65\n#1 0xffffffff80c0e4e0 at vpanic+0x60\nUptime: 23h38m34s\n"
        "vpanic() at vpanic+0x20/frame 0xfffffe034def4720\n--- trap 0xc, rip = 0xffffffff80c0e580, rsp = 0xfffffe00, rbp = 0xfffffe01 ---\n"
        "trap_pfault() at trap_pfault+0x10/frame 0xfffffe034def48f0\ndb{0}> bt\nvpanic() at kernel:vpanic+0x80\nddb> trace\n"
        "panic(ffffffff81e3a2b2) at vpanic+0x80\n\npanic() at vpanic+0x4c\n         pc = 0xffffff8000154040  lr = 0xffffff800016aa20\n"
        "         sp = 0xffffff8056fbd960  fp = 0xffffff8056fbd9c0\n",
        functions={"name": "kernel", "list": laid_out(0xffffffff80c0e400, [("kdb_backtrace", 0x80, 1), ("vpanic", 0x80, 2), ("trap_pfault", 0x80, 3)])}),
    "pytorch": Sample(BOTH, "github.com/pytorch/pytorch/issues/117014", {2: CHECK, 3: LOAD, 4: ON_CHECK}, (1, 3, 3),
        "Exception raised from operator<< at ../c10/core/Layout.h:70 (most recent call first):\n"
        "frame #0: parse_line(char const*) + 0x42 (0x7f6e5507c13b in /opt/app/liborders.so)\n"
        "frame #1: <unknown function> + 0x1161 (0x7f6e5507c161 in /opt/app/liborders.so)\n"
        "frame #2: <unknown function> + 0x1221 (0x55e27751c221 in ./orders)\n"),
    "changed names of programs": Sample([*BOTH, "-i", f"postgres={DATA / 'orders'}"],
        "github.com/redis/redis/issues/6133, 8861 and 13725; PostgreSQL's elog.c, set_backtrace()", {
        1: MAIN, 2: MAIN, 3: MAIN, 4: LOAD, 6: MAIN, 7: " (_start)"}, (2, 6, 6),
        "/opt/app/orders 127.0.0.1:6379(+0x1461)[0x55a16c7fd461]\n./orders *:6379(main+0x35)[0x55a16c7fd461]\n"
        "orders 0.0.0.0:6379(main+0x35)[0x55a16c7fd461]\n/opt/app/liborders.so(+0x1161)[0x798fd5e45161]\n\n"
        "\tpostgres: alice orders [local] SELECT(+0x1461) [0x55a16c7fd461]\n\tpostgres: checkpointer (_start+0x21) [0x55a16c7fd131]\n"),
    "envoy": Sample(LIB, "github.com/envoyproxy/envoy/issues/11889; source/server/backtrace.h", {2: LOAD, 3: CHECK, 5: LOAD}, (2, 3, 3),
        "[2026-11-22 20:03:23.780][42][critical][backtrace] [./source/server/backtrace.h:104] Backtrace (use tools/stack_decode.py to get line numbers):\n"
        "[2026-11-22 20:03:23.780][42][critical][backtrace] [./source/server/backtrace.h:111] #0: orders_load [0x5564bb12b161]\n"
        "[2026-11-22 20:03:23.780][42][critical][backtrace] [./source/server/backtrace.h:113] #1: [0x5564bb12b13b]\n\n"
        "2026-11-22T20:03:23.984196Z\tcritical\tenvoy backtrace\t[./extensions/backtrace.h:75] #0: orders_load [0x5564bb12b161]\n"),
    "clickhouse": Sample(BOTH, "github.com/ClickHouse/ClickHouse/issues/53144, 15265 and 45312; StackTrace.cpp", {
        2: CHECK, 3: LOAD, 6: LOAD, 7: MAIN}, (2, 5, 4),
        "Code: 36. DB::Exception: x. Stack trace (when copying this message, always include the lines below):\n"
        "0. ./src/orders.c:9: parse_line(char const*) @ 0x000000000000113b\n1. orders_load(char const*) @ 0x0000000000001161\n\n"
        "2026.11.22 20:03:23.780095 [ 42 ] {} <Fatal> BaseDaemon: Stack trace: 0x00005640546ad84d 0x0000564054c7b6c3\n"
        "2026.11.22 20:03:23.780095 [ 42 ] {} <Fatal> BaseDaemon: 2. /src/orders.c:20: orders_load @ 0x1161 in /opt/app/liborders.so\n"
        "2026.11.22 20:03:23.780096 [ 42 ] {} <Fatal> BaseDaemon: 3. ? @ 0x0000000000001461 in /opt/app/orders\n"
        "2026.11.22 20:03:23.780097 [ 42 ] {} <Fatal> BaseDaemon: 4. __clone @ 0x00007f9c9666a133 in ?\nsent 3. order @ 0xzz\n"),
    "swift": Sample(BOTH, "github.com/swiftlang/swift/issues/70632, swiftwasm/JavaScriptKit/issues/449; stdlib/public/Backtracing/BacktraceFormatter.swift", {
        3: ON_CRASH, 4: CHECK, 5: LOAD, 7: LOAD, 8: MAIN}, (1, 7, 6),
        "Thread 0 \"orders\" crashed:\n\n"
        " 0                   0x00005653fe21127b on_check in orders\n 1 [ra]              0x00007f8fe404c13b parse_line + 66 in liborders.so\n"
        " 2 [ra]              0x00007f8fe404c161\n 3 [inlined]         0x00007f8fe404c161 specialized App.load(_:) in liborders.so at /src/App.swift:12\n"
        " 3 [ra]              0x00007f8fe404c161 orders_load + 9 in liborders.so\n 4 [ra]              0x00005653fe211461 main + 65 in orders\n"
        " 5 [ra]              0x00005653fe211461 static App.$main() in orders at /src/App.swift:5:3\n"
        " 6 [ra] [system]     0x00007f8fe3e8124a __libc_start_call_main + 121 in libc.so.6\n\nRegisters:\n\n"
        "rax 0x0000000000000000  0\n\nImages (3 omitted):\n\n"
        "0x00005653fe210000\u20130x00005653fe215000 7505fee798e06088fc415b8a55e3dcfbada7bf19 orders       /opt/app/orders\n"
        "0x00007f8fe404b000\u20130x00007f8fe4050000 <no build ID>                            liborders.so /opt/app/liborders.so\n"),
    "illumos": Sample([], "github.com/omniosorg/illumos-omnios/issues/632, TritonDataCenter/smartos-live/issues/750, jclulow/illumos-kvm/issues/13", {
        1: " (mdboot at /opt/app/liborders.c:1)", 2: " (kadmin at /opt/app/liborders.c:2)", 3: " (uadmin at /opt/app/liborders.c:3)",
        5: " (mdboot at /opt/app/liborders.c:1)", 7: " (kadmin at /opt/app/liborders.c:2)"}, (3, 5, 5),
        "fffffe00b6e59da0 mdboot+0x16(2, 0, 0, 1)\nfffffe00b6e59e30 kadmin+0x46(2, 0, 0, fffffe83b2120cf8)\n"
        "fffffe00b6e59eb0 uadmin+9()\n\nffffff003d46c750 genunix:mdboot+dd ()\n\n"
        "fffffd7fffdff9a0 genunix`kadmin+0xa()\nfeedbeef cafe+0x1f (/opt/app/x)\n",
        functions={"name": "genunix", "list": laid_out(0xfffffffffb800000, [("mdboot", 0x100, 1), ("kadmin", 0x80, 2), ("uadmin", 0x80, 3)])}),
    "runtime": Sample(FIXED, "gfortran 12.2, LDC 1.30, Zig 0.15, Free Pascal 3.2.2 (their own output, of other programs); "
        "github.com/react-native-webview/react-native-webview/issues/2209 and flutter/flutter/issues/93862", {
        4: CHECK, 5: LOAD, 12: CHECK, 13: LOAD, 17: CHECK, 18: LOAD, 21: CHECK, 22: LOAD,
        26: "=(0x1000003f" + CHECK + " 0x10000066" + LOAD + ")", 29: CHECK, 30: LOAD}, (6, 14, 12),
        "Program aborted. Backtrace:\n#0  0x7f264dc218c2 in ???\n#1  0x7f264dc222fb in aborted_\n#2  0x1000003e in ???\n#3  0x10000065 in ???\n"
        "\nx\n\n"
        "core.exception.AssertError@d.d(3): short\n----------------\n"
        "d.d:3 [0x5573eef12333]\n??:? [0x1000003e]\n??:? orders_load [0x10000065]\n\n"
        "thread 3065 panic: zero\n\n"
        "???:?:?: 0x1000003e in orders.parse_line (./orders-fixed)\n???:?:?: 0x10000065 in orders_load (./orders-fixed)\n\n"
        "Runtime error 200 at $000000001000003E\n  $000000001000003E\n  $0000000010000066\n\n"
        "Last Exception Backtrace:\n*** First throw call stack:\n(0x1000003f 0x10000066)\n\n"
        "*** *** ***\n    #00 abs 00007f1af000003e virt 000000001000003e _kDartIsolateSnapshotInstructions+0x3e\n"
        "    #01 abs 00007f1af0000065 virt 0000000010000065 _kDartIsolateSnapshotInstructions+0x65\n"),
    "bare": Sample(FIXED, "addresses one a line", {1: f" parse_line at {L}15", 2: bare(LOAD)}, (1, 2, 2),
                   "10000009\n10000066\n"),
    "gdb-mappings": Sample(BOTH, "gdb 13.1, info proc mappings and bt", {
        15: "=0x000055555555527b in on_check () at /opt/app/orders.c:23",
        16: "=#0  0x000055555555527b in on_check () at /opt/app/orders.c:23",
        17: f"=#1  0x00007ffff7fbc13b in check () at {L}9\n#2  parse_line () at {L}16",
        18: f"=#3  0x00007ffff7fbc161 in orders_load () at {L}21", 19: "=#4  0x0000555555555461 in main () at /opt/app/orders.c:31",
        20: "=#5{rest}", 21: "=#6{rest}", 22: "=#7  0x0000555555555131 in _start ()"}, (2, 8, 6)),
}


def text_of(name):
    return SAMPLES[name].text or (DATA / f"{name}.txt").read_text()


def filled(name):
    """The sample as it must become in place."""
    lines = text_of(name).split("\n")
    for number, change in SAMPLES[name].lines.items():
        line = lines[number - 1]
        if change.endswith("{rest}"):  # the frame's number alone changes
            lines[number - 1] = change[1:-len("{rest}")] + re.sub(r"^ *(frame )?#\d+", "", line)
        else:
            lines[number - 1] = change[1:] if change[0] == "=" else line + change
    return "\n".join(lines)


@pytest.fixture(scope="module")
def indexes(tmp_path_factory, callsign):
    folder = tmp_path_factory.mktemp("indexes")
    made = {}
    for name, sample in SAMPLES.items():
        args = list(sample.index)
        for functions in sample.functions if isinstance(sample.functions, list) else [sample.functions] if sample.functions else []:
            path = folder / name / f"{functions['name']}.gsym"
            path.parent.mkdir(exist_ok=True)
            base = functions.get("base", functions["list"][0]["start"])
            args += ["-i", gsym_make.write(path, functions["list"], base=base, source=("/opt/app", "liborders.c"))]
        made[name] = ["--no-search", *args]
    return made


def summary(done):
    return tuple(map(int, re.match(r"(\d+) stacks, (\d+) frames: (\d+) named, \d+ not", done.stderr.splitlines()[-1]).groups()))


@pytest.mark.parametrize("name", SAMPLES)
def test_in_place(callsign, indexes, name):
    done = callsign.run("stack", "--in-place", *indexes[name], stdin=text_of(name))
    assert done.returncode == 0, done.stderr
    assert done.stdout == filled(name)
    assert summary(done) == SAMPLES[name].counts


@pytest.mark.parametrize("name", SAMPLES)
def test_in_place_a_second_time(callsign, indexes, name):
    once = callsign.run("stack", "--in-place", *indexes[name], stdin=text_of(name)).stdout
    assert callsign.run("stack", "--in-place", *indexes[name], stdin=once).stdout == once


def test_inlined_calls_that_a_report_has(callsign):
    """An answer for each function, not for each line; the line that was interrupted stays the first."""
    text = filled("llvm-dump")
    stack = text.splitlines()[next(i for i, line in enumerate(text.splitlines()) if "[inlined]" in line):]
    text = "".join(re.sub(r"^(\d+)", lambda m: str(int(m[1]) - int(stack[0].split()[0])), line) + "\n" for line in stack)
    answer = json.loads(callsign.good("stack", "--json", "--no-search", *BOTH, stdin=text).splitlines()[0])
    assert [[f["function"] for f in frame["frames"]] for frame in answer["frames"]][:2] == [["check", "parse_line"], ["orders_load"]]


@pytest.mark.parametrize("name", ["boost", "asan", "asan unindented", "ubsan", "msan", "firefox", "minidump-stackwalk", "mozilla", "gdb-mappings"])
def test_a_last_line_without_a_newline(callsign, indexes, name):
    """Lines of inlined calls that are added to it are lines of their own."""
    last = min(number for number, change in SAMPLES[name].lines.items() if "\n" in change)
    text = "\n".join(text_of(name).split("\n")[:last])
    with_newline = callsign.run("stack", "--in-place", *indexes[name], stdin=text + "\n").stdout
    assert callsign.run("stack", "--in-place", *indexes[name], stdin=text).stdout + "\n" == with_newline
    assert with_newline.count("\n") > text.count("\n") + 1


@pytest.mark.parametrize("name", SAMPLES)
def test_json(callsign, indexes, name):
    done = callsign.run("stack", "--json", *indexes[name], stdin=text_of(name))
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    frames = [f for a in answers for f in a["frames"]]
    assert (len(answers), len(frames), sum(bool(f["frames"]) for f in frames)) == SAMPLES[name].counts == summary(done)
    named = {inner["function"] for f in frames for inner in f["frames"]}
    shown = filled(name)  # the kernel's lines have the names already
    assert named and all(function in shown for function in named)


@pytest.mark.parametrize("name", SAMPLES)
def test_nothing_else_changes(callsign, name):
    """Without an index, and wherever the text is cut."""
    text = text_of(name)
    for cut in range(len(text), 0, -max(len(text) // 5, 1)):
        assert callsign.run("stack", "--in-place", "--no-search", stdin=text[:cut]).stdout == text[:cut]


PREFIXES = {
    "journal": "Nov 22 20:00:01 host orders[42]: ", "journal, ISO": "2026-11-22T20:00:01+0000 host orders[42]: ",
    "rsyslog": "2026-11-22T20:00:01.123456+00:00 host systemd-coredump[42]: ", "Kubernetes": "2026-11-22T20:00:01.123456789Z stderr F ",
    "compose": "orders-1  | ", "time": "2026-11-22 20:00:01,123 ", "kubectl --timestamps": "2026-11-22T20:00:01.123456789Z ",
    "journal, short-full": "Wed 2026-11-22 20:00:01 UTC host orders[42]: ", "journal, with-unit": "Wed 2026-11-22 20:00:01 CET host orders.service[42]: ",
    "journal, short-monotonic": "[12345.678901] host orders[42]: ", "journal, short-delta": "[12345.678901 <    0.000123>] host orders[42]: ",
    "journal, short-unix": "1795377601.123456 host orders[42]: ", "RFC 3164": "<11>Nov 22 20:00:01 host orders[42]: ",
    "RFC 5424": "<11>1 2026-11-22T20:00:01.123Z host orders 42 ID47 - ", "PostgreSQL's time": "2026-11-22 20:00:01.123 UTC ",
    "Heroku": "2026-11-22T20:00:01.123456+00:00 app[web.1]: ",
    "RFC 5424, data": '<165>1 2026-11-22T20:00:01.123-07:00 host orders - - [origin ip="a\\]b"][more] \ufeff',
    "compose, colours": "\033[36morders-1  |\033[0m ", "journal, colours": "\033[0;1;31mNov 22 20:00:01 host orders[42]: ",
}


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("name", ["glibc-fd", "asan", "coredumpctl", "kasan", "gdb", "esp-idf", "folded", "bare-with-maps", "lldb",
                                  "minidump-stackwalk", "kernel warning"])
def test_lines_of_a_log_daemon(callsign, indexes, name, prefix):
    def prefixed(text):
        return "".join(PREFIXES[prefix] + line + "\n" for line in text.rstrip("\n").split("\n"))

    assert callsign.good("stack", "--in-place", *indexes[name], stdin=prefixed(text_of(name))) == prefixed(filled(name))


@pytest.mark.parametrize("name", ["glibc-fd", "asan", "gdb", "boost", "minidump-stackwalk", "firefox", "coredumpctl", "kernel-x86-64", "go", "bare"])
@pytest.mark.parametrize("end", ["\033[0m", "\033[0m\r", "\033[m\033[K"])
def test_colours_of_a_terminal(callsign, indexes, name, end):
    """They stand before and after each line, also after those that are added; none is lost."""
    def coloured(text):
        return "".join(f"\033[1;31m{line}{end}\n" for line in text.rstrip("\n").split("\n"))

    filled_lines, lines = filled(name), text_of(name)
    done = callsign.run("stack", "--in-place", *indexes[name], stdin=coloured(lines))
    assert summary(done) == SAMPLES[name].counts
    assert re.sub("\033\\[[0-9;]*[mK]", "", done.stdout).replace("\r", "") == filled_lines.rstrip("\n") + "\n"
    for line in done.stdout.split("\n")[:-1]:
        assert line.endswith(end)


@pytest.mark.parametrize("prefix", ["11-22 20:00:01.123  1000   612   612 F DEBUG   : ", "11-22 20:00:01.123 u0_a123   612   612 F DEBUG   : ",
                                    "2026-11-22 20:00:01.123   612-612   DEBUG                   pid-612                              A  ",
                                    "2026-11-22 20:00:01.123 12612-12612 DEBUG                   crash_dump64                         F  "])
def test_logcat_of_bug_reports_and_of_newer_studios(callsign, indexes, prefix):
    """Forms: `logcat -v threadtime -v uid`, as dumpstate runs it; developer.android.com/studio/debug/logcat."""
    lines, wanted = (("".join(prefix + line + "\n" for line in text.rstrip("\n").split("\n"))) for text in (text_of("android"), filled("android")))
    assert callsign.good("stack", "--in-place", *indexes["android"], stdin=lines) == wanted


@pytest.mark.parametrize("time", ["[Sun Nov 22 20:00:01 2026]", "[  +0.000012]", "[Nov22 20:00]", "    [    7.288396]", "", "kern  :warn  : [    7.288396]",
                                  "<4>[    7.288396] [  T123]", "<4>[    7.288396]  (2)[123:init]", "<4>[    7.288396]  [2:           init:    1]",
                                  "[    7.288396] I[0:      swapper:    0]"])
def test_times_of_dmesg(callsign, indexes, time):
    """dmesg -T, -e, -H, -t and -x of util-linux 2.38; a log that was quoted; callers as CONFIG_PRINTK_CALLER and kernels of Android's phones have them."""
    def timed(text):
        return re.sub(r"(?m)^\[ *\d+\.\d+\]", time, text)

    name = "kernel-x86-64"
    assert callsign.good("stack", "--in-place", *indexes[name], stdin=timed(text_of(name))) == timed(filled(name))


def test_go_frames_behind_an_unknown_prefix(callsign, indexes):
    """They are no registers of a dump: pcs of callers would be looked up as interrupted."""
    name = "go, GOTRACEBACK=system"
    text = "".join(f"orders: {line}\n" for line in text_of(name).split("\n") if "[signal" not in line)
    assert callsign.run("stack", "--in-place", *indexes[name], stdin=text).stdout == text


@pytest.mark.parametrize("name", ["coredumpctl", "coredumpctl, older", "wine", "apple", "boost", "glibc-fd", "libunwind",
                                  "kernel-arm64", "glog", "node", "python", "asan", "android"])
def test_lines_of_another_process_between_frames(callsign, indexes, name):
    """Frames that are not the first of their stack are return addresses, whatever is left of the lines before them."""
    lines, wanted = text_of(name).rstrip("\n").split("\n"), filled(name)
    mixed = "".join(f"{line}\nanother process: 5+3 boxes\n" for line in lines)
    shown = callsign.run("stack", "--in-place", *indexes[name], stdin=mixed).stdout.replace("another process: 5+3 boxes\n", "")
    lines_of = [re.findall(r"\w+\.c:\d+", line) for line in shown.splitlines()]
    if name == "asan":  # frames are numbered anew
        assert re.findall(r"\w+\.c:\d+", shown) == re.findall(r"\w+\.c:\d+", wanted)
    else:
        assert lines_of == [re.findall(r"\w+\.c:\d+", line) for line in wanted.rstrip("\n").splitlines()]


def test_all_in_one_file(callsign):
    """Mixed logs: each stack is read in its own dialect, whatever came before."""
    names = [n for n, s in SAMPLES.items() if s.index in (LIB, BOTH) and n not in ("gdb-mappings", "bare-with-maps", "bpftrace")]
    text = "".join(f"---- {n}\n{text_of(n)}\n" for n in names)
    wanted = "".join(f"---- {n}\n{filled(n)}\n" for n in names)
    only_lib = [n for n in names if SAMPLES[n].index == LIB]
    done = callsign.run("stack", "--in-place", "--no-search", *BOTH, stdin=text)
    assert done.stdout == wanted
    assert len(only_lib) > 10 and summary(done)[0] == sum(SAMPLES[n].counts[0] for n in names)


@pytest.mark.parametrize("name", ["gdb", "kernel-x86-64", "libunwind", "boost", "apple", "jvm", "bare"])
def test_a_byte_order_mark(callsign, indexes, name, tmp_path):
    """What Windows' editors and PowerShell write first is no part of line 1, and is kept."""
    log = tmp_path / "log"
    log.write_bytes(b"\xef\xbb\xbf" + text_of(name).encode())
    for args, stdin in ([], "\ufeff" + text_of(name)), ([log], ""):
        done = callsign.run("stack", "--in-place", *indexes[name], *args, stdin=stdin)
        assert done.stdout == "\ufeff" + filled(name) and summary(done) == SAMPLES[name].counts
    for text in "\ufeff", "\ufeff\n", "\ufeffx":
        assert callsign.run("stack", "--in-place", "--no-search", stdin=text).stdout == text


def test_a_byte_order_mark_before_json(callsign, tmp_path):
    stack, report = '{"frames":[{"module":"liborders.so","address":"0x1161"}]}\n', json.dumps(MINIDUMP) + "\n"
    for text in stack, report:
        assert callsign.good("stack", "--json", "--no-search", *LIB, stdin="\ufeff" + text) == callsign.good("stack", "--json", "--no-search", *LIB, stdin=text)
        assert callsign.run("stack", "--in-place", "--no-search", *LIB, stdin="\ufeff" + text).stdout \
            == "\ufeff" + callsign.run("stack", "--in-place", "--no-search", *LIB, stdin=text).stdout
    text = (DATA / "jvm-libraries.txt").read_text().replace("/tmp/bt-java", str(DATA))
    log = tmp_path / "hs_err_pid1.log"
    log.write_bytes(b"\xef\xbb\xbf" + text.encode())
    wanted = "\ufeff" + callsign.good("stack", "--in-place", stdin=text)
    assert LOAD in wanted and callsign.good("stack", "--in-place", log) == wanted == callsign.good("stack", "--in-place", stdin="\ufeff" + text)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_named(callsign, tmp_path, encoding):
    log = tmp_path / "log"
    log.write_bytes("#0 0x1139\r\n#1 0x1155\r\n".encode(encoding))
    for args in [], ["--json"], ["--in-place"]:
        done = subprocess.run([callsign.path, "stack", "--no-search", *args, log], capture_output=True)
        assert done.returncode == 1 and f"{log}: UTF-16 is not read; convert it first: iconv -f UTF-16 -t UTF-8" in done.stderr.decode()
        assert done.stdout == (log.read_bytes() if args == ["--in-place"] else b"")


def test_a_module_of_webassembly_that_nobody_has(callsign):
    """The offset is shown as the line has it."""
    answer = json.loads(callsign.good("stack", "--json", "--no-search", stdin="    0:     0x58 - orders.wasm!parse_line\n"))
    assert [(f["module"], f["address"]) for f in answer["frames"]] == [("orders.wasm", "0x58")]


def test_the_journal_exported(callsign, indexes):
    """journalctl -o export: the name of the field is none of the module's."""
    text = "".join(f"__CURSOR=s=1\n_PID=42\nMESSAGE={line}\nPRIORITY=6\n\n" for line in text_of("glibc-fd").splitlines())
    answers = [json.loads(line) for line in callsign.good("stack", "--json", *indexes["glibc-fd"], stdin=text).splitlines()]
    assert [a["frames"][0]["module"] for a in answers][:2] == ["./orders", "/opt/app/liborders.so"]


@pytest.mark.parametrize("register", ["EPC", "epc", "RA", "Ra", "ADDRESS", "ELR_ELn"])
def test_registers_in_letters_of_any_size(callsign, register):
    address, place = ("0x10000066", LOAD) if register.lower() == "ra" else ("0x10000009", f" (parse_line at {L}15)")
    line = f"{register}: {address}"
    assert callsign.good("stack", "--in-place", "--no-search", *FIXED, stdin=line + "\n") == f"{line}{place}\n"


def test_nothing_recognized(callsign):
    for args in ([], ["--json"], ["--in-place"]):
        done = callsign.run("stack", "--no-search", *args, stdin="2026-11-22 20:00:01 INFO orders: 5 boxes, id 0x1f\n")
        assert done.returncode == 1 and "no call stacks recognized" in done.stderr
        assert done.stdout == ("2026-11-22 20:00:01 INFO orders: 5 boxes, id 0x1f\n" if args == ["--in-place"] else "")


@pytest.mark.parametrize("line", [
    "2026-11-22 20:00:01 INFO buffer at [0x7f8acc82a1ed]", "  C++11", "order 5+3 = 8", "id 0x1f", "Address: 0x10", "a;b;c 12", "  1  box + 2",
    "#1 box", "@ 0x10", "fault at 0x10", "10:20:30.123: started", "Module x loaded", "deadbeef", "  0x", "Backtrace: none", "12345678", "5 boxes 0x1f user=42 ms", "5 boxes 0x1f",
])
def test_lines_that_are_no_frames(callsign, line):
    for index in ([], LIB, FIXED):
        done = callsign.run("stack", "--json", "--no-search", *index, stdin=line + "\n")
        assert (done.returncode, done.stdout) == (1, ""), done.stdout


@pytest.mark.parametrize("lines", [
    "\t/src/shapes.go:12 +0x1d",                              # the function of which was cut off
    "goroutine 1 [running]:\n\t/src/shapes.go:12 +0x1d",
])
def test_places_of_go_without_a_function(callsign, lines):
    done = callsign.run("stack", "--in-place", "--no-search", *LIB, stdin=lines + "\n")
    assert (done.returncode, done.stdout) == (1, lines + "\n"), done.stderr


def test_commits_are_no_frames_of_bpftrace(callsign):
    """git log --format="%x09%h %d": two blanks, and a '+' within a tag."""
    line = "\t4f2a91c  (HEAD -> main, tag: v1.2+3)\n"
    done = callsign.run("stack", "--in-place", "--no-search", "--format", "bpftrace", *LIB, stdin=line)
    assert (done.returncode, done.stdout) == (1, line), done.stderr


@pytest.mark.parametrize("name", [
    "<! as core::fmt::Debug>::fmt", "core::ptr::drop_in_place::<fn() -> !>", "core::result::Result<(),!>::ok",
    "<&! as core::fmt::Debug>::fmt", "<[!; 3] as core::fmt::Debug>::fmt", "<(!, u8) as core::fmt::Debug>::fmt",
])
def test_the_never_type_of_rust_ends_no_module_of_webassembly(callsign, tmp_path, name):
    functions = [{"start": 0x401000, "size": 64, "name": name, "line": 5}]
    index = gsym_make.write(tmp_path / "app.gsym", functions, base=0x400000, source=("/opt/app", "app.rs"))
    line = f"   0:           0x401010 - {name}"
    done = callsign.good("stack", "--in-place", "--no-search", "-i", index, stdin=line + "\n")
    assert done == f"{line} ({name} at /opt/app/app.rs:5)\n"


def test_offsets_in_the_format_of_sanitizers(callsign):
    """stack_trace_format="    #%n %p in %f + %o": of coredumpctl are those in brackets alone."""
    line = "    #0 0x10000066 in orders_load"
    done = callsign.good("stack", "--in-place", "--no-search", *FIXED, stdin=f"{line} + 0x9\n")
    assert done == f"{line} {L}22\n"


@pytest.mark.parametrize("line", ["0x8", "vectors+0x8", "#0 0x8 in ?? ()"])
def test_addresses_of_one_digit(callsign, tmp_path, line):
    functions = [{"start": 0, "size": 16, "name": "reset", "line": 3}]
    index = gsym_make.write(tmp_path / "vectors.gsym", functions, base=0, source=("/opt/app", "start.c"))
    assert "reset" in callsign.good("stack", "--json", "--no-search", "-i", index, stdin=line + "\n")


def test_summary_counts_by_reason(callsign):
    done = callsign.run("stack", "--no-search", *LIB, stdin="liborders.so+0x1161\nlibc.so.6+0x10\nliborders.so+0xfff0\n0x10\n\n")
    assert done.stderr == ("1 stacks, 4 frames: 1 named, 3 not (1: the address is after the end of the function that starts before it; "
                           "1: no module covers the address; 1: there is no index for the module)\n")


MINIDUMP = {"crash_info": {"address": "0x0", "crashing_thread": 0}, "crashing_thread": {"frame_count": 2, "frames": [
    {"file": None, "frame": 0, "function": None, "function_offset": None, "line": None, "missing_symbols": True, "module": "liborders.so",
     "module_offset": "0x00001102", "offset": "0x00007f1af12fe102", "trust": "context"},
    {"frame": 1, "function": None, "module": "liborders.so", "module_offset": "0x0000113a", "offset": "0x00007f1af12fe13a"}]},
    "modules": [{"base_addr": "0x00007f1af12fd000", "code_id": "e94d6cf35a16f9fe17e170306ed6b2ccb6944b8e", "debug_file": "liborders.so",
                 "end_addr": "0x00007f1af1302000", "filename": "liborders.so", "version": None}],
    "threads": [{"frame_count": 1, "frames": [
        {"frame": 0, "function": "main", "module": "orders", "module_offset": "0x1", "offset": "0x2"}]}]}


@pytest.mark.parametrize("indent", [None, 2])
def test_json_of_minidump_stackwalk(callsign, indent):
    """Form: github.com/rust-minidump/rust-minidump, minidump-stackwalk's json-schema.md."""
    text = json.dumps(MINIDUMP, indent=indent) + "\n"
    answers = [json.loads(line) for line in callsign.good("stack", "--json", "--no-search", *LIB, stdin=text).splitlines()]
    assert [[f["frames"][-1]["function"] if f["frames"] else None for f in a["frames"]] for a in answers] \
        == [["parse_line", "parse_line"], [None]]
    report = json.loads(callsign.good("stack", "--in-place", "--no-search", *LIB, stdin=text))
    first, second = report["crashing_thread"]["frames"]
    assert first == {**MINIDUMP["crashing_thread"]["frames"][0], "function": "parse_line", "function_offset": "0x9",
                     "file": L[:-1], "line": 15}
    assert second == {**MINIDUMP["crashing_thread"]["frames"][1], "function": "parse_line", "function_offset": "0x41",
                      "file": L[:-1], "line": 16, "inlined": "check"}
    assert report["threads"] == MINIDUMP["threads"] and report["modules"] == MINIDUMP["modules"]


def test_json_of_a_real_crash(callsign):
    """minidump-stackwalk 0.27.0 of a crash of Chromium 156 as Crashpad wrote it; threads, modules and registers were cut."""
    before = json.loads((DATA / "minidump-stackwalk.json").read_text())
    after = json.loads(callsign.good("stack", "--in-place", "--no-search", *LIB, DATA / "minidump-stackwalk.json"))
    named = {1: {"function": "parse_line", "function_offset": "0x41", "file": L[:-1], "line": 16, "inlined": "check"},
             2: {"function": "orders_load", "function_offset": "0x8", "file": L[:-1], "line": 21}}
    for thread in (before["crashing_thread"], before["threads"][0]):
        assert [frame["module"] for frame in thread["frames"][:3]] == ["hook.so", "liborders.so", "liborders.so"]
        for number, members in named.items():
            thread["frames"][number].update(members)
    assert after == before


PERF = "\t            1102 parse_line+0x9 (/opt/app/liborders.so)\n\t            1161 orders_load+0x9 (/opt/app/liborders.so)\n\n"
PERF_FORMS = {  # perf 6.1, -F
    "ip": re.sub(r" \w+\+0x\d \(.*?\)", "", PERF), "ip,sym": re.sub(r"\+0x\d \(.*?\)", "", PERF),
    "ip,dso": re.sub(r" \w+\+0x\d", "", PERF), "ip,sym,dso": re.sub(r"\+0x\d", "", PERF), "ip,sym,symoff,dso": PERF,
    "ip,sym,dsoff": PERF.replace("+0x9", "").replace("so)", "so+0x1161)").replace("so+0x1161)", "so+0x1102)", 1),
    "comm,ip,sym,dso": "orders \n" + PERF, "pid,ip,sym,dso": "14712 \n" + PERF,
    "comm,tid,time,ip,sym,dso": "orders 14712 13020.478649: \n" + PERF,
    "comm,pid,tid,cpu,time,period,event,ip,sym,dso": "orders 14712/14712 [001] 13020.478649:    5000000 cpu-clock: \n" + PERF,
    "+srcline": "orders 14712 13020.478649:    5000000 cpu-clock: \n" + PERF.replace(")\n", ")\n  liborders.c:10\n"),
    "+insn": PERF.rstrip("\n") + "\n insn: 48 8b 85 50 fd ff ff\n",
}


@pytest.mark.parametrize("fields", PERF_FORMS)
def test_fields_of_perf_script(callsign, fields):
    """What `perf script -F` of perf 6.1 prints."""
    answer, = [json.loads(line) for line in callsign.good("stack", "--json", "--no-search", *LIB, stdin=PERF_FORMS[fields]).splitlines()]
    assert [(f["address"], f["frames"][-1]["function"], f["frames"][-1]["line"]) for f in answer["frames"]] \
        == [("0x1102", "parse_line", 15), ("0x1161", "orders_load", 21)]


@pytest.mark.parametrize("binary,addresses", [("liborders.so", ["0x113a", "0x1160", "0x1102", "0x1158"]), ("orders", ["0x1220", "0x1460"]),
                                              ("orders-fixed", ["0x1000003e", "0x10000065", "0x10000009"])])
def test_readme_of_the_samples(binary, addresses):
    """addr2line agrees with what tests/data/stacks/README has."""
    text = (DATA / "README").read_text()
    from programs import need
    for address in addresses:
        said = subprocess.run([need("addr2line"), "-fie", DATA / binary, address], capture_output=True, text=True, check=True).stdout
        said = re.sub(r" \(discriminator \d+\)", "", said).split()
        functions, places = said[::2], [place.rpartition("/")[2] for place in said[1::2]]
        assert re.search(f"{address}\\b.*" + ".*".join(map(re.escape, [x for pair in zip(functions, places) for x in pair])), text)


@pytest.fixture(scope="module")
def long_log():
    """Some thousand stacks of all dialects, with text between them and damage."""
    names = [n for n, s in SAMPLES.items() if s.index in (LIB, BOTH) and n not in ("gdb-mappings", "bare-with-maps")]
    return "".join(f"order {i} accepted\n" * (i % 3) + text_of(names[i * 7 % len(names)])[:None if i % 5 else 80] + "\n" * (i % 2)
                   for i in range(3000))


@pytest.mark.parametrize("args", [["--in-place"], ["--json"], ["--explain"], ["--in-place", "--max-frames", "2"], ["--json", "--cache", "200K"]])
def test_threads_write_the_same(callsign, long_log, args):
    runs = [callsign.run("stack", "--no-search", *BOTH, *args, "--threads", n, stdin=long_log) for n in (1, 2, 5)]
    assert len({(run.stdout, run.stderr, run.returncode) for run in runs}) == 1 and summary(runs[0])[0] > 1000


@pytest.mark.parametrize("args", [["--json"], []])
def test_threads_write_the_same_of_json(callsign, args):
    lines = []
    for i in range(4000):
        module = {"name": f"m{i % 3}", "index": str(DATA / "liborders.so"), "start": hex(0x100000 * (1 + i % 7)), "end": "0x900000",
                  "bias": hex(0x100000 * (1 + i % 7))}
        frames = [{"pc": hex(0x101000 + i * 13 % 0x200)}, {"module": "liborders.so", "address": "0x1161"}]
        lines.append("{bad" if i % 50 == 7 else json.dumps({"modules": [module]} if i % 29 == 0 else {"frames": frames}))
    runs = [callsign.run("stack", "--no-search", *LIB, *args, "--threads", n, stdin="\n".join(lines) + "\n") for n in (1, 2, 5)]
    assert len({(run.stdout, run.stderr, run.returncode) for run in runs}) == 1 and runs[0].returncode == 1


@pytest.mark.parametrize("written,mangled", [
    ("orders::parse_line::h0123456789abcdef", "_ZN6orders10parse_line17h0123456789abcdefE"),          # Rust
    ("orders[1a2b3c]::parse::<u8>", "_RINvCs1234_6orders5parsehEB2_"),                               # Rust, v0
    ("shop::Cart::total()", "_ZNK4shop4Cart5totalEi"),                                               # glog and Abseil: no arguments
    ("int shop::price<int>(std::vector<int> const&)", "_ZN4shop5priceIiEEiRKSt6vectorIT_SaIS2_EE"),
    ("shop::(anonymous namespace)::load(char const*)", "_ZN4shop12_GLOBAL__N_14loadEPKc"),
    ("shop::operator<<<int>(int)", "_ZN4shoplsIiEEvT_"), ("shop::Cart::operator()(int) const", "_ZNK4shop4CartclEi"),
    ("shop::Cart::operator bool() const", "_ZNK4shop4CartcvbEv"), ("main", "main"),
    ("shop::pick<int>(int)", "_ZN4shop4pickIiEEDcT_"), ("decltype(auto) shop::pick<int>(int)", "_ZN4shop4pickIiEEDcT_"),
    ("shop::handler<int>(int)", "_ZN4shop7handlerIiEEPFviET_"), ("void (*shop::handler<int>(int))(int)", "_ZN4shop7handlerIiEEPFviET_"),
    ("shop::load(int)::{lambda(int)#1}::operator()(int) const", "_ZZN4shop4loadEiENKUliE_clEi"),
    ("shop::load()::{lambda()#2}::operator()()", "_ZZN4shop4loadEiENKUliE0_clEi"),
    ("shop::Cart::load() const::'lambda'()::operator()() const", "_ZZNK4shop4Cart4loadEvENKUlvE_clEv"),
])
def test_names_as_demanglers_write_them(callsign, tmp_path, written, mangled):
    """A frame is placed by its name, although the index has it mangled and others print less of it."""
    index = gsym_make.write(tmp_path / "app.gsym", [{"start": 0x1100, "size": 0x100, "name": mangled, "line": 5},
                                                    {"start": 0x1200, "size": 0x100, "name": "other", "line": 6}])
    text = f"    @     0x55d000001234  {written}\n    @     0x55d000003148  {written}\n    @     0x55d000003248  (unknown)\n"
    answer = json.loads(callsign.good("stack", "--json", "--no-search", "-i", index, stdin=text))
    assert [f.get("address") for f in answer["frames"]] == [None, "0x1148", "0x1248"]
    assert [f["frames"][0]["function"] if f["frames"] else None for f in answer["frames"]] == [None, mangled, "other"]


BPFTRACE, WINDBG = "@[\n    {}+4\n]: 12\n", "00 000000ab`cdeff5a8 00007ff6`12341161     app!{}+0x4\n"


@pytest.mark.parametrize("form,called,address", [
    (BPFTRACE, "shop::load(int)", "0x1104"), (BPFTRACE, "shop::load(int) [clone .cold]", "0x1404"),
    (BPFTRACE, "shop::load(int)::{lambda(int)#1}::operator()(int) const", "0x1204"),
    (BPFTRACE, "shop::load(int)::'lambda0'(int)::operator()(int) const", "0x1304"),
    (BPFTRACE, "shop::load(int)::{default arg#1}::{lambda(int)#2}::operator()(int) const", "0x1304"),
    (BPFTRACE, "decltype(auto) shop::pick<int>(int)", "0x1604"), (WINDBG, "shop::load", "0x1104"),
    (WINDBG, "shop::load(int)::'lambda'(int)::operator()(int) const", "0x1204"), (WINDBG, "shop::Cart::operator()", "0x1504"),
    (WINDBG, "shop::Cart::operator()(int n = 0n5)", "0x1504"), (WINDBG, "shop::pick<int>", "0x1604")])
def test_what_is_within_a_function_is_not_the_function(callsign, tmp_path, form, called, address):
    """Lambdas, stubs and clones were functions of the same name, and none was chosen; a line of a lambda was one of the function around it."""
    names = {0x1100: "_ZN4shop4loadEi", 0x1200: "_ZZN4shop4loadEiENKUliE_clEi", 0x1300: "_ZZN4shop4loadEiENKUliE0_clEi",
             0x1400: "_ZN4shop4loadEi.cold", 0x1500: "_ZNK4shop4CartclEi", 0x1600: "_ZN4shop4pickIiEEDcT_",
             0x1800: "_ZN4shop4loadEi@plt", 0x1810: "_ZNK4shop4CartclEi@plt"}
    index = gsym_make.write(tmp_path / "app.gsym", [{"start": at, "size": 0x10 if "plt" in name else 0x100, "name": name, "line": 5}
                                                    for at, name in names.items()])
    answer = json.loads(callsign.good("stack", "--json", "--no-search", "-i", index, stdin=form.format(called)))
    assert [f.get("address") for f in answer["frames"]] == [address]


@pytest.mark.parametrize("text", [
    "   4:     0x55d000001148 - {}\n   5:     0x55d000001148 - {}\n   6:     0x55d000001148 - {}\n   7:     0x55d000001148 - {}\n"
    "   8:     0x55d000001248 - main\n",
    "TID 42:\n#0  0x000055d000001148 - 1 {} - /opt/app/app\n#1  0x000055d000001148 - 1 {} - /opt/app/app\n#2  0x000055d000001148 - 1 {} - /opt/app/app\n"
    "#3  0x000055d000001148 - 1 {} - /opt/app/app\n#4  0x000055d000001248 - 1 main - /opt/app/app\n"])
@pytest.mark.parametrize("names, frames", [(["fact"] * 4, 4), (["check", "fact"] * 2, 2), (["check", "limit", "fact", "check"], 2)])
def test_functions_that_call_themselves(callsign, tmp_path, text, names, frames):
    """All their frames return to one address, as inlined calls have one: they were taken for those of one frame."""
    index = gsym_make.write(tmp_path / "app.gsym", [{"start": 0x1100, "size": 0x100, "name": "fact", "line": 5},
                                                    {"start": 0x1200, "size": 0x100, "name": "main", "line": 6}])
    text = "55d000000000-55d000002000 r-xp 00000000 08:01 1 /opt/app/app\n" + text.format(*names)
    answer = json.loads(callsign.good("stack", "--json", "--no-search", "-i", index, stdin=text))
    assert [f["frames"][-1]["function"] for f in answer["frames"]] == ["fact"] * frames + ["main"]


@pytest.mark.parametrize("indent", ["", "    ", "\t"], ids=["flush", "4", "tab"])
def test_functions_that_call_themselves_in_crash_reports(callsign, indent):
    """Behind the lines of an inlined call, too: the next line of the same address is the next frame of the same stack."""
    text = ("0   orders       0x0000000104a2c1f4 square + 24 (shapes.h:2) [inlined]\n"
            "1   orders       0x0000000104a2c1f4 fact + 24 (shapes.c:6)\n"
            "2   orders       0x0000000104a2c1f4 fact + 24 (shapes.c:6)\n"
            "3   orders       0x0000000104a2c2f4 main + 24 (shapes.c:9)\n\nBinary Images:\n"
            "       0x104a28000 -        0x104a2ffff +orders arm64  <0102030405060708090a0b0c0d0e0f10> /opt/orders\n")
    text = "".join(indent + line if line.strip() else line for line in text.splitlines(True))
    stacks = [json.loads(line) for line in callsign.run("stack", "--json", "--no-search", stdin=text).stdout.splitlines()]
    assert [[frame["address"] for frame in stack["frames"]] for stack in stacks] == [["0x41f4", "0x41f4", "0x42f4"]]


SYMBOLIZED = {
    "AddressSanitizer": ("7f93bcfd8000-7f93bcfdc000 r-xp 00000000 08:01 1 /opt/app/liborders.so\n", "#{} 0x7f93bcfd9{:03x} in {}\n", 0x1000),
    "ThreadSanitizer": ("  Read of size 4 at 0x7b04 by thread T1:\n", "#{} {} (liborders.so+{:#x})\n", 0)}


@pytest.mark.parametrize("report", SYMBOLIZED)
def test_symbolized_reports_of_sanitizers(callsign, report):
    """Each line of an inlined call was filled in again with all calls of its address, and in JSON its frame was there twice."""
    head, form, base = SYMBOLIZED[report]
    calls = [(0x113a, "check /opt/app/liborders.c:9:23"), (0x113a, "parse_line(char const*, int) /opt/app/liborders.c:16:5"),
             (0x1160, "orders_load /opt/app/liborders.c:21:17"), (0x1160, "orders_load /opt/app/liborders.c:21:17"), (0x1102, "on_check /opt/app/liborders.c:5")]
    text = head + "".join("    " + (form.format(i, addr - base, name) if base else form.format(i, name, addr)) for i, (addr, name) in enumerate(calls))
    answer = json.loads(callsign.good("stack", "--json", "--no-search", *LIB, stdin=text))
    assert [[f["function"] for f in frame["frames"]] for frame in answer["frames"]][:3] == [["check", "parse_line"], ["orders_load"], ["orders_load"]]
    assert len(answer["frames"]) == 4
    assert callsign.good("stack", "--in-place", "--no-search", *LIB, stdin=text) == text


def test_symbolized_dumps_of_llvm(callsign):
    """An inlined call has the address of its caller, and a number of its own: its frame was there twice."""
    text = ("7f1af12fd000-7f1af1301000 r-xp 00000000 08:01 1 /opt/app/liborders.so\n #0 0x00007f1af12fe13b check /opt/app/liborders.c:9:23\n"
            " #1 0x00007f1af12fe13b parse_line /opt/app/liborders.c:16:5\n #2 0x00007f1af12fe161 orders_load (/opt/app/liborders.so+0x1161)\n"
            " #3 0x00007f1af12fe161 orders_load (/opt/app/liborders.so+0x1161)\n")
    answer = json.loads(callsign.good("stack", "--json", "--no-search", *LIB, stdin=text))
    assert [[f["function"] for f in frame["frames"]] for frame in answer["frames"]] == [["check", "parse_line"], ["orders_load"], ["orders_load"]]
    filled = callsign.good("stack", "--in-place", "--no-search", *LIB, stdin=text).splitlines()
    assert filled[1] == text.splitlines()[1] + " (check at /opt/app/liborders.c:9, inlined into parse_line at /opt/app/liborders.c:16)"
    assert filled[2] == text.splitlines()[2]


@pytest.mark.parametrize("prefix", ["", "2026.11.22 20:03:23.780095 [ 42 ] {} <Fatal> BaseDaemon: "])
def test_inlined_calls_of_clickhouse(callsign, prefix):
    """StackTrace.cpp writes them before the frame; they ended the stack."""
    lines = ["0. ./liborders.c:16: parse_line @ 0x000000000000113b in /opt/app/liborders.so", "1.1. inlined from ./liborders.h:9: check",
             "1.2. inlined from ./liborders.h:10: limit", "1. ./liborders.c:21: orders_load @ 0x0000000000001161 in /opt/app/liborders.so"]
    text = "".join(prefix + line + "\n" for line in lines)
    answer = json.loads(callsign.good("stack", "--json", "--no-search", *LIB, stdin=text))
    assert [frame["frames"][-1]["function"] for frame in answer["frames"]] == ["parse_line", "orders_load"]
    assert callsign.good("stack", "--in-place", "--no-search", *LIB, stdin=text).splitlines()[1:3] == text.splitlines()[1:3]


def test_gdb_with_variables(callsign, tmp_path):
    """`bt full`, the form of most bug reports: each frame was a stack of its own."""
    index = gsym_make.write(tmp_path / "app.gsym", [{"start": 0x1100, "size": 0x100, "name": "main", "line": 5},
                                                    {"start": 0x1200, "size": 0x100, "name": "area", "merged": [{"name": "square"}], "line": 6}])
    below = ["No symbol table info available.\n--Type <RET> for more, q to quit, c to continue without paging--c\n", "        quantity = 5\n        list = {\n          first = 0x1,\n          rest = \"abc\\000\\000\",\n"
             "            0 <repeats 15 times>}\n", "    at /src/a-very-long-path/of-a-program/main.c:12\n        argc = <optimized out>\n---Type <return> to continue, or q <return> to quit---\n", "No locals.\n"]
    text = "".join(f"#{i}  0x000055d00000{0x1210 - i * 16 if not i else 0x1110:04x} in {'?? ()' if not i else 'main ()'}\n{rest}" for i, rest in enumerate(below))
    text = "55d000000000-55d000002000 r-xp 00000000 08:01 1 /opt/app/app\n" + text + "Thread 2:\n" + text
    answers = [json.loads(line) for line in callsign.good("stack", "--json", "--no-search", "-i", index, stdin=text).splitlines()]
    assert [[f["frames"][0]["function"] for f in answer["frames"]] for answer in answers] == [["area", "main", "main", "main"]] * 2
    kept = callsign.good("stack", "--in-place", "--no-search", "-i", index, stdin=text)
    assert [line for line in kept.splitlines() if line[0] != "#"] == [line for line in text.splitlines() if line[0] != "#"]


def test_modules_of_sanitizers_with_blanks(callsign, tmp_path):
    """The path of a memory map ended at its first blank."""
    index = gsym_make.write(tmp_path / "app.gsym", [{"start": 0x1100, "size": 0x100, "name": "main", "line": 5}])
    for path, more in (("/opt/my app/app", " (r-xp)"), ("/opt/app", " 0102030405060708 (r-xp)"), ("/opt/my app/app", " 0102030405060708 (r-xp)"), ("/opt/my app/app", "")):
        text = f"\t0x55d000000000-0x55d000002000\t{path}{more}\n    #0 0x55d000001148\n"
        answer = json.loads(callsign.good("stack", "--json", "--no-search", "-i", f"{path}={index}", stdin=text))
        assert [(f["module"], f["frames"][0]["function"]) for f in answer["frames"]] == [(path, "main")], (path, more)


def test_a_module_of_webassembly_in_a_folder_with_an_equals_sign(callsign, tmp_path):
    (tmp_path / "a=b").mkdir()
    shutil.copy(DATA / "orders.wasm", tmp_path / "a=b")
    answer = json.loads(callsign.good("stack", "--json", "--no-search", "-i", tmp_path / "a=b/orders.wasm", stdin="    0:     0x58 - orders.wasm!parse_line\n"))
    assert answer["frames"][0]["frames"][-1]["function"] == "parse_line"


def test_methods_of_rust_types_are_told_apart(callsign, tmp_path):
    """rustc 1.96: <Argument>::fmt was inlined, and has no function of its own; of its name are methods of other types. One of them was taken,
    with whatever was then at the other frames' addresses."""
    index = gsym_make.write(tmp_path / "app.gsym", [
        {"start": 0x1100, "size": 0x60, "name": "_RNvXs_NtCsi4IsKQVxMg0_3std9backtraceNtB4_11BytesOrWideNtNtCs8NwYtU1Mohg_4core3fmt5Debug3fmt", "line": 5},
        {"start": 0x2100, "size": 0x100, "name": "_RNvNtCs8NwYtU1Mohg_4core9panicking9panic_fmt", "line": 6},
        {"start": 0x2200, "size": 0x300, "name": "_RNvXCs3UIYSLOGnTh_4mainNtB2_1ANtB2_1T2go", "line": 7}])
    text = ("   4:     0x55d000013140 - <core[667c7a611d73a360]::fmt::rt::Argument>::fmt\n"
            "   5:     0x55d000003180 - core[667c7a611d73a360]::panicking::panic_fmt\n"
            "   6:     0x55d000003280 - <main[2d997e5757711431]::A as main[2d997e5757711431]::T>::go\n")
    answer = json.loads(callsign.good("stack", "--json", "--no-search", "-i", index, stdin=text))
    assert [f.get("address") for f in answer["frames"]] == [None, "0x2180", "0x2280"]
    alone = json.loads(callsign.good("stack", "--json", "--no-search", "-i", index, stdin=text.split("\n")[2]))
    assert alone["frames"][0]["address"] == "0x2280"


@pytest.mark.parametrize("called,address", [("area(int)", "0x1108"), ("area(char)", "0x1208"), ("area(long)", None), ("area()", None),
                                            ("std::vector<int, std::allocator<int> >::push_back(int const&)", "0x1308"),
                                            ("shop::Cart::total() const", "0x1408"), ("shop::operator+(shop::Cart const&)", "0x1508")])
def test_overloads_that_a_line_demangles(callsign, tmp_path, called, address):
    """bpftrace and strace -k demangle names, which have blanks and brackets then: the one with these arguments is meant, or none."""
    index = gsym_make.write(tmp_path / "app.gsym", [
        {"start": 0x1100, "size": 0x100, "name": "_Z4areai", "line": 5}, {"start": 0x1200, "size": 0x100, "name": "_Z4areac", "line": 6},
        {"start": 0x1300, "size": 0x100, "name": "_ZNSt6vectorIiSaIiEE9push_backERKi", "line": 7},
        {"start": 0x1400, "size": 0x100, "name": "_ZNK4shop4Cart5totalEv", "line": 8},
        {"start": 0x1500, "size": 0x100, "name": "_ZN4shopplERKNS_4CartE", "line": 9}])
    args = ["--json", "--no-search", "-i", index]
    answer = json.loads(callsign.good("stack", *args, stdin=f"@[\n    {called}+8\n]: 12\n"))
    assert [(f.get("address"), len(f["frames"])) for f in answer["frames"]] == [(address, 1 if address else 0)]
    answer = json.loads(callsign.good("stack", *args, stdin=f"read(0) = 0\n > /opt/app/app({called}+0x8) [0x1208]\n"))
    assert [(f["module"], f["frames"][0]["function"]) for f in answer["frames"]] == [("/opt/app/app", "_Z4areac")]


def test_a_bare_pc_after_a_frame_that_places_its_module(callsign, tmp_path):
    """docs/stacks.md: in a later stack too, but only in an index that was given."""
    callsign.good("convert", DATA / "liborders.so", "-o", tmp_path / "liborders.so.gsym", "-q")
    text = "/opt/app/liborders.so(+0x1161)[0x7f93bcfd9161]\n\nother\n[0x7f93bcfd913b]\n/opt/app/liborders.so[0x7f93bcfd913b]\n"
    given = callsign.good("stack", "--in-place", "--no-search", *LIB, stdin=text).splitlines()
    searched = callsign.good("stack", "--in-place", "--no-search", "--symbols", tmp_path, stdin=text).splitlines()
    assert given[0].endswith(LOAD) and given[3] == "[0x7f93bcfd913b]" + CHECK and given[4].endswith(CHECK)
    assert searched == [given[0], *given[1:3], "[0x7f93bcfd913b]", given[4]]


def test_libraries_that_a_jvm_lists_after_the_frames(callsign, tmp_path):
    """OpenJDK 17.0.15's hs_err file, of which lines were cut: "Dynamic libraries" is read ahead from a file or a pipe, without an option."""
    text = (DATA / "jvm-libraries.txt").read_text().replace("/tmp/bt-java", str(DATA))
    log = tmp_path / "hs_err_pid1.log"
    log.write_text(text)
    filled = callsign.good("stack", "--in-place", "--threads", "1", log)
    assert f"C  [liborders.so+0x1161]  orders_load+0x9{LOAD}\n" in filled
    assert [line for line in filled.splitlines() if "[libord" not in line] == [line for line in text.splitlines() if "[libord" not in line]
    assert callsign.good("stack", "--in-place", "--threads", "2", log) == filled
    for threads in "1", "2":
        assert callsign.good("stack", "--in-place", "--threads", threads, stdin=text) == filled


def test_a_jvm_report_through_a_pipe_is_bounded(callsign, tmp_path):
    """A list that comes later than the bound is too late, and everything is passed through all the same; so is a text that only
    begins like a report, at once."""
    text = (DATA / "jvm-libraries.txt").read_text().replace("/tmp/bt-java", str(DATA))
    head, tail = text.split("Dynamic libraries:\n")
    long = head + "RAX=0x1\n" * (1 << 21) + "Dynamic libraries:\n" + tail
    done = callsign.run("stack", "--in-place", "--threads", "1", stdin=long)
    assert done.stdout == long and LOAD not in done.stdout
    for other in "#\n# A comment\n/opt/app/none.so(+0x1139)[0x1139]\n", "#\n", "#", "#\n# A fatal error has been detected by the Java":
        assert callsign.run("stack", "--in-place", stdin=other).stdout == other


def test_a_first_line_of_a_pipe_is_answered_at_once(callsign):
    """Whoever writes one line and waits for its answer gets it, also if the line is a comment."""
    process = subprocess.Popen([callsign.path, "stack", "--in-place", "--threads", "1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    process.stdin.write("# a comment\n")
    process.stdin.flush()
    assert process.stdout.readline() == "# a comment\n"
    assert process.communicate("")[0] == ""


WINDBG_FORMS = {
    "kP": ("00 000000ab`cdeff5a8 00007ff6`12341161     orders!parse_line(\n\t\t\tchar * text = 0x000000ab`cdeff610 \"x+0x5 (y\", \n"
           "\t\t\tint size = 0n5)+0x12{PARSE}\n01 000000ab`cdeff5d8 00007ff6`12341161     orders!orders_load(\n\t\t\tint size = 0n5)+0x9{LOAD}\n"
           "02 000000ab`cdeff608 00000000`00000000     0x00007ff6`12341161{LOAD}\n"),
    "kP without numbers": ("000000ab`cdeff5a8 00007ff6`12341161 orders!parse_line(\n            int size = 0n5)+0x12 [C:\\src\\orders.c @ 15] \n"
                           "000000ab`cdeff5d8 00007ff6`12341161 orders!orders_load(\n            int size = 0n5)+0x9{LOAD}\n"),
    "kf": (" #   Memory  Child-SP          RetAddr               Call Site\n00           000000ab`cdeff5a8 00007ff6`12341161     orders!parse_line+0x12{PARSE}\n"
           "01        30 000000ab`cdeff5d8 00007ff6`12341161     orders!orders_load+0x9{LOAD}\n"),
    "kf without numbers": ("          000000ab`cdeff5a8 00007ff6`12341161     orders!parse_line+0x12{PARSE}\n"
                           "      1f0 000000ab`cdeff5d8 00007ff6`12341161     orders!orders_load+0x9{LOAD}\n"),
    "kPL, 32 bits": ("0019ff00 00401161 orders!parse_line(\n\t\t\tint size = 0n5)+0x12{PARSE}\n0019ff20 00000000 orders!orders_load+0x9{LOAD}\n"),
    "lm": ("start             end                 module name\n00007ff6`12340000 00007ff6`12346000   orders   C (deferred)             \n\nUnloaded modules:\n"
           "00007ff6`12341000 00007ff6`12342000   other.sys\n0:000> k\n000000ab`cdeff5a8 00007ff6`12341161     orders+0x1104{PARSE}\n"
           "000000ab`cdeff5d8 00007ff6`12341161     0x00007ff6`12341161{LOAD}\n"),
    "lm, 32 bits": ("00400000 00406000   orders     (pdb symbols)          C:\\s\\orders.pdb\n0:000> kv\n"
                    "0019ff00 00401161 00000001 00000002 00000003 orders!parse_line+0x12 (FPO: [Non-Fpo]) (CONV: cdecl){PARSE}\n"
                    "0019ff20 00000000 00000001 00000002 00000003 0x401161{LOAD}\n"),
}


@pytest.mark.parametrize("form", WINDBG_FORMS)
def test_forms_of_windbg(callsign, form):
    """Parameters a line each, the bytes of frames and lists of modules: such frames were left as they were."""
    listed = "" if form.startswith("lm") else "ModLoad: 00007ff6`12340000 00007ff6`12346000   C:\\app\\orders.exe\n"
    places = {"PARSE": " (parse_line at /opt/app/liborders.c:15)", "LOAD": " (orders_load at /opt/app/liborders.c:21)"}
    empty = {name: "" for name in places}
    text = listed + "0:000> " + form + "\n" + WINDBG_FORMS[form]
    shown = callsign.good("stack", "--in-place", "--no-search", "-i", f"orders.exe={DATA / 'liborders.so'}", stdin=text.format(**empty))
    assert shown == text.format(**places)


def test_modules_of_a_stack_stay_when_an_address_follows(callsign):
    """The first address of a stack that began with functions' names: modules were listed anew, and frames had another's."""
    text = ("ModLoad: 00007ff6`12340000 00007ff6`12346000   C:\\app\\orders.exe\n0:000> k\n"
            "000000ab`cdeff5a8 00007ff6`12341161     other!parse_line+0x12\n000000ab`cdeff5d8 00007ff6`12341161     third!parse_line+0x12\n"
            "000000ab`cdeff608 00000000`00000000     0x00007ff6`12341161\n")
    options = ["--no-search", "-i", f"orders.exe={DATA / 'liborders.so'}"]
    frames = json.loads(callsign.good("stack", "--json", *options, stdin=text))["frames"]
    assert [frame["module"] for frame in frames] == ["other", "third", "C:\\app\\orders.exe"]
    assert [frame["frames"][0]["function"] if frame["frames"] else None for frame in frames] == [None, None, "orders_load"]


def dotnet_frame(address, name=None, managed=False, module="liborders.so", start=0x7f0000000000):
    frame = {"is_managed": "true" if managed else "false", "module_address": hex(start), "stack_pointer": "0x7ffc1f1b7b20", "native_address": hex(address),
             "native_offset": "0x4"}
    frame.update({"token": "0x6000001", "filename": "orders.dll"} if managed else {"native_module": module})
    return frame | ({"method_name" if managed else "unmanaged_name": name} if name else {})


@pytest.mark.parametrize("indent", [1, None])
def test_a_crash_report_of_dotnet(callsign, indent):
    """As crashreportwriter.cpp of dotnet/runtime writes it; only its native frames are in an index."""
    frames = [dotnet_frame(0x7f0000001102, "exported_before"), dotnet_frame(0x7f0000001161), dotnet_frame(0x7f9a5d0f1234, "Orders.Program.Main()", True),
              dotnet_frame(0x7f5000001161, module="libother.so", start=0x7f5000000000), dotnet_frame(0x10, start=0)]
    thread = {"is_managed": "true", "crashed": "true", "native_thread_id": "0x4d2", "ctx": {"IP": "0x7f0000001102"}, "stack_frames": frames}
    report = {"payload": {"protocol_version": "1.0.0", "process_name": "orders", "threads": [thread, {"stack_frames": []}]}, "parameters": {}}
    text, options = json.dumps(report, indent=indent) + "\n", [] if indent else ["-f", "dotnet-json"]
    answer = json.loads(callsign.run("stack", "--json", "--no-search", *LIB, *options, stdin=text).stdout)
    assert [(f.get("module"), f["frames"][-1]["function"] if f["frames"] else None) for f in answer["frames"]] \
        == [("liborders.so", "parse_line"), ("liborders.so", "orders_load"), (None, None), ("libother.so", None), (None, None)]
    after = callsign.run("stack", "--in-place", "--no-search", *LIB, *options, stdin=text).stdout
    frames[0].update({"function": "parse_line", "function_offset": "0x9", "file": L[:-1], "line": 15})
    frames[1].update({"function": "orders_load", "function_offset": "0x9", "file": L[:-1], "line": 21})
    assert json.loads(after) == report and after.startswith(text[:text.index("unmanaged_name")])


NATIVE_AOT = """\
Unhandled Exception: System.InvalidOperationException: Operation is not valid
   at Orders.Lines.Parse(String) + 0x2b
   at liborders!<BaseAddress>+0x1103{PARSE}
   at System.Linq.Enumerable.Count[TSource](IEnumerable`1) + 0x21
   at liborders!<BaseAddress>+0x1161{LOAD}
--- End of stack trace ---
liborders!<BaseAddress>+0x1161{LOAD} at offset 283 in file:line:column <filename unknown>:0:0
   at <BaseAddress>+0x1161
"""


def test_native_aot_of_dotnet(callsign):
    """DeveloperExperience.NativeAot.cs: what has no name is at an offset from the module's first byte, whose file has lost its ending."""
    places = {"PARSE": f" (parse_line at {L}15)", "LOAD": f" (orders_load at {L}21)"}
    text = NATIVE_AOT.format(**dict.fromkeys(places, ""))
    assert callsign.good("stack", "--in-place", "--no-search", *LIB, stdin=text) == NATIVE_AOT.format(**places)
    answers = [json.loads(line) for line in callsign.good("stack", "--json", "--no-search", *LIB, stdin=text).splitlines()]
    assert [len(answer["frames"]) for answer in answers] == [2, 1]


@pytest.mark.parametrize("form", ["liborders.so", "liborders.sym"])
def test_builds_of_minidump_stackwalk(callsign, tmp_path, form):
    """Breakpad's -m: the debug id of an ELF file is a GUID of the build id's first bytes, which readelf tells."""
    notes = subprocess.run(["readelf", "-n", DATA / "liborders.so"], capture_output=True, text=True, check=True).stdout
    own = bytes.fromhex(notes.split("Build ID: ")[1].split()[0])[:16]
    debug_id = uuid.UUID(bytes_le=own).hex.upper() + "0"
    index = DATA / "liborders.so"
    if form.endswith(".sym"):
        index = tmp_path / form
        callsign.good("convert", DATA / "liborders.so", "--to", "breakpad", "-o", index, "--quiet")
        assert debug_id in index.read_text().splitlines()[0]

    def named(system, text):
        lines = f"OS|{system}\nModule|liborders.so||liborders.so|{text}|0x7f1af12fd000|0x7f1af1301fff|0\n0|1|liborders.so||||0x1161\n"
        done = callsign.run("stack", "--in-place", "--no-search", "-i", f"liborders.so={index}", stdin=lines)
        assert ("has another build id" in done.stderr) == (done.stdout == lines)
        return "orders_load" in done.stdout

    assert named("Linux|0.0.0 Linux 6.1.0", debug_id) and named("Mac OS X|10.15.7 19H2", own.hex().upper() + "0")
    assert not named("Linux|0.0.0 Linux 6.1.0", "F" * 32 + "0") and not named("Mac OS X|10.15.7 19H2", debug_id)
    assert named("Linux|0.0.0 Linux 6.1.0", "0" * 33)


def coredump_modules(count):
    return "".join(f"                Module libm{i}.so with build-id {i:040d}\n" for i in range(count))


COREDUMP_STACK = "                Stack trace of thread 7283:\n                #0  0x00007ffff7fbc161 n/a (liborders.so + 0x1161)\n\n"
NAME_OF_90 = "lib" + "x" * 84 + ".so"


@pytest.mark.parametrize("name", ["liborders.so", NAME_OF_90])
def test_builds_of_coredumps(callsign, tmp_path, name):
    """Of a dump with any number of modules, the id of each counts, and of two dumps the newer one's."""
    notes = subprocess.run(["readelf", "-n", DATA / "liborders.so"], capture_output=True, text=True, check=True).stdout
    own, stack = notes.split("Build ID: ")[1].split()[0], COREDUMP_STACK.replace("liborders.so", name)

    def module(text):
        return f"                Module {name} {text}\n"

    def named(text):
        done = callsign.run("stack", "--json", "--no-search", "-i", f"{name}={DATA / 'liborders.so'}", stdin=text)
        frames = [frame for line in done.stdout.splitlines() for frame in json.loads(line)["frames"]]
        assert ("has another build id" in done.stderr) == any(not frame["frames"] for frame in frames)
        return [bool(frame["frames"]) for frame in frames]

    right, wrong = module(f"with build-id {own}"), module(f"with build-id {'f' * 40}")
    for count in (10, 70, 1000):
        assert named(wrong + coredump_modules(count) + stack) == [False]
        assert named(right + coredump_modules(count) + stack) == [True]
    assert named(coredump_modules(39) + wrong + stack + coredump_modules(30) + right + stack) == [False, True]
    assert named(wrong + module("without build-id.") + stack) == [True]


def test_modules_of_webassembly_that_are_given(callsign, tmp_path):
    """Any number, by their own names or as NAME=FILE. llvm-symbolizer: see tests/data/stacks/README."""
    line = "    at {0}.wasm.parse_line (http://localhost/{0}.wasm:wasm-function[0]:0x58)"
    for i in range(1, 13):
        shutil.copy(DATA / "orders.wasm", tmp_path / f"m{i}.wasm")
    many = [arg for i in range(1, 13) for arg in ("-i", tmp_path / f"m{i}.wasm")]
    named = ["-i", f"foo.wasm={tmp_path / 'm1.wasm'}", "-i", f"bar.wasm={tmp_path / 'm2.wasm'}"]
    for name, args in (("m1", many), ("m12", many), ("foo", named), ("bar", named)):
        text = line.format(name)
        assert callsign.good("stack", "--in-place", "--no-search", *args, stdin=text + "\n") == text + WASM_CHECK + "\n"
    index = tmp_path / "m1.gsym"
    callsign.good("convert", DATA / "orders.wasm", "-o", index, "--quiet")
    alone = json.loads(callsign.good("stack", "--json", "--no-search", "-i", f"foo.wasm={index}", stdin=line.format("foo") + "\n"))
    assert "ffffffff" not in str(alone) and not alone["frames"][0]["frames"]
