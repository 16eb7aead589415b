/* Names of each language but C++ (test_itanium.c), read whole, cut short and damaged: what is expected is what the language's own tool
 * writes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <callsign/names.h>

struct pair {
    const char *mangled, *plain;
};

/* llvm-cxxfilt 22; constants that it does not read as rustfilt writes them. */
static const struct pair rust_names[] = {
    { "_RNvCs2V9h09aieGo_8punycode6decode",
      "punycode::decode" },
    { "_RNvCs2kG0j3MTwLO_8anstream6stderr",
      "anstream::stderr" },
    { "_RNvMs0_NtNtCs8NwYtU1Mohg_4core3fmt3numo4__fmt",
      "<u128>::_fmt" },
    { "_RNvNtCsi4IsKQVxMg0_3std3env4__var.cold",
      "std::env::_var (.cold)" },
    { "_RNvMs0_Cs3zyCZg5iFum_8fastrandNtB5_3Rng3f64",
      "<fastrand::Rng>::f64" },
    { "_RNCNvNtCsawraf0TffWq_5cargo3cli3clis_0B5_",
      "cargo::cli::cli::{closure#1}" },
    { "_RINvCs3Wn5k6Pa3dh_8thin_vec10alloc_sizehEB2_",
      "thin_vec::alloc_size::<u8>" },
    { "_RNvXst_CsdCJhFkSJ67r_4itoamNtB5_8Unsigned3fmt",
      "<u32 as itoa::Unsigned>::fmt" },
    { "_RNvMNtCsbEht8wFNRx7_5alloc5sliceSh6repeatCsblJBSCBpB7e_9rustc_ast",
      "<[u8]>::repeat" },
    { "_RNvXs6_NtNtCsi4IsKQVxMg0_3std2io5implsRShNtB7_4Read4read",
      "<&[u8] as std::io::Read>::read" },
    { "_RNvXs8_NtNtCsi4IsKQVxMg0_3std2io5implsQShNtB7_5Write5flush",
      "<&mut [u8] as std::io::Write>::flush" },
    { "_RNSNvMs8_NtCs8NwYtU1Mohg_4core3numo15overflowing_div5reify",
      "<u128>::overflowing_div::{shim:reify#0}" },
    { "_RNvNtCsbQ5qmPw7Wbv_15rustc_interface6passes8analysis.cold",
      "rustc_interface::passes::analysis (.cold)" },
    { "_RNvMNtNtNtCsgEmfK2I1SDS_4core3num6bignum5testsNtB2_6Big8x33add",
      "<core::num::bignum::tests::Big8x3>::add" },
    { "_RINvMNtCs8NwYtU1Mohg_4core5sliceSh12strip_prefixAhja_ECsipwc6McNGoh_3gix",
      "<[u8]>::strip_prefix::<[u8; 10]>" },
    { "_RNvXs1g_NtCs8NwYtU1Mohg_4core3fmtRDNtB6_5DebugEL_Bx_3fmtB8_",
      "<&dyn core::fmt::Debug as core::fmt::Debug>::fmt" },
    { "_RNvXsp_NtCs8NwYtU1Mohg_4core3fmtPhNtB5_5Debug3fmtCslpoGbNuK3bv_7memmap2",
      "<*const u8 as core::fmt::Debug>::fmt" },
    { "_RNvXs1g_NtCs8NwYtU1Mohg_4core3fmtRzNtB6_5Debug3fmtCs5j6XFghYC1j_13rustc_resolve",
      "<&! as core::fmt::Debug>::fmt" },
    { "_RNvNvMs_NtCsbEht8wFNRx7_5alloc3vecINtB6_3VecppE6remove13assert_failed",
      "<alloc::vec::Vec<_, _>>::remove::assert_failed" },
    { "_RNvMNtCsairCCGeQF1y_12rustc_expand6configNtB2_17StripUnconfigured8cfg_true",
      "<rustc_expand::config::StripUnconfigured>::cfg_true" },
    { "_RNvMs_NtNtCsk08wTpDC9h5_12rustc_target3asm5s390xNtB4_17S390xInlineAsmReg4emit",
      "<rustc_target::asm::s390x::S390xInlineAsmReg>::emit" },
    { "_RNvXsq_NtCs8NwYtU1Mohg_4core3fmtONtNtB7_3ffi6c_voidNtB5_5Debug3fmtCsi4IsKQVxMg0_3std",
      "<*mut core::ffi::c_void as core::fmt::Debug>::fmt" },
    { "_RNvMs_NtCsdqyVfVchmWC_18rustc_ast_lowering4exprNtB6_15LoweringContext11expr_unsafe.cold",
      "<rustc_ast_lowering::LoweringContext>::expr_unsafe (.cold)" },
    { "_RNvXs0_NtCs8NwYtU1Mohg_4core3anyDNtB5_3AnyNtNtB7_6marker4SendEL_NtNtB7_3fmt5Debug3fmt",
      "<dyn core::any::Any + core::marker::Send as core::fmt::Debug>::fmt" },
    { "_RINvNtNtCsi4IsKQVxMg0_3std3sys9backtrace28___rust_begin_short_backtraceFEuuECsawraf0TffWq_5cargo",
      "std::sys::backtrace::__rust_begin_short_backtrace::<fn(), ()>" },
    { "_RNvMs6_NtNtCs1JQOruJCR77_18rustc_hir_analysis5check7wfcheckNtB5_14WfCheckingCtxt25check_false_global_bounds",
      "<rustc_hir_analysis::check::wfcheck::WfCheckingCtxt>::check_false_global_bounds" },
    { "_RNvMs3_NtCsbEht8wFNRx7_5alloc7raw_vecINtB5_6RawVecTOhFUKCBN_EuENtNtCsi4IsKQVxMg0_3std5alloc6SystemE8grow_oneB13_",
      "<alloc::raw_vec::RawVec<(*mut u8, unsafe extern \"C\" fn(*mut u8)), std::alloc::System>>::grow_one" },
    { "_ZN4core3fmt9Formatter3new17h0123456789abcdefE",
      "core::fmt::Formatter::new" },
    { "_ZN5alloc2rc11Rc$LT$T$GT$3new17h66d34a2fa93080eaE",
      "alloc::rc::Rc<T>::new" },
    { "_ZN4core3str21_$LT$impl$u20$str$GT$3len17h7591b248bbd47bd4E",
      "core::str::<impl str>::len" },
    { "_ZN4core6option19Option$LT$$RF$T$GT$6cloned17h4b0220ec1542462bE",
      "core::option::Option<&T>::cloned" },
    { "_ZN5alloc3vec16Vec$LT$T$C$A$GT$3len17h0f62be65f27d1001E",
      "alloc::vec::Vec<T,A>::len" },
    { "_ZN4core3ptr30drop_glue$LT$std..fs..File$GT$17h530cd35e57c40616E",
      "core::ptr::drop_glue<std::fs::File>" },
    { "_ZN8rustfilt4main28_$u7b$$u7b$closure$u7d$$u7d$17h6882b9a1e4b33e06E",
      "rustfilt::main::{{closure}}" },
    { "_ZN4core3ptr9const_ptr33_$LT$impl$u20$$BP$const$u20$T$GT$13is_aligned_to17h261b3559971e4759E",
      "core::ptr::const_ptr::<impl *const T>::is_aligned_to" },
    { "_ZN4core5slice29_$LT$impl$u20$$u5b$T$u5d$$GT$3get17h3c5b87754529bbfaE",
      "core::slice::<impl [T]>::get" },
    { "_ZN45_$LT$$LP$$RP$$u20$as$u20$core..fmt..Debug$GT$3fmt17hd89b52ce6d3899b0E",
      "<() as core::fmt::Debug>::fmt" },
    { "_RNvC6_123foo3bar",
      "123foo::bar" },
    { "_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
      "utf8_idents::საჭმელად_გემრიელი_სადილი" },
    { "_RNCINkXs25_NgCsbmNqQUJIY6D_4core5sliceINyB9_4IterhENuNgNoBb_4iter8iterator8Iterator9rpositionNCNgNpB9_6memchr7memrchrs_0E0Bb_",
      "<core::slice::Iter<u8> as core::iter::iterator::Iterator>::rposition::<core::slice::memchr::memrchr::{closure#1}>::{closure#0}" },
    { "_RINbNbCskIICzLVDPPb_5alloc5alloc8box_freeDINbNiB4_5boxed5FnBoxuEp6OutputuEL_ECs1iopQbuBiw2_3std",
      "alloc::alloc::box_free::<dyn alloc::boxed::FnBox<(), Output = ()>>" },
    { "_RMC0INtC8arrayvec8ArrayVechKj7b_E",
      "<arrayvec::ArrayVec<u8, 123>>" },
    { "_RMCs4fqI2P2rA04_13const_genericINtB0_8UnsignedKhb_E",
      "<const_generic::Unsigned<11>>" },
    { "_RMCs4fqI2P2rA04_13const_genericINtB0_6SignedKs98_E",
      "<const_generic::Signed<152>>" },
    { "_RMCs4fqI2P2rA04_13const_genericINtB0_6SignedKanb_E",
      "<const_generic::Signed<-11>>" },
    { "_RMCs4fqI2P2rA04_13const_genericINtB0_4BoolKb1_E",
      "<const_generic::Bool<true>>" },
    { "_RMCs4fqI2P2rA04_13const_genericINtB0_4CharKc76_E",
      "<const_generic::Char<'v'>>" },
    { "_RMCs4fqI2P2rA04_13const_genericINtB0_4CharKca_E",
      "<const_generic::Char<'\\n'>>" },
    { "_RMCs4fqI2P2rA04_13const_genericINtB0_4CharKc2202_E",
      "<const_generic::Char<'\\u{2202}'>>" },
    { "_RNvNvMCs4fqI2P2rA04_13const_genericINtB4_3FooKpE3foo3FOO",
      "<const_generic::Foo<_>>::foo::FOO" },
    { "_RC3foo.llvm.9D1C9369",
      "foo (.llvm.9D1C9369)" },
    { "_RINvC1a1fKRe616263_E",
      "a::f::<\"abc\">" },
    { "_RINvC1a1fKRe22275c0a_E",
      "a::f::<\"\\\"'\\\\\\n\">" },
    { "_RINvC1a1fKRAh1_h2_EE",
      "a::f::<{&[1, 2]}>" },
    { "_RINvC1a1fKTc31_b0_EE",
      "a::f::<{('1', false)}>" },
    { "_RINvC1a1fKe6162_E",
      "a::f::<{*\"ab\"}>" },
    { "_RINvC1a1fFG0_RL1_hRL0_tEuE",
      "a::f::<for<'a, 'b> fn(&'a u8, &'b u16)>" },
    { "_RINvC1a1fDG_INtC1b1TRL0_hEp1AuEL_E",
      "a::f::<dyn for<'a> b::T<&'a u8, A = ()>>" },
    { "_RINvC1a1fFK5a_b_cEzE",
      "a::f::<extern \"a-b-c\" fn() -> !>" },
    { "_RINvC1a1fKo123456789abcdef0123_E",
      "a::f::<0x123456789abcdef0123>" },
};

