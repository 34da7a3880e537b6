import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { SAFE_HEADERS, send, sendJson } from "./answers.ts";
import type { Page } from "./assets.ts";
import type { ControlDesk } from "./control-desk.ts";
import type { EventLog } from "./event-log.ts";
import { type FanOut, MAX_READERS } from "./fan-out.ts";
import { isOurHost } from "./guard.ts";
import type { Ticker } from "./ticker.ts";
import type { Hello } from "./wire.ts";

interface Parts {
  readonly host: string;
  readonly page: Page;
  readonly pages: FanOut;
  readonly ticker: Ticker;
  readonly log: EventLog;
  readonly hello: Omit<Hello, "update">;
  /** Undefined: there are no controls, and their routes do not exist. */
  readonly desk: ControlDesk | undefined;
}

export function routes(parts: Parts): RequestListener {
  const { host, page, log, hello, ticker, desk } = parts;
  return (request, response) => {
    // A client that disconnects during a response is not an error.
    response.on("error", () => {});
    if (!isOurHost(request.headers.host, host)) return refuse(response, request.headers.host);
    const path = String(request.url).split("?")[0] as string;
    const control = path.match(/^\/controls\/([^/]+)$/)?.[1];
    if (desk !== undefined && control !== undefined) return void answerControl(desk, control, request, response);
    if (request.method !== "GET" && request.method !== "HEAD")
      return sendJson(
        response,
        405,
        { error: `method not allowed: use GET, got ${request.method}` },
        { allow: "GET, HEAD" },
      );
    if (path === "/events" && request.method === "GET") return stream(parts, response);
    if (path === "/snapshot") {
      const { title, namespace } = hello;
      return sendJson(response, 200, { title, namespace, ...ticker.read(), events: log.since(0) });
    }
    const file = page.get(path);
    if (file === undefined) return sendJson(response, 404, { error: "not found" });
    send(response, 200, file.type, file.body);
  };
}

function stream({ pages, hello, ticker }: Parts, response: ServerResponse): void {
  if (pages.size >= MAX_READERS) {
    sendJson(
      response,
      503,
      { error: `${MAX_READERS} pages are open, the maximum: close one` },
      { "retry-after": "10" },
    );
    return;
  }
  response.writeHead(200, { ...SAFE_HEADERS, "content-type": "text/event-stream; charset=utf-8" });
  const remove = pages.add(response, hello, ticker.read());
  response.on("close", remove);
}

function refuse(response: ServerResponse, host: string | undefined): void {
  const error = `the Host header ${JSON.stringify(host ?? "")} does not name this dashboard: open the address that it printed, or start it with that host`;
  sendJson(response, 421, { error });
}

async function answerControl(
  desk: ControlDesk,
  id: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    await desk.answer(id, request, response);
  } catch {
    // The client disconnected during its request.
    response.destroy();
  }
}
