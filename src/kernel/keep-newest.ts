/** Memories of bounded size. */

/** Puts an entry into a map as its newest; beyond `most` the oldest goes. */
export function keepNewest<Key, Value>(
  map: Map<Key, Value>,
  [key, value]: readonly [Key, Value],
  most: number,
): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= most) return;
    map.delete(oldest);
  }
}
