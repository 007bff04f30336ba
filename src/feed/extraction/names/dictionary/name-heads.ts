/** How many characters of a key its head has. */
export const headChars = 8;
const sizeBits = 17;

/** The slots of the heads of some keys: 1 if a key has that head. */
export type NameHeads = Uint8Array;

/** Returns the heads of keys. They show without a new text that words begin none of the keys. */
export function listNameHeads(keys: Iterable<string>): NameHeads {
  const heads = new Uint8Array(1 << sizeBits);
  for (const key of keys) heads[findSlot([{ key }], 0, 1)] = 1;
  return heads;
}

/** Returns whether a key may have the head of the words from `from` to before `to`, joined. A wrong yes is rare, and there is no wrong no. */
export const mayBeginName = (heads: NameHeads, words: readonly { key: string }[], from: number, to: number): boolean =>
  heads[findSlot(words, from, to)] === 1;

/** Hashes the first characters (FNV-1a). */
function findSlot(words: readonly { key: string }[], from: number, to: number): number {
  let hash = 0x811c9dc5;
  let length = 0;
  for (let index = from; index < to; index += 1) {
    const { key } = words[index]!;
    for (let at = 0; at < key.length && length < headChars; at += 1, length += 1)
      hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  }
  return (hash ^ (hash >>> sizeBits)) & ((1 << sizeBits) - 1);
}
