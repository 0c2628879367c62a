// Asking a network: click a value to say that it was observed, and every other distribution moves.
import { brief, button, made, percent } from "./dom.js";

const MANY = 60;  // variables from which those out of sight are not drawn
const FEW = 10;  // levels of a variable that are shown before one asks for all
const MOST_STEPS = 100;  // that can be undone
const A_NAME = 60;  // letters of a name or value, where it stands among others
const largest = numbers => numbers.reduce((most, one) => Math.max(most, one), 0);  // of thousands, which Math.max(...) cannot take

export class AskPanel {
  // ask(question) answers {marginals, single, ...} as the server does; map is told what is given and what moved.
  constructor(parent, network, ask, { map = null, onEvidence = () => {} } = {}) {
    Object.assign(this, { network, ask, map, onEvidence, history: [], given: new Map(), before: null, now: null, compare: false, turn: Promise.resolve(), asker: null });
    this.chips = made("p", { class: "chips", tabindex: -1 });
    this.undoButton = button("Undo", () => this.undo(), { disabled: true });
    this.clearButton = button("Clear all", () => this.set(new Map()), { disabled: true });
    this.bestButton = button("Most probable case", () => this.best());
    this.compareBox = made("input", { type: "checkbox", on: { change: () => { this.compare = this.compareBox.checked; this.draw(); } } });
    this.compareLabel = made("label", { class: "switch", hidden: true }, this.compareBox, " beside a network of single links");
    this.told = made("p", { class: "small told", role: "status" });
    this.search = made("input", { type: "search", autocomplete: "off", spellcheck: "false", placeholder: "Find a column", "aria-label": "Find a column", on: { input: () => this.filter() } });
    this.list = made("div", { class: network.variables.length > MANY ? "cards many" : "cards" });
    this.story = made("div", { class: "story", role: "region", "aria-label": "Why", tabindex: -1, hidden: true });
    parent.append(
      made("div", { class: "asking" }, this.chips, made("div", { class: "tools" }, this.undoButton, this.clearButton, this.bestButton, this.compareLabel), this.told),
      this.search, made("div", { class: "answers" }, this.story, this.list));
    this.focus = null;
    parent.addEventListener("keydown", event => { if (event.key === "Escape" && !this.story.hidden) { event.preventDefault(); this.closeStory(); } });
    this.cards = network.variables.map((variable, v) => this.card(variable, v));
    this.list.append(...this.cards.map(card => card.element));
    if (network.variables.length < 9) this.search.hidden = true;
  }

  card(variable, v) {
    const why = button("why?", () => this.why(v), { class: "why", hidden: true, "aria-label": `Why did ${variable.name} change?` });
    const name = button(variable.name, () => { if (this.map) this.map.choose(v, { center: true }); }, { class: "name" });
    const n = variable.levels.length;
    const all = n > FEW ? button(`all ${n} values`, () => { card.open = true; all.hidden = true; this.drawCard(v); }, { class: "why" }) : null;
    const element = made("section", { class: "variable", "data-v": v, "aria-label": variable.name }, made("div", { class: "head" }, name, why), all);
    const card = { element, rows: new Map(), last: -1, why, all, open: false, moved: 0 };
    return card;
  }

  // The row of a value is made when it is first shown: a column may have thousands of values.
  row(v, code) {
    const card = this.cards[v];
    if (card.rows.has(code)) return card.rows.get(code);
    const bar = made("i", { class: "chance-bar" }), was = made("i", { class: "was" }), other = made("i", { class: "other-bar" });
    const chance = made("span", { class: "chance" }), otherChance = made("span", { class: "other-chance" });
    const row = made("button", { type: "button", class: "level", "aria-pressed": "false", "data-level": code, on: { click: () => this.toggle(v, code) } },
      made("span", { class: "level-name", title: this.network.variables[v].levels[code], text: this.network.variables[v].levels[code] }), made("span", { class: "track" }, bar, was, other), chance, otherChance);
    const next = code > card.last ? undefined : Math.min(...[...card.rows.keys()].filter(later => later > code));
    card.element.insertBefore(row, next === undefined ? card.all : card.rows.get(next).row);
    card.last = Math.max(card.last, code);
    const parts = { row, bar, was, other, chance, otherChance };
    card.rows.set(code, parts);
    return parts;
  }

