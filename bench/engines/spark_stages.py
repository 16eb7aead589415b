"""What the stages of a query cost, from Spark's REST interface."""
import json
import urllib.request


def read_stages(spark, since):
    """The stages from number `since` on that ran, and the next number."""
    base = f"{spark.sparkContext.uiWebUrl}/api/v1/applications/{spark.sparkContext.applicationId}/stages"
    with urllib.request.urlopen(base, timeout=30) as answer:
        stages = json.load(answer)
    following = max((stage["stageId"] for stage in stages), default=-1) + 1
    return [stage for stage in stages if stage["stageId"] >= since and stage["numCompleteTasks"]], following


def roles_of(stages, frames, pairs):
    """(stage, role) of the stages of callsign.spark's plan, by how many records they read and write; the words are those of docs/engines.md.
    The stage of the lookups is the last one that reads the pairs, each once."""
    ordered = sorted(stages, key=lambda stage: stage["stageId"])
    lookups = max((stage["stageId"] for stage in ordered if stage["shuffleReadRecords"] == pairs and stage["shuffleWriteRecords"] in (0, pairs)), default=None)
    for stage in ordered:
        writes = stage["shuffleWriteRecords"]
        if stage["stageId"] == lookups:
            yield stage, "lookups"
        elif stage["inputRecords"] and writes > stage["numTasks"]:
            yield stage, "shuffle of rows" if writes >= frames else "distinct"
        elif stage["inputRecords"] + stage["shuffleReadRecords"] >= frames:
            yield stage, "join"
        else:
            yield stage, "salt and shuffle of pairs"


def costs_of(stages, frames, pairs):
    """For each role: seconds that its tasks ran, seconds of processor time of the executors' JVMs (their Python processes do not
    count), and bytes written to shuffles. Without `pairs`, one role: another plan ran."""
    costs = {}
    for stage, role in roles_of(stages, frames, pairs) if pairs else ((stage, "all") for stage in stages):
        cost = costs.setdefault(role, {"task_seconds": 0.0, "jvm_cpu_seconds": 0.0, "shuffle_bytes": 0})
        cost["task_seconds"] += stage["executorRunTime"] / 1e3
        cost["jvm_cpu_seconds"] += stage["executorCpuTime"] / 1e9
        cost["shuffle_bytes"] += stage["shuffleWriteBytes"]
    return {role: {name: round(value, 3) for name, value in cost.items()} for role, cost in costs.items()}


def sum_of(costs, name):
    return sum(cost[name] for cost in costs.values())
