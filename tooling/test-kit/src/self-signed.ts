import { generate } from "selfsigned";

/** Generates a self-signed certificate for localhost and 127.0.0.1, and its key; both in PEM. */
export async function selfSigned(): Promise<{ key: string; cert: string }> {
  const altNames = [
    { type: 2, value: "localhost" },
    { type: 7, ip: "127.0.0.1" },
  ] as const;
  const { private: key, cert } = await generate([{ name: "commonName", value: "localhost" }], {
    keySize: 2048,
    algorithm: "sha256",
    extensions: [
      { name: "basicConstraints", cA: true },
      { name: "subjectAltName", altNames: [...altNames] },
    ],
  });
  return { key, cert };
}
