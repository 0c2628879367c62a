// What a table looks like, what is odd about it, and how it is to be learned.
import { button, get, made, number, post, say } from "./dom.js";

const KINDS = { continuous: "numbers on a scale", words: "numbers and words", dates: "dates", repeated: "names of things", weights: "weights", identifier: "identifier", "many levels": "very many values", counts: "counts", constant: "one value only", alike: "values alike", nested: "lists" };
const CRITERIA = [
  ["significance", "Only what chance hardly explains (recommended)", 0.05],
  ["entropy", "The paper's threshold, in nats", 0.004],
  ["bic", "Bayesian information criterion", null],
  ["ebic", "The extended criterion, stricter with many columns", null],
  ["bdeu", "Bayesian score with a uniform prior", null],
];

const MOST_REMARKS = 14;
// How long many sets take where some 400,000 are looked at in a second: sets of five columns of three values, or of six.
// Of pairs and triples there are at least 10 million in a second.
const QUICKER = 25;
const TIMES = [[3.5e10, "days"], [1.5e9, "hours"], [2e7, "minutes"]];

const BLANKS = {
  drop: "They are left out.",
  level: "A missing value is made a value of its own: so many rows are too many to leave out.",
  error: "Learning will refuse them.",
};
const COUNTING = ["counts", "weights"];  // columns by which rows may be counted
const ENCODINGS = [["", "as found"], ["utf-8", "UTF-8"], ["cp1252", "Windows-1252 (Western Europe)"], ["cp1250", "Windows-1250 (Central Europe)"], ["cp1251", "Windows-1251 (Cyrillic)"], ["shift_jis", "Shift JIS (Japanese)"], ["gb18030", "GB 18030 (Chinese)"], ["utf-16", "UTF-16"]];

const counted = (n, what) => `${number(n)} ${what}${n === 1 ? "" : "s"}`;
const field = (label, control, hint = "") => made("label", { class: "field" }, made("span", { text: label }), control, typeof hint === "string" ? hint && made("small", { class: "quiet", text: hint }) : hint);
const choice = (options, value) => {
  const select = made("select", {}, ...options.map(([key, text]) => made("option", { value: key, text })));
  select.value = value;
  return select;
};