  // given and history are lists of pairs of a variable and a level, as onEvidence is told them.
  async begin(given = [], history = []) {
    this.before = (await this.ask({ given: [], want: "marginals" })).marginals;
    const known = pairs => new Map(pairs.filter(([v, code]) => this.network.variables[v] && code < this.network.variables[v].levels.length));
    this.history = history.map(known);
    await this.change(() => known(given), { remember: false });
  }

  toggle(v, code) {
    return this.change(given => {
      const next = new Map(given);
      if (next.get(v) === code) next.delete(v); else next.set(v, code);
      return next;
    });
  }

  set(next) { return this.change(() => next); }

  undo() { return this.history.length ? this.change(() => this.history.at(-1), { remember: false, takesBack: true }) : this.turn; }

  // Each change begins from what the one before it made of the evidence: of two quick clicks none is lost.
  change(next, how = {}) {
    this.turn = this.turn.then(() => this.apply(next(this.given), how));
    return this.turn;
  }

  async apply(next, { remember = true, takesBack = false }) {
    if (!next) return;
    let answer;
    try { answer = await this.ask({ given: [...next], want: "marginals" }); } catch (error) { this.told.textContent = error.message; return; }
    this.closeStory();
    if (answer.impossible) { this.told.textContent = answer.impossible; return; }
    if (remember) this.history = [...this.history, this.given].slice(-MOST_STEPS);
    if (takesBack) this.history = this.history.slice(0, -1);
    this.given = next;
    this.now = answer;
    this.onEvidence([...next], this.history.map(one => [...one]));
    this.draw();
  }

  async best() {
    const answer = await this.ask({ given: [...this.given], want: "best" });
    if (answer.impossible) { this.told.textContent = answer.impossible; return; }
    this.story.replaceChildren(made("h4", { text: "The most probable case" }),
      made("p", { class: "small", text: `Of all combinations of values this one is the likeliest${this.given.size ? " given what you said" : ""}: ${percent(Math.exp(answer.log_probability))}.` }),
      made("dl", { class: "best" }, ...this.network.variables.map((variable, v) => made("div", {}, made("dt", { text: variable.name }), made("dd", { text: variable.levels[answer.best[v]] + (this.given.has(v) ? " (given)" : "") })))),
      button("Close", () => this.closeStory()));
    this.showStory(this.bestButton, this.list);
  }

