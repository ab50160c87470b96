-- Generators of triples side by side, at equal numbers of triples per visit and task: how much of
-- what they propose is accepted, how far that is above the null, how many templates they share, and
-- whether the models come in the same order on the templates of each.
{%- set null_generator = var('null_generator') %}

with

proposals as (

    select * from {{ ref('int_triple_generators') }}

),

pooled_sources as (

    select * from {{ ref('int_pooled_sources') }}
    where is_pooled

),

triples as (

    select * from {{ ref('int_generator_triples') }}

),

scores as (

    select * from {{ ref('int_headline_scores') }}

),

requests as (

    select * from {{ ref('int_pooled_requests') }}
    where repetition = 1
        and is_headline

),

models as (

    select * from {{ ref('models') }}
    where kind not in ('baseline', 'embedding')

),

---------- who proposed how much

offered as (

    select
        proposals.task,
        proposals.generator,
        proposals.generator = '{{ null_generator }}' as is_null_generator,
        count(*) as n_proposed,
        count(*) >= {{ var('enrichment_min_triples') }} as is_compared
    from proposals
    semi join pooled_sources
        on proposals.source = pooled_sources.source
    group by
        proposals.task,
        proposals.generator

),

tasks as (

    select
        task,
        count(*) filter (where is_compared) as n_generators,
        count(*) filter (where is_compared and not is_null_generator) as n_judges
    from offered
    group by task

),

counted as (

    select
        task,
        generator,
        count(*) as n,
        count(distinct person_group) as n_persons,
        sum(is_kb_accepted) as n_kb_accepted
    from triples
    group by
        task,
        generator

),

---------- templates

template_triples as (

    select distinct
        task,
        generator,
        template_key,
        person_group,
        answer_cui_id
    from triples
    where template_key is not null

),

generator_pairs as (

    select
        ones.task,
        ones.generator,
        others.generator as other
    from offered as ones
    inner join offered as others
        on ones.task = others.task
        and ones.generator < others.generator
    where not ones.is_null_generator
        and not others.is_null_generator

),

-- Templates of either, and whether both have them.
overlap_rows as (

    select
        generator_pairs.task,
        generator_pairs.generator,
        generator_pairs.other,
        template_triples.template_key,
        template_triples.person_group,
        template_triples.answer_cui_id,
        cast(count(*) = 2 as integer) as is_shared
    from generator_pairs
    inner join template_triples
        on generator_pairs.task = template_triples.task
        and template_triples.generator in (generator_pairs.generator, generator_pairs.other)
    group by all

),

---------- answers

series as (

    select
        requests.model,
        requests.mode,
        dense_rank() over (order by requests.mode) as mode_number,
        row_number() over (order by requests.mode, requests.model) as series
    from requests
    semi join models
        on requests.model = models.model
    group by
        requests.model,
        requests.mode

),

asked as (

    select
        template_triples.task,
        template_triples.generator,
        series.series,
        count(*) as n_asked
    from requests
    inner join series
        on requests.model = series.model
        and requests.mode = series.mode
    inner join template_triples
        on requests.template_key = template_triples.template_key
    group by
        template_triples.task,
        template_triples.generator,
        series.series

),

answers as (

    select
        template_triples.task,
        template_triples.generator,
        series.series,
        series.mode_number,
        scores.template_key,
        scores.person_group,
        coalesce(scores.answer_cui_id, 0) as answer_cui_id,
        count(*) as n,
        sum(scores.correct) as hits
    from scores
    inner join series
        on scores.model = series.model
        and scores.mode = series.mode
    inner join template_triples
        on scores.template_key = template_triples.template_key
    group by
        template_triples.task,
        template_triples.generator,
        series.series,
        series.mode_number,
        scores.template_key,
        scores.person_group,
        scores.answer_cui_id

),

---------- shares

figure_rows as (

    {%- for figure, column in {
        'accept_rate': 'is_accepted',
        'kb_pass_rate': 'is_kb_accepted',
    }.items() %}
    select
        task,
        '{{ figure }}' as figure,
        generator,
        '' as versus,
        0 as series,
        1 as part,
        triple_id as template_key,
        person_group,
        object_cui_id as answer_cui_id,
        1 as n,
        cast({{ column }} as bigint) * 1000000000000 as value
    from triples
    union all
    {%- endfor %}
    select
        task,
        'item_overlap' as figure,
        generator,
        other as versus,
        0 as series,
        1 as part,
        template_key,
        person_group,
        answer_cui_id,
        1 as n,
        cast(is_shared as bigint) * 1000000000000 as value
    from overlap_rows
    union all
    select
        task,
        'accuracy' as figure,
        generator,
        '' as versus,
        series,
        1 as part,
        template_key,
        person_group,
        answer_cui_id,
        cast(n as bigint) as n,
        cast(hits as bigint) * 1000000000000 as value
    from answers

),

{{ figure_intervals('figures', 'figure_rows', ['task', 'figure', 'generator', 'versus', 'series'],
    'true') }},

---------- enrichment

