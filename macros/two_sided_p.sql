{#- Probability of a normal value at least as far from zero as z. Abramowitz and Stegun 26.2.17: the
    tail is within 7.5e-8 of the truth, so the result within 1.5e-7; six digits are kept. -#}
{% macro two_sided_p(z) -%}
cast(round(
    exp(-power({{ z }}, 2) / 2) * 2 * 0.3989422804014327
    * (1 / (1 + 0.2316419 * abs({{ z }})))
    * (0.319381530 + (1 / (1 + 0.2316419 * abs({{ z }})))
    * (-0.356563782 + (1 / (1 + 0.2316419 * abs({{ z }})))
    * (1.781477937 + (1 / (1 + 0.2316419 * abs({{ z }})))
    * (-1.821255978 + (1 / (1 + 0.2316419 * abs({{ z }}))) * 1.330274429)))),
    6
) as decimal(9, 6))
{%- endmacro %}
