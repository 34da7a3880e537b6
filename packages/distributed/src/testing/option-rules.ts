import { need } from "@hivepace/core/internal";

export function checkAgents(option: string, some: readonly number[], agents: number): void {
  some.forEach((agent, i) => {
    const isOne = Number.isSafeInteger(agent) && agent >= 0 && agent < agents;
    need(isOne, `${option}[${i}]`, `an agent, a whole number from 0 to ${agents - 1}`, agent);
  });
}

export const ABOVE = "a number above 0";

export function above(option: string, value: number): void {
  need(isAmount(value) && value > 0, option, ABOVE, value);
}

export function amount(option: string, value: number): void {
  need(isAmount(value), option, "a number from 0 on", value);
}

export function part(option: string, value: number): void {
  need(isAmount(value) && value <= 1, option, "a number from 0 to 1", value);
}

export function range(option: string, [from, to]: readonly [number, number]): void {
  need(isAmount(from) && isAmount(to) && from <= to, option, "two numbers from 0 on, the smaller one first", [
    from,
    to,
  ]);
}

export function whole(option: string, value: number): void {
  need(Number.isSafeInteger(value) && value >= 1, option, "a whole number from 1 on", value);
}

export function oneOf(option: string, value: string, names: readonly string[]): void {
  need(names.includes(value), option, `one of ${names.join(", ")}`, value);
}

export function isAmount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
