import { messageOf } from "@hivepace/core/internal";

const NODE_REDIS_REPLIES = /^(ErrorReply|SimpleError|BlobError)$/;

/** Whether the error is a reply of Redis; every other error means that the connection failed. */
export function isReply(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  // ioredis sets the name of the error, node-redis uses a class.
  return error.name === "ReplyError" || NODE_REDIS_REPLIES.test(error.constructor.name);
}

/** Whether Redis refuses the credentials, so that retrying is pointless. */
export function isRefusal(error: unknown): boolean {
  return isReply(error) && /^(NOAUTH|WRONGPASS|ERR invalid password)/.test(error.message);
}

/** Whether the server is still loading its data and cannot be used yet. */
export function isLoading(error: unknown): boolean {
  return isReply(error) && error.message.startsWith("LOADING");
}

/** Returns the message of an error without credentials. */
export function describeError(error: unknown): string {
  const text = messageOf(error);
  return isRefusal(error) ? `Redis refused the credentials: ${text}` : text;
}

/** Resolves when Redis has answered PING, even if the answer is that the user lacks the right to PING. */
export async function answers(client: { ping(): Promise<unknown> }): Promise<void> {
  await client.ping().catch((error: unknown) => {
    if (!isReply(error) || isRefusal(error) || isLoading(error)) throw error;
  });
}
