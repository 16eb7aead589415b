/* csn_shorten_name: the examples of the original, the nested form, names made to hurt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <callsign/names.h>

static struct csn_str str(const char *text) { return (struct csn_str){ text, strlen(text) }; }

static void expect_with(uint32_t flags, const char *name, const char *want) {
    char out[2048];
    size_t len = 0;
    assert_int_equal(csn_shorten_name(str(name), flags, out, sizeof out, &len, NULL), CSN_OK);
    assert_string_equal(out, want);
    assert_int_equal(len, strlen(want));
    /* In place, and once more: what is short stays. */
    char same[2048];
    strcpy(same, name);
    assert_int_equal(csn_shorten_name((struct csn_str){ same, strlen(name) }, flags, same, sizeof same, &len, NULL), CSN_OK);
    assert_string_equal(same, want);
}

static void plain(const char *name, const char *want) { expect_with(0, name, want); }
static void nested(const char *name, const char *want) { expect_with(CSN_SHORTEN_NESTED, name, want); }
static void both(const char *name, const char *want) {
    plain(name, want);
    nested(name, want);
}

#define CTA "char, std::char_traits<char>, std::allocator<char> "
#define CT "char, std::char_traits<char> "

static void literals(void **state) {
    (void)state;
    both("std::__1::swap(int&, int&)", "std::swap(int&, int&)");
    both("f(std::basic_string<" CTA ">)", "f(std::string)");
    both("std::__1::basic_string<char, std::__1::char_traits<char>, std::__1::allocator<char> >::size() const",
         "std::string::size() const");
    both("std::basic_ostringstream<" CTA ">::str()", "std::basic_ostringstream::str()");
    both("std::basic_stringbuf<" CTA ">::sync()", "std::stringbuf::sync()");
    both("std::basic_istream<" CT ">::get()", "std::istream::get()");
    both("std::basic_ostream<" CT ">::put(char)", "std::ostream::put(char)");
    both("std::basic_iostream<" CT ">::~basic_iostream()", "std::iostream::~basic_iostream()");
    /* Demanglers after C++11 put no blank before the bracket; what else differs is another text. */
    both("std::basic_istream<char, std::char_traits<char>>::get()", "std::istream::get()");
    both("std::basic_string<char, std::char_traits<char>, std::allocator<char>>::size()", "std::string::size()");
    both("std::basic_istream<char,std::char_traits<char>>::get()", "std::basic_istream<char,std::char_traits<char>>::get()");
    plain("std::__cxx11::basic_string<" CTA ">::size()", "std::__cxx11::basic_string<" CTA ">::size()");
    nested("std::__cxx11::basic_string<" CTA ">::size()", "std::string::size()");
    nested("std::__ndk1::vector<int, std::__ndk1::allocator<int> >::size()", "std::vector<int>::size()");
}

static void vectors(void **state) {
    (void)state;
    both("std::__1::vector<int, std::__1::allocator<int> >::push_back(int const&)", "std::vector<int>::push_back(int const&)");
    both("std::__1::__vector_base<int, std::__1::allocator<int> >::clear()", "std::__vector_base<int>::clear()");
    both("std::__1::__split_buffer<Foo*, std::__1::allocator<Foo*> >::x()", "std::__split_buffer<Foo*>::x()");
    plain("std::__1::__split_buffer<Foo, std::__1::allocator<Foo>&>::x()", "std::__split_buffer<Foo, std::allocator<Foo>&>::x()");
    both("std::vector<int, my::allocator<int> >::size()", "std::vector<int, my::allocator<int> >::size()");
    both("std::vector<int, std::allocator<long> >::size()", "std::vector<int, std::allocator<long> >::size()");
    both("std::vector<int>::size()", "std::vector<int>::size()");
    both("my::std::vector<int, std::allocator<int> >::f()", "my::std::vector<int, std::allocator<int> >::f()");
    both("std::vector<int, std::allocator<int>>::size()", "std::vector<int>::size()");
    both("f(std::vector<int, std::allocator<int> >, std::vector<char, std::allocator<char> >)",
         "f(std::vector<int>, std::vector<char>)");
}

