{#- Whether a row of DrugBank's vocabulary holds a quote that nobody closes. It takes the rows after
    it into its field, line breaks and all; in the last row, the further fields of its own: then
    all of them are empty, and the text ends in their commas or in the InChI key, whose last
    character the reader may cut. A name, and a list of synonyms, may end in a comma of its own. -#}
{% macro has_open_quote() -%}
    (contains(concat(name, synonyms, unii, cas_number), chr(10))
    or regexp_matches(coalesce(synonyms, ''), ',[A-Z]{14}-[A-Z]{10}-[A-Z]?\s*$')
    or synonyms is null
    and regexp_matches(
        coalesce(unii, cas_number, name, ''), ',.*,([A-Z]{14}-[A-Z]{10}-[A-Z]?)?\s*$'
    ))
{%- endmacro %}
