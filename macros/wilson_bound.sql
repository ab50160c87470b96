{#- Wilson bound of a share, decimal(9,6); null when nothing was counted. `side` is low or high. -#}
{% macro wilson_bound(n_hits, n_all, side) -%}
{%- set z = var('interval_z') -%}
{%- set z2 = z * z -%}
{%- set bound -%}
    ((({{ n_hits }}) + {{ z2 / 2 }}) {{ '-' if side == 'low' else '+' }} {{ z }} * sqrt(
        cast(({{ n_hits }}) as double) * (({{ n_all }}) - ({{ n_hits }})) / nullif({{ n_all }}, 0)
        + {{ z2 / 4 }}
    )) / (nullif({{ n_all }}, 0) + {{ z2 }})
{%- endset -%}
cast({{ rounded(bound) }} as decimal(9,6))
{%- endmacro %}
