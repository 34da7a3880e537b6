// Used with `--import`: simulates a program in which only `nats` 2 is installed.
import { register } from "node:module";

const hooks = `export function resolve(specifier, context, next) {
  if (specifier === "@nats-io/transport-node")
    throw Object.assign(new Error("not installed here"), { code: "ERR_MODULE_NOT_FOUND" });
  return next(specifier, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
