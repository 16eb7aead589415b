"""Breakpad symbol files of kernel modules: NAME.ko, stripped, and NAME.ko.debug. A module is an object that is not linked: its sections have
no addresses, and the debug file's sections wait for relocations. What is written is held against the module linked by ld."""
import json
import re
import subprocess

import pytest

from programs import need

SOURCE = """
#define INIT __attribute__((section(".init.text")))
#define EXIT __attribute__((section(".exit.text")))
#define COLD __attribute__((section(".text.unlikely"), noinline))
extern int printk(const char *format, ...);
static int opened;
static inline int checksum(const char *data, int size) {
    int sum = 0;
    for (int i = 0; i < size; i++) sum += data[i] * 31;
    return sum;
}
static COLD int report(int code) { return printk("drv: %d", code); }
__attribute__((noinline)) int drv_write(const char *data, int size) {
    int sum = checksum(data, size);
    if (sum < 0) return report(sum);
    return sum + opened;
}
int drv_open(const char *name) {
    opened += checksum(name, 4);
    return drv_write(name, opened);
}
INIT int init_module(void) {
    opened = 1;
    return printk("drv: loaded %d", drv_write("start", 5));
}
EXIT void cleanup_module(void) { printk("drv: unloaded %d", opened); }
"""
FUNCTIONS = {"report", "drv_write", "drv_open", "init_module", "cleanup_module"}


def run(folder, *command):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stderr}"
    return done.stdout


UNWINDING = {"debug_frame": "-fno-asynchronous-unwind-tables", "eh_frame": "-fasynchronous-unwind-tables"}


@pytest.fixture(scope="module", params=UNWINDING)
def module(request, tmp_path_factory):
    """Folder with drv.ko, drv.ko.debug and the linked program."""
    folder = tmp_path_factory.mktemp("module")
    (folder / "drv.c").write_text(SOURCE)
    run(folder, need("gcc"), "-O2", "-g", "-ffreestanding", "-fno-pic", UNWINDING[request.param], "-fcf-protection=none", "-c", "drv.c")
    run(folder, need("ld"), "-r", "--build-id", "drv.o", "-o", "whole.ko")
    run(folder, need("objcopy"), "--only-keep-debug", "whole.ko", "drv.ko.debug")
    run(folder, "objcopy", "--strip-debug", "--add-gnu-debuglink=drv.ko.debug", "whole.ko", "drv.ko")
    run(folder, "ld", "--unresolved-symbols=ignore-all", "-e", "drv_open", "whole.ko", "-o", "linked")
    return folder


def records(path):
    """{function: (address, size, [(offset, size, line, file)])} of a symbol file, and the addresses of STACK CFI INIT."""
    files, found, frames, rows = {}, {}, [], None
    for line in path.read_text().splitlines():
        words = line.split()
        if words[0] == "FILE":
            files[words[1]] = words[2].split("/")[-1]
        elif words[0] == "FUNC":
            rows = []
            found[words[-1]] = (int(words[1], 16), int(words[2], 16), rows)
        elif words[:3] == ["STACK", "CFI", "INIT"]:
            frames.append((int(words[3], 16), int(words[4], 16)))
        elif re.fullmatch("[0-9a-f]+", words[0]):
            rows.append((int(words[0], 16), int(words[1], 16), int(words[2]), files[words[3]]))
    return found, frames


def places(folder, name):
    """{section: where docs/formats/relocatable.md says that it is placed}."""
    end, found = 0, {}
    rows = re.findall(r"^ *\[ *\d+\] (\S+) +\S+ +[0-9a-f]{16} [0-9a-f]+ ([0-9a-f]+) [0-9a-f]+ +([A-Za-z]*) +\d+ +\d+ +(\d+)$",
                      run(folder, need("readelf"), "-SW", name), re.M)
    for section, size, flags, align in rows:
        if "A" in flags:
            align = max(int(align), 1)
            found[section] = (end + align - 1) // align * align
            end = found[section] + int(size, 16)
    return found


def symbols(folder, name):
    """{function: (value, section's number, size)}"""
    rows = re.findall(r"^ *\d+: ([0-9a-f]+) +(\d+) FUNC +\S+ +\S+ +(\d+) (\S+)$", run(folder, need("readelf"), "-sW", name), re.M)
    return {function: (int(value, 16), int(section), int(size)) for value, size, section, function in rows}


def convert(callsign, out, *inputs):
    callsign.good("convert", "--quiet", "--to", "breakpad", *inputs, "-o", out)
    return records(out)


def test_addresses_are_the_places_of_the_sections(callsign, module, tmp_path):
    found, frames = convert(callsign, tmp_path / "drv.sym", module / "drv.ko")
    assert found.keys() == FUNCTIONS
    names = re.findall(r"^ *\[ *(\d+)\] (\S+)", run(module, need("readelf"), "-SW", "drv.ko"), re.M)
    section_of, placed = {int(number): name for number, name in names}, places(module, "drv.ko")
    wanted = {name: (placed[section_of[section]] + value, size) for name, (value, section, size) in symbols(module, "drv.ko").items()}
    assert {name: (address, size) for name, (address, size, _) in found.items()} == wanted
    assert len({section for _, section, _ in symbols(module, "drv.ko").values()}) == 4
    assert sorted(frames) == sorted(wanted.values()) # of the debug file or the module, relocated


@pytest.mark.parametrize("inputs", [["--debug-file", "drv.ko.debug", "drv.ko"], ["drv.ko.debug"], ["whole.ko"]],
                         ids=["chosen", "debug-file-alone", "not-stripped"])
def test_every_way_gives_the_same(callsign, module, tmp_path, inputs):
    wanted = convert(callsign, tmp_path / "drv.sym", module / "drv.ko")
    assert convert(callsign, tmp_path / "other.sym", *(module / word if "." in word else word for word in inputs)) == wanted


def test_lines_are_those_of_the_linked_module(callsign, module, tmp_path):
    judge = need("llvm-symbolizer-22")
    found, _ = convert(callsign, tmp_path / "drv.sym", module / "drv.ko")
    callsign.good("convert", "--quiet", module / "drv.ko", "-o", tmp_path / "index")
    linked = symbols(module, "linked")
    bytes_of = [(name, offset) for name in sorted(FUNCTIONS) for offset in range(found[name][1])]
    text = run(module, judge, "--obj=linked", "--output-style=JSON", "--functions=linkage",
               *(hex(linked[name][0] + offset) for name, offset in bytes_of))
    answers = callsign.good("lookup", tmp_path / "index", "--json", *(hex(found[name][0] + offset) for name, offset in bytes_of))
    inlined = 0
    theirs = json.loads(text) if text.startswith("[") else [json.loads(line) for line in text.splitlines()]
    for (name, offset), wanted, ours in zip(bytes_of, theirs, map(json.loads, answers.splitlines())):
        frames = [(f["FunctionName"], f["Line"]) for f in wanted["Symbol"]]
        assert [(f["function"], f.get("line", 0)) for f in ours["frames"]] == frames, (name, offset)
        inlined += len(frames) > 1
        address, rows = found[name][0] + offset, found[name][2]
        covering = [line for start, size, line, file in rows if start <= address < start + size and file == "drv.c"]
        assert covering == [frames[0][1]], (name, offset)
    assert inlined > 20 and len(bytes_of) > 150