static void maps(void **state) {
    (void)state;
    both("std::map<int, Foo, std::less<int>, std::allocator<std::pair<int const, Foo> > >::operator[](int const&)",
         "std::map<int, Foo>::operator[](int const&)");
    both("std::map<int, Foo, std::less<int>, std::allocator<std::pair<int, Foo> > >::size()", "std::map<int, Foo>::size()");
    both("std::multimap<int, Foo, std::less<int>, std::allocator<std::pair<int const, Foo> > >::size()",
         "std::multimap<int, Foo>::size()");
    /* The original took the closing bracket here. */
    both("std::map<int, Foo, std::less<int>, std::allocator<std::pair<int const, Foo>>>::size()",
         "std::map<int, Foo>::size()");
    both("std::map<int, Foo, std::greater<int>, std::allocator<std::pair<int const, Foo> > >::size()",
         "std::map<int, Foo, std::greater<int>, std::allocator<std::pair<int const, Foo> > >::size()");
    both("std::map<int, Foo, std::less<int>, std::allocator<std::pair<long const, Foo> > >::size()",
         "std::map<int, Foo, std::less<int>, std::allocator<std::pair<long const, Foo> > >::size()");
    both("std::map<int, Foo, std::less<int>, std::allocator<std::pair<int const, Foot> > >::size()",
         "std::map<int, Foo, std::less<int>, std::allocator<std::pair<int const, Foot> > >::size()");
    both("std::map<std::pair<int, int>, Foo, std::less<std::pair<int, int> >, "
         "std::allocator<std::pair<std::pair<int, int> const, Foo> > >::size()",
         "std::map<std::pair<int, int>, Foo>::size()");
    nested("std::map<std::__cxx11::basic_string<" CTA ">, int, std::less<std::__cxx11::basic_string<" CTA "> >, "
           "std::allocator<std::pair<std::__cxx11::basic_string<" CTA "> const, int> > >::size()",
           "std::map<std::string, int>::size()");
}

static void inside_others(void **state) {
    (void)state;
    plain("foo(std::pair<int, std::vector<int, std::allocator<int> > >)",
          "foo(std::pair<int, std::vector<int, std::allocator<int> > >)");
    nested("foo(std::pair<int, std::vector<int, std::allocator<int> > >)", "foo(std::pair<int, std::vector<int> >)");
    plain("std::vector<std::vector<int, std::allocator<int> >, "
          "std::allocator<std::vector<int, std::allocator<int> > > >::size()",
          "std::vector<std::vector<int, std::allocator<int> >>::size()");
    nested("std::vector<std::vector<int, std::allocator<int> >, "
           "std::allocator<std::vector<int, std::allocator<int> > > >::size()",
           "std::vector<std::vector<int>>::size()");
    nested("std::map<int, std::vector<int, std::allocator<int> >, std::less<int>, "
           "std::allocator<std::pair<int const, std::vector<int, std::allocator<int> > > > >::size()",
           "std::map<int, std::vector<int>>::size()");
    /* One letter makes no qualified name: the pass goes on within. */
    both("f<std::vector<int, std::allocator<int> > >()", "f<std::vector<int> >()");
}

