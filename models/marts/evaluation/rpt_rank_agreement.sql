-- Would other judges put the models in the same order? Judges are the values of one thing that may
-- vary: option counts, sources, tasks, paraphrases, generators, context sizes, arms. A judge scores
-- a model by the plain mean of the tasks that it has templates enough of. Many models of unequal
-- size agree by their spread alone, so W within the tiers of the leaderboard stands beside W over
-- all.
with

scores as (

    select * from {{ ref('int_headline_scores') }}

),

all_scores as (

    select * from {{ ref('fct_scores') }}
    where repetition = 1

),

requests as (

    select * from {{ ref('int_pooled_requests') }}
    where repetition = 1

),

arms as (

    select * from {{ ref('prompt_arms') }}

),

pooled_sources as (

    select * from {{ ref('int_pooled_sources') }}
    where is_pooled

),

models as (

    select * from {{ ref('models') }}
    where kind not in ('baseline', 'embedding')

),

headline_asked as (

    select * from {{ ref('int_headline_asked') }}

),

templates as (

    select
        template_key,
        triple_id
    from {{ ref('int_templates') }}

),

proposals as (

    select distinct
        triple_id,
        generator
    from {{ ref('fct_triple_proposals') }}

),

tiers as (

    select * from {{ ref('int_leaderboard_tiers') }}

),

series as (

    select
        headline_asked.model,
        headline_asked.mode,
        dense_rank() over (order by headline_asked.mode) as mode_number,
        row_number() over (order by headline_asked.mode, headline_asked.model) as series
    from headline_asked
    semi join models
        on headline_asked.model = models.model
    group by
        headline_asked.model,
        headline_asked.mode

),

kinds (kind) as (

    {% for kind in [
        'option_count', 'source', 'task', 'paraphrase', 'generator', 'context_size', 'arm',
    ] -%}
    select '{{ kind }}'
    {{- ' union all ' if not loop.last }}
    {%- endfor %}

),

-- Arms show the own scenario and have a right option; sizes are the arms with more context and the
-- item's own.
arm_kinds as (

    select
        arm,
        'arm' as kind
    from arms
    where scenario = 'own'
        and not should_abstain

    union all

    select
        arm,
        'context_size' as kind
    from arms
    where is_headline
        or n_context is not null

),

arm_scores as (

    select
        arm_kinds.kind,
        all_scores.*
    from all_scores
    inner join arm_kinds
        on all_scores.arm = arm_kinds.arm
    semi join pooled_sources
        on all_scores.source = pooled_sources.source

),

wide_requests as (

    select
        requests.model,
        requests.mode,
        requests.item_id,
        arms.n_context
    from requests
    inner join arms
        on requests.arm = arms.arm
        and arms.n_context is not null

),

-- Sizes judge on the same items: those that a model answered at every size asked in its mode.
sizes_counted as (

    select
        mode,
        count(distinct n_context) + 1 as n_sizes
    from wide_requests
    group by mode

),

sized as (

    select arm_scores.*
    from arm_scores
    inner join sizes_counted
        on arm_scores.mode = sizes_counted.mode
    where arm_scores.kind = 'context_size'
    qualify count(*) over (
        partition by arm_scores.model, arm_scores.mode, arm_scores.item_id
    ) = sizes_counted.n_sizes

),

judged as (

    {%- for kind, judge in {
        'option_count': 'n_options', 'source': 'source', 'task': 'task', 'paraphrase': 'variant',
    }.items() %}
    select
        '{{ kind }}' as kind,
        cast({{ judge }} as varchar) as judge,
        model,
        mode,
        task,
        template_key,
        person_group,
        correct
    from scores

    union all

    {% endfor -%}
    select
        'generator' as kind,
        proposals.generator as judge,
        scores.model,
        scores.mode,
        scores.task,
        scores.template_key,
        scores.person_group,
        scores.correct
    from scores
    inner join templates
        on scores.template_key = templates.template_key
    inner join proposals
        on templates.triple_id = proposals.triple_id

    union all

    select
        'context_size' as kind,
        cast(n_context as varchar) as judge,
        model,
        mode,
        task,
        template_key,
        person_group,
        correct
    from sized

    union all

    select
        kind,
        arm as judge,
        model,
        mode,
        task,
        template_key,
        person_group,
        correct
    from arm_scores
    where kind = 'arm'

),

