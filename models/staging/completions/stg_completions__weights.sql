with

source as (

    select * from {{ raw('weights', 'weights') }}

),

renamed as (

    select regexp_extract(file, '([^/\\]+)[/\\][^/\\]+$', 1) as folder
    from source

)

select distinct folder from renamed