enrichments_counted as (

    select
        own.task,
        own.generator,
        own.n,
        own.n_kb_accepted,
        nulls.n as null_n,
        nulls.n_kb_accepted as null_n_kb_accepted,
        least(own.n_persons, nulls.n_persons) as n_persons
    from counted as own
    inner join counted as nulls
        on own.task = nulls.task
        and nulls.generator = '{{ null_generator }}'
    where own.generator <> '{{ null_generator }}'

),

-- A triple over its generator's pass rate: the mean is 1 on the one side and -1 on that of the
-- null, and what moves half their sum moves half the log of the ratio.
enrichment_sides as (

    select
        enrichments_counted.task,
        enrichments_counted.generator,
        cast(triples.generator = '{{ null_generator }}' as integer) as side,
        triples.person_group,
        triples.object_cui_id as answer_cui_id,
        1 as n,
        cast(round(1e9 * triples.is_kb_accepted * case
            when triples.generator = '{{ null_generator }}' then
                -cast(enrichments_counted.null_n as double)
                / nullif(enrichments_counted.null_n_kb_accepted, 0)
            else
                cast(enrichments_counted.n as double)
                / nullif(enrichments_counted.n_kb_accepted, 0)
        end) as bigint) as value
    from enrichments_counted
    inner join triples
        on enrichments_counted.task = triples.task
        and triples.generator in (enrichments_counted.generator, '{{ null_generator }}')
    where enrichments_counted.n_kb_accepted > 0
        and enrichments_counted.null_n_kb_accepted > 0

),

{{ mean_of_cells('log_ratios', 'enrichment_sides', ['task', 'generator'], 'side') }},

enrichments as (

    select
        enrichments_counted.*,
        cast(enrichments_counted.n_kb_accepted as double) * enrichments_counted.null_n
            / enrichments_counted.n / nullif(enrichments_counted.null_n_kb_accepted, 0) as ratio,
        2 * sqrt(
            log_ratios.standard_error * log_ratios.standard_error + log_ratios.agreed_variance
        ) as log_error,
        {{ enrichment_gap('enrichments_counted.n', 'enrichments_counted.null_n',
            'enrichments_counted.null_n_kb_accepted', 'enrichments_counted.n_persons') }} as gap
    from enrichments_counted
    left join log_ratios
        on enrichments_counted.task = log_ratios.task
        and enrichments_counted.generator = log_ratios.generator

),

---------- do models come in the same order?

scored as (

    select
        task,
        generator,
        series,
        mode_number
    from answers
    group by
        task,
        generator,
        series,
        mode_number
    having {{ estimate_status('count(distinct template_key)') }} = 'estimable'

),

-- Models that every generator's templates can score.
members as (

    select
        scored.task,
        scored.mode_number,
        scored.series
    from scored
    inner join tasks
        on scored.task = tasks.task
    group by
        scored.task,
        scored.mode_number,
        scored.series,
        tasks.n_judges
    having count(*) = tasks.n_judges

),

panels as (

    select
        members.task,
        members.mode_number,
        count(*) as n_models,
        row_number() over (order by members.task, members.mode_number) as panel
    from members
    inner join tasks
        on members.task = tasks.task
        and tasks.n_judges >= 2
    group by
        members.task,
        members.mode_number
    having count(*) >= {{ var('agreement_min_models') }}

),

drawn_from as (

    select
        panels.panel,
        answers.generator,
        answers.series,
        answers.person_group,
        sum(answers.n) as n,
        sum(answers.hits) as hits
    from answers
    inner join panels
        on answers.task = panels.task
        and answers.mode_number = panels.mode_number
    semi join members
        on answers.task = members.task
        and answers.series = members.series
    group by
        panels.panel,
        answers.generator,
        answers.series,
        answers.person_group

),

{{ bootstrap_sums('sums', 'drawn_from', ['panel', 'generator', 'series']) }},

-- Rounded, so that models that tie do.
replicate_scores as (

    select
        panel,
        replicate,
        generator as judge,
        series as model,
        round(cast(hits as double) / nullif(n, 0), 12) as score
    from sums

),

{{ kendalls_w('agreements', 'replicate_scores', ['panel', 'replicate']) }},

agreements_spread as (

    select
        panel,
        max(n_models) filter (where replicate = 0) as n_models,
        max(w) filter (where replicate = 0) as w,
        quantile_disc(w, {{ var('bootstrap_tail') }}) filter (where replicate > 0) as w_low,
        quantile_disc(w, 1 - {{ var('bootstrap_tail') }}) filter (where replicate > 0) as w_high
    from agreements
    group by panel

),

modes as (

    select
        mode,
        mode_number,
        count(*) as n_models
    from series
    group by
        mode,
        mode_number

),

---------- rows