template_sums as (

    select
        judged.kind,
        judged.judge,
        judged.task,
        series.mode_number,
        series.series,
        judged.template_key,
        judged.person_group,
        count(*) as n,
        sum(judged.correct) as hits
    from judged
    inner join series
        on judged.model = series.model
        and judged.mode = series.mode
    group by
        judged.kind,
        judged.judge,
        judged.task,
        series.mode_number,
        series.series,
        judged.template_key,
        judged.person_group

),

-- A judge's tasks are the same for all models.
judge_tasks as (

    select
        kind,
        judge,
        task,
        mode_number,
        row_number() over (order by kind, judge, mode_number, task) as cell,
        count(*) over (partition by kind, judge, mode_number) as n_tasks
    from template_sums
    group by
        kind,
        judge,
        task,
        mode_number
    having {{ estimate_status('count(distinct template_key)') }} = 'estimable'

),

cells as (

    select
        judge_tasks.kind,
        judge_tasks.judge,
        judge_tasks.mode_number,
        judge_tasks.cell,
        judge_tasks.n_tasks,
        template_sums.series
    from template_sums
    inner join judge_tasks
        on template_sums.kind = judge_tasks.kind
        and template_sums.judge = judge_tasks.judge
        and template_sums.task = judge_tasks.task
        and template_sums.mode_number = judge_tasks.mode_number
    group by
        judge_tasks.kind,
        judge_tasks.judge,
        judge_tasks.mode_number,
        judge_tasks.cell,
        judge_tasks.n_tasks,
        template_sums.series
    having {{ estimate_status('count(*)') }} = 'estimable'

),

-- Whom a judge can score, as the bootstrap below costs time for each.
judge_models as (

    select
        kind,
        judge,
        mode_number,
        series,
        count(*) over (partition by kind, judge, mode_number) as n_models
    from cells
    group by
        kind,
        judge,
        mode_number,
        series
    having count(*) = max(n_tasks)

),

-- One that scores too few models to order them is no judge beside those that score enough.
scored as (

    select *
    from judge_models
    qualify n_models >= {{ var('agreement_min_models') }}
        or max(n_models) over (partition by kind, mode_number) < {{ var('agreement_min_models') }}

),

judges_counted as (

    select
        kind,
        mode_number,
        count(distinct judge) as n_judges
    from scored
    group by
        kind,
        mode_number

),

models_counted as (

    select
        kind,
        mode_number,
        series,
        count(*) as n_judges
    from scored
    group by
        kind,
        mode_number,
        series

),

scopes as (

    select
        series,
        'all' as scope
    from series

    union all

    select
        series.series,
        concat('tier ', tiers.tier) as scope
    from series
    inner join tiers
        on series.model = tiers.model
        and series.mode = tiers.mode

),

-- Models that every judge scores, over all and within each tier.
members as (

    select
        models_counted.kind,
        models_counted.mode_number,
        models_counted.series,
        scopes.scope
    from models_counted
    inner join judges_counted
        on models_counted.kind = judges_counted.kind
        and models_counted.mode_number = judges_counted.mode_number
        and models_counted.n_judges = judges_counted.n_judges
    inner join scopes
        on models_counted.series = scopes.series

),

panels as (

    select
        members.kind,
        members.mode_number,
        members.scope,
        row_number() over (order by members.mode_number, members.kind, members.scope) as panel
    from members
    inner join judges_counted
        on members.kind = judges_counted.kind
        and members.mode_number = judges_counted.mode_number
        and judges_counted.n_judges >= 2
    group by
        members.kind,
        members.mode_number,
        members.scope
    having count(*) >= {{ var('agreement_min_models') }}

),

persons as (

    select
        person_group,
        row_number() over (order by person_group) as person
    from template_sums
    group by person_group

),

