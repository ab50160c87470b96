-- Three weak probes of what a model may have read in training. A perturbed twin keeps the options
-- and takes another person's scenario that supports none of them: whoever reads the scenario falls
-- to what the options alone give. MIMIC-IV says in which years a patient was seen: later records
-- had less time to be read. Accuracy against the number of articles behind a fact is knowledge, not
-- leakage, but should be told from it.
with

scores as (

    select * from {{ ref('fct_scores') }}
    where repetition = 1

),

headline_scores as (

    select * from {{ ref('int_headline_scores') }}

),

requests as (

    select * from {{ ref('int_pooled_requests') }}
    where repetition = 1

),

arms as (

    select
        arm,
        case
            when scenario = 'twin' then 'twin'
            when is_headline then 'standard'
            else 'choices_only'
        end as side
    from {{ ref('prompt_arms') }}
    where options = 'own'
        and not has_abstention
        and (
            scenario = 'twin'
            or is_headline
            or scenario = 'hidden'
        )

),

subgroups as (

    select * from {{ ref('rpt_subgroups') }}
    where task = 'all'
        and grouping in ('anchor_year_group', 'anchor_period', 'evidence')

),

patient_groups as (

    select
        source,
        count(anchor_year_group) as n_dated
    from {{ ref('int_patient_groups') }}
    group by source

),

subset as (

    select distinct source
    from {{ ref('int_subset_templates') }}

),

templates as (

    select
        template_key,
        triple_id
    from {{ ref('int_templates') }}

),

triple_counts as (

    select
        triple_id,
        n_supporting_pmids
    from {{ ref('int_triple_counts') }}

),

headline_asked as (

    select
        model,
        mode,
        sum(n_asked) as n_asked
    from {{ ref('int_headline_asked') }}
    group by
        model,
        mode

),

series as (

    select
        model,
        mode,
        n_asked,
        row_number() over (order by model, mode) as series
    from headline_asked

),

---------- twins

sides_asked as (

    select
        series.series,
        arms.side,
        requests.item_id
    from requests
    inner join arms
        on requests.arm = arms.arm
    inner join series
        on requests.model = series.model
        and requests.mode = series.mode

),

-- Items asked both ways.
pairs_asked as (

    select
        twins.series,
        others.side,
        count(*) as n_asked
    from sides_asked as twins
    inner join sides_asked as others
        on twins.series = others.series
        and twins.item_id = others.item_id
    where twins.side = 'twin'
    group by
        twins.series,
        others.side

),

sides as (

    select
        series.series,
        arms.side,
        scores.item_id,
        scores.template_key,
        scores.person_group,
        coalesce(scores.answer_cui_id, 0) as answer_cui_id,
        scores.n_options,
        scores.correct
    from scores
    inner join arms
        on scores.arm = arms.arm
    inner join series
        on scores.model = series.model
        and scores.mode = series.mode
    semi join sides_asked
        on series.series = sides_asked.series
        and arms.side = sides_asked.side
        and scores.item_id = sides_asked.item_id

),

pairs as (

    select
        twins.series,
        others.side,
        twins.template_key,
        twins.person_group,
        twins.answer_cui_id,
        twins.n_options,
        twins.correct as twin_correct,
        others.correct
    from sides as twins
    inner join sides as others
        on twins.series = others.series
        and twins.item_id = others.item_id
    where twins.side = 'twin'

),

---------- slope against articles

facts as (

    select
        series.series,
        headline_scores.task,
        headline_scores.n_options,
        headline_scores.template_key,
        headline_scores.person_group,
        coalesce(headline_scores.answer_cui_id, 0) as answer_cui_id,
        headline_scores.correct,
        cast(round(1e9 * log10(triple_counts.n_supporting_pmids)) as bigint) as log_pmids
    from headline_scores
    inner join series
        on headline_scores.model = series.model
        and headline_scores.mode = series.mode
    inner join templates
        on headline_scores.template_key = templates.template_key
    inner join triple_counts
        on templates.triple_id = triple_counts.triple_id
    where triple_counts.n_supporting_pmids > 0

),

