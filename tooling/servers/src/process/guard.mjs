// A guard process between the owner and a server, in its own process session, so that the server ends however the owner
// ends: the owner's end of the guard's stdin is the lifeline, which the system closes even when the owner is killed.
// Plain JavaScript, because it runs without a loader.
//
// argv[2]  the server's folder, removed at the end
// stdin    one line for each start: { command, args, cwd, env, cleanup? }; end of file ends everything, including the
//          last cleanup
// stdout   { pid } | { error } for each start, then { exit } when that process has ended

import { spawn } from "node:child_process";
import { closeSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

const dir = process.argv[2];
let server;
let cleanup;
let ending = false;

process.stdout.on("error", () => {});
process.on("SIGTERM", end);
const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => start(JSON.parse(line)));
lines.on("close", end);

function tell(event) {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}

function start({ command, args, cwd, env, cleanup: last }) {
  if (ending) return;
  cleanup = last;
  const log = openSync(join(dir, "server.log"), "a");
  // A separate process group, so that signals also reach wrapper scripts and forked children.
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", log, log],
    detached: true,
  });
  closeSync(log);
  child.once("error", (error) => tell({ error: error.message }));
  child.once("spawn", () => {
    server = child;
    tell({ pid: child.pid });
  });
  child.once("exit", (code, signal) => {
    server = undefined;
    tell({ exit: signal ?? code });
    if (ending) finish();
  });
}

function end() {
  if (ending) return;
  ending = true;
  if (server === undefined) finish();
  // SIGKILL, because all data of the server is about to be deleted.
  else signalGroup(server.pid);
}

function signalGroup(pid) {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    finish();
  }
}

function finish() {
  const remove = () => {
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
    process.exit(0);
  };
  if (cleanup === undefined) return remove();
  const last = spawn(cleanup.command, cleanup.args, { env: { ...process.env, ...cleanup.env }, stdio: "ignore" });
  last.once("error", remove);
  last.once("exit", remove);
}
