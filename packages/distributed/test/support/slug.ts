/** Converts a name to a part of an id: lower case, words joined by hyphens. */
export function slug(name: string): string {
  return name
    .toLowerCase()
    .replaceAll("×", "x")
    .replaceAll("%", "percent")
    .replace(/[^a-z0-9.]+/g, "-")
    .replace(/^-+|-+$/g, "");
}
