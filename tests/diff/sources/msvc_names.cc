/* Every feature that Microsoft's scheme has a letter for, without a header. test_demangle.py compiles it for three machines and compares
 * the names. */
namespace std {
class type_info {
  public:
    virtual ~type_info();

  private:
    void *d;
};
} // namespace std
struct B0 {
    virtual int f(int);
    virtual ~B0();
    int b;
};
struct B1 {
    virtual void g() const volatile;
    virtual ~B1();
};
struct VB {
    virtual void h();
    int z;
};
struct D : B0, virtual B1, virtual VB {
    int f(int) override;
    void g() const volatile override;
    void h() override;
    ~D() override;
    D();
    D(const D &);
    static int s;

  protected:
    static const D *const p;
    void prot(...);

  private:
    static volatile int q;
    virtual D *cov() &;
    int r() &&;
    static void st(D &&, int D::*, void (D::*)(char) const);
};
int B0::f(int x) { return x; }
B0::~B0() {}
void B1::g() const volatile {}
B1::~B1() {}
void VB::h() {}
int D::f(int) { return 1; }
void D::g() const volatile {}
void D::h() {}
D::~D() {}
D::D() {}
D::D(const D &) {}
int D::s;
const D *const D::p = 0;
void D::prot(...) {}
volatile int D::q;
D *D::cov() & { return this; }
int D::r() && { return 0; }
void D::st(D &&, int D::*, void (D::*)(char) const) {}
struct Ops {
    Ops &operator=(const Ops &);
    Ops operator+(int);
    Ops operator-(int);
    Ops operator*(int);
    Ops operator/(int);
    Ops operator%(int);
    Ops operator^(int);
    Ops operator&(int);
    Ops operator|(int);
    Ops operator~();
    bool operator!();
    bool operator<(int);
    bool operator>(int);
    Ops &operator+=(int);
    Ops &operator-=(int);
    Ops &operator*=(int);
    Ops &operator/=(int);
    Ops &operator%=(int);
    Ops &operator^=(int);
    Ops &operator&=(int);
    Ops &operator|=(int);
    Ops operator<<(int);
    Ops operator>>(int);
    Ops &operator<<=(int);
    Ops &operator>>=(int);
    bool operator==(int);
    bool operator!=(int);
    bool operator<=(int);
    bool operator>=(int);
    bool operator&&(int);
    bool operator||(int);
    Ops &operator++();
    Ops operator++(int);
    Ops &operator--();
    Ops operator,(int);
    Ops *operator->();
    int operator->*(int);
    int operator()(int, ...);
    int operator[](int);
    operator int();
    template <class T> operator T *();
    int operator<=>(const Ops &);
    void *operator new(decltype(sizeof 0));
    void operator delete(void *);
    void *operator new[](decltype(sizeof 0));
    void operator delete[](void *);
};
long double operator""_km(long double);
template <class T> int tv = 3;
template int tv<D>;
extern "C" void cfn() {
    static int local = tv<D>;
    struct L {
        void m() {}
    };
    L().m();
}
namespace {
int hidden(D *) { return 1; }
struct Anon {
    void f() {}
};
} // namespace
int __stdcall sc(int);
int __fastcall fc(int);
int __vectorcall vc(int, float);
__attribute__((swiftcall)) void sw();
void swa();
const char *str() { return "hello \\ \"quoted\" 'x' \n\t\x01\xff"; }
const wchar_t *wstr() { return L"wide \u20ac string that is longer than thirty two characters for sure"; }
const char16_t *s16() { return u"utf16 text"; }
const char32_t *s32() { return U"utf32"; }
const char *lng() { return "a string that is much longer than thirty-two bytes, really"; }
const char16_t *l16() { return u"a longer utf16 text which is cut off"; }
int arr[3][4];
int (*parr)[5];
int (&rarr)[6] = *(int (*)[6])0;
void (*fp)(int) = 0;
int (*(*fpp)(char))(short);
const int *const cip = 0;
int D::*dm;
void (D::*fm)(char) const;
int *__restrict dummy(int *__restrict a, int *volatile b, const volatile int *c);
D dyn;
const D &ref = dyn;
inline D &lazy() {
    static D d;
    static thread_local D e;
    return d;
}
thread_local D tl;
void use(Ops &o) {
    o = o;
    o + 1;
    o - 1;
    o * 1;
    o / 1;
    o % 1;
    o ^ 1;
    o & 1;
    o | 1;
    ~o;
    !o;
    o < 1;
    o > 1;
    o += 1;
    o -= 1;
    o *= 1;
    o /= 1;
    o %= 1;
    o ^= 1;
    o &= 1;
    o |= 1;
    o << 1;
    o >> 1;
    o <<= 1;
    o >>= 1;
    o == 1;
    o != 1;
    o <= 1;
    o >= 1;
    o && 1;
    o || 1;
    ++o;
    o++;
    --o;
    o, 1;
    o.operator->();
    o->*1;
    o(1, 2);
    o[1];
    (int)o;
    (D *)o;
    o <=> o;
    new Ops;
    delete &o;
    new Ops[2];
    delete[] &o;
    1.0_km;
    sc(1);
    fc(1);
    vc(1, 2);
    sw();
    swa();
    cfn();
    hidden(0);
    Anon().f();
    lazy();
    throw D();
}
template <int... N> struct Seq {};
template <class... T> struct Tup {};
template <template <class...> class T> struct TT {};
template <auto A> struct Au {};
template <int (B0::*F)(int)> struct MF {};
template <int D::*M> struct DM {};
template <const int &R> struct Rf {};
template <class T, class U = T *>
void ft(T, U, Seq<1, 2, -3>, Tup<>, Tup<int, T>, TT<Tup>, Au<3>, Au<'c'>, Au<&B0::f>, Au<(int B0::*)nullptr>,
        MF<&B0::f>) {}
extern const int gl;
template <class T> auto ret(T t) -> decltype(t) { return t; }
auto aut() {
    return [](auto... x) { return sizeof...(x); }(1, 'a', [] {});
}
decltype(auto) da() { return (gl); }
struct VMI : D, Ops {
    void mm();
};
template <void (VMI::*F)()> struct VF {};
template <int VMI::*F> struct VD {};
void vf(VF<&VMI::mm>, VF<nullptr>, VD<nullptr>, MF<nullptr>, Rf<gl>) {}
void vf2(const Tup<const int, volatile D, int[], int[4], const int[2], void(), void(int) noexcept, D &, D &&,
                   decltype(nullptr)> &) noexcept {}
struct Cls {
    enum En : char { x };
    class In;
    union Un {
        int q;
    };
};
void tags(Cls, Cls::En, Cls::In *, Cls::Un &, enum Fw : int) {}
void inst() {
    ft(1, (char *)0, {}, {}, {}, {}, {}, {}, {}, {}, {});
    ret(D());
    aut();
    da();
    struct {
        int q;
    } un;
    ret(&un);
    typeid(D);
    typeid(int *);
    dynamic_cast<D *>((B0 *)0);
}
