// Measures, or prints, what LLVM's own GSYM reader answers, in process. Built by bench/rivals/build.
//
//   llvm_lookup time  INDEX ADDRESSES [REPEATS]   median and minimum ns a lookup: as its answers come, which is with the
//                                                 ends of all names and paths found; "strings read" reads every byte of
//                                                 them, and every line
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

// Reads every byte of a string, eight at a time, as bench_lookup.c does.
static uint64_t readBytes(StringRef s) {
  uint64_t sum = s.size(), word;
  uint32_t half[2];
  if (s.size() >= sizeof word) {
    for (size_t at = 0; at + sizeof word < s.size(); at += sizeof word) {
      memcpy(&word, s.data() + at, sizeof word);
      sum += word;
    }
    memcpy(&word, s.data() + s.size() - sizeof word, sizeof word);
    return sum + word;
  }
  if (s.size() >= sizeof half[0]) {
    memcpy(&half[0], s.data(), sizeof half[0]);
    memcpy(&half[1], s.data() + s.size() - sizeof half[1], sizeof half[1]);
    return sum + half[0] + half[1];
  }
  for (unsigned char c : s)
    sum += c;
  return sum;
}

static uint64_t takeAnswer(const LookupResult &result, bool strings) {
  if (!strings)
    return result.Locations.size() + (result.Locations.empty() ? 0 : result.Locations[0].Line);
  uint64_t sum = 0;
  for (const auto &frame : result.Locations)
    sum += readBytes(frame.Name) + readBytes(frame.Dir) + readBytes(frame.Base) + frame.Line;
  return sum;
}

// Addresses that have an answer.
static size_t countFound(const GsymReader &reader, const std::vector<uint64_t> &addrs) {
  size_t found = 0;
  for (uint64_t addr : addrs) {
    auto result = reader.lookup(addr);
    if (result)
      found += !result->Locations.empty();
    else
      consumeError(result.takeError());
  }
  return found;
}

static void measure(const char *what, bool strings, const GsymReader &reader, const std::vector<uint64_t> &addrs,
                    size_t repeats) {
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
      sum += takeAnswer(*result, strings);
    }
    std::chrono::duration<double, std::nano> all = std::chrono::steady_clock::now() - start;
    ns.push_back(all.count() / (double)addrs.size());
  }
  std::sort(ns.begin(), ns.end());
  printf("%s%zu addresses, %zu found: median %.1f ns, minimum %.1f ns a lookup (checksum %llu)\n", what, addrs.size(),
         countFound(reader, addrs), ns[ns.size() / 2], ns[0], (unsigned long long)sum);
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
    size_t repeats = argc > 4 ? strtoul(argv[4], nullptr, 10) : 5;
    measure("", false, *reader, addrs, repeats);
    measure("strings read: ", true, *reader, addrs, repeats);
  }
  return 0;
}
