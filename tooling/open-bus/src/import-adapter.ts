/** Imports a package by name. Rejects with an error for which `isMissing` is true when the package is not installed. */
export type LoadAdapter = (name: string) => Promise<unknown>;

/**
 * Imports a package installed beside this module. Literal names let bundlers find the imports, and the `try` makes
 * bundlers accept that most programs install only one of them.
 */
export async function importAdapter(name: string): Promise<unknown> {
  try {
    switch (name) {
      case "@hivepace/bus-nats":
        return await import("@hivepace/bus-nats");
      case "@hivepace/bus-redis-pubsub":
        return await import("@hivepace/bus-redis-pubsub");
      case "@hivepace/bus-kafka":
        return await import("@hivepace/bus-kafka");
      case "@hivepace/sync-redis":
        return await import("@hivepace/sync-redis");
      default:
        throw notInstalled(name);
    }
  } catch (error) {
    throw isMissing(error, name) ? notInstalled(name, error) : error;
  }
}

/** Whether the package itself is missing, rather than one of its dependencies. */
export function isMissing(error: unknown, name: string): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return /MODULE_NOT_FOUND$/.test(String(code)) && String(message).includes(`'${name}'`);
}

function notInstalled(name: string, cause?: unknown): Error {
  return Object.assign(new Error(`Cannot find package '${name}'`, { cause }), { code: "ERR_MODULE_NOT_FOUND" });
}