export const showLook = ({ content, run, reload }) => {
  const { overview } = run, former = run.settings || {};
  const rows = overview.columns.map(column => columnRow(column, overview.n_rows, former));
  const taken = () => rows.filter(row => row.box.checked);
  const form = settingsForm(overview, former, () => taken().map(row => row.column), [missingWord(run, reload), encodingOf(run, reload)]);
  const learnButton = button("Find what hides in it", () => begin(), { class: "primary", id: "learn" });
  const tell = () => {
    const weights = form.weights();
    for (const { column, box } of rows) {  // what counts the rows is no column beside, and lists are none
      box.disabled = column.name === weights || column.odd === "nested";
      if (box.disabled) box.checked = false;
    }
    const n = taken().length;
    form.setTaken(new Set(taken().map(row => row.column.name)));
    learnButton.disabled = n < 2 || overview.n_rows < 2;
    nTaken.textContent = `${n} of ${rows.length} ${rows.length === 1 ? "column is" : "columns are"} taken.${n < 2 ? " At least two are needed." : overview.n_rows < 2 ? " At least two rows are needed." : ""}`;
    odd.forEach(([row, words]) => { words.textContent = ` ${row.column.advice} ${becomes(row, weights)}`; });
    const nIncomplete = incomplete(overview, new Set(rows.flatMap((row, place) => row.box.checked ? [place] : [])));
    form.tell(nIncomplete);
    gaps.hidden = nIncomplete === 0;
    gapWords.textContent = ` ${number(nIncomplete)} of ${number(overview.n_rows)} rows ${nIncomplete === 1 ? "has" : "have"} one in the columns that are taken. ${BLANKS[form.missing()]} More settings has other ways.`;
  };
  const begin = async () => {
    if (!form.isSensible()) return;
    learnButton.disabled = true;
    const settings = { ...form.settings(), columns: taken().map(row => row.column.name), categorical: taken().filter(row => row.as && row.as.value === "as-is").map(row => row.column.name) };
    try { await post(`/api/runs/${run.id}/learn`, settings); reload(); } catch (error) {
      if ((await get(`/api/runs/${run.id}`)).status !== run.status) reload(); else tell();  // another tab may have begun
      say(error.message);
    }
  };
  const nTaken = made("span", { class: "quiet", role: "status" });
  rows.forEach(row => [row.box, row.as].forEach(one => one && one.addEventListener("change", tell)));
  const odd = rows.filter(row => row.column.odd).map(row => [row, made("span")]);
  const remarks = odd.map(([row, words]) => made("li", {}, made("b", { text: row.column.shown }), words));
  remarks.unshift(...readAs(run, reload));
  const gapWords = made("span"), gaps = made("li", {}, made("b", { text: "Missing values" }), gapWords);
  if (overview.n_incomplete) remarks.unshift(gaps);
  form.element.addEventListener("change", tell);
  const search = made("input", { type: "search", placeholder: "Find a column", "aria-label": "Find a column", on: { input: () => {
    const wanted = search.value.trim().toLocaleLowerCase();
    rows.forEach(row => { row.element.hidden = !row.column.shown.toLocaleLowerCase().includes(wanted); });
  } } });
  content.append(...[
    made("h1", { text: run.label }),
    made("p", { class: "lead", text: `${counted(overview.n_rows, "row")}, ${counted(rows.length, "column")}.${remarks.length ? "" : " Nothing looks odd."}` }),
    run.story ? made("p", { text: run.story.replace(/\s+/g, " ") }) : null,
    run.failed ? made("p", { class: "warning", role: "alert", text: run.failed }) : null,
    remarks.length ? made("section", { class: "odd" }, made("h2", { text: "Worth a look first" }), made("ul", {}, ...remarks.slice(0, MOST_REMARKS)), remarks.length > MOST_REMARKS ? made("p", { class: "small", text: `and ${remarks.length - MOST_REMARKS} more, marked below` }) : null) : null,
    made("div", { class: "go" }, learnButton, nTaken),
    form.element,
    made("section", {}, made("h2", { text: "Columns" }), rows.length > 12 ? made("p", {}, search) : null,
      made("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Columns" }, made("table", { class: "grid columns" },
        made("thead", {}, made("tr", {}, ...["take", "column", "values", "the commonest", "remarks"].map(text => made("th", { scope: "col", text })))),
        made("tbody", {}, ...rows.map(row => row.element))))),
  ].filter(Boolean));
  tell();
};

// What becomes of an odd column, as its box and its choice are now.
const becomes = ({ column, box, as }, weights) => column.name === weights ? "Each row counts as often as it says; More settings can change that." : !box.checked ? `It is left out${COUNTING.includes(column.odd) ? "; under More settings rows can be counted by it" : ""}.` : as && as.value === "as-is" ? "It is taken as it is." : column.if_taken;

// How many rows miss a value in some of the columns, by the sets of columns that rows miss values in.
const incomplete = ({ gaps, n_incomplete }, taken) => gaps ? gaps.reduce((sum, [missing, n]) => sum + (missing.some(place => taken.has(place)) ? n : 0), 0) : n_incomplete;

// Have the file read anew, with something said of how it is written.
const readAnew = async (run, reload, change) => {
  const { sheet = null, encoding = null, missing = [] } = run.form;
  try { await post(`/api/runs/${run.id}/look`, { sheet, encoding, missing, ...change }); reload(); } catch (error) { say(error.message); }
};

