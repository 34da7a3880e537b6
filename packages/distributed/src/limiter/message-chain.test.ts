import { seededRandom } from "@hivepace/core/testing";
import { bytes, text } from "@hivepace/test-kit";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { ChainLink } from "../engine/index.ts";
import { LINK_BYTES, MessageChain, ReceivedChain } from "./message-chain.ts";

function links(count: number, chain = new MessageChain()): ChainLink[] {
  return Array.from({ length: count }, () => JSON.parse(text(chain.linked(bytes(`{"a":1}`)))).chain);
}

test("each message continues the one before, over the ends of segments, when up to 500 in a row are lost", () => {
  for (const lost of [0, 1, 100, 500]) {
    const [first, ...rest] = links(3_000) as [ChainLink, ...ChainLink[]];
    const received = new ReceivedChain(first);
    for (let i = lost; i < rest.length; i += lost + 1) expect(received.receive(rest[i] as ChainLink)).toBe("next");
  }
});

test("a link that was revealed before is used up, also right after the end of a segment", () => {
  const all = links(1_030);
  const received = new ReceivedChain(all[0] as ChainLink);
  for (const link of all.slice(1)) received.receive(link);
  for (const link of all.slice(-100)) expect(received.receive(link)).toBe("used");
});

test("links that later ones overtook are used up, over the end of a segment, too", () => {
  const all = links(1_030);
  const received = new ReceivedChain(all[0] as ChainLink);
  for (const i of [500, 900, 1_020, 1_026, 1_028]) expect(received.receive(all[i] as ChainLink)).toBe("next");
  for (const i of [1_027, 1_024, 1_023, 1_021, 1_019, 600])
    expect([i, received.receive(all[i] as ChainLink)]).toEqual([i, "used"]);
  expect(received.receive({ ...(all[1_023] as ChainLink), link: "x".repeat(22) })).toBe("foreign");
  expect(received.receive(all[1_029] as ChainLink)).toBe("next");
});

test("no order of arrival and no loss of a few hundred makes a link foreign", () => {
  const all = links(5_000);
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 31 }), fc.double({ min: 0, max: 0.9, noNaN: true }), (seed, loss) => {
      const random = seededRandom(seed);
      const late = 1 + Math.floor(random() * 200);
      const arrivals = all
        .map((link, i) => ({ link, at: i + (random() < 0.1 ? random() * late : 0), isLost: i > 0 && random() < loss }))
        .filter(({ isLost }) => !isLost)
        .sort((a, b) => a.at - b.at);
      const received = new ReceivedChain((arrivals[0] as { link: ChainLink }).link);
      for (const { link } of arrivals.slice(1)) expect(received.receive(link)).not.toBe("foreign");
    }),
    { numRuns: 20 },
  );
});

test("a link of another chain is foreign, wherever it claims to be, and changes nothing", () => {
  const all = links(20);
  const [other] = links(1) as [ChainLink];
  const received = new ReceivedChain(all[0] as ChainLink);
  expect(received.receive(all[10] as ChainLink)).toBe("next");
  for (const part of [1, 2, Number.MAX_SAFE_INTEGER])
    for (const n of [1, 5, 11, 12, 100, 1_024]) expect(received.receive({ ...other, part, n })).toBe("foreign");
  expect(received.receive(all[11] as ChainLink)).toBe("next");
});

test("a message keeps its fields, and grows by no more than announced", () => {
  const chain = new MessageChain();
  for (let i = 0; i < 1_100; i++) {
    const message = chain.linked(bytes(`{"a":1}`));
    expect(JSON.parse(text(message))).toMatchObject({ a: 1, chain: { link: expect.stringMatching(/^[\w-]{22}$/) } });
    expect(message.length).toBeLessThanOrEqual(`{"a":1}`.length + LINK_BYTES);
  }
});

test("messages that an outage loses use up no links, so that receivers can connect the next one", () => {
  const chain = new MessageChain();
  const [first] = links(1, chain) as [ChainLink];
  const received = new ReceivedChain(first);
  for (let i = 0; i < 2_000; i++) chain.linked(bytes(`{"a":1}`), true);
  const [next] = links(1, chain) as [ChainLink];
  expect(received.receive(next)).toBe("next");
});

test("an agent knows its own links after any number of lost ones, and each of them once", () => {
  const chain = new MessageChain();
  const all = links(1_500, chain);
  const at = (i: number) => all[i] as ChainLink;
  expect(chain.receive(at(600))).toBe("next");
  expect(chain.receive(at(600))).toBe("used");
  expect(chain.receive(at(100))).toBe("used");
  expect(chain.receive(at(1_499))).toBe("next");
  expect(chain.receive({ ...at(1_400), link: at(1_401).link })).toBe("foreign");
  expect(new MessageChain().receive(at(1))).toBe("foreign");
});
