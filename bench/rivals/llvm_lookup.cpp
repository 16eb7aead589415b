// Measures, or prints, what LLVM's own GSYM reader answers, in process. Built by bench/rivals/build.
//
//   llvm_lookup time  INDEX ADDRESSES [REPEATS]   median and minimum ns a lookup
//   llvm_lookup print INDEX ADDRESSES             one line an address: frames innermost first
//
// ADDRESSES: a file with one hexadecimal address a line.
// Printed form, the same as bench_lookup's: ADDR<TAB>NAME+OFFSET@PATH:LINE[ | NAME+OFFSET@PATH:LINE ...], or
// ADDR<TAB>- where there is no answer.
#include "llvm/DebugInfo/GSYM/GsymReader.h"
#include "llvm/DebugInfo/GSYM/LookupResult.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

using namespace llvm;
using namespace llvm::gsym;

static void printAnswer(const GsymReader &reader, uint64_t addr) {
  printf("0x%llx\t", (unsigned long long)addr);
  auto result = reader.lookup(addr);
  if (!result) {
    consumeError(result.takeError());
    puts("-");
    return;
  }
  const char *separator = "";
  for (const auto &frame : result->Locations) {
    printf("%s%s+%u@", separator, frame.Name.str().c_str(), frame.Offset);
    if (!frame.Dir.empty())
      printf("%s/", frame.Dir.str().c_str());
    printf("%s:%u", frame.Base.str().c_str(), frame.Line);
    separator = " | ";
  }
  puts("");
}

static void measure(const GsymReader &reader, const std::vector<uint64_t> &addrs, size_t repeats) {
  uint64_t sum = 0;
  std::vector<double> ns;
  for (size_t k = 0; k < repeats; k++) {
    auto start = std::chrono::steady_clock::now();
    for (uint64_t addr : addrs) {
      auto result = reader.lookup(addr);
      if (!result) {
        consumeError(result.takeError());
        continue;
      }
      sum += result->Locations.size();
      if (!result->Locations.empty())
        sum += result->Locations[0].Line;
    }
    std::chrono::duration<double, std::nano> all = std::chrono::steady_clock::now() - start;
    ns.push_back(all.count() / (double)addrs.size());
  }
  std::sort(ns.begin(), ns.end());
  printf("%zu addresses: median %.1f ns, minimum %.1f ns a lookup (checksum %llu)\n", addrs.size(), ns[ns.size() / 2],
         ns[0], (unsigned long long)sum);
}

int main(int argc, char **argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: llvm_lookup time|print INDEX ADDRESSES [REPEATS]\n");
    return 2;
  }
  auto reader = GsymReader::openFile(argv[2]);
  if (!reader) {
    errs() << argv[2] << ": " << toString(reader.takeError()) << "\n";
    return 1;
  }
  std::vector<uint64_t> addrs;
  std::ifstream in(argv[3]);
  for (std::string line; std::getline(in, line);)
    addrs.push_back(strtoull(line.c_str(), nullptr, 16));
  if (strcmp(argv[1], "print") == 0) {
    for (uint64_t addr : addrs)
      printAnswer(*reader, addr);
  } else if (!addrs.empty()) {
    measure(*reader, addrs, argc > 4 ? strtoul(argv[4], nullptr, 10) : 5);
  }
  return 0;
}