-- Both about their mean in the same task and option count, in billionths: tasks may differ in both.
facts_centred as (

    select
        series,
        template_key,
        person_group,
        answer_cui_id,
        log_pmids - cast(round(
            cast(sum(log_pmids) over cell as double) / count(*) over cell
        ) as bigint) as x,
        correct * 1000000000 - cast(round(
            1e9 * sum(correct) over cell / count(*) over cell
        ) as bigint) as y
    from facts
    window cell as (partition by series, task, n_options)

),

-- Article counts that spread by less than a hundredth of a tenfold are one count: a slope over them
-- would be all noise, and beyond any number of digits.
slopes as (

    select
        series,
        count(*) as n,
        cast(sum(cast(x as hugeint) * x) as double) as xx,
        cast(sum(cast(x as hugeint) * y) as double) as xy,
        cast(sum(cast(x as hugeint) * x) as double) >= count(*) * 1e14 as has_spread
    from facts_centred
    group by series

),

---------- figures

figure_rows as (

    {%- for side in ['standard', 'choices_only'] %}
    select
        series,
        'twin' as probe,
        '{{ side }}' as figure,
        1 as part,
        template_key,
        person_group,
        answer_cui_id,
        1 as n,
        cast(correct as bigint) * 1000000000000 as value
    from pairs
    where side = '{{ side }}'
    union all
    select
        series,
        'twin' as probe,
        'twin_less_{{ side }}' as figure,
        1 as part,
        template_key,
        person_group,
        answer_cui_id,
        1 as n,
        cast(twin_correct - correct as bigint) * 1000000000000 as value
    from pairs
    where side = '{{ side }}'
    union all
    {%- endfor %}
    select
        series,
        'twin' as probe,
        'twin' as figure,
        1 as part,
        template_key,
        person_group,
        answer_cui_id,
        1 as n,
        cast(correct as bigint) * 1000000000000 as value
    from pairs
    where side = 'twin'
    union all
    select
        series,
        'twin' as probe,
        'twin_less_chance' as figure,
        1 as part,
        template_key,
        person_group,
        answer_cui_id,
        1 as n,
        cast(correct as bigint) * 1000000000000 - cast(round(1e12 / n_options) as bigint) as value
    from pairs
    where side = 'twin'
    union all
    -- Pseudo-values of the slope: the slope, and n times what a row moves it by (linearised).
    select
        facts_centred.series,
        'evidence' as probe,
        'slope_per_tenfold' as figure,
        1 as part,
        facts_centred.template_key,
        facts_centred.person_group,
        facts_centred.answer_cui_id,
        1 as n,
        cast(round(1e12 * (
            slopes.xy / slopes.xx
            + slopes.n * facts_centred.x
                * (facts_centred.y - slopes.xy / slopes.xx * facts_centred.x) / slopes.xx
        )) as bigint) as value
    from facts_centred
    inner join slopes
        on facts_centred.series = slopes.series
    where slopes.has_spread

),

{{ figure_intervals('figures', 'figure_rows', ['series', 'probe', 'figure'],
    "means.figure in ('twin', 'standard', 'choices_only')",
    "case when means.figure = 'slope_per_tenfold' then cast('-infinity' as double) else -1.0 end",
    "case when means.figure = 'slope_per_tenfold' then cast('infinity' as double) else 1.0 end"
) }},

wanted (probe, figure, side) as (

    values
    ('twin', 'twin', 'twin'),
    ('twin', 'standard', 'standard'),
    ('twin', 'choices_only', 'choices_only'),
    ('twin', 'twin_less_standard', 'standard'),
    ('twin', 'twin_less_choices_only', 'choices_only'),
    ('twin', 'twin_less_chance', 'twin'),
    ('evidence', 'slope_per_tenfold', null)

),

