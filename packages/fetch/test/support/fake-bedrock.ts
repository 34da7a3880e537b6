import { once } from "node:events";
import { createServer, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { eventOf } from "./aws-events.ts";

/** An answer to one request: a document, an error as Bedrock sends it, or events of a stream. */
export type BedrockReply =
  | { readonly json: unknown; readonly headers?: Readonly<Record<string, string>> }
  | { readonly error: string; readonly status: number }
  | { readonly events: readonly (readonly [type: string, payload: unknown])[] };

export interface FakeBedrock extends AsyncDisposable {
  readonly url: string;
  /** The paths that were asked for. */
  readonly paths: string[];
}

/** Bedrock on this machine, over HTTP/2 as the SDK speaks it, with these answers one after the other; the last one stays. */
export async function startBedrock(...replies: readonly BedrockReply[]): Promise<FakeBedrock> {
  const paths: string[] = [];
  const server = createServer();
  server.on("stream", (stream, headers) => {
    paths.push(decodeURIComponent(String(headers[":path"])));
    stream
      .resume()
      .on("end", () => answer(stream, replies[Math.min(paths.length, replies.length) - 1] as BedrockReply));
  });
  const sessions = new Set<{ destroy(): void }>();
  server.on("session", (session) => sessions.add(session));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    paths,
    async [Symbol.asyncDispose]() {
      for (const session of sessions) session.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

function answer(stream: ServerHttp2Stream, reply: BedrockReply): void {
  if ("json" in reply) {
    stream.respond({ ":status": 200, "content-type": "application/json", ...reply.headers });
    stream.end(JSON.stringify(reply.json));
  } else if ("error" in reply) {
    stream.respond({ ":status": reply.status, "content-type": "application/json", "x-amzn-errortype": reply.error });
    stream.end(JSON.stringify({ message: "as the test wants it" }));
  } else {
    stream.respond({ ":status": 200, "content-type": "application/vnd.amazon.eventstream" });
    for (const [type, payload] of reply.events) stream.write(eventOf(type, payload));
    stream.end();
  }
}
