import type { AddressInfo, Server } from "node:net";
import { HivepaceError } from "@hivepace/core";

/** Starts to listen and resolves with the port; rejects with an error that explains the failure. */
export function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException): void => reject(explained(error, host, port));
    server.once("error", fail);
    server.listen(port, host, () => {
      server.off("error", fail);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function explained(cause: NodeJS.ErrnoException, host: string, port: number): HivepaceError {
  if (cause.code === "EADDRINUSE") {
    const message = `port ${port} of ${host} is in use: choose another one, or 0 for any that is free`;
    return new HivepaceError("PORT_IN_USE", message, { cause });
  }
  const why = cause.code === "EACCES" ? "that is not allowed here" : cause.message;
  return new HivepaceError("CANNOT_LISTEN", `cannot listen on port ${port} of ${host}: ${why}`, { cause });
}
