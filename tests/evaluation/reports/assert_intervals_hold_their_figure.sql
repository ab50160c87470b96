-- Figures outside their own interval, intervals with one end, or ends that no such figure can have.
{%- set no_end = 'cast(null as double)' %}
with

figures as (

    {%- for figure, lowest, highest in [
        ('overall', 0, 1), ('dx', 0, 1), ('tx', 0, 1), ('px', 0, 1), ('acc_4', 0, 1),
        ('acc_5', 0, 1), ('acc_6', 0, 1), ('parse_failure_rate', 0, 1), ('chance_corrected', -1, 1),
        ('valid_only', 0, 1), ('rank', 1, no_end), ('average_rank', 1, no_end),
        ('icc_template', -1, 1),
    ] %}
    select
        model,
        mode,
        '{{ figure }}' as figure,
        {{ figure }} as value,
        {{ figure }}_low as low,
        {{ figure }}_high as high,
        {{ lowest }} as lowest,
        {{ highest }} as highest
    from {{ ref('rpt_leaderboard') }}
    union all
    {%- endfor %}
    {%- for figure, lowest in {
        'mean_confidence': 0, 'accuracy': 0, 'overconfidence': -1, 'brier': 0, 'auroc': 0, 'ece': 0,
    }.items() %}
    select
        model,
        mode,
        concat(arm, ' ', confidence_kind, ' ', task, ' {{ figure }}') as figure,
        {{ figure }} as value,
        {{ figure }}_low as low,
        {{ figure }}_high as high,
        {{ lowest }} as lowest,
        1 as highest
    from {{ ref('rpt_calibration') }}
    union all
    {%- endfor %}
    select
        concat(first_model, ' ', second_model) as model,
        mode,
        'difference' as figure,
        difference as value,
        difference_low as low,
        difference_high as high,
        -1 as lowest,
        1 as highest
    from {{ ref('rpt_model_differences') }}
    union all
    select
        model,
        mode,
        concat(source, ' ', task, ' ', n_options) as figure,
        accuracy as value,
        accuracy_low as low,
        accuracy_high as high,
        0 as lowest,
        1 as highest
    from {{ ref('rpt_accuracy') }}

)

select *
from figures
where value < low
    or value > high
    or low < lowest
    or high > highest
    or (low is null) is distinct from (high is null)
    or (value is null and low is not null)