// What was guessed when the file was read, and how to have it read in another way.
const readAs = (run, reload) => {
  const { overview, form } = run, missing = form.missing || [];
  const again = change => readAnew(run, reload, change);
  const told = (overview.notes || []).map(text => made("li", { text }));
  if ((overview.sheets || []).length > 1) {
    const sheet = choice(overview.sheets.map(name => [name, name]), overview.sheet);
    sheet.setAttribute("aria-label", "Sheet");
    sheet.addEventListener("change", () => again({ sheet: sheet.value }));
    told.push(made("li", {}, made("b", { text: "Sheet" }), ` The workbook has ${overview.sheets.length}; this one is read: `, sheet));
  }
  for (const { word, n_cells, n_columns, is_far } of overview.blanks || []) told.push(made("li", {}, made("b", { text: word }),
    ` stands in ${number(n_cells)} ${n_cells === 1 ? "cell" : "cells"} of ${n_columns === 1 ? "one column" : `${n_columns} columns`}, as ${is_far ? "a number far from the others" : "a value"}. `, button("Take it as missing", () => again({ missing: [...missing, word] }))));
  for (const word of missing) told.push(made("li", {}, made("b", { text: word }), " is taken as missing. ", button("Take it as a value", () => again({ missing: missing.filter(other => other !== word) }))));
  return told;
};

// A word of one's own for missing values; the file is read anew with it.
const missingWord = (run, reload) => {
  const word = made("input", { type: "text", placeholder: "such as 99" });
  word.addEventListener("change", () => { if (word.value.trim()) readAnew(run, reload, { missing: [...(run.form.missing || []), word.value.trim()] }); });
  return field("Missing is also written as", word, "the file is read anew");
};

// The encoding of a text file, which cannot always be told from the file.
export const encodingOf = (run, reload) => {
  const encoding = choice(ENCODINGS, run.form.encoding || "");
  encoding.addEventListener("change", () => readAnew(run, reload, { encoding: encoding.value || null }));
  return field("Its text is written in", encoding, "where names or values look wrong; the file is read anew");
};

const columnRow = (column, nRows, former) => {
  const isTaken = former.columns ? former.columns.includes(column.name) : column.taken;
  const box = made("input", { type: "checkbox", "aria-label": `Take ${column.shown}` });
  box.checked = isTaken;
  const most = Math.max(...column.levels.map(level => level[1]), 1);
  const bars = column.spread ? made("div", { class: "quiet", text: `from ${column.spread[0]} to ${column.spread[2]}, median ${column.spread[1]}` }) : made("div", { class: "tiny" }, ...column.levels.map(([level, count]) => {
    const bar = made("i");
    bar.style.width = `${100 * count / most}%`;
    return made("span", { title: `${level}: ${number(count)}` }, made("b", { text: level }), made("span", { class: "track" }, bar));
  }), column.n_levels > column.levels.length ? made("span", { class: "quiet", text: `and ${number(column.n_levels - column.levels.length)} more` }) : null);
  const as = column.odd === "continuous" || column.odd === "many levels" ? choice(column.odd === "continuous" ? [["cut", "cut into ranges"], ["as-is", "take as it is"]] : [["cut", "merge rare values"], ["as-is", "take as it is"]], (former.categorical || []).includes(column.name) ? "as-is" : "cut") : null;
  if (as) as.setAttribute("aria-label", `What to do with ${column.shown}`);
  const remarks = made("div", { class: "remarks" }, column.odd ? made("span", { class: "tag", text: KINDS[column.odd] }) : null, as, column.n_missing ? made("span", { class: "tag", text: `${number(column.n_missing)} missing` }) : null);
  const element = made("tr", {}, made("td", {}, box), made("th", { scope: "row" }, made("div", { text: column.shown })), made("td", { class: "number", text: number(column.n_levels) }), made("td", {}, bars), made("td", {}, remarks));
  return { column, box, as, element };
};