estimated as (

    select
        series.model,
        series.mode,
        wanted.probe,
        'all' as source,
        wanted.figure,
        coalesce(figures.n, 0) as n,
        case
            when wanted.probe = 'twin' then coalesce(pairs_asked.n_asked, 0)
            else series.n_asked
        end as n_asked,
        coalesce(figures.n_templates, 0) as n_templates,
        coalesce(figures.n_persons, 0) as n_persons,
        figures.mean,
        figures.low,
        figures.high,
        case
            when wanted.probe = 'twin' and pairs_asked.n_asked is null then 'arm_not_asked'
            when not slopes.has_spread then 'one_article_count'
            when coalesce(figures.n_templates, 0) < {{ var('evaluation_min_templates') }}
                then 'few_templates'
        end as reason
    from series
    cross join wanted
    left join pairs_asked
        on series.series = pairs_asked.series
        and wanted.side = pairs_asked.side
    left join slopes
        on series.series = slopes.series
        and wanted.probe = 'evidence'
    left join figures
        on series.series = figures.series
        and wanted.figure = figures.figure

),

---------- from the subgroups

read_off as (

    -- Only MIMIC-IV has year groups.
    select
        model,
        mode,
        case when grouping = 'evidence' then 'evidence' else 'time' end as probe,
        case when grouping = 'evidence' then 'all' else 'mimic_iv' end as source,
        -- Groupings may share the names of what is left over.
        case grouping
            when 'evidence' then concat('articles: ', subgroup)
            when 'anchor_year_group' then concat('years: ', subgroup)
            else subgroup
        end as figure,
        n,
        n_asked,
        n_templates,
        n_clusters as n_persons,
        accuracy as mean,
        accuracy_low as low,
        accuracy_high as high,
        case when accuracy is null then 'few_templates' end as reason
    from subgroups

    union all

    select
        model,
        mode,
        'time' as probe,
        'mimic_iv' as source,
        'later_less_earlier' as figure,
        sum(n) as n,
        sum(n_asked) as n_asked,
        sum(n_templates) as n_templates,
        -- a patient has one year group
        sum(n_clusters) as n_persons,
        max(gap) filter (where subgroup = 'later') as mean,
        max(gap_low) filter (where subgroup = 'later') as low,
        max(gap_high) filter (where subgroup = 'later') as high,
        case when max(gap) filter (where subgroup = 'later') is null then 'few_templates' end
            as reason
    from subgroups
    where grouping = 'anchor_period'
    group by
        model,
        mode

    union all

    select
        series.model,
        series.mode,
        'time' as probe,
        subset.source,
        'later_less_earlier' as figure,
        0 as n,
        0 as n_asked,
        0 as n_templates,
        0 as n_persons,
        null as mean,
        null as low,
        null as high,
        'no_year_groups' as reason
    from series
    cross join subset
    left join patient_groups
        on subset.source = patient_groups.source
    where coalesce(patient_groups.n_dated, 0) = 0

),

united as (

    select * from estimated

    union all

    select * from read_off

),

contamination as (

    select
        ---------- ids
        model,
        mode,
        probe,
        source,
        figure,

        ---------- counts
        cast(n as integer) as n,
        cast(n_asked as integer) as n_asked,
        cast(n_templates as integer) as n_templates,
        cast(n_persons as integer) as n_clusters,

        ---------- figure
        case when reason is null then cast(round(mean, 6) as decimal(18, 6)) end as estimate,
        case when reason is null then cast(round(low, 6) as decimal(18, 6)) end as estimate_low,
        case when reason is null then cast(round(high, 6) as decimal(18, 6)) end as estimate_high,

        ---------- state
        case
            when reason is null then 'estimable'
            when reason in ('no_year_groups', 'arm_not_asked') then 'not_assessed'
            else 'not_estimable'
        end as status,
        reason
    from united

)

select * from contamination
