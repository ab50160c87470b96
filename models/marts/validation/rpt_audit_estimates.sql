{%- set z = var('interval_z') -%}
{%- set expected_error = var('audit_expected_error') -%}
{%- set half_width = var('audit_half_width') -%}
with

audit_frame as (

    select
        stratum_key,
        verdict,
        source,
        task
    from {{ ref('int_audit_frame') }}

    union all

    select
        stratum_key,
        'released' as verdict,
        source,
        task
    from {{ ref('int_audit_item_frame') }}

),

audit_sample as (

    select
        triple_id as audited_id,
        stratum_key,
        1 as n_stands_for
    from {{ ref('fct_audit_sample') }}

    union all

    select
        item_id as audited_id,
        stratum_key,
        n_stands_for
    from {{ ref('fct_audit_items') }}

),

answers as (

    select * from {{ ref('int_audit_answers') }}

),

audit_questions as (

    select * from {{ ref('audit_questions') }}

),

audit_columns as (

    select * from {{ ref('audit_columns') }}

),

{%- set spans = [('source', 'task'), ('source', "'all'"), ("'all'", 'task'), ("'all'", "'all'")] %}

strata as (

    select
        stratum_key,
        verdict,
        source,
        task,
        count(*) as n_frame
    from audit_frame
    group by
        stratum_key,
        verdict,
        source,
        task

),

drawn as (

    select
        stratum_key,
        count(*) as n_drawn
    from audit_sample
    group by stratum_key

),

-- Several raters of a triple or item give one score, the share of them who say yes.
scores as (

    select
        audit_sample.stratum_key,
        answers.question,
        answers.audited_id,
        cast(audit_sample.n_stands_for as decimal(12, 3)) as weight,
        cast(round(
            sum(case when answers.answer then 1 else 0 end) / cast(count(*) as double), 6
        ) as decimal(7, 6)) as score
    from answers
    inner join audit_sample
        on answers.audited_id = audit_sample.audited_id
    group by
        audit_sample.stratum_key,
        audit_sample.n_stands_for,
        answers.question,
        answers.audited_id

),

weighted as (

    select
        *,
        cast(sum(weight * score) over (partition by stratum_key, question) as double)
        / cast(sum(weight) over (partition by stratum_key, question) as double) as mean_score
    from scores

),

rated as (

    select
        stratum_key,
        question,
        mean_score,
        count(*) as n_rated,
        -- As many of one weight would tell as much.
        pow(cast(sum(weight) as double), 2) / cast(sum(weight * weight) as double) as n_told,
        -- Null for a single rated one, which says nothing about the spread of its stratum.
        cast(sum(cast(pow(weight * (score - mean_score), 2) as decimal(38, 12))) as double)
        * count(*) / nullif(count(*) - 1, 0) / pow(cast(sum(weight) as double), 2) as mean_variance
    from weighted
    group by
        stratum_key,
        question,
        mean_score

),

stratum_scores as (

    select
        audit_questions.measure,
        audit_questions.measure_order,
        audit_questions.question,
        strata.verdict,
        strata.source,
        strata.task,
        strata.n_frame,
        coalesce(drawn.n_drawn, 0) as n_drawn,
        coalesce(rated.n_rated, 0) as n_rated,
        rated.n_told,
        rated.mean_score,
        rated.mean_variance
    from audit_questions
    inner join strata
        on audit_questions.verdict = strata.verdict
    left join drawn
        on strata.stratum_key = drawn.stratum_key
    left join rated
        on strata.stratum_key = rated.stratum_key
        and audit_questions.question = rated.question

),

spanned as (
    {% for source, task in spans %}
    select
        measure,
        measure_order,
        question,
        verdict,
        {{ source }} as source,
        {{ task }} as task,
        n_frame,
        n_drawn,
        n_rated,
        n_told,
        mean_score,
        mean_variance
    from stratum_scores
    {{- '\n\n    union all\n' if not loop.last }}
    {%- endfor %}

),

-- Sums of decimals, so that the order of adding cannot change them.
means as (

    select
        measure,
        measure_order,
        question,
        verdict,
        source,
        task,
        sum(n_frame) as n_frame,
        sum(n_drawn) as n_drawn,
        sum(n_rated) as n_rated,
        sum(case when n_rated > 0 then n_frame else 0 end) as n_frame_rated,
        cast(sum(cast(n_frame * mean_score as decimal(24, 6))) as double)
            / nullif(sum(case when n_rated > 0 then n_frame else 0 end), 0) as mean_score,
        cast(sum(cast(
            cast(n_frame as double) * n_frame / n_told as decimal(38, 6)
        )) as double) as sum_weights
    from spanned
    group by
        measure,
        measure_order,
        question,
        verdict,
        source,
        task

),

