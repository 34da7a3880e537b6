import { connect } from "./connection.ts";
import { begin, next, type State } from "./model/state.ts";
import { page } from "./view/page.ts";

const shown = page();
document.body.append(shown.element);

let state: State | undefined;
connect({
  hello(hello) {
    state = begin(hello);
    shown.draw(state);
  },
  update(update) {
    if (state === undefined) return;
    state = next(state, update);
    shown.draw(state);
  },
  live: shown.setConnection,
});
