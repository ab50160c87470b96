-- What both profiles know, whatever their size: the coded concepts.
set variable diagnoses_known = 12000;
set variable drugs_known = 1500;
set variable procedures_known = 800;
