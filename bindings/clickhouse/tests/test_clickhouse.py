"""callsign udf as executable function: in chdb, and in clickhouse-local where it is installed."""
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
COMMAND = os.environ.get("CALLSIGN", str(ROOT / "build/release/callsign"))
FORMATS = ["RowBinary", "TSV", "JSONEachRow"]
INSTALLED = (ROOT / "bindings/clickhouse/callsign_function.xml").read_text(encoding="utf-8")


def function_xml(name, kind, format, store, header):
    """The function that is installed, under another name, with a format and kind of its own."""
    text = re.search(r"<function>.*</function>", INSTALLED, re.S).group()
    text = text.replace("executable_pool", kind).replace("<name>symbolicate<", f"<name>{name}<").replace("<format>RowBinary<", f"<format>{format}<")
    command = f"{COMMAND} udf --format {format} --demangle --store {store}" + (" --chunk-header" if header else "")
    text = re.sub(r"<command>.*</command>", f"<command>{command}</command>", text)
    return text.replace("<send_chunk_header>1", f"<send_chunk_header>{int(header)}")


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("program")
    path = folder / "orders"
    subprocess.run(["g++", "-g", "-O2", ROOT / "examples/demo/orders.cc", "-o", path], check=True)
    return path


@pytest.fixture(scope="session")
def store(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    subprocess.run([COMMAND, "convert", "--quiet", program, "-o", folder / "orders.gsym"], check=True)
    (folder / "damaged.gsym").write_bytes((folder / "orders.gsym").read_bytes()[:100])
    return folder


@pytest.fixture(scope="session")
def addresses(program):
    return [int(text, 16) for text in subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()]


@pytest.fixture(scope="session")
def expected(store, addresses):
    """The names at the second address."""
    line = subprocess.run([COMMAND, "lookup", "--json", "-C", store / "orders.gsym", hex(addresses[1])], capture_output=True, text=True, check=True)
    return ";".join(frame["function"] for frame in json.loads(line.stdout)["frames"])


@pytest.fixture(scope="session")
def functions(store, tmp_path_factory):
    """A folder with the configuration of one function for each format and kind, and the one that is installed."""
    folder = tmp_path_factory.mktemp("functions")
    texts = [function_xml(f"{kind}_{format}_{int(header)}", kind, format, store, header)
             for kind in ("executable", "executable_pool") for format in FORMATS for header in (False, True)]
    texts.append(function_xml("symbolicate", "executable_pool", "RowBinary", store, True))
    (folder / "udf_config.xml").write_text(f"<functions>{''.join(texts)}</functions>\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="session", params=["chdb", "clickhouse-local"])
def query(request, functions, tmp_path_factory):
    """Runs SQL, gives rows as lists."""
    if request.param == "chdb":
        chdb = pytest.importorskip("chdb")
        return lambda sql: [json.loads(line) for line in str(chdb.query(sql, "JSONCompactEachRow", udf_path=str(functions))).splitlines()]
    binary = shutil.which("clickhouse") or shutil.which("clickhouse-local")
    if not binary:
        pytest.skip("clickhouse is not installed")
    folder = tmp_path_factory.mktemp("clickhouse")
    config = folder / "config.xml"
    config.write_text(f"<clickhouse><user_defined_executable_functions_config>{functions}/*.xml</user_defined_executable_functions_config>"
                      f"<user_scripts_path>{folder}</user_scripts_path></clickhouse>\n", encoding="utf-8")

    def run(sql):
        words = [binary] + (["local"] if Path(binary).name == "clickhouse" else [])
        done = subprocess.run([*words, "--config-file", config, "--output-format", "JSONCompactEachRow", "--query", sql], capture_output=True, text=True,
                              check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    return run


@pytest.mark.parametrize("header", [0, 1])
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("kind", ["executable", "executable_pool"])
def test_formats(query, addresses, expected, kind, format, header):
    rows = query(f"SELECT {kind}_{format}_{header}('orders', toUInt64({addresses[1]} + 0 * number)) FROM numbers(3)")
    assert rows == [[expected]] * 3


def test_blocks(query, addresses, expected):
    """Many blocks through the processes of a pool keep their order."""
    rows = query(f"SELECT countIf(symbolicate(if(number % 2, 'orders', 'none'), toUInt64({addresses[1]})) = "
                 f"if(number % 2, {expected!r}, '[there is no index for the module]')), count() FROM numbers(300000)")
    assert [[int(value) for value in row] for row in rows] == [[300000, 300000]]


def test_bad_input_does_not_end_the_query(query, addresses):
    rows = query("SELECT symbolicate(module, address) FROM VALUES('module String, address UInt64', "
                 f"('', 1), ('orders', 0), ('orders', 18446744073709551615), ('damaged', {addresses[0]}), ('a\\tb\\n', 1), ('orders', {addresses[0]}))")
    answers = [row[0] for row in rows]
    assert [answer[0] + answer[-1] for answer in answers[:-1]] == ["[]"] * 5
    assert "damaged.gsym: " in answers[3] and answers[-1] == "shop::report_stack()"


def test_nullable_columns(query, addresses):
    rows = query("SELECT symbolicate(ifNull(module, ''), ifNull(address, 0)) FROM VALUES('module Nullable(String), address Nullable(UInt64)', "
                 f"(NULL, 1), ('orders', NULL), ('orders', {addresses[0]}))")
    assert [row[0][0] for row in rows] == ["[", "[", "s"] and rows[2] == ["shop::report_stack()"]


def test_a_dictionary_names_modules(functions, addresses, tmp_path):
    """docs/engines.md: names of modules become build ids by a dictionary."""
    chdb = pytest.importorskip("chdb")
    sql = re.search(r"CREATE DICTIONARY.*?;", (ROOT / "docs/engines.md").read_text(encoding="utf-8"), re.S).group()
    sql = f"""CREATE DATABASE names ENGINE = Atomic; USE names;
        CREATE TABLE builds (name String, build_id String) ENGINE = MergeTree ORDER BY name;
        INSERT INTO builds VALUES ('short', 'orders'); {sql.replace("TABLE 'builds'", "TABLE 'builds' DB 'names'")}
        SELECT symbolicate(dictGet('modules', 'build_id', tuple('short')), toUInt64({addresses[0]}))"""
    answer = str(chdb.query(sql, "JSONCompactEachRow", path=str(tmp_path), udf_path=str(functions)))
    assert json.loads(answer.splitlines()[-1]) == ["shop::report_stack()"]


def test_splits_into_frames(query, addresses, expected):
    rows = query(f"SELECT splitByChar(';', symbolicate('orders', toUInt64({addresses[1]})))")
    assert rows == [[expected.split(";")]]
