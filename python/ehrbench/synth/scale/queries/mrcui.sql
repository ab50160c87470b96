select 'C8999999|2020AA|DEL|||||' as line
