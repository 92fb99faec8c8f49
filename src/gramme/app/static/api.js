/* Speaking with the server: the token of the address goes into a header of every request. */

let token = "";

/* The token comes with the address (after #token=) and stays with this tab. */
export function takeToken() {
  const found = /[#&]token=([\w-]+)/.exec(location.hash);
  if (found) {
    token = found[1];
    try { sessionStorage.setItem("gramme-token", token); } catch { /* the tab forgets it, the address does not */ }
  } else {
    try { token = sessionStorage.getItem("gramme-token") || ""; } catch { token = ""; }
  }
  return token;
}

export const addressWith = (tab) => `#${tab}&token=${token}`;

export class Problem extends Error {
  constructor(message, status) { super(message); this.status = status; }
}

async function request(method, address, body, headers = {}) {
  let answer;
  try {
    answer = await fetch(address, { method, body, headers: { "X-Gramme-Token": token, ...headers }, credentials: "omit" });
  } catch {
    throw new Problem("The app does not answer. Is it still running? Everything you labelled is saved.", 0);
  }
  if (answer.ok) return answer;
  let text = await answer.text();
  try { text = JSON.parse(text).problem || text; } catch { /* plain text it is */ }
  throw new Problem(text || `The app answered with an error (${answer.status}).`, answer.status);
}

function withQuery(address, query) {
  const said = Object.entries(query || {}).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return said.length ? `${address}?${new URLSearchParams(said)}` : address;
}

export const get = async (address, query) => (await request("GET", withQuery(address, query))).json();
export const getBytes = async (address) => (await request("GET", address)).arrayBuffer();
export const post = async (address, body = {}) =>
  (await request("POST", address, JSON.stringify(body), { "Content-Type": "application/json" })).json();
export const remove = async (address) => (await request("DELETE", address)).json();
export const upload = async (file, name) =>
  (await request("PUT", `/api/files/${encodeURIComponent(name)}`, file, { "Content-Type": "application/octet-stream" })).json();

/* A download or a report: the browser opens it by itself, by an address that works once. */
export async function openParcel(what, result, { tab = false } = {}) {
  const { address, name } = await post("/api/tickets", { what, result });
  if (tab) { window.open(address, "_blank", "noopener"); return; }
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
}

export function saveBlob(blob, name) {
  const address = URL.createObjectURL(blob), link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