rates as (

    {%- for figure in ['accept_rate', 'kb_pass_rate'] %}
    select
        offered.task,
        '{{ figure }}' as figure,
        offered.generator,
        cast(null as varchar) as versus,
        cast(null as varchar) as mode,
        coalesce(figures.n, 0) as n,
        offered.n_proposed as n_asked,
        figures.n_persons,
        figures.mean as estimate,
        figures.low,
        figures.high,
        case
            when not offered.is_compared then 'too_few_triples'
            when tasks.n_generators < 2 then 'one_generator'
            when coalesce(figures.n, 0) < {{ var('enrichment_min_triples') }} then 'too_few_triples'
        end as reason
    from offered
    inner join tasks
        on offered.task = tasks.task
    left join figures
        on offered.task = figures.task
        and offered.generator = figures.generator
        and figures.figure = '{{ figure }}'
    {% if not loop.last %}union all{% endif %}
    {%- endfor %}

),

ratios as (

    select
        offered.task,
        'enrichment' as figure,
        offered.generator,
        '{{ null_generator }}' as versus,
        cast(null as varchar) as mode,
        coalesce(enrichments.n, 0) as n,
        offered.n_proposed as n_asked,
        enrichments.n_persons,
        enrichments.ratio as estimate,
        enrichments.ratio * exp(-{{ var('interval_z') }} * enrichments.log_error) as low,
        enrichments.ratio * exp({{ var('interval_z') }} * enrichments.log_error) as high,
        case
            when not offered.is_compared then 'too_few_triples'
            when enrichments.task is null then 'no_common_visits'
            else enrichments.gap
        end as reason
    from offered
    left join enrichments
        on offered.task = enrichments.task
        and offered.generator = enrichments.generator
    where not offered.is_null_generator

),

shares as (

    select
        generator_pairs.task,
        'item_overlap' as figure,
        generator_pairs.generator,
        generator_pairs.other as versus,
        cast(null as varchar) as mode,
        coalesce(figures.n, 0) as n,
        ones.n_proposed + others.n_proposed as n_asked,
        figures.n_persons,
        figures.mean as estimate,
        figures.low,
        figures.high,
        case
            when not (ones.is_compared and others.is_compared) then 'too_few_triples'
            when {{ estimate_status('coalesce(figures.n_templates, 0)') }} = 'not_estimable'
                then 'few_templates'
        end as reason
    from generator_pairs
    inner join offered as ones
        on generator_pairs.task = ones.task
        and generator_pairs.generator = ones.generator
    inner join offered as others
        on generator_pairs.task = others.task
        and generator_pairs.other = others.generator
    left join figures
        on generator_pairs.task = figures.task
        and generator_pairs.generator = figures.generator
        and generator_pairs.other = figures.versus
        and figures.figure = 'item_overlap'

),

accuracies as (

    select
        offered.task,
        'accuracy' as figure,
        offered.generator,
        series.model as versus,
        series.mode,
        coalesce(figures.n, 0) as n,
        coalesce(asked.n_asked, 0) as n_asked,
        figures.n_persons,
        figures.mean as estimate,
        figures.low,
        figures.high,
        case
            when not offered.is_compared then 'too_few_triples'
            when tasks.n_judges < 2 then 'one_generator'
            when {{ estimate_status('coalesce(figures.n_templates, 0)') }} = 'not_estimable'
                then 'few_templates'
        end as reason
    from offered
    inner join tasks
        on offered.task = tasks.task
    cross join series
    left join asked
        on offered.task = asked.task
        and offered.generator = asked.generator
        and series.series = asked.series
    left join figures
        on offered.task = figures.task
        and offered.generator = figures.generator
        and series.series = figures.series
        and figures.figure = 'accuracy'
    where not offered.is_null_generator

),

rankings as (

    select
        tasks.task,
        'rank_agreement' as figure,
        'all' as generator,
        cast(null as varchar) as versus,
        modes.mode,
        coalesce(agreements_spread.n_models, 0) as n,
        modes.n_models as n_asked,
        cast(null as bigint) as n_persons,
        agreements_spread.w as estimate,
        least(agreements_spread.w, agreements_spread.w_low) as low,
        greatest(agreements_spread.w, agreements_spread.w_high) as high,
        case
            when tasks.n_judges < 2 then 'one_generator'
            when panels.panel is null then 'few_models'
            when agreements_spread.w is null then 'all_models_tie'
        end as reason
    from tasks
    cross join modes
    left join panels
        on tasks.task = panels.task
        and modes.mode_number = panels.mode_number
    left join agreements_spread
        on panels.panel = agreements_spread.panel

),

united as (

    {%- for part in ['rates', 'ratios', 'shares', 'accuracies', 'rankings'] %}
    select * from {{ part }}
    {{ 'union all' if not loop.last }}
    {%- endfor %}

),

generator_arms as (

    select
        ---------- ids
        task,
        figure,
        generator,
        versus,
        mode,

        ---------- counts
        cast(n as integer) as n,
        cast(n_asked as integer) as n_asked,
        cast(coalesce(n_persons, 0) as integer) as n_clusters,

        ---------- figure
        case when reason is null then cast(round(estimate, 6) as decimal(18, 6)) end as estimate,
        case when reason is null then cast(round(low, 6) as decimal(18, 6)) end as estimate_low,
        case when reason is null then cast(round(high, 6) as decimal(18, 6)) end as estimate_high,

        ---------- state
        case when reason is null then 'estimable' else 'not_estimable' end as status,
        reason
    from united

)

select * from generator_arms
