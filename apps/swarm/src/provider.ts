import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A provider that allows `limit` requests in any second and answers 429 above that, as strict ones do. */
export async function startProvider(limit: number) {
  const accepted: number[] = [];
  const server = createServer((_request, response) => {
    const now = performance.now();
    while (accepted[0] !== undefined && accepted[0] <= now - 1_000) accepted.shift();
    const ok = accepted.length < limit;
    if (ok) accepted.push(now);
    response.writeHead(ok ? 200 : 429).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