/* c++filt -s dlang of binutils 2.40; names with a suffix, and "return scope" in that order, are read beyond it. */
static const struct pair d_names[] = {
    { "_D6Object6__vtblZ",
      "vtable for Object" },
    { "_D3std6system2osyEQqQo2OS",
      "std.system.os" },
    { "_D6Object7__ClassZ",
      "ClassInfo for Object" },
    { "_D3std12__ModuleInfoZ",
      "ModuleInfo for std" },
    { "_D6Object6__initZ",
      "initializer for Object" },
    { "_D3dmd2ob7ObState6__dtorMFZv",
      "dmd.ob.ObState.~this()" },
    { "_D2rt5tlsgc7destroyFNbNiPvZv",
      "rt.tlsgc.destroy(void*)" },
    { "_D6Object7__ClassZ.1630",
      "ClassInfo for Object (.1630)" },
    { "_D3std3xml4exitFAyaZv",
      "std.xml.exit(immutable(char)[])" },
    { "_D3dmd3doc7isDittoFPxaZb",
      "dmd.doc.isDitto(const(char)*)" },
    { "_D3std10functional11__moduleRefZ",
      "std.functional.__moduleRef" },
    { "_D4core4time15__modsharedctorFZv",
      "core.time.__modsharedctor()" },
    { "_D6object7_xopCmpFIPvIQdZb",
      "object._xopCmp(in void*, in void*)" },
    { "_D3std6digest6Digest11__InterfaceZ",
      "Interface for std.digest.Digest" },
    { "_D3dmd6hdrgen11stcToStringFKmZAya",
      "dmd.hdrgen.stcToString(ref ulong)" },
    { "_D14TypeInfo_Inout7__ClassZ.2925",
      "ClassInfo for TypeInfo_Inout (.2925)" },
    { "_D3std5range8nullSinkFNaNbNcNiNfZSQBgQBf8NullSink",
      "std.range.nullSink()" },
    { "_D6object8TypeInfo4nextMNgFNaNbNdNiZNgCQBe",
      "object.TypeInfo.next() inout" },
    { "_D4core5bitop2btFNaNbNiMxPmmZi",
      "core.bitop.bt(scope const(ulong*), ulong)" },
    { "_D3dmd5lexer5Lexer5errorMFNbPxaYv",
      "dmd.lexer.Lexer.error(const(char)*, ...)" },
    { "_D3dmd4func15FuncDeclaration9setImpureMFZb",
      "dmd.func.FuncDeclaration.setImpure()" },
    { "_D3std3uni7toLowerFNaNfNkMAyaZQe",
      "std.uni.toLower(return scope immutable(char)[])" },
    { "_D3std3uni__T8spaceForVmi1ZQoFNaNbNiNfmZm",
      "std.uni.spaceFor!(1uL).spaceFor(ulong)" },
    { "_D3std3net4curl4Curl6onSendMFNdDFAvZmZv",
      "std.net.curl.Curl.onSend(ulong(void[]) delegate)" },
    { "_D6object__T7destroyVbi1TC6ObjectZQwFNbQoZv",
      "object.destroy!(true, Object).destroy(Object)" },
    { "_D3std8typecons__T5TupleTbTiZQl6__initZ",
      "initializer for std.typecons.Tuple!(bool, int).Tuple" },
    { "_D3std3uni__T5StackTkZQj3topMFNaNbNcNdNiNfZk.part.0",
      "std.uni.Stack!(uint).Stack.top() (.part.0)" },
    { "_D4core4time__T3durVAyaa4_64617973ZQuFNaNbNiNflZSQBvQBt8Duration",
      "core.time.dur!(\"days\").dur(long)" },
    { "_D4core4time__T3durVAyaa5_7765656b73ZQwFNaNbNiNflZSQBxQBv8Duration",
      "core.time.dur!(\"weeks\").dur(long)" },
    { "_D3std4path12absolutePathFNaNfAyaLQeZQh",
      "std.path.absolutePath(immutable(char)[], lazy immutable(char)[])" },
    { "_D3std6base64__T10Base64ImplVai43Vai47Vai61Z9EncodeMapyAa",
      "std.base64.Base64Impl!('+', '/', '=').EncodeMap" },
    { "_D3std6base64__T10Base64ImplVai45Vai95Vai61Z9EncodeMapyAa",
      "std.base64.Base64Impl!('-', '_', '=').EncodeMap" },
    { "_D4core3sys5posixQk5ioctl__T4_IOCTnZQiFNaNbNiiiiZi",
      "core.sys.posix.sys.ioctl._IOC!(typeof(null))._IOC(int, int, int)" },
    { "_D2rt6dmain212_d_run_main2UAAamPUQgZiZ6runAllMFZv",
      "rt.dmain2._d_run_main2(char[][], ulong, extern(C) int(char[][]) function).runAll()" },
};

