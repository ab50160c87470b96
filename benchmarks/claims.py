"""Candidate triples by the thousand, for the benchmarks of the checks.

Pairs of events that extraction could name, one triple per claim, whatever the evidence says.
"""

from __future__ import annotations

import common

# Tables of the project that are made here instead of by its generators.
MADE = ("fct_triples", "fct_triple_events", "fct_triple_proposals")
# Where the checks begin: the evidence, and what reads the triples.
STARTS = (
    "int_predications_parsed",
    "int_triple_claims",
    "int_ungrounded_triples",
    "int_claim_pairs",
    "int_triple_contexts",
)
END = "fct_triple_checks"
# Scanned by the checks; all that the models read of a predication.
TEXTS = ("pmid", "predicate_name", "subject_cui", "object_cui")
NUMBERS = (
    *("predication_id", "sentence_id", "subject_cui_id", "object_cui_id"),
    *("subject_novelty", "object_novelty", "source_row"),
)

TRIPLES = """
create or replace table bench_lists as
select
    lists.list_number,
    row_number() over (order by lists.list_number) as list_rank
from (select distinct list_number from int_task_events) as lists;

create or replace table bench_listed as
select
    bench_lists.list_rank,
    events.visit_key,
    events.target_visit_key,
    events.prompt_task,
    events.role_allowed,
    events.event_type,
    events.event_key,
    concepts.cui_id,
    concepts.cui
from int_task_events as events
inner join bench_lists on events.list_number = bench_lists.list_number
inner join brg_event_concepts as concepts
    on events.event_key = concepts.event_key
    and concepts.rank = 1
    and concepts.cui_id is not null
    and concepts.mapping_level not in ('part', 'none')
where events.is_offered;

create or replace table bench_claims as
with

pairs as (

    select
        subjects.cui_id as subject_cui_id,
        relations.relation,
        objects.cui_id as object_cui_id,
        relations.task,
        subjects.visit_key,
        subjects.target_visit_key,
        subjects.event_key as subject_event_key,
        objects.event_key as object_event_key,
        subjects.cui as subject_cui,
        objects.cui as object_cui
    from bench_listed as subjects
    inner join relations
        on subjects.prompt_task = relations.prompt_task
        and subjects.event_type = relations.subject_type
    inner join bench_listed as objects
        on subjects.list_rank = objects.list_rank
        and relations.object_type = objects.event_type
        and subjects.cui_id <> objects.cui_id
    where subjects.list_rank <= $lists
        and subjects.role_allowed in ('subject', 'both')
        and objects.role_allowed in ('object', 'both')

)

select *
from pairs
qualify row_number() over (
    partition by subject_cui_id, relation, object_cui_id
    order by subject_event_key, object_event_key, target_visit_key, task
) = 1
"""

TABLES = """
create or replace table fct_triples as
select
    md5(concat_ws('|', claims.subject_cui, claims.relation, claims.object_cui)) as triple_id,
    visits.source,
    claims.task,
    claims.visit_key,
    claims.target_visit_key,
    visits.patient_key,
    claims.subject_event_key,
    claims.relation,
    claims.object_event_key,
    claims.subject_cui,
    claims.object_cui,
    md5(concat_ws('|', claims.subject_cui, claims.relation, claims.object_cui)) as claim_key,
    case when claims.task = 'px' then true end as is_newly_coded
from bench_claims as claims
inner join dim_visits as visits on claims.visit_key = visits.visit_key
order by triple_id
limit $claims;

create or replace table fct_triple_events as
select triple_id, 'subject' as role, 1 as position, subject_event_key as event_key
from fct_triples
union all
select triple_id, 'object' as role, 1 as position, object_event_key as event_key
from fct_triples;

create or replace table fct_triple_proposals as
select
    triple_id,
    'benchmark' as generator,
    cast(null as varchar) as request_key,
    cast(null as varchar) as why
from fct_triples;
"""


COPIES = """
copy (
    select
        * exclude (copy_number, n_rows) replace (
            predication_id + copy_number * n_rows as predication_id,
            sentence_id + copy_number * n_rows as sentence_id,
            source_row + copy_number * n_rows as source_row,
            case when copy_number = 0 then pmid else concat(pmid, copy_number) end as pmid
        )
    from stg_semmeddb__predications
    cross join (select range as copy_number from range($copies)) as copies
    cross join (
        select greatest(max(predication_id), max(sentence_id), max(source_row)) as n_rows
        from stg_semmeddb__predications
    ) as counted
) to '$file' (format parquet, compression zstd)
"""


def build(project: common.Project, is_built: bool = False) -> list[common.Node]:
    """Everything up to the checks; the models of the checks themselves, in order.

    Nothing is built when the project's file has all that the checks read.
    """
    built = (project.compiled if is_built else project.build)(f"+{END}")
    timed = common.between(project.manifest(), STARTS, [END], tag="portable")
    return [node for node in built if node.name in timed]


def make_triples(connection, n: int) -> int:
    """Put up to n triples with a claim each in place of the proposed ones; how many there are."""
    lists = max(100, n // 20)
    most = connection.execute(
        "select count(distinct list_number) from int_task_events"
    ).fetchone()[0]
    while True:
        _run(connection, TRIPLES, {"$lists": min(lists, most)})
        found = connection.execute("select count(*) from bench_claims").fetchone()[0]
        if found >= n or lists >= most:
            break
        lists *= 4
    _run(connection, TABLES, {"$claims": n})
    for table in ("bench_lists", "bench_listed", "bench_claims"):
        connection.execute(f"drop table {table}")
    return connection.execute("select count(*) from fct_triples").fetchone()[0]


def _run(connection, script: str, values: dict[str, int]) -> None:
    for name, value in values.items():
        script = script.replace(name, str(value))
    for statement in filter(str.strip, script.split(";")):
        connection.execute(statement)


def as_parquet(connection, folder, copies: int = 1) -> str:
    """Write the predications as Parquet and have the models read that; its path, quoted.

    With copies each predication stands so often, under other ids and in another article.
    """
    file = str(folder / "predications.parquet").replace("'", "''")
    connection.execute(COPIES.replace("$copies", str(copies)).replace("$file", file))
    connection.execute("drop table stg_semmeddb__predications")
    connection.execute(
        f"create view stg_semmeddb__predications as select * from read_parquet('{file}')"
    )
    return file


def scan(file: str) -> str:
    """SQL that reads every used column of the predications, and nothing else."""
    sums = [f"sum(strlen({name}))" for name in TEXTS] + [f"sum({name})" for name in NUMBERS]
    return f"select count(*), {', '.join(sums)} from read_parquet('{file}')"
