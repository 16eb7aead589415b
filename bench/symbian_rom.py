#!/usr/bin/env python3
"""Makes the `.symbol` file of a Symbian ROM that never was: the same bytes for the same arguments, on every machine.

usage: symbian_rom.py OUT [BINARIES] [SYMBOLS]

Names are put together as those of such ROMs are: classes by their kinds (C, T, R, M), methods with descriptors as arguments,
import stubs that many binaries share, virtual tables, thunks, compiler-made labels. How often each kind occurs, how long
functions are and how many a binary has follow ROMs of the time by eye, not by count."""

import sys

KINDS = "CCCCCTTTRRMM"
WORDS = """Active Address Agent Alarm Animation Array Atom Audio Avkon Base Battery Bitmap Bluetooth Browser Buffer Cache Calendar
Call Camera Cell Certificate Channel Client Clock Codec Command Config Connection Contact Container Content Context Control
Conversation Cookie Counter Data Database Decoder Descriptor Device Dialog Directory Display Document Download Driver Editor
Element Encoder Engine Entry Environment Event Factory Field File Filter Folder Font Form Format Frame Gallery Gateway Glyph
Graphics Grid Group Handler Header Heap Helper History Host Icon Image Index Indicator Info Input Interface Item Iterator Key
Keyboard Label Layout Library Light Line Link List Listener Loader Location Lock Logger Mail Manager Map Media Memory Menu
Message Mime Mixer Model Module Monitor Music Name Network Node Note Notifier Object Observer Package Page Painter Panel
Parser Path Phone Picture Pipe Player Plugin Point Policy Pool Port Power Presence Printer Process Profile Progress Property
Protocol Provider Proxy Query Queue Radio Reader Record Recorder Region Registry Relation Reminder Renderer Request Resource
Response Result Ring Router Row Rule Scanner Scheduler Schema Screen Script Scroll Search Section Security Selector Sensor
Server Service Session Settings Shape Signal Skin Slider Socket Sound Speaker Sprite Stack State Status Storage Store Stream
String Style Subscription Sync System Table Task Telephony Template Text Theme Thread Thumbnail Time Timer Title Token Tone
Toolbar Topic Touch Track Transaction Transfer Transition Tree Trigger Tuner Unit Update User Utility Value Vector Version
Video View Viewer Vision Volume Wait Watcher Window Wizard Worker Writer Zone""".split()
VERBS = """Add Append Apply Begin Bind Build Calculate Cancel Change Check Clear Close Commit Compare Complete Connect Construct
Copy Count Create Deactivate Decode Delete Destroy Detach Disable Do Draw Enable Encode End Export Externalize Extract Fetch
Fill Find Format Get Handle Hide Import Init Insert Install Internalize Invalidate Is Issue Launch Load Lock Lookup Make Map
Merge Move New Next Notify Offer Open Parse Pause Play Pop Post Prepare Process Publish Push Put Query Read Receive Refresh
Register Release Remove Rename Render Replace Request Reset Resize Resolve Restore Resume Run Save Scan Schedule Search Seek
Select Send Set Show Sort Start Stop Store Submit Subscribe Suspend Swap Switch Sync Take Toggle Transfer Translate Trim
Unlock Unregister Update Use Validate Verify Wait Write""".split()
FIXED = ["ConstructL()", "NewL()", "NewLC()", "RunL()", "DoCancel()", "RunError(int)", "HandleCommandL(int)", "SizeChanged()",
         "Draw(TRect const&) const", "CountComponentControls() const", "ComponentControl(int) const", "Close()", "Open()",
         "OfferKeyEventL(TKeyEvent const&, TEventCode)", "HandleResourceChange(int)", "Extension_(unsigned int, void*&, void*)",
         "HandlePointerEventL(TPointerEvent const&)", "ServiceL(RMessage2 const&)", "Reset()", "Count() const"]
TYPES = ["int", "unsigned int", "void*", "TDesC16 const&", "TDesC8 const&", "TDes16&", "TDes8&", "TRequestStatus&", "TTime const&",
         "TRect const&", "TPoint const&", "TSize const&", "TUid", "RFs&", "RWriteStream&", "RReadStream&", "TInt64 const&",
         "CBufBase&", "HBufC16*", "HBufC8*", "TBool", "RPointerArray<HBufC16>&", "RArray<int>&", "TAny*", "TLex16&",
         "RMessage2 const&", "TCallBack const&", "CBase*", "TResourceReader&", "bool", "unsigned char const*", "char const*"]
STUBS = ["User::Leave(int)", "User::LeaveIfError(int)", "User::Alloc(int)", "User::Free(void*)", "User::Panic(TDesC16 const&, int)",
         "operator delete(void*)", "operator new(unsigned int)", "operator new(unsigned int, TLeave)", "CBase::~CBase()",
         "CBase::Extension_(unsigned int, void*&, void*)", "CleanupStack::PushL(void*)", "CleanupStack::PushL(CBase*)",
         "CleanupStack::Pop()", "CleanupStack::PopAndDestroy()", "CleanupStack::PopAndDestroy(int)", "TPtrC16::TPtrC16(TDesC16 const&)",
         "TDesC16::Compare(TDesC16 const&) const", "TDesC16::Length() const", "TDes16::Copy(TDesC16 const&)",
         "TDes16::Append(TDesC16 const&)", "TDes8::Append(TDesC8 const&)", "HBufC16::NewL(int)", "HBufC16::NewLC(int)",
         "RHandleBase::Close()", "CActive::CActive(int)", "CActive::SetActive()", "CActive::Cancel()", "CActiveScheduler::Add(CActive*)",
         "RPointerArrayBase::At(int) const", "RPointerArrayBase::Append(void const*)", "RArrayBase::Count() const", "Mem::Fill(void*, int, TChar)",
         "memcpy", "memset", "memmove", "__aeabi_memcpy", "__aeabi_memclr", "__aeabi_idiv", "__aeabi_uidiv", "__cxa_pure_virtual"]
