// What the page asks of the server. The sign-in is a cookie that no script sees.

export class Refused extends Error {
  constructor(status, { error, code }) {
    super(error ?? "The server did not answer as expected.");
    this.status = status;
    this.code = code;
  }
}

async function ask(method, path, body) {
  const request = { method, credentials: "same-origin", cache: "no-store", headers: {} };
  if (body !== undefined) {
    request.headers["content-type"] = "application/json";
    request.body = JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(path, request);
  } catch {
    throw new Refused(0, { error: "The server can't be reached." });
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) {
    if (response.status === 401 && path !== "/console/session") window.dispatchEvent(new Event("signed-out"));
    throw new Refused(response.status, answer);
  }
  return answer;
}

// The node that is looked at.
export const chosen = { node: null };

function withNode(path) {
  return `${path}${path.includes("?") ? "&" : "?"}node=${encodeURIComponent(chosen.node)}`;
}

export const session = () => ask("GET", "/console/session");
export const signIn = (who) => ask("POST", "/console/session", who);
export const signOut = () => ask("DELETE", "/console/session");
export const read = (path) => ask("GET", withNode(`/console/api/${path}`));
export const act = (path) => ask("POST", withNode(`/console/api/${path}`));
