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


def role_of(stage, frames):
    """Of a stage of callsign.spark's plan; the words are those of docs/engines.md."""
    reads, writes = stage["inputRecords"] + stage["shuffleReadRecords"], stage["shuffleWriteRecords"]
    if any("Python workers" in update["name"] for update in stage["accumulatorUpdates"]):
        return "lookups"
    if stage["inputRecords"] and writes >= frames:
        return "shuffle of rows"
    if stage["inputRecords"] and writes > stage["numTasks"]:
        return "distinct"
    if reads >= frames:
        return "join"
    return "shuffle of pairs" if writes > stage["numTasks"] else "other"


def costs_of(stages, frames):
    """For each role: seconds that its tasks ran, seconds of processor time of the executors' JVMs (their Python processes do not
    count), and bytes written to shuffles."""
    costs = {}
    for stage in stages:
        cost = costs.setdefault(role_of(stage, frames), {"task_seconds": 0.0, "jvm_cpu_seconds": 0.0, "shuffle_bytes": 0})
        cost["task_seconds"] += stage["executorRunTime"] / 1e3
        cost["jvm_cpu_seconds"] += stage["executorCpuTime"] / 1e9
        cost["shuffle_bytes"] += stage["shuffleWriteBytes"]
    return {role: {name: round(value, 3) for name, value in cost.items()} for role, cost in costs.items()}


def sum_of(costs, name):
    return sum(cost[name] for cost in costs.values())
