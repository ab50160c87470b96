-- What would another threshold let through, beside the null generator? The yield curve of a policy.
-- Run with: dbt show --select yield_curve --limit -1 --vars '{policy: sound, curve: match_level}'
-- Without the variables it takes the active policy and every curve. One column per task is easy to
-- draw from: x is threshold_value in order of position, a line per generator.
select
    s.source,
    s.generator,
    s.threshold,
    s.position,
    s.threshold_value,
    max(case when s.is_policy_point then '*' else '' end) as policy_point,
    {% for task in ['dx', 'tx', 'px'] -%}
    max(case when s.task = '{{ task }}' then s.n_triples end) as {{ task }}_triples,
    max(case when s.task = '{{ task }}' then s.n_accepted end) as {{ task }}_accepted,
    max(case when s.task = '{{ task }}' then s.pass_rate end) as {{ task }}_pass_rate,
    max(case when s.task = '{{ task }}' then s.null_pass_rate end) as {{ task }}_null_pass_rate,
    max(case when s.task = '{{ task }}' then s.enrichment end) as {{ task }}_enrichment
    {{- ',' if not loop.last }}
    {% endfor %}
from {{ ref('rpt_yield_sweep') }} as s
where
    s.policy = '{{ var('policy', active_policy()) | replace("'", "''") }}'
    and s.generator <> '{{ var('null_generator') }}'
    {% if var('curve', none) -%}
    and s.threshold = '{{ var('curve') | replace("'", "''") }}'
    {%- endif %}
group by all
order by all