static void operators_and_lambdas(void **state) {
    (void)state;
#define VECTOR "std::vector<int, std::allocator<int> >"
    both("operator<(int, int)", "operator<(int, int)");
    plain("bool operator< <int>(" VECTOR " const&)", "bool operator< <int>(" VECTOR " const&)");
    nested("bool operator< <int>(" VECTOR " const&)", "bool operator< <int>(std::vector<int> const&)");
    plain("ns::operator<<(std::ostream&, " VECTOR ")", "ns::operator<<(std::ostream&, " VECTOR ")");
    nested("ns::operator<<(std::ostream&, " VECTOR ")", "ns::operator<<(std::ostream&, std::vector<int>)");
    nested("ns::operator>>(std::istream&, " VECTOR ")", "ns::operator>>(std::istream&, std::vector<int>)");
    nested("ns::operator<=><int>(" VECTOR ")", "ns::operator<=><int>(std::vector<int>)");
    both(VECTOR "::operator->() const", "std::vector<int>::operator->() const");
    nested("wrap<&Foo::operator->, " VECTOR " >::go()", "wrap<&Foo::operator->, std::vector<int> >::go()");
    nested("wrap<(1>0), " VECTOR " >::go()", "wrap<(1>0), std::vector<int> >::go()");
    nested("wrap<(a<b), " VECTOR " >::go()", "wrap<(a<b), std::vector<int> >::go()");
    nested("decltype (p->q) f<" VECTOR " >(" VECTOR ")", "decltype (p->q) f<std::vector<int> >(std::vector<int>)");
    both(VECTOR "::f()::{lambda(int)#1}::operator()(int) const", "std::vector<int>::f()::{lambda(int)#1}::operator()(int) const");
    both("f(" VECTOR ")::{lambda(" VECTOR ")#1}::operator()() const",
         "f(std::vector<int>)::{lambda(std::vector<int>)#1}::operator()() const");
    nested("my_operator<" VECTOR " >()", "my_operator<std::vector<int> >()");
    nested("<alloc::vec::Vec<T> as core::fmt::Debug>::fmt", "<alloc::vec::Vec<T> as core::fmt::Debug>::fmt");
}

static void unbalanced(void **state) {
    (void)state;
    static const char *const names[] = { "", "<", ">", "<>", "a<", "ab<", "ab<>", "ab<<", "ab<(>", ")", "]>)<([{", "std::vector<",
                                         "std::vector<int,", "std::vector<int, std::allocator<int>", "std::vector<,>",
                                         "std::vector<>", "std::map<,,,>", "std::map<int, int, std::less<int>, >", "::", "ab::",
                                         "ab:", "ab::c", "1::2<3>", ",", "ab<,", "operator", "operator<", "operator()", "->" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) both(names[i], names[i]);
    both("std::vector<int, std::allocator<int> > >", "std::vector<int> >");
    both(") std::vector<int, std::allocator<int> >", ") std::vector<int>");
    plain("( std::vector<int, std::allocator<int> >", "( std::vector<int>");
}

static void capacity(void **state) {
    (void)state;
    char out[8];
    size_t len = 0;
    struct csn_error err = CSN_ERROR_INIT;
    assert_int_equal(csn_shorten_name(str("12345678"), 0, out, sizeof out, &len, &err), CSN_E_LIMIT);
    assert_int_equal(len, 8);
    assert_string_equal(csn_error_text(&err), "name to shorten: 8 bytes, room for 8");
    assert_int_equal(csn_shorten_name(str("1234567"), 0, out, sizeof out, &len, &err), CSN_OK);
    assert_int_equal(csn_shorten_name(str("x"), 2, out, sizeof out, &len, &err), CSN_E_UNSUPPORTED);
    assert_string_equal(csn_error_text(&err), "csn_shorten_name: unknown flags 0x2");
}

/* A megabyte of `unit`, and `past` after it: done in no time, and never longer. */
static void large(const char *unit, const char *past) {
    enum { SIZE = 1 << 20 };
    size_t piece = strlen(unit), size = 0;
    char *name = malloc(SIZE + 64), *out = malloc(SIZE + 64);
    assert_non_null(name);
    assert_non_null(out);
    for (; size + piece < SIZE; size += piece) memcpy(name + size, unit, piece);
    memcpy(name + size, past, strlen(past));
    size += strlen(past);
    for (uint32_t flags = 0; flags < 2; flags++) {
        size_t len = 0;
        assert_int_equal(csn_shorten_name((struct csn_str){ name, size }, flags, out, SIZE + 64, &len, NULL), CSN_OK);
        assert_true(len <= size && out[len] == 0);
    }
    free(name);
    free(out);
}

static void large_names(void **state) {
    (void)state;
    static const char *const units[] = { "a", "ab::", "<", "ab<", "std::vector<", "std::vector<int, std::allocator<", "(", "ab<(",
                                         "ab<[", ">", ")", "ab<)", "std::__1", "std::basic_string<", "operator<", "operator<<",
                                         "std::vector<int, std::allocator<int> >", "std::map<a,", ",", "ab<,", " ", "ab< ",
                                         "std::map<int, Foo, std::less<int>, std::allocator<std::pair<int const, ", "->" };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        large(units[i], ">");
        large(units[i], " std::vector<int, std::allocator<int> >");
    }
}