variances as (

    select
        spanned.measure,
        spanned.source,
        spanned.task,
        cast(sum(cast(
            cast(spanned.n_frame as double) * spanned.n_frame
            * (1 - cast(spanned.n_rated as double) / spanned.n_frame)
            * coalesce(spanned.mean_variance, means.mean_score * (1 - means.mean_score))
            as decimal(38, 6)
        )) as double) as sum_variances
    from spanned
    inner join means
        on spanned.measure = means.measure
        and spanned.source = means.source
        and spanned.task = means.task
    where spanned.n_rated > 0
    group by
        spanned.measure,
        spanned.source,
        spanned.task

),

-- The size of a plain sample that would tell as much: by the spread found within strata, but never
-- more than the weights allow, since a stratum of few triples may look even by chance.
effective as (

    select
        means.*,
        cast(means.n_frame_rated as double) * means.n_frame_rated / means.sum_weights as n_weighted,
        means.mean_score * (1 - means.mean_score)
        * means.n_frame_rated * means.n_frame_rated
        / nullif(variances.sum_variances, 0) as n_spread
    from means
    left join variances
        on means.measure = variances.measure
        and means.source = variances.source
        and means.task = variances.task

),

sized as (

    select
        *,
        case when n_spread > 0 and n_spread < n_weighted then n_spread else n_weighted end
            as n_effective
    from effective

),

bounded as (

    select
        *,
        cast({{ wilson_bound('mean_score * n_effective', 'n_effective', 'low') }} as double)
            as mean_low,
        cast({{ wilson_bound('mean_score * n_effective', 'n_effective', 'high') }} as double)
            as mean_high
    from sized

),

-- Two raters who each err with the same chance e, whatever is true, disagree in 2e(1-e).
disagreements as (

    select
        question,
        sum(n) as n_compared,
        sum(n_only_a + n_only_b) as n_disagree
    from {{ ref('rpt_audit_agreement') }}
    group by question

),

rater_errors as (

    select
        question,
        (1 - sqrt(1 - 2 * cast(n_disagree as double) / n_compared)) / 2 as rater_error,
        sqrt((n_disagree + 2) * (n_compared - n_disagree + 2) / pow(n_compared + 4, 3))
        / (2 * sqrt(1 - 2 * cast(n_disagree as double) / n_compared)) as rater_error_error
    from disagreements
    where 2 * n_disagree < n_compared

),

-- A rater with error e says yes to p(1-e) + (1-p)e of them.
corrected as (

    select
        bounded.*,
        rater_errors.rater_error,
        rater_errors.rater_error_error,
        (bounded.mean_score - rater_errors.rater_error) / (1 - 2 * rater_errors.rater_error)
            as share_right
    from bounded
    inner join rater_errors
        on bounded.question = rater_errors.question
    -- A question worked out from several answers has not one error.
    semi join audit_columns
        on bounded.question = audit_columns.question

),

estimates as (

    select
        measure,
        measure_order,
        verdict,
        source,
        task,
        'as_rated' as method,
        n_frame,
        n_drawn,
        n_rated,
        n_frame_rated,
        n_effective,
        cast(null as double) as rater_error,
        mean_score as estimate,
        mean_low as estimate_low,
        mean_high as estimate_high
    from bounded

    union all

    select
        measure,
        measure_order,
        verdict,
        source,
        task,
        'corrected' as method,
        n_frame,
        n_drawn,
        n_rated,
        n_frame_rated,
        n_effective,
        rater_error,
        share_right as estimate,
        share_right - sqrt(
            pow(mean_score - mean_low, 2)
            + pow({{ z }} * (2 * share_right - 1) * rater_error_error, 2)
        ) / (1 - 2 * rater_error) as estimate_low,
        share_right + sqrt(
            pow(mean_high - mean_score, 2)
            + pow({{ z }} * (2 * share_right - 1) * rater_error_error, 2)
        ) / (1 - 2 * rater_error) as estimate_high
    from corrected

)

select
    measure,
    measure_order,
    source,
    task,
    method,
    verdict,
    cast(n_frame as bigint) as n_frame,
    cast(n_drawn as bigint) as n_drawn,
    cast(n_rated as bigint) as n_rated,
    {{ share('n_frame_rated', 'n_frame') }} as frame_covered,
    cast(round(n_effective, 1) as decimal(12, 1)) as n_effective,
    {%- for column in ['estimate', 'estimate_low', 'estimate_high'] %}
    case when {{ column }} is not null
        then {{ rounded_share('least(1, greatest(0, ' ~ column ~ '))') }} end as {{ column }},
    {%- endfor %}
    {{ rounded_share('rater_error') }} as rater_error,
    cast(round({{ z * z * expected_error * (1 - expected_error) / (half_width * half_width) }})
        as bigint) as n_planned,
    -- A corrected share may fall outside of 0 to 1, where it is shown as the nearer of them.
    cast(round(
        {{ z * z / (half_width * half_width) }}
        * case
            when estimate between 0 and 1 then estimate * (1 - estimate)
            when estimate is not null then 0
        end
    ) as bigint) as n_for_half_width
from estimates
