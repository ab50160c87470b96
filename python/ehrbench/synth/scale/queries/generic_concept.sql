select '1,"C8999998","Disease"' as line