  async why(v) {
    const story = await this.ask({ given: [...this.given], want: "why", of: v });
    if (story.impossible) { this.told.textContent = story.impossible; return; }
    const changes = story.after.map((chance, place) => chance - story.before[place]);
    const most = largest(changes.map(Math.abs)), rose = changes.findIndex(change => change > most - 1e-9);
    const place = rose >= 0 ? rose : changes.findIndex(change => -change > most - 1e-9);  // of two that changed alike the one that rose
    const name = this.network.variables[v].name;
    const head = ["observed", "from it alone", "without it", "its part of the change"];
    const signed = share => share === null ? "" : `${share < 0 ? "−" : "+"}${(100 * Math.abs(share)).toFixed(1)} points`;
    this.story.replaceChildren(
      made("h4", { text: `Why ${brief(name, 2 * A_NAME)} = ${brief(story.levels[place], 2 * A_NAME)} went from ${percent(story.before[place])} to ${percent(story.after[place])}` }),
      made("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "What each observation did" }, made("table", { class: "grid" },
        made("thead", {}, made("tr", {}, ...head.map((text, column) => made("th", { scope: "col", text, class: column ? "number" : "" })))),
        made("tbody", {}, ...story.effects.map(effect => made("tr", {},
          made("th", { scope: "row", title: `${effect.name} = ${effect.level}`, text: `${brief(effect.name, A_NAME)} = ${brief(effect.level, A_NAME)}` }),
          made("td", { class: "number", text: percent(effect.alone[place]) }),
          made("td", { class: "number", text: percent(effect.without[place]) }),
          made("td", { class: "number", text: signed(effect.share === null ? null : effect.share[place]) })))))),
      made("p", { class: "small", text: this.lesson(story, place, name) }),
      button("Close", () => this.closeStory()));
    this.showStory(this.cards[v].why, this.cards[v].element.nextSibling, this.list);
  }

  // A story stands where it was asked for: above an element, or at the end of its parent. The focus goes there, and
  // back to what was clicked when it is closed.
  showStory(asker, before, parent = before.parentElement) {
    this.asker = asker;
    parent.insertBefore(this.story, before);
    this.story.hidden = false;
    this.story.focus({ preventScroll: true });
    this.story.scrollIntoView({ block: "nearest" });
  }

  closeStory() {
    const hadFocus = this.story.contains(document.activeElement);
    this.story.hidden = true;
    if (hadFocus && this.asker) this.asker.focus({ preventScroll: true });
  }

  lesson(story, place, name) {
    const change = Math.abs(story.after[place] - story.before[place]);
    const alone = Math.max(...story.effects.map(effect => Math.abs(effect.alone[place] - story.before[place])));
    if (story.effects.length > 1 && change > 0.05 && alone < 0.1 * change) return `No observation by itself moves ${name}. Only together do they: that is what a hidden group is.`;
    return "";
  }

  // Drawing

  draw() {
    const { marginals } = this.now;
    const single = this.now.single;
    const clicked = [this.undoButton, this.clearButton, ...this.chips.children].includes(document.activeElement);
    this.compareLabel.hidden = !this.network.has_single;
    this.undoButton.disabled = this.history.length === 0;
    this.clearButton.disabled = this.given.size === 0;
    this.chips.replaceChildren(...(this.given.size ? [...this.given].map(([v, code]) => {
      const { name, levels } = this.network.variables[v];
      return button(`${brief(name, A_NAME)} = ${brief(levels[code], A_NAME)} ✕`, () => this.toggle(v, code), { class: "chip", title: `${name} = ${levels[code]}`, "aria-label": `Take back ${name} = ${levels[code]}` });
    }) : [made("span", { class: "quiet", text: "Click a value below to say that it was observed." })]));
    // Whoever clicked what is gone now, or can no longer be clicked, goes on from what is observed.
    if (clicked && (document.activeElement === document.body || document.activeElement.disabled)) this.chips.focus({ preventScroll: true });
    const sure = this.now.log_probability;
    this.told.textContent = this.given.size && sure !== null ? `Such a case has a probability of ${percent(Math.exp(sure))}.` : "";
    if (this.compare) this.told.textContent += " Blue: a network of single links, from the same rows.";
    if (this.compare && this.given.size && single === null) this.told.textContent += " In the network of single links it cannot occur.";
    const moved = marginals.map((chances, v) => largest(chances.map((chance, code) => Math.abs(chance - this.before[v][code]))));
    this.cards.forEach((card, v) => { card.moved = moved[v]; this.drawCard(v); });
    if (this.map) this.map.tone(new Set(this.given.keys()), moved);
    this.list.classList.toggle("comparing", this.compare);
  }

  drawCard(v) {
    const card = this.cards[v], chances = this.now.marginals[v], was = this.before[v];
    const other = this.compare && this.now.single ? this.now.single[v] : null;
    card.element.classList.toggle("given", this.given.has(v));
    card.why.hidden = this.given.size === 0 || this.given.has(v) || card.moved < 0.0005;
    const codes = [...chances.keys()], given = this.given.get(v);
    const ranked = card.open || codes.length <= FEW ? codes : codes.sort((a, b) => chances[b] - chances[a]).slice(0, FEW);
    const shown = new Set(given === undefined ? ranked : [...ranked, given]);
    for (const code of [...shown].sort((a, b) => a - b)) this.row(v, code);
    for (const [code, one] of card.rows) {
      one.row.hidden = !shown.has(code);
      one.row.setAttribute("aria-pressed", String(given === code));
      one.bar.style.width = `${(100 * chances[code]).toFixed(2)}%`;
      one.was.style.left = `${(100 * was[code]).toFixed(2)}%`;
      one.was.hidden = Math.abs(was[code] - chances[code]) < 0.0005;
      one.chance.textContent = percent(chances[code]);
      one.other.hidden = one.otherChance.hidden = other === null;
      if (other) { one.other.style.width = `${(100 * other[code]).toFixed(2)}%`; one.otherChance.textContent = percent(other[code]); }
    }
  }

  // Which variables are shown

  filter() {
    const wanted = this.search.value.trim().toLocaleLowerCase();
    const hits = new Set();
    this.network.variables.forEach((variable, v) => {
      const hit = variable.name.toLocaleLowerCase().includes(wanted) && (this.focus === null || this.focus.has(v));
      this.cards[v].element.hidden = !hit;
      if (hit) hits.add(v);
    });
    if (this.map) this.map.mark(wanted !== "" ? hits : this.focus);
  }

  focusOn(variables) {
    this.focus = variables;
    this.search.value = "";
    this.filter();
  }
}
