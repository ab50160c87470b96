{#- Two-sided p of a normal deviate as a double: the probability of a value at least as far from
    zero. erfc(x) = t exp(-x² + P(2t - 1)) with t = 2 / (2 + x); P is a polynomial of degree 20
    fitted to it, by Horner. The relative error is below 1e-12, so that p stay apart when they are
    tiny. -#}
{% macro normal_p(z) -%}
{%- set x = '(abs(' ~ z ~ ') / sqrt(2.0))' -%}
(2 / (2 + {{ x }}) * exp(
    -power({{ x }}, 2) + list_reduce(cast([
        1.640801116303790e-07, 2.344954018244886e-07, -1.722962208509395e-06,
        -9.569811140940302e-07, 8.965932222078401e-06, -2.164147747171805e-06,
        -3.043183690741585e-05, 3.342255695392419e-05, 7.150086416002842e-05,
        -1.750873833922751e-04, -9.376218159909042e-05, 6.739110995548217e-04,
        -1.462421575384967e-04, -2.345854136827942e-03, 1.758933075755160e-03,
        8.824942678236756e-03, -9.872689341025292e-03, -4.689561041881524e-02,
        4.734330684139797e-02, 6.726432239801771e-01, -6.717940840566912e-01
    ] as double[]), lambda a, c: a * (4 / (2 + {{ x }}) - 1) + c)
))
{%- endmacro %}
