"""The tables that outgrow one machine (models tagged portable) on Spark, in turns with DuckDB.

DuckDB builds what reads no portable table, hands over what Spark needs as Parquet, Spark builds its
part by dbt's target spark, and DuckDB goes on from Spark's files. Some portable models read triples
that were proposed from the tables of others, so there are as many turns as the graph of models asks
for. In paths.spark_dir lie `semmeddb`, the dumps as Parquet; `in`, what DuckDB handed over last;
`out`, Spark's tables.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import yaml

from ehrbench import built, dbt, paths, sql
from ehrbench.convert import semmeddb
from ehrbench.errors import EhrbenchError
from ehrbench.progress import say

JAVA = 17
# Spark's folder of the schema that profiles.yml names.
TABLES = Path("out/ehrbench.db")
STAMPS = "stamps.json"
# DuckDB would write these as a double, as Parquet has no such type.
TOO_WIDE = ("HUGEINT", "UHUGEINT")
AGAIN = "run ehrbench run --spark from the start"

Nodes = dict[str, dict]


def build(
    target: str,
    database: Path,
    store: Path,
    select: str | None = None,
    allow_remote: bool = False,
) -> dbt.Result:
    """`dbt build` with the portable models on Spark; `select` takes names, and names with a plus.

    Data tests are run at the end, all of them; unit tests, which read no data, are not. Raises
    EhrbenchError with one line where Spark cannot run here, a step fails, or `select` leaves out
    tables of Spark that were made from other rows than the database has.
    """
    check_installed()
    check_data_use(target, database, allow_remote)
    started = time.monotonic()
    folder, work = paths.spark_dir(target), dbt.work_dir(database)
    settings = {"EHRBENCH_SPARK_TABLES": str(folder / TABLES)}

    def on_duckdb(label: str, *arguments: str) -> dbt.Result:
        return dbt.call_on(database, store, [*arguments, "--target", target], label, settings)

    on_duckdb("dbt parse", "parse")
    nodes = read_nodes(work)
    chosen = named(nodes, select) if select else set(nodes)
    turns = turns_of(nodes)
    last = max(turns.values())
    for turn in range(last + 1):
        # First what Spark has made since DuckDB's last turn.
        ids = [id for id in chosen if turns[id] + is_portable(nodes[id]) == turn]
        if ids:
            label = f"dbt on DuckDB, turn {turn + 1} of {last + 1}"
            kinds = ("--resource-type", "model", "--resource-type", "seed")
            on_duckdb(label, "build", *kinds, "--select", names(nodes, ids), "--partial-parse")
        ids = [id for id in nodes if is_portable(nodes[id]) and turns[id] == turn]
        if not ids:
            continue
        stage_dumps(paths.source_dir("semmeddb", target), folder / "semmeddb")
        stamp = hand_over(database, nodes, with_views(nodes, ids), folder)
        if not chosen.isdisjoint(ids):
            # A turn is made whole, so that one digest stands for all its tables.
            chosen.update(ids)
            keep_stamp(folder, turn, None)
            make(nodes, ids, folder, work / "spark", f"dbt on Spark, turn {turn + 1} of {last}")
            keep_stamp(folder, turn, stamp)
        elif read_stamps(folder).get(str(turn)) != stamp:
            raise EhrbenchError(
                f"the tables in {folder / TABLES} were made from other rows, models or settings "
                f"than {database.name} has: {AGAIN}"
            )
    tested = on_duckdb("dbt test", "test", "--select", "test_type:data", "--partial-parse")
    return dbt.Result(time.monotonic() - started, tested.summary)


def check_installed() -> None:
    """Raise EhrbenchError for the first thing that Spark lacks on this machine."""
    for name in ("pyspark", "dbt.adapters.spark"):
        if importlib.util.find_spec(name) is None:
            raise EhrbenchError(f"{name} is not installed: pip install -e '.[spark]'")
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else "java"
    mend = f"install Java {JAVA} (apt package openjdk-{JAVA}-jre-headless), or set JAVA_HOME"
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, check=True).stderr
    except (OSError, subprocess.CalledProcessError) as error:
        raise EhrbenchError(f"no Java for Spark ({java}): {mend}") from error
    version = re.search(r'version "(?:1\.)?(\d+)', said)
    if version and int(version[1]) < JAVA:
        raise EhrbenchError(f"{java} is Java {version[1]}, too old for Spark: {mend}")


def check_data_use(target: str, database: Path, allow_remote: bool) -> None:
    """Refuse to hand patient data to other machines unless a flag states the permission.

    The class is that of the folders a target reads or of what the database was built from,
    whichever is more protected.
    """
    if allow_remote or is_local():
        return
    data_class = paths.data_class(target)
    if database.is_file():
        with built.connect(database) as connection:
            recorded = built.data_class_of(connection)
        data_class = max(data_class, recorded, key=paths.DATA_CLASSES.index)
    if data_class != "synthetic":
        shown = "unknown" if data_class == "none" else data_class
        raise EhrbenchError(
            f"EHRBENCH_SPARK_MASTER is not on this machine and the data of target {target} are "
            f"{shown}: leave it unset, or state with --allow-remote that the data use agreement "
            "permits it"
        )


def is_local() -> bool:
    """Whether all of Spark runs on this machine."""
    return (os.environ.get("EHRBENCH_SPARK_MASTER") or "local").startswith("local")


# ------------------------------------------------------------------------------ the graph of models


def read_nodes(work: Path) -> Nodes:
    """Nodes of the manifest that dbt's last call has left."""
    return nodes_of(json.loads((work / "dbt" / "manifest.json").read_text(encoding="utf-8")))