LAYERS = ["kern", "hal", "comms", "net", "gfx", "media", "ui", "app", "pim", "mtp", "sec", "tel", "loc", "web", "qt", "java", "sync"]


class Random:
    """xorshift64*: Python's own generator may change."""

    def __init__(self, seed):
        self.state = seed

    def below(self, count):
        s = self.state
        s ^= s >> 12
        s = s ^ (s << 25) & (1 << 64) - 1
        s ^= s >> 27
        self.state = s
        return ((s * 2685821657736338717) & (1 << 64) - 1) % (1 << 53) * count >> 53

    def pick(self, items):
        return items[self.below(len(items))]


def arguments(random):
    count = (0, 0, 1, 1, 1, 2, 2, 3, 4)[random.below(9)]
    return "(" + ", ".join(random.pick(TYPES) for _ in range(count)) + ")" + (" const" if random.below(5) == 0 else "")


def class_name(random):
    words = "".join(random.pick(WORDS) for _ in range(2 + random.below(3)))
    name = random.pick(KINDS) + words
    return random.pick(WORDS) + "::" + name if random.below(8) == 0 else name


def class_symbols(random, name):
    base = name.rsplit("::", 1)[-1]
    for _ in range(1 + random.below(2)):
        yield f"{name}::{base}{arguments(random)}", "i._ZN"
    if random.below(2):
        yield f"{name}::~{base}()", "i._ZN"
        yield f"{name}::~{base}__deallocating()", "i._ZN"
    for fixed in FIXED:
        if random.below(6) == 0:
            yield f"{name}::{fixed}", "i._ZN"
    for _ in range(random.below(24)):
        method = random.pick(VERBS) + "".join(random.pick(WORDS) for _ in range(random.below(3)))
        yield f"{name}::{method}{'L' if random.below(3) == 0 else ''}{arguments(random)}", "i._ZN"
    if random.below(3) == 0:
        yield f"thunk{{-{4 * (1 + random.below(20))}}} to {name}::{random.pick(FIXED)}", "i._ZThn"
    if random.below(3) == 0:
        yield f"typeinfo for {name}", ".constdata"
        yield f"typeinfo name for {name}", ".constdata"
        yield f"vtable for {name}", ".constdata"


def binary_symbols(random, count):
    yield "_E32Startup" if random.below(4) == 0 else "_E32Dll", ".emb_text"
    left = count - 1
    known = []
    while left > len(known):
        name = class_name(random)
        unit = name.rsplit("::", 1)[-1].lower()[:14]
        for symbol, section in class_symbols(random, name):
            yield symbol, f"{unit}.o({section})"
            left -= 1
        if random.below(3) == 0:
            known.append(random.pick(STUBS))
    for stub in known:
        yield stub, "EUSER.in(StubCode)"
    yield "__DLL_Export_Table__", "export.o(ExportTable)"
    yield "Image$$ER_RO$$Base", "anon$$obj.o(linker$$defined$$symbols)"


def make(out, binaries, symbols):
    random = Random(0x5359424D)
    address, written = 0x80001000, 0
    names = set()
    for number in range(binaries):
        while True:
            stem = random.pick(LAYERS) + random.pick(WORDS).lower() + random.pick(["", "", "server", "client", "utils", "engine", "plugin"])
            if stem not in names:
                break
            stem += str(number)
            if stem not in names:
                break
        names.add(stem)
        ending = random.pick(["dll", "dll", "dll", "exe", "fsy", "pdl", "ldd"])
        out.write(f"\nFrom    \\epoc32\\release\\armv5\\urel\\{stem}.{ending}\n\n")
        share = (symbols - written) // (binaries - number)
        for symbol, where in binary_symbols(random, max(8, share // 4 + random.below(share * 3 // 2 + 1))):
            if "(" not in where:
                where = f"uc_dll_.o({where})"
            size = 8 if "StubCode" in where else 4 + 2 * min(random.below(64), random.below(400))
            out.write(f"{address | (size & 2) >> 1:08x}    {size:04x}    {symbol:<40s}  {where}\n")
            address += (size + 3) & ~3
            written += 1
        address = (address + 0xFFF) & ~0xFFF
    return written


def main():
    binaries = int(sys.argv[2]) if len(sys.argv) > 2 else 3000
    symbols = int(sys.argv[3]) if len(sys.argv) > 3 else 1000000
    with open(sys.argv[1], "w", encoding="ascii") as out:
        written = make(out, binaries, symbols)
    print(f"{sys.argv[1]}: {binaries} binaries, {written} symbols", file=sys.stderr)


if __name__ == "__main__":
    main()
