{#- The first words of a title, folded; all of it when n_words is 0. -#}
{% macro title_start(title, n_words) -%}
case
            when {{ n_words }} = 0 then trim({{ norm_label(title) }})
            else array_to_string(
                string_split(trim({{ norm_label(title) }}), ' ')[1:{{ n_words }}], ' ')
        end
{%- endmacro %}
