import { createServer, type RequestListener } from "node:http";
import { isHivepaceError } from "@hivepace/core";
import { closeServer, isOurHost, listen, send, sendJson } from "@hivepace/dashboard/serving";
import { OptionError } from "../options.ts";

/** The HTTP endpoint that Prometheus scrapes. */
export interface MetricsPage {
  readonly url: string;
  /** Sets the source of the metrics; the page is empty before the first call. */
  show(metrics: () => Promise<string>): void;
  close(): Promise<void>;
}

const HOST = "127.0.0.1";
const PATH = "/metrics";
const TEXT_FORMAT = "text/plain; version=0.0.4; charset=utf-8";

/** Listens on loopback only. Throws an OptionError when the port cannot be used. */
export async function openMetrics(port: number): Promise<MetricsPage> {
  let metrics = async (): Promise<string> => "";
  const server = createServer(answerWith(() => metrics()));
  const opened = await listen(server, HOST, port).catch((error: unknown) => refuse(error, port));
  return {
    url: `http://${HOST}:${opened}${PATH}`,
    show: (others) => {
      metrics = others;
    },
    close: () => closeServer(server),
  };
}

function answerWith(metrics: () => Promise<string>): RequestListener {
  return (request, response) => {
    response.on("error", () => {});
    const { host } = request.headers;
    if (!isOurHost(host, HOST))
      return sendJson(response, 421, { error: `the Host header must be ${HOST}, got ${JSON.stringify(host ?? "")}` });
    if (String(request.url).split("?")[0] !== PATH)
      return sendJson(response, 404, { error: `not found: the only path is ${PATH}` });
    if (request.method !== "GET" && request.method !== "HEAD")
      return sendJson(
        response,
        405,
        { error: `method not allowed: use GET, got ${request.method}` },
        { allow: "GET, HEAD" },
      );
    metrics().then(
      (text) => send(response, 200, TEXT_FORMAT, text),
      (error: Error) => sendJson(response, 500, { error: error.message }),
    );
  };
}

function refuse(error: unknown, port: number): never {
  const rule = isHivepaceError(error, "PORT_IN_USE") ? "a free port" : "a port that this user may listen on";
  throw new OptionError(`--metrics must be ${rule}, or 0 for any free port, got ${port}`);
}
