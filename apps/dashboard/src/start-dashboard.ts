import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { isIPv6 } from "node:net";
import { loadPage } from "./assets.ts";
import { closeServer } from "./close-server.ts";
import { ControlDesk } from "./control-desk.ts";
import type { Dashboard, DashboardOptions } from "./dashboard-types.ts";
import { EventLog, MAX_EVENTS } from "./event-log.ts";
import { FanOut } from "./fan-out.ts";
import { History, MAX_POINTS, MAX_TRACKED, POINT_MS } from "./history.ts";
import { listen } from "./listen.ts";
import { settingsOf } from "./options.ts";
import { routes } from "./routes.ts";
import { Ticker } from "./ticker.ts";
import type { Hello } from "./wire.ts";

/**
 * Serves a page that shows the swarm.
 *
 * @throws INVALID_CONFIG for an invalid option; PORT_IN_USE or CANNOT_LISTEN when the address is not available.
 */
export async function startDashboard(options: DashboardOptions): Promise<Dashboard> {
  const settings = settingsOf(options);
  const { observer, clock, host, controls, title } = settings;
  const token = controls.length > 0 ? randomBytes(24).toString("base64url") : undefined;
  const page = await loadPage();
  const [history, log] = [new History(), new EventLog()];
  const pages = new FanOut(history, log);
  const server = createServer();
  const port = await listen(server, host, settings.port);

  const ticker = new Ticker(settings, history, pages);
  const stopListening = observer.onEvent((event) => log.add(event, clock.epochMs()));
  const hello: Omit<Hello, "update"> = {
    title,
    namespace: observer.namespace,
    token,
    controls: controls.map(({ id, label, about }) => ({ id, label, about })),
    pointMs: POINT_MS,
    maxPoints: MAX_POINTS,
    maxTracked: MAX_TRACKED,
    maxEvents: MAX_EVENTS,
  };
  const desk = token === undefined ? undefined : new ControlDesk(controls, token, (e) => log.add(e, clock.epochMs()));
  server.on("request", routes({ host, page, pages, ticker, log, hello, desk }));

  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    if (closing === undefined) {
      stopListening();
      ticker.stop();
      closing = closeServer(server);
    }
    return closing;
  };
  return { url: `http://${reachable(host)}:${port}`, close, [Symbol.asyncDispose]: close };
}

/** Returns the host for a URL that a browser on this machine can open. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return isIPv6(host) ? `[${host}]` : host;
}
