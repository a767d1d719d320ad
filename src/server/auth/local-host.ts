/** Which hosts, addresses and origins are this machine. */

/** Whether a host name, as `URL.hostname` gives it, is this machine: `localhost`, 127.0.0.0/8 or ::1. */
export function isLoopbackHost(hostname: string): boolean {
  const name = hostname.toLowerCase();
  return name === "localhost" || name === "[::1]" || /^127(?:\.\d{1,3}){3}$/u.test(name);
}

/** Whether the address of a peer, as a socket gives it, is this machine. */
export function isLoopbackAddress(address: string): boolean {
  const mapped = /^::ffff:(?<v4>[\d.]+)$/iu.exec(address)?.groups?.["v4"];
  return address === "::1" || isLoopbackHost(mapped ?? address);
}

/** Whether the text of an `Origin` or `Host` header, with or without scheme, is this machine. */
export function isLoopbackOrigin(text: string): boolean {
  const url = URL.parse(text.includes("://") ? text : `http://${text}`);
  return url !== null && isLoopbackHost(url.hostname);
}
