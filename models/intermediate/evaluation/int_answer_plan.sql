with

run_plan as (

    select * from {{ ref('run_plan') }}

),

models as (

    select * from {{ ref('models') }}

),

answer_prompts as (

    select * from {{ ref('int_answer_prompts') }}

),

{{ plan_requests('answer_prompts', 'answers', 'task', ['n_options'],
    carry=['item_id', 'template_key', 'format', 'arm', 'task', 'n_options', 'n_letters'],
    draw_key='draw_key', match={'format': 'mcq', 'arm': 'standard'}, kind_columns=['format'],
    first=['is_copy']) }}

select * from planned
