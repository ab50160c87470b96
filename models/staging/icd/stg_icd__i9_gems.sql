with gems as (

    select
        rtrim(line) as line,
        _file as source_file,
        _row as source_row,
    from {{ raw('icd', 'i9_gems') }}

),

-- code, blank, target, blank, three flags, scenario, choice list
checked as (

    select
        *,
        case
            when not coalesce(regexp_full_match(line, '.{5} .{7} [01]{3}[0-9]{2}'), false)
                then 'wrong_width'
        end as line_problem,
    from gems

),

-- a line of another width keeps its place and loses its shifted fields
read as (

    select
        case when line_problem is null then line end as line,
        line_problem,
        source_file,
        source_row,
    from checked

)

select
    rtrim(substr(line, 1, 5)) as source_code,
    rtrim(substr(line, 7, 7)) as target_code,
    substr(line, 15, 1) = '1' as is_approximate,
    substr(line, 16, 1) = '1' as is_no_map,
    substr(line, 17, 1) = '1' as is_combination,
    try_cast(substr(line, 18, 1) as integer) as scenario,
    try_cast(substr(line, 19, 1) as integer) as choice_list,
    line_problem,
    source_file,
    source_row,
from read
