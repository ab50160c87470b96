with

triples as (

    select * from {{ ref('fct_triples') }}

),

triple_proposals as (

    select * from {{ ref('fct_triple_proposals') }}

),

triple_checks as (

    select * from {{ ref('fct_triple_checks') }}

),

triple_verdicts as (

    select * from {{ ref('fct_triple_verdicts') }}

),

triple_truth as (

    select * from {{ ref('int_triple_truth') }}

),

truth_verdicts as (

    select * from {{ ref('int_triple_truth_verdicts') }}

),

validation_checks as (

    select * from {{ ref('validation_checks') }}

),

paired_triples as (

    select distinct triple_id
    from triple_proposals
    where {{ for_tests_only('generator') }}

),

-- All pairs where there are any; only the generators have the donors that `grounded` looks for.
populations as (

    select
        triples.triple_id,
        triples.source,
        triples.task,
        coalesce(triples.claim_key, triples.triple_id) as decided_once,
        paired_triples.triple_id is not null as is_paired,
        exists (select 1 from paired_triples) as has_pairs
    from triples
    left join paired_triples
        on triples.triple_id = paired_triples.triple_id

),

judged_checks as (

    select
        triple_checks.triple_id,
        triple_checks.check_name,
        'fixed' as policy,
        validation_checks.detects,
        triple_checks.check_name = 'grounded' as needs_donors,
        triple_checks.status = validation_checks.detects_by as is_detected,
        case triple_checks.check_name
            when 'grounded' then triple_truth.is_donor
            when 'mapped' then triple_truth.is_mapped
            when 'positive_support' then triple_truth.is_supported
            when 'unambiguous_relation' then triple_truth.is_ambiguous
            when 'no_negative_evidence' then triple_truth.is_contradicted
            when 'no_context_conflict' then triple_truth.is_conflicting
        end as is_true
    from triple_checks
    inner join validation_checks
        on triple_checks.check_name = validation_checks.check_name
    inner join triple_truth
        on triple_checks.triple_id = triple_truth.triple_id
    where triple_checks.status <> 'not_assessed'

),

judged_verdicts as (

    select
        triple_verdicts.triple_id,
        'verdict' as check_name,
        triple_verdicts.policy,
        'acceptable triple' as detects,
        false as needs_donors,
        triple_verdicts.verdict = 'accepted' as is_detected,
        truth_verdicts.verdict = 'accepted' as is_true
    from triple_verdicts
    inner join truth_verdicts
        on triple_verdicts.triple_id = truth_verdicts.triple_id
        and triple_verdicts.policy = truth_verdicts.policy

),

judged as (

    select * from judged_checks
    union all
    select * from judged_verdicts

),

-- A claim is decided once, however many triples make it.
claim_counts as (

    select
        judged.check_name,
        judged.policy,
        judged.detects,
        case when populations.has_pairs and not judged.needs_donors then 'all_pairs'
            else 'generators' end as population,
        populations.source,
        populations.task,
        populations.decided_once,
        count(*) filter (where judged.is_detected and judged.is_true) as n_true_pos,
        count(*) filter (where judged.is_detected and not judged.is_true) as n_false_pos,
        count(*) filter (where not judged.is_detected and judged.is_true) as n_false_neg,
        count(*) filter (where not judged.is_detected and not judged.is_true) as n_true_neg
    from judged
    inner join populations
        on judged.triple_id = populations.triple_id
    where populations.is_paired
        or judged.needs_donors
        or not populations.has_pairs
    group by all

),

{%- set spans = [('source', 'task'), ('source', "'all'"), ("'all'", 'task'), ("'all'", "'all'")] %}

spanned as (
    {% for source, task in spans %}
    select
        check_name,
        policy,
        detects,
        population,
        {{ source }} as source,
        {{ task }} as task,
        decided_once,
        sum(n_true_pos) as n_true_pos,
        sum(n_false_pos) as n_false_pos,
        sum(n_false_neg) as n_false_neg,
        sum(n_true_neg) as n_true_neg
    from claim_counts
    group by all
    {{- '\n\n    union all\n' if not loop.last }}
    {%- endfor %}

),

counted as (

    select
        check_name,
        policy,
        detects,
        population,
        source,
        task,
        sum(n_true_pos) as n_true_pos,
        sum(n_false_pos) as n_false_pos,
        sum(n_false_neg) as n_false_neg,
        sum(n_true_neg) as n_true_neg,
        {%- for measure, missed in [('precision', 'n_false_pos'), ('recall', 'n_false_neg')] %}
        count(*) filter (where n_true_pos + {{ missed }} > 0) as {{ measure }}_claims,
        sum((n_true_pos + {{ missed }}) * (n_true_pos + {{ missed }})) as {{ measure }}_nn,
        sum(n_true_pos * (n_true_pos + {{ missed }})) as {{ measure }}_ny,
        {%- endfor %}
        sum(n_true_pos * n_true_pos) as yy
    from spanned
    group by
        check_name,
        policy,
        detects,
        population,
        source,
        task

),

shares as (

    select
        *,
        cast(n_true_pos as double) / nullif(n_true_pos + n_false_pos, 0) as exact_precision,
        cast(n_true_pos as double) / nullif(n_true_pos + n_false_neg, 0) as exact_recall
    from counted

),

-- Linearised variance out of whole-number sums; rounding can leave nought slightly below it.
varied as (

    select
        *,
        {%- for measure, missed in [('precision', 'n_false_pos'), ('recall', 'n_false_neg')] %}
        sqrt(greatest(0, cast({{ measure }}_claims as double)
            / nullif({{ measure }}_claims - 1, 0) * (
            yy - 2 * exact_{{ measure }} * {{ measure }}_ny
            + exact_{{ measure }} * exact_{{ measure }} * {{ measure }}_nn
        ))) / nullif(n_true_pos + {{ missed }}, 0) as {{ measure }}_error
        {{- ',' if not loop.last }}
        {%- endfor %}
    from shares

)

select
    check_name,
    policy,
    source,
    task,
    population,
    detects,
    cast(n_true_pos as bigint) as n_true_pos,
    cast(n_false_pos as bigint) as n_false_pos,
    cast(n_false_neg as bigint) as n_false_neg,
    cast(n_true_neg as bigint) as n_true_neg,
    {%- for measure, missed in [('precision', 'n_false_pos'), ('recall', 'n_false_neg')] %}
    {{ share('n_true_pos', 'n_true_pos + ' ~ missed) }} as {{ measure }},
    {%- for side in ['low', 'high'] %}
    {{ rounded_share(clustered_interval(
        'exact_' ~ measure, measure ~ '_error', measure ~ '_claims', side)) }}
        as {{ measure }}_{{ side }}{{ ',' if not loop.last }}
    {%- endfor %}{{ ',' if not loop.last }}
    {%- endfor %}
from varied
