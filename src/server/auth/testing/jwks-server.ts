/** A signer of tokens for tests: a key pair, and a web server on this machine that publishes its public half. */
import { createServer } from "node:http";
import { exportJWK, exportSPKI, generateKeyPair, SignJWT, type CryptoKey, type JWTPayload } from "jose";

/** A signer of tokens. */
export interface JwksServer {
  readonly url: string;
  /** The public key as PEM, which an attacker may take for a secret. */
  readonly publicPem: string;
  readonly privateKey: CryptoKey;
  /** How often the keys were fetched. */
  fetches(): number;
  /** What is answered from now on in place of the keys. */
  answer(status: number, body: string): void;
  sign(claims: JWTPayload): Promise<string>;
  close(): Promise<void>;
}

/** Starts the signer; `alg` is the algorithm of its key. */
export async function startJwksServer(alg: "RS256" | "ES256" | "EdDSA"): Promise<JwksServer> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const kid = `key-${alg}`;
  let fetches = 0;
  let answer = {
    status: 200,
    body: JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid, alg }] }),
  };
  const server = createServer((_request, response) => {
    fetches += 1;
    response.writeHead(answer.status, { "content-type": "application/json" }).end(answer.body);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no address");
  return {
    url: `http://127.0.0.1:${address.port}/jwks.json`,
    publicPem: await exportSPKI(publicKey),
    privateKey,
    fetches: () => fetches,
    answer: (status, body) => void (answer = { status, body }),
    sign: (claims) => new SignJWT(claims).setProtectedHeader({ alg, kid }).sign(privateKey),
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