drawn_from as (

    select
        template_sums.series,
        judge_tasks.cell,
        persons.person as person_group,
        sum(template_sums.n) as n,
        sum(template_sums.hits) as hits
    from template_sums
    inner join judge_tasks
        on template_sums.kind = judge_tasks.kind
        and template_sums.judge = judge_tasks.judge
        and template_sums.task = judge_tasks.task
        and template_sums.mode_number = judge_tasks.mode_number
    inner join persons
        on template_sums.person_group = persons.person_group
    semi join members
        on template_sums.kind = members.kind
        and template_sums.series = members.series
    semi join panels
        on template_sums.kind = panels.kind
        and template_sums.mode_number = panels.mode_number
    group by
        template_sums.series,
        judge_tasks.cell,
        persons.person

),

{{ bootstrap_sums('sums', 'drawn_from', ['series', 'cell']) }},

-- Rounded, so that models that tie do. A replicate may draw nobody of a cell.
replicate_scores as (

    select
        sums.replicate,
        judge_tasks.kind,
        judge_tasks.mode_number,
        judge_tasks.judge,
        sums.series,
        case when min(sums.n) > 0 then
            round(sum(cast(sums.hits as double) / nullif(sums.n, 0)) / count(*), 12)
        end as score
    from sums
    inner join judge_tasks
        on sums.cell = judge_tasks.cell
    group by
        sums.replicate,
        judge_tasks.kind,
        judge_tasks.mode_number,
        judge_tasks.judge,
        sums.series

),

panel_scores as (

    select
        panels.panel,
        replicate_scores.replicate,
        replicate_scores.judge,
        replicate_scores.series as model,
        replicate_scores.score
    from replicate_scores
    inner join members
        on replicate_scores.kind = members.kind
        and replicate_scores.series = members.series
    inner join panels
        on members.kind = panels.kind
        and members.mode_number = panels.mode_number
        and members.scope = panels.scope

),

{{ kendalls_w('agreements', 'panel_scores', ['panel', 'replicate']) }},

agreements_spread as (

    select
        panel,
        max(n_judges) filter (where replicate = 0) as n_judges,
        max(n_models) filter (where replicate = 0) as n_models,
        max(w) filter (where replicate = 0) as w,
        max(chi_squared) filter (where replicate = 0) as chi_squared,
        max(p_value) filter (where replicate = 0) as p_value,
        quantile_disc(w, {{ var('bootstrap_tail') }}) filter (where replicate > 0) as w_low,
        quantile_disc(w, 1 - {{ var('bootstrap_tail') }}) filter (where replicate > 0) as w_high
    from agreements
    group by panel

),

data_scores as (

    select
        panel,
        judge,
        model,
        score
    from panel_scores
    where replicate = 0

),

-- Modes one after the other, so that no model is the neighbour of another mode's.
placed as (

    select
        series.series as model,
        series.mode_number * 1000000 + tiers.rank as rank,
        tiers.tier
    from tiers
    inner join series
        on tiers.model = series.model
        and tiers.mode = series.mode

),

{{ rank_inversions('inversions', 'data_scores', 'placed', ['panel']) }},

modes as (

    select distinct
        mode,
        mode_number
    from series

),

-- Every kind over all models, and the tiers that hold models enough to be ordered.
wanted as (

    select
        modes.mode,
        modes.mode_number,
        kinds.kind,
        'all' as scope
    from modes
    cross join kinds

    union

    select
        modes.mode,
        modes.mode_number,
        panels.kind,
        panels.scope
    from panels
    inner join modes
        on panels.mode_number = modes.mode_number

),

members_counted as (

    select
        kind,
        mode_number,
        scope,
        count(*) as n_models
    from members
    group by
        kind,
        mode_number,
        scope

),

asked_counted as (

    {%- for kind in ['option_count', 'source', 'task', 'paraphrase', 'generator'] %}
    select
        '{{ kind }}' as kind,
        model,
        mode,
        n_asked
    from headline_asked

    union all

    {% endfor -%}
    select
        arm_kinds.kind,
        requests.model,
        requests.mode,
        count(*) as n_asked
    from requests
    inner join arm_kinds
        on requests.arm = arm_kinds.arm
    where arm_kinds.kind = 'arm'
    group by
        arm_kinds.kind,
        requests.model,
        requests.mode

    union all

    select
        arm_kinds.kind,
        requests.model,
        requests.mode,
        count(*) as n_asked
    from requests
    inner join arm_kinds
        on requests.arm = arm_kinds.arm
    semi join wide_requests
        on requests.model = wide_requests.model
        and requests.mode = wide_requests.mode
        and requests.item_id = wide_requests.item_id
    where arm_kinds.kind = 'context_size'
    group by
        arm_kinds.kind,
        requests.model,
        requests.mode

),

