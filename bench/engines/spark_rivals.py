"""What callsign.spark is compared with. The functions that run on executors are nested, so that they are sent whole."""
import re
import subprocess

import callsign
import callsign.spark


def function_per_row(df, store):
    """What a user writes first: a Python function called for each row, with the index of each module open."""
    from pyspark.sql.functions import udf
    open_indexes = {}

    def look_up(module, address):
        if module not in open_indexes:
            open_indexes[module] = callsign.Index(f"{store}/{module}.gsym")
        frames = open_indexes[module].lookup(address)
        return [tuple(frame) for frame in frames], None if frames else "none"

    answer = udf(look_up, f"frames {callsign.spark.FRAMES}, reason string")
    return df.withColumn("answer", answer("module", "address")).selectExpr("module", "address", "answer.frames", "answer.reason")


def addr2line_per_partition(df, object_path):
    """A child process for each module of each partition, one object file for all modules."""
    def answer(batches):
        import pyarrow as pa
        for batch in batches:
            rows = {}
            for number, (module, address) in enumerate(zip(batch.column(0).to_pylist(), batch.column(1).to_pylist())):
                rows.setdefault(module, []).append((number, address))
            out = [None] * batch.num_rows
            for wanted in rows.values():
                text = "".join(f"{address:#x}\n" for _, address in wanted)
                done = subprocess.run(["addr2line", "-a", "-f", "-i", "-e", object_path], input=text, capture_output=True, text=True, check=True)
                blocks = re.split(r"^0x[0-9a-f]+\n", done.stdout, flags=re.M)[1:]
                for (number, _), block in zip(wanted, blocks):
                    names = block.splitlines()[0::2]
                    out[number] = [] if names == ["??"] else names
            yield pa.RecordBatch.from_arrays([batch.column(0), batch.column(1), pa.array(out, pa.list_(pa.string())), pa.nulls(batch.num_rows, pa.string())],
                                             ["module", "address", "frames", "reason"])
    return df.mapInArrow(answer, "module string, address bigint, frames array<string>, reason string")


def write_symcaches(object_path, folder):
    """A symbolic SymCache for each .gsym of the folder, all of one file. False: symbolic is not installed."""
    try:
        from symbolic import Archive
    except ImportError:
        return False
    cache = next(iter(Archive.open(str(object_path)).iter_objects())).make_symcache()
    with open(folder / "object.symcache", "wb") as out:
        cache.dump_into(out)
    for path in folder.glob("*.gsym"):
        path.with_suffix(".symcache").hardlink_to(folder / "object.symcache")
    return True


def symbolic_in_the_same_plan(df, store, join):
    """The distinct pairs, the salted shuffle, the sort and the join of callsign.spark; lookups by symbolic's wheel."""
    def answer(batches):
        import pyarrow as pa
        from symbolic import SymCache
        struct = pa.struct([("function", pa.string()), ("offset", pa.int64()), ("file", pa.string()), ("line", pa.int32()), ("inlined", pa.bool_())])
        caches = {}
        for batch in batches:
            rows = []
            for module, address in zip(batch.column(0).to_pylist(), batch.column(1).to_pylist()):
                if module not in caches:
                    caches[module] = SymCache.open(f"{store}/{module}.symcache")
                found = caches[module].lookup(address)
                rows.append([(each.symbol, address - each.sym_addr, each.full_path, each.line, number + 1 < len(found)) for number, each in enumerate(found)])
            yield pa.RecordBatch.from_arrays([batch.column(0), batch.column(1), pa.array(rows, pa.list_(struct)), pa.nulls(batch.num_rows, pa.string())],
                                             [callsign.spark.MODULE_KEY, callsign.spark.ADDRESS_KEY, "frames", "reason"])
    return callsign.spark._symbolicate_addresses(df, "module", "address", answer, None, callsign.spark.SALT_ABOVE, join)
