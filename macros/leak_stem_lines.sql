{#- CTEs of the lines that a stem consists of: scenario lines and question wordings as shown.
    `stem_lines` has a row per template x place (template_number, place, line_number), `lines` a row
    per distinct line (line_number, line), since templates share most of them. Reads the CTEs
    `templates`, `texts`, `questions` (int_template_forms, int_template_texts, int_question_texts). -#}
{% macro leak_stem_lines() -%}
lines_placed as (

    select
        templates.template_number,
        'scenario' as place,
        unnest(string_split(texts.scenario, chr(10))) as line
    from templates
    inner join texts
        on templates.template_key = texts.template_key

    union all

    select
        templates.template_number,
        concat('question ', questions.format, ' ', questions.variant) as place,
        questions.question as line
    from templates
    inner join questions
        on templates.task = questions.task
        and templates.answer_event_type = questions.answer_type

),

lines as (

    select
        cast(row_number() over (order by line) as integer) as line_number,
        line
    from lines_placed
    group by line

),

stem_lines as (

    select
        lines_placed.template_number,
        lines_placed.place,
        lines.line_number
    from lines_placed
    inner join lines
        on lines_placed.line = lines.line

)
{%- endmacro %}