def nodes_of(manifest: dict) -> Nodes:
    """Models and seeds of a manifest by id, each with the ids of its `parents` among them."""
    kept = {
        id: node
        for id, node in manifest["nodes"].items()
        if node["resource_type"] in ("model", "seed")
    }
    for node in kept.values():
        node["parents"] = [id for id in node["depends_on"].get("nodes", []) if id in kept]
    return kept


def is_portable(node: dict) -> bool:
    """Whether Spark makes a node."""
    return "portable" in node["tags"]


def turns_of(nodes: Nodes) -> dict[str, int]:
    """Id -> turn in which a node is made, from 0: in each DuckDB comes first, then Spark."""
    found: dict[str, int] = {}

    def turn(id: str) -> int:
        if id not in found:
            mine = is_portable(nodes[id])
            found[id] = max(
                (turn(p) + (is_portable(nodes[p]) and not mine) for p in nodes[id]["parents"]),
                default=0,
            )
        return found[id]

    for id in nodes:
        turn(id)
    return found


def named(nodes: Nodes, select: str) -> set[str]:
    """Nodes of names in a text; with a plus behind it, a name stands for all that reads it too."""
    words = select.split()
    found = {id for id, node in nodes.items() if {node["name"], f"{node['name']}+"} & set(words)}
    grown = {id for id in found if f"{nodes[id]['name']}+" in words}
    while grown:
        grown = {id for id, node in nodes.items() if grown & set(node["parents"])} - found
        found |= grown
    return found


def names(nodes: Nodes, ids: Iterable[str]) -> str:
    """Names of nodes as dbt selects them."""
    return " ".join(sorted(nodes[id]["name"] for id in ids))


def is_table(node: dict) -> bool:
    """Whether Spark stores a portable node; its views are made anew by whoever reads them."""
    return node["config"]["materialized"] == "table" or "staging" in node["tags"]


def with_views(nodes: Nodes, ids: Iterable[str]) -> set[str]:
    """Portable nodes and the portable views behind them, which no earlier call of Spark has left."""
    found = grown = set(ids)
    while grown:
        parents = {p for id in grown for p in nodes[id]["parents"]}
        grown = {p for p in parents if is_portable(nodes[p]) and not is_table(nodes[p])} - found
        found = found | grown
    return found


# ------------------------------------------------------------------------------ the way to Spark


def hand_over(database: Path, nodes: Nodes, ids: Iterable[str], folder: Path) -> str:
    """Write what portable nodes read of DuckDB to `in`.

    Returns a digest of all that they come from: these rows, the dumps, their SQL, the vars.
    """
    digest = hashlib.sha256()
    parents = {p for id in ids for p in nodes[id]["parents"]}
    needed = sorted(p for p in parents if not is_portable(nodes[p]))
    shutil.rmtree(folder / "in", ignore_errors=True)
    with built.connect(database) as connection:
        for name in (nodes[id]["name"] for id in needed):
            place = folder / "in" / name
            place.mkdir(parents=True)
            digest.update(f"{name} {write(connection, name, place / 'part.parquet')}\n".encode())
    for file in sorted((folder / "semmeddb").glob("*/part-*.parquet")):
        digest.update(f"{file.parent.name}/{file.name} {file.stat().st_size}\n".encode())
    for id in sorted(ids):
        digest.update(f"{id} {nodes[id]['checksum']['checksum']}\n".encode())
    project = (paths.project_root() / "dbt_project.yml").read_text(encoding="utf-8")
    digest.update(json.dumps(yaml.safe_load(project)["vars"], sort_keys=True).encode())
    say(f"handed {len(needed)} tables over to Spark in {folder / 'in'}")
    return digest.hexdigest()


