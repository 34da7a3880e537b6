/**
 * Programs that break a law at present, by subject and seed, with the law. Each is an open defect of the code or of the
 * reference model. A program that no longer breaks its law fails its case, until it is removed here.
 */
export const KNOWN_VIOLATIONS: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  // Work that a machine's sleep of a day interrupts reports input tokens beyond its estimate: they are not counted.
  "hive-operations": { 88693: "conservation" },
};
