select
    cui || '|' || case semtype
        when 'dsyn' then 'T047|B2.2.1.2.1|Disease or Syndrome'
        when 'phsu' then 'T121|A1.4.1.1.1|Pharmacologic Substance'
        when 'topp' then 'T061|B1.3.1.3|Therapeutic or Preventive Procedure'
        when 'aapp' then 'T116|A1.4.1.2.1.7|Amino Acid, Peptide, or Protein'
        when 'gngm' then 'T028|A1.2.3.5|Gene or Genome'
        when 'celf' then 'T043|B2.2.1.1.3|Cell Function'
        else 'T109|A1.4.1.2.1|Organic Chemical'
    end || '|AT' || right(cui, 7) || '|256|' as line
from concepts
where number >= getvariable('first') and number < getvariable('beyond')
order by number
