// The audit explorer: filters columns of numbers, draws the rows in sight, loads details on demand.
// Text from data only ever becomes textContent.
"use strict";

window.EHRB = window.EHRB || {};

(() => {
    const ROW_HEIGHT = 76;
    const loaded = new Map();
    const waiting = new Map();

    // Each file of data calls this with its name.
    window.EHRB.load = (name, value) => {
        loaded.set(name, value);
        if (waiting.has(name)) {
            waiting.get(name)(value);
        }
    };

    const file = (name) => {
        if (loaded.has(name)) {
            return Promise.resolve(loaded.get(name));
        }
        return new Promise((resolve, reject) => {
            waiting.set(name, resolve);
            const script = document.createElement("script");
            script.src = `data/${name}.js`;
            script.onerror = () => reject(new Error(`data/${name}.js is not there`));
            document.head.append(script);
        });
    };

    // ------------------------------------------------------------------------------ elements

    const make = (tag, attributes, ...children) => {
        const element = document.createElement(tag);
        Object.entries(attributes || {}).forEach(([name, value]) => {
            if (value !== undefined && value !== null && value !== false) {
                element.setAttribute(name, value === true ? "" : value);
            }
        });
        children.flat(Infinity).forEach((child) => {
            if (child !== null && child !== undefined && child !== false) {
                element.append(child instanceof Node ? child : String(child));
            }
        });
        return element;
    };

    const number = (value) => value.toLocaleString("en");

    window.addEventListener("DOMContentLoaded", () => {
        const words = loaded.get("words");
        const triples = loaded.get("triples");
        const items = loaded.get("items");
        if (!words || !triples || !items) {
            document.getElementById("found").textContent =
                "The files of the folder data are missing: write the report again.";
            return;
        }
        start(words, triples, items);
    });

    const start = (words, triples, items) => {
        const say = (code) =>
            code === null || code === undefined || code === ""
                ? "–"
                : Object.hasOwn(words.said, code)
                  ? words.said[code]
                  : String(code);
        const meaning = (kind, code) => {
            const found = words.meanings[kind];
            return found && Object.hasOwn(found, code) ? found[code] : "";
        };
        const TONES = { accepted: "good", pass: "good", released: "good", rejected: "bad", fail: "bad", not_assessed: "warn", "held back": "warn" };
        const badge = (code, text) =>
            make("span", { class: `badge ${TONES[code] || "plain"}` }, text === undefined ? say(code) : text);

        const form = document.getElementById("filters");
        const list = document.getElementById("list");
        const spacer = document.getElementById("spacer");
        const detail = document.getElementById("detail");
        const found = document.getElementById("found");
        const drawn = document.getElementById("drawn");
        const selects = document.getElementById("selects");
        const empty = Array.from(detail.childNodes);

        const lower = {
            ends: triples.words.ends.map((parts) => parts.join(" ").toLowerCase()),
            scenario: items.words.scenario.map((text) => (text || "").toLowerCase()),
            answer: items.words.answer.map((text) => text.toLowerCase()),
        };
        const policies = Object.keys(triples.verdicts);

        // ------------------------------------------------------------------- what is filtered

        // The numbers of a column that a word stands for, as a set; null lets everything pass.
        const only = (values, wanted) => {
            if (wanted === "") {
                return null;
            }
            const set = new Set();
            values.forEach((value, place) => {
                if (wanted(value)) {
                    set.add(place);
                }
            });
            return set;
        };
        const is = (text) => (text === "" ? "" : (value) => value === text);

        const reasonsOf = (verdicts) =>
            Array.from(new Set(verdicts.flatMap(([, reasons]) => (reasons ? reasons.split(",") : [])))).sort();

        const kinds = {
            triples: {
                data: triples,
                choices: () => [
                    ["task", "task", triples.words.task.map((one) => [one, say(one)])],
                    ["policy", "policy", policies.map((one) => [one, one]), triples.policy],
                    ["source", "source", triples.words.source.map((one) => [one, one])],
                    ["verdict", "verdict", [["accepted", "accepted"], ["rejected", "rejected"]]],
                    ["reason", "reason", reasonsOf(triples.words.verdict).map((one) => [one, one.replaceAll("_", " ")])],
                    ["by", "proposed by", Array.from(new Set(triples.words.by.flat())).sort().map((one) => [one, say(one)])],
                ],
                filter: (wanted, text) => {
                    const { columns, n } = triples;
                    const verdicts = triples.verdicts[wanted.policy || triples.policy] || [];
                    const verdictOnly = only(
                        triples.words.verdict,
                        wanted.verdict === "" && wanted.reason === ""
                            ? ""
                            : ([verdict, reasons]) =>
                                  (wanted.verdict === "" || verdict === wanted.verdict) &&
                                  (wanted.reason === "" || reasons.split(",").includes(wanted.reason)),
                    );
                    const tests = [
                        [columns.task, only(triples.words.task, is(wanted.task))],
                        [columns.source, only(triples.words.source, is(wanted.source))],
                        [columns.by, only(triples.words.by, wanted.by === "" ? "" : (names) => names.includes(wanted.by))],
                        [verdicts, verdictOnly],
                    ].filter(([, set]) => set !== null);
                    const parts = text.split(" ").filter(Boolean);
                    const texts = parts.map((part) => ({
                        part,
                        ends: only(lower.ends, (value) => value.includes(part)),
                        claims: /^\d{4,}$/.test(part) ? only(triples.words.pmids, (value) => value.split(" ").includes(part)) : null,
                        id: /^[0-9a-f]{6,32}$/.test(part),
                    }));
                    const kept = [];
                    for (let row = 0; row < n; row += 1) {
                        if (
                            tests.every(([column, set]) => set.has(column[row])) &&
                            texts.every(
                                (one) =>
                                    one.ends.has(columns.subject[row]) ||
                                    one.ends.has(columns.object[row]) ||
                                    (one.claims !== null && one.claims.has(columns.claim[row])) ||
                                    (one.id && columns.id[row].startsWith(one.part)),
                            )
                        ) {
                            kept.push(row);
                        }
                    }
                    return kept;
                },
                line: (row, wanted) => {
                    const { columns } = triples;
                    const ends = triples.words.ends;
                    const at = (triples.verdicts[wanted.policy || triples.policy] || [])[row];
                    const [verdict, reasons] = at >= 0 ? triples.words.verdict[at] : ["not_assessed", ""];
                    const why = reasons ? reasons.split(",").map((one) => meaning("verdict_reason", one) || one).join("; ") : "";
                    return [
                        make("div", { class: "what" }, ends[columns.subject[row]][0]),
                        make("div", { class: "what" }, make("span", { class: "arrow" }, `${say(triples.words.relation[columns.relation[row]])} `), ends[columns.object[row]][0]),
                        make("div", { class: "why" }, badge(verdict), `${triples.words.task[columns.task[row]]} · ${triples.words.source[columns.source[row]]}`, why ? ` · ${why}` : ""),
                    ];
                },
            },
            items: {
                data: items,
                choices: () => [
                    ["task", "task", items.words.task.map((one) => [one, say(one)])],
                    ["source", "source", items.words.source.map((one) => [one, one])],
                    ["format", "format", items.words.format.slice().sort().map((one) => [one, one])],
                    ["released", "released", [["1", "released"], ["0", "held back"]]],
                    ["rule", "held back by", Array.from(new Set(items.words.reason.flatMap((one) => (one ? one.split(",") : [])))).sort().map((one) => [one, `${one} ${meaning("rule_name", one)}`.trim()])],
                    ["by", "proposed by", Array.from(new Set(triples.words.by.flat())).sort().map((one) => [one, say(one)])],
                ],
                filter: (wanted, text) => {
                    const { columns, n } = items;
                    const tests = [
                        [columns.task, only(items.words.task, is(wanted.task))],
                        [columns.source, only(items.words.source, is(wanted.source))],
                        [columns.format, only(items.words.format, is(wanted.format))],
                        [columns.released, wanted.released === "" ? null : new Set([Number(wanted.released)])],
                        [columns.reason, only(items.words.reason, wanted.rule === "" ? "" : (value) => value.split(",").includes(wanted.rule))],
                    ].filter(([, set]) => set !== null);
                    const by = only(triples.words.by, wanted.by === "" ? "" : (names) => names.includes(wanted.by));
                    const parts = text.split(" ").filter(Boolean);
                    const texts = parts.map((part) => ({
                        part,
                        scenario: only(lower.scenario, (value) => value.includes(part)),
                        answer: only(lower.answer, (value) => value.includes(part)),
                        id: /^[0-9a-f]{6,32}$/.test(part),
                    }));
                    const kept = [];
                    for (let row = 0; row < n; row += 1) {
                        if (
                            tests.every(([column, set]) => set.has(column[row])) &&
                            (by === null || by.has(triples.columns.by[columns.triple[row]])) &&
                            texts.every(
                                (one) =>
                                    one.scenario.has(columns.scenario[row]) ||
                                    one.answer.has(columns.answer[row]) ||
                                    (one.id && columns.id[row].startsWith(one.part)),
                            )
                        ) {
                            kept.push(row);
                        }
                    }
                    return kept;
                },
                line: (row) => {
                    const { columns } = items;
                    const released = columns.released[row] === 1;
                    const reason = items.words.reason[columns.reason[row]];
                    const scenario = (items.words.scenario[columns.scenario[row]] || "").replace(/^- /, "").replace(/\n- /g, "; ");
                    return [
                        make("div", { class: "what" }, make("span", { class: "arrow" }, "answer "), items.words.answer[columns.answer[row]]),
                        make("div", { class: "why" }, scenario),
                        make("div", { class: "why" }, badge(released ? "released" : "held back", released ? "released" : "held back"), `${items.words.task[columns.task[row]]} · ${items.words.source[columns.source[row]]} · ${items.words.format[columns.format[row]]}`, reason ? ` · ${say(reason)}` : ""),
                    ];
                },
            },
        };

        // ---------------------------------------------------------------------------- the list

        let kind = "triples";
        let rows = [];
        let at = 0;
        let open = null;
        let wanted = {};

        const place = (index) => {
            const top = index * ROW_HEIGHT;
            if (top < list.scrollTop) {
                list.scrollTop = top;
            } else if (top + ROW_HEIGHT > list.scrollTop + list.clientHeight) {
                list.scrollTop = top + ROW_HEIGHT - list.clientHeight;
            }
        };

        const paint = () => {
            const first = Math.max(0, Math.floor(list.scrollTop / ROW_HEIGHT) - 4);
            const last = Math.min(rows.length, Math.ceil((list.scrollTop + list.clientHeight) / ROW_HEIGHT) + 4);
            const seen = [];
            for (let index = first; index < last; index += 1) {
                const row = rows[index];
                const element = make(
                    "div",
                    {
                        role: "option",
                        id: `row-${index}`,
                        class: index === at ? "row at" : "row",
                        "aria-selected": open !== null && open[0] === kind && open[1] === row ? "true" : "false",
                        "aria-posinset": index + 1,
                        "aria-setsize": rows.length,
                    },
                    kinds[kind].line(row, wanted),
                );
                element.style.top = `${index * ROW_HEIGHT}px`;
                element.dataset.index = index;
                seen.push(element);
            }
            spacer.replaceChildren(...seen);
            if (rows.length) {
                list.setAttribute("aria-activedescendant", `row-${at}`);
            } else {
                list.removeAttribute("aria-activedescendant");
            }
        };

        let asked = false;
        list.addEventListener("scroll", () => {
            if (!asked) {
                asked = true;
                requestAnimationFrame(() => {
                    asked = false;
                    paint();
                });
            }
        });
        new ResizeObserver(paint).observe(list);

        const apply = () => {
            wanted = Object.fromEntries(Array.from(selects.querySelectorAll("select")).map((one) => [one.name, one.value]));
            const text = form.elements.text.value.trim().toLowerCase();
            const started = performance.now();
            rows = kinds[kind].filter(wanted, text);
            list.dataset.ms = (performance.now() - started).toFixed(1);
            at = 0;
            list.scrollTop = 0;
            spacer.style.height = `${rows.length * ROW_HEIGHT}px`;
            const { n, n_all: all } = kinds[kind].data;
            found.textContent = n
                ? `${number(rows.length)} of ${number(n)} ${kind}`
                : `No ${kind} yet. To build: ehrbench run, then ehrbench report.`;
            drawn.hidden = n >= all;
            drawn.textContent = `The explorer holds ${number(n)} of ${number(all)} ${kind}, drawn by md5; ehrbench explain shows any of them.`;
            paint();
        };

        const fill = () => {
            selects.replaceChildren(
                ...kinds[kind].choices().map(([name, label, values, start]) =>
                    make(
                        "label",
                        {},
                        label,
                        make(
                            "select",
                            { name },
                            start === undefined ? make("option", { value: "" }, "all") : null,
                            values.map(([value, text]) => make("option", { value, selected: value === start }, text)),
                        ),
                    ),
                ),
            );
        };

        form.addEventListener("change", (event) => {
            // A text was searched for while it was typed; drawing again would lose the click that ends it.
            if (event.target.name === "text") {
                return;
            }
            if (event.target.name === "kind") {
                kind = event.target.value;
                fill();
            }
            apply();
        });
        form.elements.text.addEventListener("input", apply);
        form.addEventListener("submit", (event) => {
            event.preventDefault();
            list.focus();
        });
        document.getElementById("clear").addEventListener("click", () => {
            form.elements.text.value = "";
            fill();
            apply();
        });

        const move = (index) => {
            at = Math.min(Math.max(index, 0), rows.length - 1);
            place(at);
            paint();
        };

        list.addEventListener("keydown", (event) => {
            const page = Math.max(1, Math.floor(list.clientHeight / ROW_HEIGHT) - 1);
            const moves = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: rows.length - 1 };
            if (event.key in moves && rows.length) {
                event.preventDefault();
                move(moves[event.key]);
            } else if ((event.key === "Enter" || event.key === " ") && rows.length) {
                event.preventDefault();
                show(kind, rows[at]);
            }
        });
        list.addEventListener("click", (event) => {
            const row = event.target.closest(".row");
            if (row) {
                at = Number(row.dataset.index);
                show(kind, rows[at]);
            }
        });
        document.addEventListener("keydown", (event) => {
            if (event.key === "Escape" && open !== null) {
                close();
            }
        });

        // -------------------------------------------------------------------------- the detail

        // What is open stands in the address, so that Back and Forward walk through it.
        const goTo = (hash) => {
            if (location.hash !== hash) {
                history.pushState(null, "", hash || location.pathname + location.search);
            }
        };

        const close = () => {
            open = null;
            goTo("");
            detail.replaceChildren(...empty);
            detail.classList.remove("open");
            document.body.classList.remove("reading");
            paint();
            list.focus();
        };

        const table = (headers, lines, caption) =>
            make(
                "div",
                { class: "scroll", role: "region", tabindex: "0", "aria-label": caption },
                make(
                    "table",
                    {},
                    make("thead", {}, make("tr", {}, headers.map((one) => make("th", { scope: "col" }, one)))),
                    make("tbody", {}, lines.map((cells) => make("tr", {}, cells.map((one, at) => make("td", { "data-label": headers[at] }, make("div", {}, one)))))),
                ),
            );

        const code = (text) => (text ? make("code", {}, text) : "–");

        const button = (text, action) => {
            const made = make("button", { type: "button" }, text);
            made.addEventListener("click", action);
            return made;
        };

        const show = async (what, row) => {
            open = [what, row];
            const data = kinds[what].data;
            const id = data.columns.id[row];
            goTo(`#${what === "triples" ? "triple" : "item"}=${encodeURIComponent(id)}`);
            paint();
            let parts;
            try {
                parts = await (what === "triples" ? triple(row) : item(row));
            } catch (error) {
                parts = [make("p", { class: "empty" }, `${error.message}: write the report again.`)];
            }
            if (open === null || open[0] !== what || open[1] !== row) {
                return;
            }
            const shut = button("Close", close);
            shut.classList.add("close");
            detail.replaceChildren(shut, ...parts);
            detail.dataset.id = id;
            detail.scrollTop = 0;
            if (getComputedStyle(detail.parentElement).gridTemplateColumns.split(" ").length < 2) {
                detail.classList.add("open");
                document.body.classList.add("reading");
            }
            detail.focus({ preventScroll: true });
        };

        const pubmed = (pmid) =>
            words.data_class !== "synthetic" && /^\d{1,9}$/.test(pmid)
                ? make("a", { href: `https://pubmed.ncbi.nlm.nih.gov/${pmid}/`, rel: "noreferrer", target: "_blank" }, `PMID ${pmid}`)
                : make("span", { class: "pmid" }, `PMID ${pmid}`);

        const ROLES = { support: "supports it", contradict: "denies it", conflict: "says the opposite as well" };

        const claimList = async (numbers) => {
            const parts = [];
            for (const claim of numbers) {
                const chunk = await file(`c-${Math.floor(claim / triples.claims_size)}`);
                const one = chunk.claims[claim % triples.claims_size];
                const text = (at) => chunk.texts[at];
                const [subjectCui, subject, relation, objectCui, object] = one.c.map(text);
                parts.push(
                    make("p", { class: "meta" }, `Asked: ${subject || subjectCui} `, code(subjectCui), ` ${say(relation)} ${object || objectCui} `, code(objectCui)),
                );
                if (!one.e.length) {
                    parts.push(make("p", { class: "empty" }, "No row of the knowledge base speaks to it."));
                    continue;
                }
                parts.push(
                    make(
                        "ul",
                        { class: "evidence" },
                        one.e.map((line) => {
                            const [role, kb, predicate, sCui, sName, oCui, oName, level, strength, pmid, year, title, section, sentence, sab] = line.map(text);
                            return make(
                                "li",
                                { class: role },
                                make(
                                    "div",
                                    { class: "head" },
                                    make("strong", {}, ROLES[role] || role),
                                    ` · ${predicate || "–"} · ${sName || sCui || "–"} → ${oName || oCui || "–"} · match ${say(level)}`,
                                    strength && strength !== "strong" ? ` · ${strength}` : "",
                                    ` · ${kb}${sab ? ` (${sab})` : ""}`,
                                    pmid ? " · " : "",
                                    pmid ? pubmed(pmid) : "",
                                    year ? ` · ${year}` : "",
                                    section ? ` · ${section}` : "",
                                ),
                                sentence ? make("blockquote", {}, sentence) : null,
                                title ? make("div", { class: "head" }, title) : null,
                            );
                        }),
                    ),
                );
            }
            return parts;
        };

        const FLAGS = { is_status_code: "status code", is_routine: "routine drug", is_residual_title: "rest class", is_hindsight: "known afterwards", therapeutic: "therapeutic", diagnostic: "diagnostic", access_support: "access or support" };

        const triple = async (row) => {
            const { columns } = triples;
            const ends = triples.words.ends;
            const chunk = await file(`t-${Math.floor(row / triples.size)}`);
            const one = chunk.triples[row % triples.size];
            const text = (number) => chunk.texts[number];
            const id = columns.id[row];
            const verdict = one.v.map((number) => chunk.verdicts[number]).find(([policy]) => policy === triples.policy);
            const parts = [
                make("h2", {}, `${ends[columns.subject[row]][0]} `, make("span", { class: "arrow" }, `${say(triples.words.relation[columns.relation[row]])} `), ends[columns.object[row]][0]),
                make(
                    "p",
                    { class: "meta" },
                    verdict ? badge(verdict[1]) : null,
                    ` policy ${triples.policy} · ${say(triples.words.task[columns.task[row]])} · ${triples.words.source[columns.source[row]]}`,
                    one.n === true ? " · newly coded" : one.n === false ? " · not newly coded" : "",
                ),
                make("p", { class: "meta" }, "Triple ", code(id), " · on the command line: ", code(`ehrbench explain ${id}`)),
            ];

            parts.push(
                make("h3", {}, "1 Raw codes and the concepts they became"),
                table(
                    ["role", "kind", "code", "title", "concept", "how", "match"],
                    one.e.map(([role, number]) => {
                        const [type, system, source, normalized, label, flags, mapping] = chunk.events[number];
                        const mapped = mapping.length ? mapping : [[null, null, null, null, "not mapped"]];
                        const lines = (pick) => mapped.map((part) => make("div", {}, pick(part)));
                        return [
                            role === "context" ? "context" : make("strong", {}, say(role)),
                            type,
                            [make("div", {}, system), code(source), normalized && normalized !== source ? make("div", {}, "as ", code(normalized)) : null],
                            [label || "–", flags.map((flag) => make("div", {}, badge("", FLAGS[flag] || say(flag))))],
                            lines(([cui, name, , , reason]) => (cui ? [name || "(no name)", " ", code(cui)] : meaning("unmapped", reason) || reason || "–")),
                            lines(([cui, , method]) => (cui ? say(method) : "–")),
                            lines(([cui, , , level]) => (cui ? say(level) : "–")),
                        ];
                    }),
                    "Events of the triple",
                ),
            );

            parts.push(
                make("h3", {}, "2 Checks"),
                table(
                    ["check", "status", "why", "articles for", "curated for", "articles against"],
                    one.k.map((number) => {
                        const [name, status, reason, pmids, curated, against] = chunk.checks[number];
                        return [
                            make("span", { title: meaning("check", name) }, say(name)),
                            badge(status),
                            reason ? meaning("reason", `${name} ${reason}`) || reason : "–",
                            pmids === null ? "–" : number_(pmids),
                            curated === null ? "–" : number_(curated),
                            against === null ? "–" : number_(against),
                        ];
                    }),
                    "Checks of the triple",
                ),
                make("p", { class: "note" }, "Checks stand at fixed thresholds: any row supports, any row denies. The policies below decide anew from the counts."),
            );

            parts.push(make("h3", {}, "3 Evidence"));
            if (one.c.length) {
                parts.push(...(await claimList(one.c)));
                parts.push(make("p", { class: "note" }, "At most five rows per role are kept."));
            } else {
                parts.push(make("p", { class: "empty" }, "Without a concept on both ends nothing could be looked up."));
            }
            if (one.x.length) {
                parts.push(
                    make("p", { class: "meta" }, "Against it in the context of this visit:"),
                    make(
                        "ul",
                        { class: "evidence" },
                        one.x.map((line) => {
                            const [rule, label, cui, name, kb, predicate, articles, pmid, sentence] = line.map(text);
                            return make(
                                "li",
                                { class: "contradict" },
                                make("div", { class: "head" }, make("strong", {}, meaning("verdict_reason", `context_conflict_${rule}`) || say(rule)), ` · ${label || "–"} (${name || "–"} `, code(cui), `) · ${predicate || "–"} · ${kb || "–"}`, articles && articles !== "0" ? ` · ${articles} articles` : "", pmid ? " · " : "", pmid ? pubmed(pmid) : ""),
                                sentence ? make("blockquote", {}, sentence) : null,
                            );
                        }),
                    ),
                );
            }

            parts.push(
                make("h3", {}, "4 Verdict under each policy"),
                table(
                    ["policy", "verdict", "why", "nearest match"],
                    one.v.map((number) => {
                        const [policy, given, reasons, level] = chunk.verdicts[number];
                        return [
                            make("span", { title: meaning("policy", policy) }, policy, policy === triples.policy ? " (active)" : ""),
                            badge(given),
                            reasons ? reasons.split(",").map((part) => make("div", {}, meaning("verdict_reason", part) || part)) : "–",
                            level ? say(level) : "–",
                        ];
                    }),
                    "Verdicts of the triple",
                ),
            );

            parts.push(make("h3", {}, "5 Proposed by"));
            parts.push(
                make(
                    "ul",
                    {},
                    one.p.map(([generator, why]) => make("li", {}, say(text(generator)), text(why) ? make("div", { class: "pre" }, text(why)) : null)),
                ),
            );

            const made = [];
            for (let place_ = 0; place_ < items.n && made.length < 200; place_ += 1) {
                if (items.columns.triple[place_] === row) {
                    made.push(place_);
                }
            }
            parts.push(make("h3", {}, `6 Items made from it (${made.length})`));
            if (made.length) {
                parts.push(
                    make(
                        "ul",
                        {},
                        made.map((place_) =>
                            make("li", {}, link(`#item=${items.columns.id[place_]}`, `${items.words.format[items.columns.format[place_]]}, wording ${items.columns.variant[place_]}`), items.columns.released[place_] ? " released" : ` held back ${items.words.reason[items.columns.reason[place_]]}`),
                        ),
                    ),
                );
            } else {
                parts.push(make("p", { class: "empty" }, "It became no item: it was rejected under the active policy, or fell to a later step (page Cohort)."));
            }
            return parts;
        };

        const number_ = number;
        const link = (href, text) => make("a", { href }, text);

        const OUTCOMES = {
            shown: "shown in items of this template",
            not_drawn: "would have served; not drawn",
            never_together: "left out: too seldom together with this scenario in other patients",
            linked: "left out: the knowledge base links it to the scenario, so it could be right",
            in_record: "left out: it, or a relative, is in this patient's record",
            impossible: "left out: impossible for this patient or beside these codes",
            rare_word: "left out: shares a rare word with the scenario",
            like_answer: "left out: too close to the answer",
            too_many_critical: "left out by the cap on options that only the context rules out",
        };

        // How near an open-ended reply comes.
        const LEVELS = {
            cui: "names the answer",
            synonym: "names it otherwise",
            child: "names something narrower",
            parent: "names something broader",
            same_class: "names its class",
            miss: "names nothing near",
        };

        const item = async (row) => {
            const { columns } = items;
            const chunk = await file(`i-${Math.floor(row / items.size)}`);
            const one = chunk.items[row % items.size];
            const text = (number) => chunk.texts[number];
            const id = columns.id[row];
            const released = columns.released[row] === 1;
            const reason = items.words.reason[columns.reason[row]];
            const parts = [
                make("h2", {}, make("span", { class: "arrow" }, "Answer "), text(one.g[0]) || "–"),
                make(
                    "p",
                    { class: "meta" },
                    badge(released ? "released" : "held back", released ? "released" : "held back"),
                    ` ${say(items.words.task[columns.task[row]])} · ${items.words.source[columns.source[row]]} · ${items.words.format[columns.format[row]]} · wording ${columns.variant[row]}`,
                    columns.subset[row] ? " · in the evaluation subset" : "",
                    one.on ? ` · ${one.on}` : "",
                    one.x ? " · a distractor is wrong by the context only" : "",
                    one.d ? ` · options by ${say(one.d)}` : "",
                ),
                make("p", { class: "meta" }, "Item ", code(id), " · on the command line: ", code(`ehrbench explain ${id}`)),
            ];
            if (columns.triple[row] >= 0) {
                parts.push(make("p", {}, link(`#triple=${triples.columns.id[columns.triple[row]]}`, "The triple behind it: raw codes, checks, evidence, verdict")));
            }
            parts.push(
                make("h3", {}, "1 What is asked"),
                make("p", { class: "pre" }, text(one.s) || ""),
                make("p", {}, make("strong", {}, text(one.q) || "")),
                one.o.length
                    ? make("ul", { class: "options" }, one.o.map(([letter, label, cui, answer]) => make("li", { class: answer ? "answer" : "" }, make("strong", {}, `${letter}  `), text(label), " ", code(text(cui)), answer ? " the answer" : "")))
                    : make("p", {}, "Open-ended; the answer is ", make("strong", {}, text(one.g[0]) || "–"), " ", code(text(one.g[1]))),
                make("h3", {}, "2 Why it is the answer"),
                make("p", { class: "pre" }, text(one.w[0]) || "–"),
                text(one.w[1]) ? make("p", { class: "meta" }, text(one.w[1])) : null,
                make("h3", {}, "3 What the leak rules found"),
            );
            if (one.f.length) {
                parts.push(
                    table(
                        ["rule", "asks", "then", "at", "found", "option"],
                        one.f.map(([rule, scope, evidence, option]) => [code(rule), meaning("rule", rule), meaning("rule_policy", rule), say(scope), text(evidence) || "–", text(option) || "–"]),
                        "Findings of leak rules",
                    ),
                );
            } else {
                parts.push(make("p", { class: "empty" }, "Nothing."));
            }
            if (!released) {
                parts.push(make("p", {}, `Held back: ${say(reason)}.`));
            }

            const considered = chunk.templates[one.t].d;
            parts.push(make("h3", {}, "4 Distractors considered"));
            if (considered.length) {
                parts.push(
                    make("p", { class: "note" }, "Every answer of the same task and kind of event in this source, with what came of it."),
                    ...considered
                        .slice()
                        .sort((a, b) => Object.keys(OUTCOMES).indexOf(a[0]) - Object.keys(OUTCOMES).indexOf(b[0]))
                        .map(([outcome, labels]) =>
                            make("details", outcome === "shown" ? { open: true } : {}, make("summary", {}, `${OUTCOMES[outcome] || outcome} (${labels.length})`), make("p", { class: "meta" }, labels.map(text).join(" · "))),
                        ),
                );
            } else {
                parts.push(make("p", { class: "empty" }, "No list of distractors for this template."));
            }

            parts.push(make("h3", {}, "5 What models answered"));
            if (one.a.length) {
                parts.push(
                    table(
                        ["model", "mode", "arm", "read as", "right", "reply"],
                        one.a.map(([model, mode, arm, repetition, letter, status, correct, level, confidence, reply]) => [
                            text(model),
                            say(mode),
                            [make("span", { title: meaning("arm", arm) }, say(arm)), repetition > 1 ? ` (${repetition})` : ""],
                            [
                                letter ? `${letter} ` : "",
                                letter && status === "parsed" ? "" : level ? LEVELS[level] || say(level) : say(status),
                                confidence === null ? "" : make("div", {}, `${Math.round(100 * confidence)} % sure by its own words`),
                            ],
                            correct === 1 ? "yes" : correct === 0 ? "no" : "–",
                            make("div", { class: "reply" }, text(reply) || "–"),
                        ]),
                        "Answers of models",
                    ),
                );
            } else {
                parts.push(make("p", { class: "empty" }, "No model was asked this item, or none has answered yet."));
            }
            return parts.filter(Boolean);
        };

        // --------------------------------------------------------------------------- addresses

        const follow = () => {
            const match = /^#(triple|item)=([^&]+)$/.exec(location.hash);
            if (!match) {
                if (location.hash === "" && open !== null) {
                    close();
                }
                return;
            }
            const what = match[1] === "triple" ? "triples" : "items";
            const row = kinds[what].data.columns.id.indexOf(match[2]);
            if (row < 0) {
                found.textContent = `The explorer does not hold this ${match[1]}.`;
                return;
            }
            if (kind !== what) {
                kind = what;
                form.elements.kind.value = what;
                fill();
                apply();
            }
            const index = rows.indexOf(row);
            if (index >= 0) {
                move(index);
            }
            show(what, row);
        };
        window.addEventListener("popstate", follow);

        fill();
        apply();
        follow();
        document.body.dataset.ready = "yes";
    };
})();
