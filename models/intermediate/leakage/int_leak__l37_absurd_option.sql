-- Options that can be ruled out without knowing the case, the answer included: a reader would rule
-- that out too, and a retired drug that is never a distractor is the answer wherever it stands.
-- Read anew from what is shown: the title's own codes and words, not the list that the draw leaves
-- out.
with

leak_options as (

    select * from {{ ref('int_leak_options') }}

),

labels as (

    select * from {{ ref('int_option_labels') }}

),

forms as (

    select * from {{ ref('int_template_forms') }}

),

patients as (

    select * from {{ ref('dim_patients') }}

),

visits as (

    select * from {{ ref('dim_visits') }}

),

scenario as (

    select * from {{ ref('int_form_scenario') }}

),

events as (

    select * from {{ ref('fct_visit_events') }}

),

cohort_codes as (

    select * from {{ ref('int_cohort_codes') }}
    where is_coded

),

code_concepts as (

    select * from {{ ref('int_code_concepts') }}
    where mapping_level in ('exact', 'equivalent')

),

icd_code_systems as (

    select * from {{ ref('icd_code_systems') }}

),

drug_classes as (

    select * from {{ ref('int_drug_classes') }}
    where level = 5

),

atoms as (

    select * from {{ ref('stg_umls__atoms') }}
    where sab = 'RXNORM'

),

excludes1 as (

    select * from {{ ref('int_icd_excludes1') }}

),

restricted_codes as (

    select * from {{ ref('sex_age_restricted') }}

),

restricted_words as (

    select * from {{ ref('sex_age_words') }}

),

{{ leak_form_options() }},

shown as (

    select distinct
        labels.option_key,
        labels.event_type,
        labels.cui_id,
        labels.label,
        {{ leak_words('labels.label') }} as words
    from options
    inner join labels
        on options.option_key = labels.option_key

),

title_codes as (

    select
        shown.option_key,
        cohort_codes.code_system,
        cohort_codes.normalized_code as code
    from shown
    inner join cohort_codes
        on shown.label = {{ render_label('cohort_codes.label') }}
    inner join icd_code_systems
        on cohort_codes.code_system = icd_code_systems.code_system
        and shown.event_type = icd_code_systems.code_kind

    union

    select
        shown.option_key,
        'ATC' as code_system,
        drug_classes.atc_code as code
    from shown
    inner join drug_classes
        on shown.cui_id = drug_classes.cui_id
    where shown.event_type = 'medication'

),

-- Of several ranges that hold a code the strictest counts.
limits as (

    select
        title_codes.option_key,
        concat(title_codes.code_system, ' ', title_codes.code) as said_by,
        max(restricted_codes.sex) as sex,
        max(restricted_codes.min_age) as min_age,
        min(restricted_codes.max_age) as max_age
    from title_codes
    left join restricted_codes
        on title_codes.code_system = restricted_codes.code_system
        and {{ code_in_range('title_codes.code', 'restricted_codes.code_from',
            'restricted_codes.code_to') }}
    group by
        title_codes.option_key,
        title_codes.code_system,
        title_codes.code

),

-- One code without limits, or two with different sexes, leave the title to everybody.
limited_by_codes as (

    select
        option_key,
        min(said_by) as said_by,
        max(sex) as sex,
        min(coalesce(min_age, 0)) as min_age,
        max(coalesce(max_age, 999)) as max_age
    from limits
    group by option_key
    having count(distinct coalesce(sex, 'both')) = 1

),

limited_by_words as (

    select
        shown.option_key,
        min(restricted_words.word_pattern) as said_by,
        max(restricted_words.sex) as sex,
        max(coalesce(restricted_words.min_age, 0)) as min_age,
        min(coalesce(restricted_words.max_age, 999)) as max_age
    from shown
    inner join restricted_words
        on shown.words like concat('% ', restricted_words.word_pattern, ' %')
        and not coalesce(
            shown.words like concat('% ', restricted_words.unless_words, ' %'), false)
    where shown.event_type <> 'medication'
    group by shown.option_key
    having min(restricted_words.sex) is not distinct from max(restricted_words.sex)

),

limited as (

    select * from limited_by_codes
    union all
    select * from limited_by_words

),

cases as (

    select
        forms.template_key,
        patients.sex,
        year(visits.admitted_at) - patients.birth_year as age
    from forms
    inner join patients
        on forms.patient_key = patients.patient_key
    inner join visits
        on forms.visit_key = visits.visit_key

),

impossible as (

    select
        options.template_key,
        options.option_key,
        case
            when cases.sex in ('female', 'male') and cases.sex <> limited.sex
                then concat('only ', limited.sex, ' patients (', limited.said_by, ')')
            else concat('not at this age (', limited.said_by, ')')
        end as evidence
    from options
    inner join limited
        on options.option_key = limited.option_key
    inner join cases
        on options.template_key = cases.template_key
    where (cases.sex in ('female', 'male') and cases.sex <> limited.sex)
        or cases.age not between limited.min_age - 1 and limited.max_age + 1

),

obsolete as (

    select
        shown.option_key,
        'retired in RxNorm' as evidence
    from shown
    inner join atoms
        on shown.cui_id = {{ cui_id('atoms.cui') }}
    where shown.event_type = 'medication'
    group by shown.option_key
    having count(*) filter (where atoms.suppress = 'N') = 0

),

excluded_options as (

    select
        excludes1.code_system,
        excludes1.code,
        shown.option_key,
        min(excludes1.excluded_code) as excluded_code
    from shown
    inner join code_concepts
        on shown.cui_id = code_concepts.cui_id
    inner join excludes1
        on code_concepts.code_system = excludes1.code_system
        and code_concepts.normalized_code = excludes1.excluded_code
    where shown.event_type = 'diagnosis'
    group by
        excludes1.code_system,
        excludes1.code,
        shown.option_key

),

excluded as (

    select
        options.template_key,
        options.option_key,
        concat('Excludes1 between ', events.normalized_code, ' and ',
            excluded_options.excluded_code) as evidence
    from options
    inner join excluded_options
        on options.option_key = excluded_options.option_key
    inner join scenario
        on options.template_key = scenario.template_key
    inner join events
        on scenario.event_key = events.event_key
        and events.code_system = excluded_options.code_system
        and events.normalized_code = excluded_options.code

),

united as (

    select * from impossible

    union all

    select
        options.template_key,
        options.option_key,
        obsolete.evidence
    from options
    inner join obsolete
        on options.option_key = obsolete.option_key

    union all

    select * from excluded

),

found as (

    select
        'L37' as rule_id,
        'option' as scope,
        template_key,
        cast(null as varchar) as item_id,
        option_key,
        min(evidence) as evidence
    from united
    group by
        template_key,
        option_key

)

select * from found