static csn_status demangle(const char *name, size_t len, char *out, size_t cap, size_t *out_len) {
    return csn_demangle((struct csn_str){ name, len }, out, cap, out_len, NULL);
}

static void expect_all(const struct pair *pairs, size_t count) {
    char out[1024];
    size_t len;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(demangle(pairs[i].mangled, strlen(pairs[i].mangled), out, sizeof(out), &len), CSN_OK);
        assert_string_equal(out, pairs[i].plain);
    }
}

/* Every beginning, in memory of exactly that size. */
static void cut_all(const struct pair *pairs, size_t count) {
    char out[1024];
    size_t len;
    for (size_t i = 0; i < count; i++) {
        for (size_t size = 1; size < strlen(pairs[i].mangled); size++) {
            char *copy = malloc(size);
            memcpy(copy, pairs[i].mangled, size);
            demangle(copy, size, out, sizeof(out), &len);
            free(copy);
        }
    }
}

/* Every byte replaced by letters that mean something; where the text is cut by the room, its length is still told. */
static void damage_all(const struct pair *pairs, size_t count) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0129_.$?@";
    char name[512], out[1024], little[16];
    size_t len, cut_len;
    for (size_t i = 0; i < count; i++) {
        size_t size = strlen(pairs[i].mangled);
        memcpy(name, pairs[i].mangled, size);
        for (size_t at = 1; at < size; at++) {
            for (const char *letter = letters; *letter; letter++) {
                name[at] = *letter;
                csn_status status = demangle(name, size, out, sizeof(out), &len);
                csn_status cut = demangle(name, size, little, sizeof(little), &cut_len);
                if (status == CSN_NONE) assert_int_equal(cut, CSN_NONE);
                else assert_int_equal(len, cut_len);
            }
            name[at] = pairs[i].mangled[at];
        }
    }
}

