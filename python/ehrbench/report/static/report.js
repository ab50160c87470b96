// Sorting and filtering of tables, choosing and painting of plots. No network, no storage.
"use strict";

window.EHRB = window.EHRB || {};

(() => {
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    let views = {};

    // ------------------------------------------------------------------------------- tables

    const value = (cell) => {
        const text = cell.dataset.v;
        if (text === undefined) {
            return null;
        }
        return cell.classList.contains("num") ? Number(text) : text;
    };

    const sort = (table, place, direction) => {
        const body = table.tBodies[0];
        const rows = Array.from(body.rows);
        const keys = new Map(rows.map((row, number) => [row, [value(row.cells[place]), number]]));
        rows.sort((a, b) => {
            const [x, i] = keys.get(a);
            const [y, j] = keys.get(b);
            // What has no value stands last, whichever way it goes.
            if (x === null || y === null) {
                return (x === null) - (y === null) || i - j;
            }
            const order = typeof x === "number" ? x - y : x < y ? -1 : x > y ? 1 : 0;
            return direction * order || i - j;
        });
        body.append(...rows);
    };

    document.querySelectorAll("button.sort").forEach((button) => {
        button.addEventListener("click", () => {
            const header = button.closest("th");
            const table = button.closest("table");
            const first = header.classList.contains("num") ? "descending" : "ascending";
            const other = first === "ascending" ? "descending" : "ascending";
            const next = header.getAttribute("aria-sort") === first ? other : first;
            table.querySelectorAll("th[aria-sort]").forEach((one) => one.removeAttribute("aria-sort"));
            header.setAttribute("aria-sort", next);
            sort(table, header.cellIndex, next === "ascending" ? 1 : -1);
        });
    });

    document.querySelectorAll("form[data-table]").forEach((form) => {
        const table = document.getElementById(form.dataset.table);
        const rows = Array.from(table.tBodies[0].rows).map((row) => [row, JSON.parse(row.dataset.k)]);
        const said = form.querySelector("output");
        const selects = Array.from(form.querySelectorAll("select"));
        const apply = () => {
            const wanted = selects.map((one) => [Number(one.dataset.at), one.value]);
            // What a choice holds at one value needs no column.
            selects
                .filter((one) => "column" in one.dataset)
                .forEach((one) => table.classList.toggle(`without-${one.dataset.column}`, one.value !== ""));
            let count = 0;
            rows.forEach(([row, keys]) => {
                row.hidden = !wanted.every(([at, text]) => text === "" || text === `=${keys[at]}`);
                count += !row.hidden;
            });
            said.textContent = `${count.toLocaleString("en")} of ${rows.length.toLocaleString("en")} rows`;
        };
        form.addEventListener("change", apply);
        form.addEventListener("submit", (event) => event.preventDefault());
        apply();
    });

    // -------------------------------------------------------------------------------- plots

    const token = (name) => {
        const variable = /^\d$/.test(name) ? `--c${name}` : `--${name === "muted" ? "soft" : name}`;
        return getComputedStyle(document.documentElement).getPropertyValue(variable).trim();
    };

    // A copy of a figure with the names of colours turned into the colours of the theme.
    const painted = (part, key) => {
        if (Array.isArray(part)) {
            return part.map((one) => painted(one, key));
        }
        if (part && typeof part === "object") {
            return Object.fromEntries(Object.entries(part).map(([name, one]) => [name, painted(one, name)]));
        }
        return typeof part === "string" && key === "color" && part.startsWith("@") ? token(part.slice(1)) : part;
    };

    const axis = (given) => ({
        gridcolor: token("grid"),
        linecolor: token("line"),
        zerolinecolor: token("line"),
        ticks: "",
        fixedrange: true,
        ...given,
    });

    // A long label in two lines, broken at the space nearest to its middle.
    const folded = (text) => {
        const middle = text.length / 2;
        const spaces = Array.from(text.matchAll(/ /g), (one) => one.index);
        if (text.length <= 18 || !spaces.length) {
            return text;
        }
        const at = spaces.reduce((best, one) => (Math.abs(one - middle) < Math.abs(best - middle) ? one : best));
        return `${text.slice(0, at)}<br>${text.slice(at + 1)}`;
    };

    const layout = (given, narrow, data) => {
        const made = painted(given);
        if (narrow && made.yaxis.type === "category") {
            made.yaxis.tickvals = Array.from(new Set(data.flatMap((one) => one.y)));
            made.yaxis.ticktext = made.yaxis.tickvals.map(folded);
        } else if (narrow && made.yaxis.ticktext) {
            made.yaxis.ticktext = made.yaxis.ticktext.map(folded);
        }
        const legend = made.showlegend ? 18 * Math.ceil(6 / (narrow ? 1.3 : 4)) : 0;
        return {
            ...made,
            height: made.height + (narrow ? legend : 0),
            xaxis: axis(made.xaxis),
            yaxis: axis(made.yaxis),
            font: { family: getComputedStyle(document.body).fontFamily, size: narrow ? 11 : 13, color: token("text") },
            paper_bgcolor: "rgba(0,0,0,0)",
            plot_bgcolor: "rgba(0,0,0,0)",
            margin: { l: narrow ? 40 : 60, r: 16, t: 10, b: 48 },
            hoverlabel: { bgcolor: token("surface"), bordercolor: token("line"), font: { color: token("text") }, align: "left" },
            legend: { orientation: "h", traceorder: "normal", x: 0, xanchor: "left", y: 1, yanchor: "bottom", font: { size: narrow ? 11 : 13 } },
            dragmode: false,
            hovermode: "closest",
        };
    };

    const draw = (form) => {
        const id = form.dataset.figure;
        const place = document.querySelector(`[data-plot="${id}"]`);
        const chosen = Array.from(form.querySelectorAll("select")).map((one) => one.value);
        const view = (views[id] || {})[chosen.join("|")];
        const none = place.parentElement.querySelector(".none");
        none.hidden = Boolean(view);
        place.hidden = !view;
        if (!view || !window.Plotly) {
            return;
        }
        const narrow = place.clientWidth < 560;
        const made = layout(view.layout, narrow, view.data);
        // Plotly takes the height of the place when the window changes.
        place.style.height = `${made.height}px`;
        window.Plotly.react(place, painted(view.data), made, {
            responsive: true,
            displayModeBar: false,
        });
    };

    const drawAll = () => document.querySelectorAll("form[data-figure]").forEach(draw);

    window.EHRB.plots = (given) => {
        views = given;
    };

    document.querySelectorAll("form[data-figure]").forEach((form) => {
        form.addEventListener("change", () => draw(form));
        form.addEventListener("submit", (event) => event.preventDefault());
    });
    window.addEventListener("DOMContentLoaded", drawAll);
    dark.addEventListener("change", drawAll);
    let wide = window.innerWidth < 700;
    window.addEventListener("resize", () => {
        const now = window.innerWidth < 700;
        if (now !== wide) {
            wide = now;
            drawAll();
        }
    });
})();
