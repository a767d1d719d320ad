#!/usr/bin/env node
/** The `lily` program: teaches Node to read TypeScript, then hands over to `main.ts`. */
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 16)) {
  process.stderr.write(`lily needs Node 20.16 or newer; this is ${process.versions.node}.\n`);
  process.exit(70);
}

try {
  const { register } = await import("tsx/esm/api");
  // Without a tsconfig of its own, tsx would read the one of whatever folder lily is started in.
  register({ tsconfig: false });
} catch (error) {
  process.stderr.write(`lily cannot start: ${error.message}\nRun npm install in its folder.\n`);
  process.exit(70);
}

const { main } = await import("./main.ts");
await main(process.argv.slice(2));
