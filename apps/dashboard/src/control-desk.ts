import type { IncomingMessage, ServerResponse } from "node:http";
import { sendJson } from "./answers.ts";
import type { Control } from "./dashboard-types.ts";
import { refusalOf } from "./guard.ts";
import type { ControlAnswer, ControlEvent } from "./wire.ts";

const MAX_BODY = 1_024;

/** Runs controls for authorized requests, each control at most once at a time. */
export class ControlDesk {
  readonly #controls: ReadonlyMap<string, Control>;
  readonly #token: string;
  readonly #log: (event: ControlEvent) => void;
  readonly #running = new Set<string>();

  constructor(controls: readonly Control[], token: string, log: (event: ControlEvent) => void) {
    this.#controls = new Map(controls.map((control) => [control.id, control]));
    [this.#token, this.#log] = [token, log];
  }

  async answer(id: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const say = (status: number, body: ControlAnswer, headers = {}): void => sendJson(response, status, body, headers);
    if (request.method !== "POST") return say(405, { error: "method not allowed: use POST" }, { allow: "POST" });
    const refusal = refusalOf(request.headers, this.#token);
    if (refusal !== undefined) return say(403, { error: `refused: ${refusal}` });
    if (!(await isJson(request))) return say(400, { error: `the body must be JSON of at most ${MAX_BODY} characters` });
    const control = this.#controls.get(id);
    if (control === undefined) return say(404, { error: "not found: no control has this id" });
    if (this.#running.has(id))
      return say(409, { error: `"${control.label}" is still running: wait until it has finished` });
    const outcome = await this.#run(control);
    const [status, body] = outcome.hasFailed ? [500, { error: outcome.text }] : [200, { done: outcome.text }];
    say(status, body as ControlAnswer);
  }

  async #run(control: Control): Promise<ControlEvent> {
    const { id, label } = control;
    this.#running.add(id);
    let outcome: ControlEvent;
    try {
      outcome = { type: "control", label, text: String(await control.run()), hasFailed: false };
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      outcome = { type: "control", label, text, hasFailed: true };
    } finally {
      this.#running.delete(id);
    }
    this.#log(outcome);
    return outcome;
  }
}

async function isJson(request: IncomingMessage): Promise<boolean> {
  let body = "";
  for await (const chunk of request) {
    body += String(chunk);
    if (body.length > MAX_BODY) return false;
  }
  try {
    JSON.parse(body);
    return true;
  } catch {
    return false;
  }
}
