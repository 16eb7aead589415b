// Prints its stack with boost.stacktrace, which calls libbacktrace's interface, from two threads.
#define BOOST_STACKTRACE_USE_BACKTRACE
#include <boost/stacktrace.hpp>

#include <iostream>
#include <thread>

namespace orders {
__attribute__((noinline)) int weigh(int n) {
    std::cout << boost::stacktrace::stacktrace() << std::flush; // LINE weigh
    return n + 1;
}

__attribute__((noinline)) int deliver(int n) {
    int result = weigh(n) + 1; // LINE deliver
    __asm__ volatile("");
    return result;
}
}

int main() {
    int result = orders::deliver(1); // LINE main
    std::thread other([] { orders::deliver(2); });
    other.join();
    return result == 0;
}
