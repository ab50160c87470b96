-- One row per set rule x stratum that it tests: how many units, the statistic with its interval and
-- what is allowed; is_found is null where there are too few units to say.
{% for model in leak_rule_models('set') -%}
select * from {{ ref(model) }}
{% if not loop.last %}union all
{% endif %}
{%- endfor %}