const settingsForm = (overview, former, takenColumns, howWritten) => {
  const value = (name, otherwise) => former[name] ?? overview.settings[name] ?? otherwise;
  const start = former.max_variables ? `m${former.max_variables}` : former.max_links && former.max_links !== 3 ? `k${former.max_links}` : "k3";
  const reach = choice([["k1", "pairs only, as most programs do"], ["k3", "groups of three, and larger ones whose parts show (quick)"], ["m4", "groups of four at once"], ["m5", "groups of five at once (slow with many columns)"], ["m6", "groups of six at once (slower still)"], ["k2", "two links ahead (k = 2)"], ["k4", "four links ahead (k = 4)"], ["k6", "six links ahead (k = 6)"]], start);
  const slow = made("small", { class: "quiet", role: "status" });
  const tellTime = () => { const [sets, slowOnes] = setsOf(takenColumns().length, reach.value); const time = TIMES.find(([most]) => slowOnes > most); slow.textContent = time ? `${setsText(sets)} sets of columns to look at: this may take ${time[1]}.` : ""; };
  const criterion = choice(CRITERIA, former.criterion || "significance");
  const level = made("input", { type: "number", step: "any" });
  const setLevel = () => { const found = CRITERIA.find(([name]) => name === criterion.value)[2]; level.value = found ?? ""; level.disabled = found === null; };
  const isPositive = one => one.valueAsNumber > 0;
  setLevel();
  if (former.value !== undefined && former.value !== null) level.value = former.value;
  criterion.addEventListener("change", setLevel);
  const bins = made("input", { type: "number", min: 2, value: value("bins", 4) });
  const binBy = choice([["quantile", "with equally many rows"], ["width", "equally wide"]], value("bin_by", "quantile"));
  const rare = made("input", { type: "number", min: 0, value: value("merge_rare", 0) });
  const missing = choice([["drop", "leave such rows out"], ["level", "make them a value of their own"], ["error", "refuse them"]], former.missing || "error");
  let isChosen = Boolean(former.missing);  // by a person; otherwise it follows from how many rows miss a value
  missing.addEventListener("change", () => { isChosen = true; });
  const missingHint = made("small", { class: "quiet" });
  const tell = nIncomplete => {
    tellTime();
    if (!isChosen) missing.value = nIncomplete === 0 ? "error" : 10 * nIncomplete <= overview.n_rows ? "drop" : "level";
    missingHint.textContent = nIncomplete ? `${number(nIncomplete)} rows have one` : "there are none";
  };
  const weights = choice([["", "once"], ...overview.columns.map(column => [column.name, `as often as ${column.shown} says`])], value("weights", "") || "");
  const limit = made("input", { type: "number", min: 1, step: "any", placeholder: "none", value: former.time_limit ?? "" });
  const sensible = [
    [level, one => isPositive(one) && (criterion.value === "entropy" || one.valueAsNumber < 1), () => criterion.value === "entropy" ? "A number above 0, in nats." : "A chance between 0 and 1, such as 0.05."],
    [bins, one => Number.isInteger(one.valueAsNumber) && one.valueAsNumber >= 2, () => "A whole number of ranges, at least 2."],
    [rare, one => Number.isInteger(one.valueAsNumber) && one.valueAsNumber >= 0, () => "A whole number of rows; 0 merges none."],
    [limit, isPositive, () => "A number of seconds above 0; nothing for none."],
  ];
  // Whether all that is typed can be; where it cannot, the first such field says so. An empty one is as it was at first.
  const isSensible = () => {
    for (const [input, isGood, words] of sensible) input.setCustomValidity(input.disabled || isGood(input) || (input.value === "" && !input.validity.badInput) ? "" : words());
    const odd = sensible.map(([input]) => input).find(input => !input.validity.valid);
    if (odd) { odd.closest("details").open = true; odd.reportValidity(); }
    return !odd;
  };
  for (const [input] of sensible) input.addEventListener("input", () => input.setCustomValidity(""));
  const rules = constraintsPicker(former, takenColumns);
  const element = made("section", { class: "settings-form" }, made("h2", { text: "How to look" }),
    field("Look for", reach), slow,
    made("details", {}, made("summary", { text: "More settings" }), made("div", { class: "fields" },
      field("Keep a link when", criterion), field("at this level", level),
      field("Cut numbers into", bins, "ranges"), field("Ranges", binBy),
      field("Merge values of fewer rows than", rare, "0 merges none"),
      field("Missing values", missing, missingHint), ...howWritten,
      field("Each row counts", weights), field("Stop after", limit, "seconds; what was found is kept")), rules.element));
  const numeric = control => control.value === "" ? null : Number(control.value);
  const settings = () => ({
    [reach.value[0] === "k" ? "max_links" : "max_variables"]: Number(reach.value.slice(1)),
    criterion: criterion.value, value: level.disabled ? null : numeric(level), bins: numeric(bins), bin_by: binBy.value,
    merge_rare: numeric(rare) ?? 0, missing: missing.value, weights: weights.value || null, time_limit: numeric(limit), ...rules.settings(),
  });
  return { element, settings, tell, isSensible, setTaken: rules.setTaken, missing: () => missing.value, weights: () => weights.value };
};

