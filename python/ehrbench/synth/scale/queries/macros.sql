-- Everything is a pure function of a row's number and the seed: no table is drawn from another, so
-- that rows stream and a tenth is the first tenth.
create or replace macro draw(kind, seed, n) as
    cast(md5_number(kind || '|' || seed || '|' || n) >> 64 as ubigint);

-- The k-th sixteen bits of a draw (k from 0 to 3), from 0 up to 1.
create or replace macro part(m, k) as ((m >> (16 * k)) & 65535) / 65536.0;

-- A number below n, low ones far more often: a few concepts are common, most are rare.
create or replace macro common(n, u, skew) as
    cast(floor(n * pow(u, skew)) as bigint);

create or replace macro syllable(n) as
    substr('bdfgklmnprstvzhj', cast(n % 16 + 1 as integer), 1)
    || substr('aeiou', cast(n // 16 % 5 + 1 as integer), 1);

-- A word of six letters that no other number below 512,000 has.
create or replace macro word(n) as
    syllable(n % 80) || syllable(n // 80 % 80) || syllable(n // 6400 % 80);

-- Names say the kind, as those of real vocabularies do.
create or replace macro diagnosis_name(d) as upper(word(d)[1]) || word(d)[2:] || ' disease';
create or replace macro drug_name(r) as word(100000 + r) || 'ine';
create or replace macro procedure_name(p) as
    'Repair of ' || word(150000 + p) || ', open approach';

-- Codes: nine diagnoses of a category of ICD-10-CM (A00 to N99), twenty of one of ICD-9-CM.
create or replace macro icd10_category(d) as
    chr(cast(65 + d // 900 as integer)) || lpad(cast(d // 9 % 100 as varchar), 2, '0');
create or replace macro icd10(d) as icd10_category(d) || (d % 9 + 1);
create or replace macro icd9_category(d) as lpad(cast(d // 20 + 1 as varchar), 3, '0');
create or replace macro icd9(d) as
    icd9_category(d) || lpad(cast(d % 20 + 10 as varchar), 2, '0');
create or replace macro icd10pcs(p) as '0' || upper(word(p)[1]) || 'Q' || lpad(p::varchar, 4, '0');
create or replace macro icd9proc(p) as lpad(cast(p + 100 as varchar), 4, '0');
create or replace macro ndc(r, v) as cast(60000000000 + r * 1000 + v * 10 as varchar);

create or replace macro diagnosis_cui(d) as 'C' || (8000000 + d);
create or replace macro drug_cui(r) as 'C' || (8100000 + r);
create or replace macro procedure_cui(p) as 'C' || (8200000 + p);
create or replace macro other_cui(x) as 'C' || (8300000 + x);
create or replace macro category_cui(c) as 'C' || (8700000 + c);

-- What the knowledge base knows of a diagnosis: the j-th that coexists with it, that it causes,
-- and the j-th drug or procedure that treats it.
create or replace macro companion(d, j) as
    (d + [17, 113, 571, 1289, 2741, 4513, 6007, 8111][cast(j + 1 as integer)])
    % getvariable('diagnoses_known');
create or replace macro complication(d, j) as
    (d + [41, 337, 1531, 3907, 5333, 7919][cast(j + 1 as integer)])
    % getvariable('diagnoses_known');
create or replace macro remedy(d, j) as
    (d * 7 + [3, 101, 409, 733, 997, 1301][cast(j + 1 as integer)])
    % getvariable('drugs_known');
create or replace macro operation(d, j) as
    (d * 3 + [5, 211][cast(j + 1 as integer)]) % getvariable('procedures_known');

-- PMIDs lie where PubMed has none.
create or replace macro pmid_of(m) as 90000001 + (m >> 40) % getvariable('pmids');

-- The number of a concept by a draw: a diagnosis in one of twenty, else any other. More would link
-- every two common diagnoses, and leave nothing that could be a wrong answer.
create or replace macro any_concept(u) as
    case
        when u < 0.05 then common(getvariable('diagnoses_known'), u * 20, 1)
        else getvariable('diagnoses_known') + common(
            getvariable('concepts') - getvariable('diagnoses_known'), (u - 0.05) / 0.95, 2
        )
    end;
