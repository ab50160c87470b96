select rpad(icd9(d), 6, ' ') || rpad(icd10(d), 8, ' ') || '00000' as line
from range(getvariable('diagnoses_known')) as numbers(d)
order by d