def write(connection: duckdb.DuckDBPyConnection, name: str, file: Path) -> tuple[int, int]:
    """A built table as Parquet; returns its rows and a sum over them that no order changes."""
    relation = built.find_relation(connection, name)
    if relation is None:
        raise EhrbenchError(f"{name} is not built: {AGAIN}")
    for column, kind, *_ in connection.execute(f"describe {relation}").fetchall():
        if kind in TOO_WIDE:
            raise EhrbenchError(f"{name}.{column} is {kind.lower()}: cast it to bigint there")
    connection.execute(
        f"copy {relation} to '{sql.text(file)}' (format parquet, compression zstd)"
    )
    return connection.execute(
        f"select count(*), sum(cast(hash(input) as hugeint)) from {relation} as input"
    ).fetchone()


def stage_dumps(source: Path | None, folder: Path) -> None:
    """A folder of Parquet parts per table of SemMedDB: converted here, a link to what was converted
    before, or one part without rows where the source has no such table."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, dump in semmeddb.declared_dumps(paths.project_root()).items():
        place = folder / name
        raw = paths.matching_files(source, dump.files) if source else []
        if place.is_symlink():
            place.unlink()
        elif place.is_dir() and not (raw and is_of(place, raw[0])):
            shutil.rmtree(place)
        if raw:
            semmeddb.convert_semmeddb(source, folder, [name])
        elif source and semmeddb.parts_of(source / name):
            place.symlink_to((source / name).resolve())
        else:
            place.mkdir()
            pq.write_table(dump.schema.empty_table(), place / "part-0000000001.parquet")


def is_of(converted: Path, dump: Path) -> bool:
    """Whether a folder was converted from a dump as it is now."""
    made, stamp = converted / semmeddb.SOURCE_FILE, semmeddb.read_stamp(converted)
    now = dump.stat()
    return bool(stamp) and stamp["bytes"] == now.st_size and made.stat().st_mtime >= now.st_mtime


# ------------------------------------------------------------------------------ on Spark


def make(nodes: Nodes, ids: list[str], folder: Path, work: Path, label: str) -> None:
    """Make portable nodes by dbt's target spark, with the views among what they read."""
    tables = [nodes[id]["name"] for id in ids if is_table(nodes[id])]
    for name in tables:
        shutil.rmtree(folder / TABLES / name, ignore_errors=True)
    scratch = folder / "scratch"
    settings = {
        "EHRBENCH_SPARK_DIR": str(folder),
        "EHRBENCH_SEMMEDDB_DIR": str(folder / "semmeddb"),
        "SPARK_LOCAL_DIRS": os.environ.get("SPARK_LOCAL_DIRS", str(scratch)),
    }
    if is_local():
        home = os.environ.get("SPARK_HOME") or spark_home(scratch / "home")
        settings |= {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_HOME": str(home)}
    wanted = names(nodes, with_views(nodes, ids))
    arguments = ["run", "--target", "spark", "--select", wanted, "--partial-parse"]
    try:
        dbt.call(arguments, work, settings, label)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    for name in tables:
        # Spark writes it when a table is whole.
        if not (folder / TABLES / name / "_SUCCESS").is_file():
            raise EhrbenchError(f"Spark has left no {name} in {folder / TABLES}: {AGAIN}")


def spark_home(folder: Path) -> Path:
    """A home of the installed Spark that its executors may write to, as they do into `work`."""
    installed = Path(importlib.util.find_spec("pyspark").origin).parent
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in ("bin", "jars", "sbin"):
        (folder / name).symlink_to(installed / name)
    return folder


def read_stamps(folder: Path) -> dict[str, str | None]:
    """Turn -> digest of what Spark's tables of that turn were made from; null while they are."""
    try:
        return json.loads((folder / "out" / STAMPS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def keep_stamp(folder: Path, turn: int, stamp: str | None) -> None:
    """Note the digest of a turn."""
    (folder / "out").mkdir(parents=True, exist_ok=True)
    stamps = {**read_stamps(folder), str(turn): stamp}
    (folder / "out" / STAMPS).write_text(json.dumps(stamps), encoding="utf-8")
