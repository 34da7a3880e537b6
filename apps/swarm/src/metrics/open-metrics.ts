import { createServer, type RequestListener } from "node:http";
import { isHivepaceError } from "@hivepace/core";
import { closeServer, isOurHost, listen, send, sendJson } from "@hivepace/dashboard/serving";
import { OptionError } from "../options.ts";

/** What Prometheus reads. */
export interface MetricsPage {
  readonly url: string;
  /** From now on these; before, there are none. */
  show(metrics: () => Promise<string>): void;
  close(): Promise<void>;
}

const HOST = "127.0.0.1";
const PATH = "/metrics";
const TEXT_FORMAT = "text/plain; version=0.0.4; charset=utf-8";

/** Only this machine reaches it. Throws an OptionError when it cannot listen there. */
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
      return sendJson(response, 421, { error: `this is not ${JSON.stringify(host ?? "")}: ask for ${HOST}` });
    if (String(request.url).split("?")[0] !== PATH)
      return sendJson(response, 404, { error: `there is nothing but ${PATH}` });
    if (request.method !== "GET" && request.method !== "HEAD")
      return sendJson(response, 405, { error: "only GET" }, { allow: "GET, HEAD" });
    metrics().then(
      (text) => send(response, 200, TEXT_FORMAT, text),
      (error: Error) => sendJson(response, 500, { error: error.message }),
    );
  };
}

function refuse(error: unknown, port: number): never {
  const rule = isHivepaceError(error, "PORT_IN_USE") ? "a port that is free" : "a port on which one may listen";
  throw new OptionError(`--metrics must be ${rule}, or 0 for any that is free, got ${port}`);
}
