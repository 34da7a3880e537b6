/** Replaces Node's modules in the browser. The pure engine never calls these functions. */
function missing(): never {
  throw new Error("this function of Node is not available in a browser");
}

export const randomInt = missing;
export const randomBytes = missing;
export const createHash = missing;
export const createHmac = missing;
export const timingSafeEqual = missing;
export const hostname = missing;
export const tmpdir = missing;
export const join = missing;
export const mkdirSync = missing;
export const readdirSync = missing;
export const readFileSync = missing;
export const unlinkSync = missing;
export const writeFileSync = missing;
