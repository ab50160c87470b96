-- Which rows of the raw files does this item come from? One row per raw row behind an event of the
-- item's triple: the file, the row number in it, the source's keys and the code as it stands there.
-- Run with: dbt show --select trace_item_to_raw_rows --limit -1 --vars "{item: <item_id>}"
-- Without the variable it takes the first released item. Internal use only: it names a patient's
-- keys in the source. Each event's rows are as many as n_source_rows of fct_visit_events says.
with chosen as (
    select i.item_id, i.template_key
    from {{ ref('dim_items') }} as i
    {% if var('item', none) -%}
    where i.item_id = '{{ var('item') | replace("'", "''") }}'
    {%- endif %}
    order by i.released desc, i.item_id
    limit 1
),

item_events as (
    select
        chosen.item_id,
        te.role,
        te.position,
        coalesce(
            list_contains(string_split(t.scenario_event_keys, ','), te.event_key), false
        ) as is_in_scenario,
        e.*
    from chosen
    inner join {{ ref('fct_templates') }} as t on chosen.template_key = t.template_key
    inner join {{ ref('fct_triple_events') }} as te on t.triple_id = te.triple_id
    inner join {{ ref('fct_visit_events') }} as e on te.event_key = e.event_key
),

admissions as (
    select a.source, a.patient_id, a.admission_id, a.visit_key, v.discharged_at
    from {{ ref('int_admissions_merged') }} as a
    inner join {{ ref('dim_visits') }} as v on a.visit_key = v.visit_key
    where a.visit_key in (select visit_key from item_events)
),

-- What the sources' models made of the raw rows of these visits, less what was set aside.
kept as (
    select
        a.visit_key,
        s.source,
        s.patient_id,
        s.admission_id,
        s.event_type,
        s.code_system,
        s.source_code,
        s.normalized_code,
        s.ndc,
        s.route,
        s.first_at
    from {{ ref('int_source_events') }} as s
    inner join admissions as a
        on s.source = a.source
        and s.admission_id = a.admission_id
        and s.patient_id = a.patient_id
    where s.set_aside_reason is null
        and (
            s.first_at is null
            or (s.event_type = 'medication' and s.first_at <= a.discharged_at)
            or (
                s.event_type <> 'medication'
                and cast(s.first_at as date) <= cast(a.discharged_at as date)
            )
        )
),

-- An order is mapped by its text, NDC and route.
traced as (
    select distinct
        e.event_key,
        k.source,
        k.patient_id,
        k.admission_id,
        k.event_type,
        k.code_system,
        k.source_code,
        k.normalized_code,
        k.ndc,
        k.route,
        k.first_at
    from item_events as e
    inner join kept as k
        on e.visit_key = k.visit_key
        and e.event_type = k.event_type
    left join {{ ref('int_drug_orders_mapped') }} as o
        on k.event_type = 'medication'
        and k.source_code = o.drug_text
        and k.ndc is not distinct from o.ndc
        and k.route is not distinct from o.route
        and o.set_aside_reason is null
    where e.code_system = coalesce(o.code_system, k.code_system)
        and e.normalized_code = coalesce(o.normalized_code, k.normalized_code)
),

