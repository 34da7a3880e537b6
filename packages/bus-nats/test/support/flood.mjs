// Run as a worker: publishes more data than a slow subscriber's connection can buffer, while the main thread is
// blocked.
import { workerData } from "node:worker_threads";
import { connect } from "nats";

const connection = await connect({ servers: workerData.url });
for (let i = 0; i < 64; i++) {
  connection.publish(workerData.subject, new Uint8Array(1_000_000));
  await connection.flush();
}
await connection.close();