/* Nesting that every level compares: twice as long at each. */
static void doubling_names(void **state) {
    (void)state;
    enum { ROOM = 1 << 20 };
    char *name = malloc(ROOM), *next = malloc(ROOM), *out = malloc(ROOM);
    assert_true(name && next && out);
    strcpy(name, "int");
    while (strlen(name) * 2 + 64 < ROOM) {
        strcpy(next, "std::vector<");
        strcat(next, name);
        strcat(next, ", std::allocator<");
        strcat(next, name);
        strcat(next, name[strlen(name) - 1] == '>' ? " > >" : "> >");
        char *swapped = name;
        name = next;
        next = swapped;
    }
    size_t len = 0;
    assert_int_equal(csn_shorten_name(str(name), CSN_SHORTEN_NESTED, out, ROOM, &len, NULL), CSN_OK);
    assert_true(len < 400);
    assert_null(strstr(out, "allocator"));
    free(name);
    free(next);
    free(out);
}

/* Any bytes: never longer, never touched after the end. */
static void random_names(void **state) {
    (void)state;
    static const char *const words[] = { "std::vector<", "std::map<", "std::allocator<", "std::less<", "std::pair<", "int", ", ",
                                         ">", " >", "<", "(", ")", "[", "]", "{", "}", "::", "operator", " const", "ab", "-", ",",
                                         "std::__1::", "\xff", " " };
    uint32_t seed = 12345;
    for (int round = 0; round < 5000; round++) {
        char name[512] = "", out[512];
        for (int k = 0; k < 24; k++) {
            seed = seed * 1664525 + 1013904223;
            strcat(name, words[(seed >> 16) % (sizeof words / sizeof *words)]);
        }
        size_t size = strlen(name);
        for (uint32_t flags = 0; flags < 2; flags++) {
            size_t len = 0;
            memset(out, '#', sizeof out);
            assert_int_equal(csn_shorten_name((struct csn_str){ name, size }, flags, out, size + 1, &len, NULL), CSN_OK);
            assert_true(len <= size && out[len] == 0 && out[size + 1] == '#');
        }
    }
}

static void renaming(void **state) {
    (void)state;
    char out[256], small[4];
    size_t len = 0;
    const char *mangled = "_ZNSt6vectorIiSaIiEE9push_backERKi";
    if (csn_demangle(str(mangled), out, sizeof out, &len, NULL) == CSN_E_UNSUPPORTED) skip();
    assert_int_equal(csn_rename_short(NULL, str(mangled), out, sizeof out, &len), CSN_OK);
    assert_string_equal(out, "std::vector<int>::push_back(int const&)");
    assert_int_equal(csn_rename_short(NULL, str("main"), out, sizeof out, &len), CSN_OK);
    assert_string_equal(out, "main");
    assert_int_equal(csn_rename_short(NULL, str(mangled), small, sizeof small, &len), CSN_E_LIMIT);
    assert_true(len > sizeof small);
    assert_int_equal(csn_rename_short(NULL, str("plain name"), small, sizeof small, &len), CSN_E_LIMIT);
    assert_int_equal(len, 10);
    assert_int_equal(csn_rename_short_nested(NULL, str("f(std::pair<int, std::vector<int, std::allocator<int> > >)"), out,
                                             sizeof out, &len), CSN_OK);
    assert_string_equal(out, "f(std::pair<int, std::vector<int> >)");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals),     cmocka_unit_test(vectors),        cmocka_unit_test(maps),
        cmocka_unit_test(inside_others), cmocka_unit_test(operators_and_lambdas), cmocka_unit_test(unbalanced),
        cmocka_unit_test(capacity),         cmocka_unit_test(large_names),    cmocka_unit_test(doubling_names),
        cmocka_unit_test(random_names), cmocka_unit_test(renaming),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