raw_rows as (
    select
        t.event_key,
        'diagnoses_icd' as source_table,
        r.source_file,
        r.source_row,
        r.subject_id as patient_id,
        r.hadm_id as admission_id,
        'seq_num ' || r.seq_num || ', icd_version ' || r.icd_version as row_key,
        r.icd_code as raw_code
    from traced as t
    inner join {{ ref('stg_mimic_iv__diagnoses_icd') }} as r
        on t.admission_id = r.hadm_id
        and t.patient_id = r.subject_id
        and t.source_code = r.icd_code
        and t.code_system = {{ icd_code_system('r.icd_version', 'diagnosis') }}
    where t.source = 'mimic_iv'
        and t.event_type = 'diagnosis'
        and not r.is_torn_line

    union all

    select
        t.event_key,
        'procedures_icd' as source_table,
        r.source_file,
        r.source_row,
        r.subject_id as patient_id,
        r.hadm_id as admission_id,
        'seq_num ' || r.seq_num || ', icd_version ' || r.icd_version as row_key,
        r.icd_code as raw_code
    from traced as t
    inner join {{ ref('stg_mimic_iv__procedures_icd') }} as r
        on t.admission_id = r.hadm_id
        and t.patient_id = r.subject_id
        and t.source_code = r.icd_code
        and t.code_system = {{ icd_code_system('r.icd_version', 'procedure') }}
        and t.first_at is not distinct from r.chartdate
    where t.source = 'mimic_iv'
        and t.event_type = 'procedure'
        and not r.is_torn_line

    union all

    select
        t.event_key,
        'prescriptions' as source_table,
        r.source_file,
        r.source_row,
        r.subject_id as patient_id,
        r.hadm_id as admission_id,
        'pharmacy_id ' || r.pharmacy_id || ', ndc ' || coalesce(r.ndc, '-') as row_key,
        r.drug as raw_code
    from traced as t
    inner join {{ ref('stg_mimic_iv__prescriptions') }} as r
        on t.admission_id = r.hadm_id
        and t.patient_id = r.subject_id
        and t.source_code = trim(r.drug)
        and t.ndc is not distinct from r.ndc
        and t.route is not distinct from r.route
    where t.source = 'mimic_iv'
        and t.event_type = 'medication'
        and not r.is_torn_line

    union all

    select
        t.event_key,
        'diagnoses_icd' as source_table,
        r.source_file,
        r.source_row,
        r.subject_id as patient_id,
        r.hadm_id as admission_id,
        'seq_num ' || r.seq_num as row_key,
        r.icd9_code as raw_code
    from traced as t
    inner join {{ ref('stg_mimic_iii__diagnoses_icd') }} as r
        on t.admission_id = r.hadm_id
        and t.patient_id = r.subject_id
        and t.source_code = r.icd9_code
    anti join {{ ref('int_mimic_iii__bad_rows') }} as bad
        on bad.source_table = 'mimic_iii.diagnoses_icd'
        and bad.action = 'set_aside'
        and r.source_row = bad.row
    where t.source = 'mimic_iii'
        and t.event_type = 'diagnosis'

    union all

    select
        t.event_key,
        'procedures_icd' as source_table,
        r.source_file,
        r.source_row,
        r.subject_id as patient_id,
        r.hadm_id as admission_id,
        'seq_num ' || r.seq_num as row_key,
        r.icd9_code as raw_code
    from traced as t
    inner join {{ ref('stg_mimic_iii__procedures_icd') }} as r
        on t.admission_id = r.hadm_id
        and t.patient_id = r.subject_id
        and t.source_code = r.icd9_code
    anti join {{ ref('int_mimic_iii__bad_rows') }} as bad
        on bad.source_table = 'mimic_iii.procedures_icd'
        and bad.action = 'set_aside'
        and r.source_row = bad.row
    where t.source = 'mimic_iii'
        and t.event_type = 'procedure'

    union all

    select
        t.event_key,
        'prescriptions' as source_table,
        r.source_file,
        r.source_row,
        r.subject_id as patient_id,
        r.hadm_id as admission_id,
        'ndc ' || coalesce(r.ndc, '-') || ', route ' || coalesce(r.route, '-') as row_key,
        r.drug as raw_code
    from traced as t
    inner join {{ ref('stg_mimic_iii__prescriptions') }} as r
        on t.admission_id = r.hadm_id
        and t.patient_id = r.subject_id
        and t.source_code = r.drug
        and t.ndc is not distinct from r.ndc
        and t.route is not distinct from r.route
    anti join {{ ref('int_mimic_iii__bad_rows') }} as bad
        on bad.source_table = 'mimic_iii.prescriptions'
        and bad.action = 'set_aside'
        and r.source_row = bad.row
    where t.source = 'mimic_iii'
        and t.event_type = 'medication'

    {% for kind, table, date in [
        ('condition', 'condition_occurrence', 'r.condition_start_date'),
        ('procedure', 'procedure_occurrence', 'coalesce(r.procedure_date, r.procedure_datetime)'),
    ] -%}
    {%- set event_type = 'diagnosis' if kind == 'condition' else kind -%}
    union all

    select
        t.event_key,
        '{{ table }}' as source_table,
        r.source_file,
        r.source_row,
        r.person_id as patient_id,
        r.visit_occurrence_id as admission_id,
        'concept ' || coalesce(r.{{ kind }}_concept_id, '-') || ', source concept '
            || coalesce(r.{{ kind }}_source_concept_id, '-') as row_key,
        r.{{ kind }}_source_value as raw_code
    from {{ ref('stg_omop__' ~ table) }} as r
    inner join {{ ref('int_omop__codes_decided') }} as d
        on d.row_type = '{{ event_type }}'
        and r.source = d.source
        and r.person_id = d.person_id
        and r.visit_occurrence_id = d.visit_occurrence_id
        and r.{{ kind }}_source_value is not distinct from d.source_value
        and r.{{ kind }}_source_concept_id is not distinct from d.source_concept_id
        and r.{{ kind }}_concept_id is not distinct from d.concept_id
    inner join traced as t
        on t.event_type = '{{ event_type }}'
        and d.source = t.source
        and d.visit_occurrence_id = t.admission_id
        and d.code_system = t.code_system
        and d.normalized_code = t.normalized_code
        and coalesce(d.source_code, d.source_value) is not distinct from t.source_code
        and date_trunc('day', {{ date }}) is not distinct from t.first_at
    where not r.is_torn_line
        and not r.is_header_row

    {% endfor -%}
    union all

    -- The text of an OMOP drug is its source value or the name of its concept.
    select
        t.event_key,
        'drug_exposure' as source_table,
        r.source_file,
        r.source_row,
        r.person_id as patient_id,
        r.visit_occurrence_id as admission_id,
        'concept ' || coalesce(r.drug_concept_id, '-') || ', source concept '
            || coalesce(r.drug_source_concept_id, '-') as row_key,
        r.drug_source_value as raw_code
    from traced as t
    inner join {{ ref('stg_omop__drug_exposure') }} as r
        on t.source = r.source
        and t.admission_id = r.visit_occurrence_id
        and t.patient_id = r.person_id
        and t.route is not distinct from r.route_source_value
        and (t.ndc is null or t.ndc = r.drug_source_value)
    left join {{ ref('int_omop__concepts') }} as standard
        on r.source = standard.source
        and r.drug_concept_id = standard.concept_id
    left join {{ ref('int_omop__concepts') }} as own
        on r.source = own.source
        and r.drug_source_concept_id = own.concept_id
    where t.event_type = 'medication'
        and t.source_code in (
            r.drug_source_value, coalesce(standard.concept_name, own.concept_name)
        )
        and not r.is_torn_line
        and not r.is_header_row
),

raw_rows_once as (
    select distinct * from raw_rows
)

select
    e.item_id,
    e.role,
    e.position,
    e.is_in_scenario,
    e.event_type,
    e.label,
    e.code_system,
    e.normalized_code,
    e.n_source_rows,
    e.source,
    r.source_table,
    r.source_file,
    r.source_row,
    r.patient_id,
    r.admission_id,
    r.row_key,
    r.raw_code,
    b.cui,
    b.mapping_method,
    b.mapping_level
from item_events as e
left join raw_rows_once as r on e.event_key = r.event_key
left join {{ ref('brg_event_concepts') }} as b
    on e.event_key = b.event_key
    and b.rank = 1
order by
    case e.role when 'subject' then 1 when 'object' then 2 else 3 end,
    e.position,
    e.event_key,
    r.source_file,
    r.source_row
