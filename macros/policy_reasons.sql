{#- How the counts of a triple become reasons under a policy: the one place where thresholds are
    applied, for the verdicts and for the points of rpt_yield_sweep alike. `counts` is a relation
    with the columns of int_triple_counts and the task; `policy` one with those of seed
    evidence_policies and max_level_rank, the widest match level that counts. -#}

{#- Rank of the narrowest match level at which support meets the policy; null when none does.
    Where min_supporting_pmids is null articles do not count. -#}
{% macro support_level_rank(counts, policy) -%}
case
    {%- for level in match_level_names() %}
    when {{ policy }}.max_level_rank >= {{ loop.index0 }}
        and (
            {{ counts }}.n_pmids_to_{{ level }} >= {{ policy }}.min_supporting_pmids
            or ({{ policy }}.uses_curated and {{ counts }}.n_curated_to_{{ level }} > 0)
            or (
                {{ policy }}.uses_undirected
                and {{ counts }}.task = 'px'
                and {{ counts }}.n_undirected_to_{{ level }} > 0
            )
        )
        then {{ loop.index0 }}
    {%- endfor %}
end
{%- endmacro %}

{#- kb_not_loaded, no_positive_support, or null. -#}
{% macro support_reason(counts, level_rank) -%}
case
    when not {{ counts }}.is_kb_loaded then 'kb_not_loaded'
    when {{ counts }}.n_claims = 0 then null
    when {{ level_rank }} is null then 'no_positive_support'
end
{%- endmacro %}

{#- The shares compare like with like: negation and the opposite are read at the pair and its
    equivalents, so is the support they are weighed against. -#}
{% macro weighed_support(counts, policy) -%}
(
    {{ counts }}.n_supporting_pmids_exact
    + case
        when {{ policy }}.uses_curated then {{ counts }}.n_supporting_curated_exact
        else 0
    end
)
{%- endmacro %}

{#- ambiguous_relation or null. -#}
{% macro ambiguity_reason(counts, policy) -%}
case
    when {{ counts }}.n_hazard_pmids >= {{ policy }}.min_ambiguous_pmids
        and {{ counts }}.n_hazard_pmids > {{ policy }}.max_hazard_share
            * ({{ counts }}.n_hazard_pmids + {{ weighed_support(counts, policy) }})
        then 'ambiguous_relation'
    when {{ counts }}.n_reverse_pmids >= {{ policy }}.min_ambiguous_pmids
        and {{ weighed_support(counts, policy) }} < {{ policy }}.min_direction_share
            * ({{ weighed_support(counts, policy) }} + {{ counts }}.n_reverse_pmids)
        then 'ambiguous_relation'
end
{%- endmacro %}

{#- negative_evidence or null. -#}
{% macro negation_reason(counts, policy) -%}
case
    when {{ policy }}.uses_curated and {{ counts }}.n_contradicting_curated > 0
        then 'negative_evidence'
    when {{ counts }}.n_contradicting_pmids >= {{ policy }}.min_negative_pmids
        and {{ counts }}.n_contradicting_pmids > {{ policy }}.max_negative_share
            * ({{ counts }}.n_contradicting_pmids + {{ weighed_support(counts, policy) }})
        then 'negative_evidence'
end
{%- endmacro %}

{#- low_ehr_lift or null; a lift that could not be measured rejects nothing. -#}
{% macro lift_reason(counts, policy) -%}
case
    when {{ policy }}.min_ehr_lift > 0 and {{ counts }}.ehr_lift < {{ policy }}.min_ehr_lift
        then 'low_ehr_lift'
end
{%- endmacro %}