// How many sets of columns a search looks at: all of up to so many columns, or those with so few pairs. Beside it as how
// many large ones they count.
const setsOf = (n, reach) => {
  const most = reach[0] === "m" ? Number(reach.slice(1)) : [2, 2, 2, 3, 3, 3, 4][Number(reach.slice(1))] ?? 4;
  let sets = 0, slowOnes = 0;
  for (let m = 2, choose = n; m <= most; m++) { choose *= (n - m + 1) / m; sets += choose; slowOnes += m > 3 ? choose : choose / QUICKER; }
  return [sets, slowOnes];
};
const setsText = sets => sets < 1e9 ? `${Math.round(sets / 1e6)} million` : sets < 1e12 ? `${Math.round(sets / 1e9)} billion` : "More than 1,000 billion";

// Links that must or must not be there, by clicking two columns.
const constraintsPicker = (former, takenColumns) => {
  let chosen = ["required", "forbidden"].flatMap(kind => (former[kind] || []).map(pair => ({ kind, pair })));
  let taken = new Set();
  const list = made("ul", { class: "chips" }), names = made("div", { class: "pick" });
  let first = null;
  const holding = () => chosen.filter(({ pair }) => pair.every(name => taken.has(name)));  // what is said of columns left out waits
  const draw = () => list.replaceChildren(...holding().map(one => made("li", {},
    button(`${one.pair.join(" – ")} ${one.kind === "required" ? "must" : "must not"} be linked ✕`, () => { chosen = chosen.filter(other => other !== one); draw(); kind.focus(); }, { class: "chip" }))));
  const kind = choice([["required", "must be linked"], ["forbidden", "must not be linked"]], "required");
  kind.setAttribute("aria-label", "What holds for the two");
  const fill = () => { first = null; names.replaceChildren(...takenColumns().map(column => { const one = button(column.shown, () => pick(column.name, one), { "aria-pressed": "false" }); return one; })); };
  const pick = (name, one) => {
    if (first === null) { first = [name, one]; one.setAttribute("aria-pressed", "true"); return; }
    first[1].setAttribute("aria-pressed", "false");
    const pair = [first[0], name];
    first = null;
    if (pair[0] === name) return;
    chosen = [...chosen.filter(other => !pair.every(end => other.pair.includes(end))), { kind: kind.value, pair }];  // what was said last of two columns holds
    draw();
  };
  const setTaken = now => {
    if (now.size === taken.size && [...now].every(name => taken.has(name))) return;
    taken = now;
    draw();
    if (element.open) fill();
  };
  const element = made("details", { on: { toggle: () => { if (element.open) fill(); } } }, made("summary", { text: "What you know already" }),
    made("p", { class: "small", text: "Click two columns that " }, kind, "."), names, list);
  const settings = () => Object.fromEntries(["required", "forbidden"].map(kind => [kind, holding().filter(one => one.kind === kind).map(one => one.pair)]));
  return { element, settings, setTaken };
};
