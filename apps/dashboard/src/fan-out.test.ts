import { expect, test } from "vitest";
import { frame } from "../test/support/frames.ts";
import { EventLog } from "./event-log.ts";
import { FanOut, MAX_MISSED, type Stream } from "./fan-out.ts";
import { History } from "./history.ts";
import type { Hello, Update } from "./wire.ts";

class PretendStream implements Stream {
  writableLength = 0;
  isDestroyed = false;
  readonly written: string[] = [];

  write(text: string): boolean {
    this.written.push(text);
    return true;
  }

  destroy(): void {
    this.isDestroyed = true;
  }

  /** The last message: its event name and its data. */
  get last(): { event: string; data: Hello & Update } {
    const [, event = "", data = ""] = this.written.at(-1)?.match(/^event: (\w+)\ndata: (.*)\n\n$/) ?? [];
    return { event, data: JSON.parse(data) };
  }
}

function setUp() {
  const [history, log] = [new History(), new EventLog()];
  const pages = new FanOut(history, log);
  const hello = { title: "t", namespace: "", controls: [], pointMs: 1, maxPoints: 2, maxTracked: 3, maxEvents: 4 };
  const open = () => {
    const stream = new PretendStream();
    return { stream, remove: pages.add(stream, hello, frame()) };
  };
  return { history, log, pages, open };
}
const seqs = ({ points, events }: Update) => [points.map(({ seq }) => seq), events.map(({ seq }) => seq)];

test("a late reader gets the whole history at once, and then only news", () => {
  const { history, log, pages, open } = setUp();
  history.add(frame());
  history.add(frame());
  log.add({ type: "joined", agentId: "a" }, 1);
  const { stream } = open();
  expect(stream.last.event).toBe("hello");
  expect(seqs(stream.last.data.update)).toEqual([[1, 2], [1]]);
  history.add(frame());
  pages.send(frame({ members: 9 }));
  expect([stream.last.event, stream.last.data.frame.members]).toEqual(["update", 9]);
  expect(seqs(stream.last.data)).toEqual([[3], []]);
});

test("a reader with an unsent message gets nothing more, and later everything it missed", () => {
  const { history, log, pages, open } = setUp();
  const [slow, fast] = [open().stream, open().stream];
  slow.writableLength = 1;
  for (let i = 0; i < 3; i++) {
    history.add(frame());
    log.add({ type: "left", agentId: "a" }, 1);
    pages.send(frame());
  }
  expect([slow.written.length, fast.written.length]).toEqual([1, 4]);
  slow.writableLength = 0;
  pages.send(frame());
  expect(seqs(slow.last.data)).toEqual([
    [1, 2, 3],
    [1, 2, 3],
  ]);
  expect(seqs(fast.last.data)).toEqual([[], []]);
});

test("a reader that stays blocked is disconnected, the others stay", () => {
  const { pages, open } = setUp();
  const [stuck, fine] = [open().stream, open().stream];
  stuck.writableLength = 1;
  for (let i = 0; i < MAX_MISSED; i++) pages.send(frame());
  expect([stuck.isDestroyed, pages.size]).toEqual([false, 2]);
  pages.send(frame());
  expect([stuck.isDestroyed, fine.isDestroyed, pages.size]).toEqual([true, false, 1]);
});

test("nothing is written to a removed reader", () => {
  const { pages, open } = setUp();
  const [left, stays] = [open(), open()];
  left.remove();
  pages.send(frame());
  expect([left.stream.written.length, stays.stream.written.length]).toEqual([1, 2]);
  expect(pages.size).toBe(1);
});

test("a name with line breaks does not break the message framing", () => {
  const { log, pages, open } = setUp();
  const { stream } = open();
  const agentId = "a\n\nevent: hello\ndata: {}";
  log.add({ type: "joined", agentId }, 1);
  pages.send(frame());
  expect(stream.written.at(-1)?.split("\n\n")).toHaveLength(2);
  expect(stream.last.data.events[0]?.event).toEqual({ type: "joined", agentId });
});