#define COUNT(pairs) (sizeof(pairs) / sizeof((pairs)[0]))
#define LANGUAGE(name)                                            \
    static void test_##name(void **state) {                       \
        (void)state;                                              \
        expect_all(name##_names, COUNT(name##_names));            \
        cut_all(name##_names, COUNT(name##_names));               \
        damage_all(name##_names, COUNT(name##_names));            \
    }

LANGUAGE(rust)
LANGUAGE(d)

/* What looks like a mangled name and is none stays. */
static void test_no_names(void **state) {
    (void)state;
    static const char *const names[] = {
        "_R", "_RC", "_RC1", "_RNvC1a", "_RB_", "_RNvB_1a", "_RMC0RB2_", "_RIC1aB_E", "_RINvC1a1fKb2_E", "_RINvC1a1fKcd800_E",
        "_RINvC1a1fKRe6g_E", "_RINvC1a1fKReff_E", "_RINvC1a1fL0_E", "_RMC0FGZZZ_Eu", "_RYFG_FGyyEvRYFF_EvRYFFEvERLB_B_B_ERLRjB_B_B_",
        "_D", "_D1", "_D3fo", "_D3fooQ", "_D8demangle__T4test", "_D3fooHi", "_D3fooVi", "_D3fooFzZv",
    };
    for (size_t i = 0; i < COUNT(names); i++) {
        char out[64];
        size_t len = 77;
        assert_int_equal(demangle(names[i], strlen(names[i]), out, sizeof(out), &len), CSN_NONE);
        assert_int_equal(len, 77);
    }
}

/* Nesting without an end, one unit again and again. */
static void test_depth(void **state) {
    (void)state;
    static const char *const nested[][2] = {
        { "_RNvC1a", "Nv" }, { "_RINvC1a1f", "P" },    { "_RINvC1a1f", "INvC1a1f" }, { "_RINvC1a1fK", "RR" }, { "_RINvC1a1f", "FG_" },
        { "_D1aF", "P" },    { "_D1aF", "DF" },        { "_D1a", "FD" },             { "_D", "__T1a" },       { "_D1__T1aV", "Aa" },
        { "_D1aF", "H" },    { "_D3foo__T1aViA", "1A" }, { "_D1aF", "S1a" },
    };
    static char name[1 << 16], out[256];
    for (size_t i = 0; i < COUNT(nested); i++) {
        size_t len, used = (size_t)snprintf(name, sizeof(name), "%s", nested[i][0]);
        while (used < sizeof(name) - 16) used += (size_t)snprintf(name + used, sizeof(name) - used, "%s", nested[i][1]);
        assert_int_equal(demangle(name, used, out, sizeof(out), &len), CSN_NONE);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rust),
        cmocka_unit_test(test_d),
        cmocka_unit_test(test_no_names),
        cmocka_unit_test(test_depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
