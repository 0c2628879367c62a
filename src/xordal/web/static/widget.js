// The widget: the page's map and panel; questions go to the kernel.
const render = ({ model, el }) => {
  el.classList.add("xordal-widget");
  const network = model.get("network"), mine = Math.random().toString(36).slice(2), waiting = new Map();
  let n = 0;
  const hear = message => {
    const resolve = waiting.get(message.id);
    if (!resolve) return;
    waiting.delete(message.id);
    resolve(message.answer);
  };
  model.on("msg:custom", hear);
  const ask = question => new Promise((resolve, reject) => {
    const id = `${mine}-${++n}`;
    waiting.set(id, answer => answer.error ? reject(new Error(answer.error)) : resolve(answer));
    model.send({ id, question });
  });
  const stage = made("div", { class: "stage" }), side = made("div", { class: "side-panel" });
  el.append(made("div", { class: "workbench ask" }, stage, side));
  const map = new NetworkMap(stage, { onChoose: v => { if (v !== null) side.querySelector(`.variable[data-v="${v}"]`).scrollIntoView({ block: "nearest" }); } });
  map.setVariables(network.variables.map(variable => variable.name));
  map.place(network.places, network.size);
  map.setLinks(network.links);
  let own = "";
  const panel = new AskPanel(side, network, ask, { map, onEvidence: given => {
    own = JSON.stringify(given);
    model.set("given", given);
    model.save_changes();
  } });
  const follow = () => { if (JSON.stringify(model.get("given")) !== own) panel.set(new Map(model.get("given"))); };
  panel.begin(model.get("given")).then(() => model.on("change:given", follow));
  return () => { model.off("msg:custom", hear); model.off("change:given", follow); map.end(); };
};
export default { render };