answered_counted as (

    {%- for kind in ['option_count', 'source', 'task', 'paraphrase', 'generator'] %}
    select
        '{{ kind }}' as kind,
        model,
        mode,
        count(*) as n
    from scores
    group by
        model,
        mode

    union all

    {% endfor -%}
    select
        kind,
        model,
        mode,
        count(*) as n
    from arm_scores
    where kind = 'arm'
    group by
        kind,
        model,
        mode

    union all

    select
        kind,
        model,
        mode,
        count(*) as n
    from sized
    group by
        kind,
        model,
        mode

),

counts_united as (

    select
        kind,
        model,
        mode,
        0 as n,
        n_asked
    from asked_counted

    union all

    select
        kind,
        model,
        mode,
        n,
        0 as n_asked
    from answered_counted

),

-- Of all models of the scope, also those that some judge cannot score.
requests_counted as (

    select
        counts_united.kind,
        series.mode_number,
        scopes.scope,
        sum(counts_united.n) as n,
        sum(counts_united.n_asked) as n_asked
    from counts_united
    inner join series
        on counts_united.model = series.model
        and counts_united.mode = series.mode
    inner join scopes
        on series.series = scopes.series
    group by
        counts_united.kind,
        series.mode_number,
        scopes.scope

),

rank_agreement as (

    select
        ---------- ids
        wanted.mode,
        wanted.kind,
        wanted.scope,

        ---------- counts
        cast(coalesce(judges_counted.n_judges, 0) as integer) as n_judges,
        cast(coalesce(members_counted.n_models, 0) as integer) as n_models,
        cast(coalesce(requests_counted.n, 0) as integer) as n,
        cast(coalesce(requests_counted.n_asked, 0) as integer) as n_asked,

        ---------- agreement
        {{ rounded_share('agreements_spread.w') }} as w,
        case when agreements_spread.w is not null then
            {{ rounded_share('least(agreements_spread.w, agreements_spread.w_low)') }}
        end as w_low,
        case when agreements_spread.w is not null then
            {{ rounded_share('greatest(agreements_spread.w, agreements_spread.w_high)') }}
        end as w_high,
        cast(round(agreements_spread.chi_squared, 6) as decimal(18, 6)) as chi_squared,
        cast(round(agreements_spread.p_value, 12) as decimal(18, 12)) as p_value,

        ---------- inversions
        cast(case when panels.panel is not null and wanted.scope = 'all' then
            coalesce(inversions.n_separated, 0)
        end as integer) as n_separated,
        cast(case when panels.panel is not null and wanted.scope = 'all' then
            coalesce(inversions.n_inversions, 0)
        end as integer) as n_inversions,

        ---------- state
        case when agreements_spread.w is not null then 'estimable' else 'not_estimable' end
            as status,
        case
            when agreements_spread.w is not null then null
            when coalesce(judges_counted.n_judges, 0) < 2 then 'few_judges'
            when panels.panel is null then 'few_models'
            else 'all_models_tie'
        end as reason
    from wanted
    left join judges_counted
        on wanted.kind = judges_counted.kind
        and wanted.mode_number = judges_counted.mode_number
    left join members_counted
        on wanted.kind = members_counted.kind
        and wanted.mode_number = members_counted.mode_number
        and wanted.scope = members_counted.scope
    left join requests_counted
        on wanted.kind = requests_counted.kind
        and wanted.mode_number = requests_counted.mode_number
        and wanted.scope = requests_counted.scope
    left join panels
        on wanted.kind = panels.kind
        and wanted.mode_number = panels.mode_number
        and wanted.scope = panels.scope
    left join agreements_spread
        on panels.panel = agreements_spread.panel
    left join inversions
        on panels.panel = inversions.panel

)

select * from rank_agreement
