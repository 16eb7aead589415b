def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", default=False,
                     help="every combination of compiler, DWARF version and optimization level")


def pytest_report_header(config):
    import gsym_diff
    reader = gsym_diff.llvm_harness() or gsym_diff.GSYMUTIL
    return f"differential tests: reference reader {getattr(reader, 'name', reader)}"
