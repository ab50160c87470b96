-- Do markers of style occur in answers as often as in distractors? One row per source (and all
-- sources that do not overlap) x task x marker: rate in answers less the mean rate in the
-- distractors beside them, over released templates. The error is the one that chance gives a fair
-- set, clustered two ways: by person, and by the concept shown, as answer or as distractor, since
-- a title is the same wherever it stands. Found means: beyond what is allowed, and beyond an
-- interval so wide (var set_rule_z) that all strata of a fair set stay within theirs; few concepts
-- with the marker can never show that. Sums are whole numbers: 2520 parts divide by any number of
-- distractors up to ten.
{%- set parts = 2520 %}
{%- set z = var('set_rule_z') %}
with

items as (

    select * from {{ ref('dim_items') }}
    where released
        and format = 'mcq'

),

options as (

    select * from {{ ref('int_leak_options') }}

),

labels as (

    select * from {{ ref('int_option_labels') }}

),

markers as (

    select * from {{ ref('label_markers') }}

),

pooled_sources as (

    select * from {{ ref('int_pooled_sources') }}
    where is_pooled

),

templates_shown as (

    select
        template_key,
        max(n_options) as n_options
    from items
    group by template_key

),

shown as (

    select
        options.template_key,
        options.source,
        options.task,
        options.person_group,
        options.is_gold,
        options.option_key,
        case
            when options.is_gold then {{ parts }}
            else -{{ parts }} // (templates_shown.n_options - 1)
        end as parts
    from options
    inner join templates_shown
        on options.template_key = templates_shown.template_key
        and options.rank < templates_shown.n_options

),

strata as (

    select distinct
        source,
        source as stratum_source
    from shown

    union all

    select
        source,
        'all' as stratum_source
    from pooled_sources

),

marked_labels as (

    select
        labels.option_key,
        markers.marker
    from labels
    inner join markers
        on regexp_matches(labels.label, markers.pattern)

),

templates_counted as (

    select
        strata.stratum_source as source,
        shown.task,
        count(*) as n,
        count(distinct shown.person_group) as n_persons
    from shown
    inner join strata
        on shown.source = strata.source
    where shown.is_gold
    group by
        strata.stratum_source,
        shown.task

),

marked as (

    select
        strata.stratum_source as source,
        shown.task,
        marked_labels.marker,
        shown.person_group,
        shown.option_key,
        cast(sum(case when shown.is_gold then shown.parts else 0 end) as bigint) as answer_parts,
        cast(sum(shown.parts) as bigint) as parts
    from shown
    inner join marked_labels
        on shown.option_key = marked_labels.option_key
    inner join strata
        on shown.source = strata.source
    group by
        strata.stratum_source,
        shown.task,
        marked_labels.marker,
        shown.person_group,
        shown.option_key

),

-- What a cluster shares: 0 person and concept, 1 the person, 2 the concept, 3 only the stratum.
clusters as (

    select
        source,
        task,
        marker,
        grouping_id(person_group, option_key) as cluster_kind,
        cast(sum(answer_parts) as bigint) as answer_parts,
        cast(sum(parts) as bigint) as parts
    from marked
    group by grouping sets (
        (source, task, marker, person_group, option_key),
        (source, task, marker, person_group),
        (source, task, marker, option_key),
        (source, task, marker)
    )

),

variances as (

    select
        source,
        task,
        marker,
        max(answer_parts) filter (where cluster_kind = 3) as answer_parts,
        max(parts) filter (where cluster_kind = 3) as parts,
        count(*) filter (where cluster_kind = 2) as n_concepts,
        {%- for name, kind in [('both', 0), ('person', 1), ('concept', 2)] %}
        cast(
            coalesce(
                sum(cast(parts as hugeint) * parts) filter (where cluster_kind = {{ kind }}), 0
            ) as double
        ) as {{ name }}_squares{{ ',' if not loop.last }}
        {%- endfor %}
    from clusters
    group by
        source,
        task,
        marker

),

measured as (

    select
        templates_counted.source,
        templates_counted.task,
        markers.marker,
        templates_counted.n,
        templates_counted.n_persons,
        variances.n_concepts,
        coalesce(cast(variances.answer_parts as double), 0) / templates_counted.n / {{ parts }}
            as answer_rate,
        coalesce(cast(variances.parts as double), 0) / templates_counted.n / {{ parts }}
            as difference,
        coalesce(sqrt(greatest(
            variances.person_squares + variances.concept_squares - variances.both_squares,
            variances.person_squares,
            variances.concept_squares
        )), 0) / templates_counted.n / {{ parts }} as standard_error
    from templates_counted
    cross join markers
    left join variances
        on templates_counted.source = variances.source
        and templates_counted.task = variances.task
        and markers.marker = variances.marker

),

results as (

    select
        'L18' as rule_id,
        source,
        task,
        marker as stratum,
        cast(n as bigint) as n,
        cast(difference as decimal(18, 6)) as statistic,
        cast(difference - {{ z }} * standard_error as decimal(18, 6)) as low,
        cast(difference + {{ z }} * standard_error as decimal(18, 6)) as high,
        cast({{ var('label_marker_margin') }} as decimal(18, 6)) as allowed,
        case
            when n >= {{ var('set_rule_min_templates') }}
                and least(n_persons, n_concepts) >= {{ var('label_marker_min_clusters') }}
                then abs(difference) > {{ var('label_marker_margin') }}
                    and abs(difference) > {{ z }} * standard_error
        end as is_found,
        concat(
            marker, ': answers ', cast(cast(100 * answer_rate as decimal(9, 1)) as varchar),
            ' %, distractors ',
            cast(cast(100 * (answer_rate - difference) as decimal(9, 1)) as varchar), ' %'
        ) as evidence
    from measured

)

select * from results
