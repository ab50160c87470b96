select line
from (values
    ('0900|MTH|PN|N|'), ('0890|RXNORM|IN|N|'), ('0880|ICD10CM|PT|N|'), ('0870|ICD10CM|HT|N|'),
    ('0860|ICD9CM|PT|N|'), ('0850|MTH|SY|N|')
) as ranks(line)
order by line desc
