import type { Server } from "node:http";

/** Ends every connection at once; resolves when the server no longer listens. May be called twice. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
