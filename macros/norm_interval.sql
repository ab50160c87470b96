{#- One end of the interval of a figure that sums up sizes and is biased upward by noise (ECE, RStd),
    from bootstrap replicates. `noise` is the same figure of the replicate's departure from the data.
    Low: zero unless the estimate stands out of the noise; then the reflected quantile, or the
    estimate less the mean noise where that is lower. High: the estimate plus interval_z errors, cut
    at `highest`, the most that the figure can be. In simulations percentile and reflected intervals
    hold a small truth far too seldom. `side` is low or high. -#}
{% macro norm_interval(
    estimate, value_high, value_error, noise_mean, noise_high, side, highest=1.0
) -%}
{%- if side == 'low' -%}
case
    when {{ estimate }} <= {{ noise_high }} then 0.0
    else greatest(0.0, least(
        {{ estimate }}, 2 * {{ estimate }} - {{ value_high }}, {{ estimate }} - {{ noise_mean }}
    ))
end
{%- else -%}
case
    when {{ value_error }} is not null
        then least({{ highest }}, {{ estimate }} + {{ var('interval_z') }} * {{ value_error }})
end
{%- endif -%}
{%- endmacro %}
