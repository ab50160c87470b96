-- The events of the triple, each with the concepts that its code was mapped to or the reason why
-- there is none.
with

roles as (

    select * from fct_triple_events
    where triple_id = $triple_id

),

scenario as (

    select unnest(string_split(scenario_event_keys, ',')) as event_key
    from fct_templates
    where triple_id = $triple_id

),

mapped as (

    select * from brg_event_concepts
    where event_key in (select event_key from roles)

),

concepts_listed as (

    select
        mapped.event_key,
        list(
            {
                'cui': mapped.cui,
                'name': concepts.name,
                'method': mapped.mapping_method,
                'level': mapped.mapping_level,
                'reason': mapped.reason,
                'meaning': reasons.meaning,
                'what_to_do': reasons.what_to_do
            }
            order by mapped.rank
        ) as concepts
    from mapped
    left join dim_concepts as concepts
        on mapped.cui = concepts.cui
    left join mapping_reasons as reasons
        on mapped.reason = reasons.reason
    group by mapped.event_key

)

select
    roles.role,
    roles.position,
    events.event_type,
    events.label,
    events.code_system,
    events.source_code,
    events.normalized_code,
    events.seq_num,
    events.n_source_rows,
    events.is_status_code,
    events.is_routine,
    events.is_residual_title,
    events.is_hindsight,
    events.procedure_role,
    events.administration,
    roles.event_key in (select event_key from scenario) as is_in_scenario,
    roles.event_key,
    concepts_listed.concepts
from roles
left join fct_visit_events as events
    on roles.event_key = events.event_key
left join concepts_listed
    on roles.event_key = concepts_listed.event_key
order by
    case roles.role when 'subject' then 1 when 'object' then 2 else 3 end,
    roles.position,
    roles.event_key
