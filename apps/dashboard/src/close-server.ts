import type { Server } from "node:http";

/** Ends every connection at once; resolves when it no longer listens. May be called again. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
