// A network that was learned: what hides in it, and the bench on which it is asked, its map beside its values. The page
// and the widget show the same.
import { button, made } from "./dom.js";
import { NetworkMap } from "./map.js";
import { AskPanel } from "./ask.js";

const AT_FIRST = 3;  // rules, and groups, that are shown before one asks for more

export class Workbench {
  // ask and onEvidence are as AskPanel takes them; open() is called once the parent is on the page.
  constructor(parent, network, ask, onEvidence) {
    this.network = network;
    this.parent = parent;
    this.focusLine = made("p", { class: "chips", hidden: true });
    this.stage = made("div", { class: "stage" });
    this.side = made("div", { class: "side-panel" });
    parent.append(this.focusLine, made("div", { class: "workbench ask" }, this.stage, this.side));
    this.map = new NetworkMap(this.stage, { onChoose: v => this.choose(v) });
    this.panel = new AskPanel(this.side, network, ask, { map: this.map, onEvidence });
  }

  open() {
    this.map.setVariables(this.network.variables.map(variable => variable.name));
    this.map.place(this.network.places, this.network.size);
    this.map.setLinks([...this.network.links, ...this.network.rule_lines || []]);
    this.stage.append(legend(this.network));
  }

  end() { this.map.end(); }

  choose(v) {
    this.side.querySelectorAll(".variable.chosen").forEach(one => one.classList.remove("chosen"));
    const card = v === null ? null : this.side.querySelector(`.variable[data-v="${v}"]`);
    if (card) { card.scrollIntoView({ block: "nearest" }); card.classList.add("chosen"); }
  }

  focusOn(variables, told) {  // some columns, or null for all
    const inside = variables === null ? null : new Set(variables);
    this.panel.focusOn(inside);
    this.focusLine.hidden = inside === null;
    if (inside === null) { this.map.fit(); return; }
    this.focusLine.replaceChildren(made("span", { text: `Showing ${told}` }), button("Show all columns", () => { this.focusOn(null); this.map.frame.focus({ preventScroll: true }); }));
    this.map.focusOn(inside);
    this.parent.scrollIntoView();
    this.map.frame.focus({ preventScroll: true });
  }
}

// How many groups and rules there are, in words; empty where there are none.
export const thatHide = network => {
  const n = network.n_groups, words = [];
  if (n) words.push(n === 1 ? "One hidden group" : `${n} hidden groups`);
  if (network.n_rules) words.push(network.n_rules === 1 ? "one rule" : `${network.n_rules} rules`);
  const text = words.join(" and ");
  return text.charAt(0).toUpperCase() + text.slice(1);
};

// Hidden groups and rules, with their tables; each can be shown on the bench. Several widgets may be on one page, so
// that what has a name for the page can be given one of its own.
export const whatHides = (network, bench, own = "") => {
  const section = made("section", { id: "groups", class: "hiding", "aria-labelledby": "groups-title" }, made("h2", { id: "groups-title", text: "What hides here" }));
  if (network.n_groups === null) section.append(made("p", { text: "Hidden groups were not looked for: the search ended before, or the network was given." }));
  else if (!network.n_groups && !network.n_rules && !network.is_complete) section.append(made("p", { text: "No hidden group was found before the search was stopped. There may be some: learn again and let it end." }));
  else if (!network.n_groups && !network.n_rules) section.append(made("p", { text: network.links.length ? "No columns share more than pairs of them show. What pairs show is in the network below." : "No column was found to depend on others, neither in pairs nor in larger groups as far as was looked." }));
  else section.append(reading());
  const parsed = new DOMParser().parseFromString(network.groups_html, "text/html");  // by the server's own templates, which escape every name
  section.append(...parsed.body.childNodes);
  for (const [kind, words] of [["rule", "rules"], ["group", "groups"]]) {
    const more = [...section.querySelectorAll(`[data-found=${kind}]`)].slice(AT_FIRST);
    if (more.length > 1) { const rest = made("details", {}, made("summary", { text: `${more.length} more ${words}` })); more[0].before(rest); rest.append(...more); }
  }
  const shows = (kind, found, told) => section.querySelectorAll(`button[data-${kind}]`).forEach(one => {
    const n = Number(one.dataset[kind]);
    one.addEventListener("click", () => bench.focusOn(found[n].variables, told(found[n], n)));
  });
  shows("group", network.groups, (group, n) => `group ${n + 1}: ${group.heading}`);
  shows("rule", network.rules || [], rule => `the rule ${rule.words}`);
  for (const one of own ? [section, ...section.querySelectorAll("[id], [aria-labelledby]")] : []) {
    for (const name of ["id", "aria-labelledby"]) if (one.hasAttribute(name)) one.setAttribute(name, `${own}-${one.getAttribute(name)}`);
  }
  return section;
};

// What stands in the tables and tags, for those who want to know.
const reading = () => made("details", { class: "reading" }, made("summary", { text: "How to read this" }),
  made("p", { text: "Each cell has the rows counted and, small beside them and as a tick on the bar, those expected if the parts had nothing to do with each other. Cells off by more than three standard deviations are tinted. What columns share is told in nats; a fair coin has 0.69, which is one bit. All of this is of the rows, or of the network where one was given without its rows; the percentages below, that follow from what you say, are of the network." }),
  made("p", { text: "Full: any part of the group looks independent. Partial: pairs across the bars do. Conditional: they do once the context is known. Interaction: its pairs are visible, and do not explain the whole. p says how likely chance alone would show as much, corrected for all sets of as many columns." }));

const legend = network => {
  const kinds = new Set(network.links.map(link => link[2]));
  return made("p", { class: "small", text: [kinds.has("colored") ? "Dotted links are hidden: the pair by itself shows next to nothing." : "", kinds.has("fill-in") ? "Thin links only complete the picture." : "", (network.rule_lines || []).length ? "Dashed lines are no links: they tie the column that a rule gives to those it follows from." : "", matchMedia("(pointer: coarse)").matches ? "Drag columns to move them; two fingers zoom." : "Drag columns to move them; Ctrl and the wheel zoom."].filter(Boolean).join(" ") });
};
