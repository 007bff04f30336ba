import { createHash } from 'node:crypto';

const base58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const bech32 = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const sha256 = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest();

/** Verifies a Base58 Bitcoin address: 25 bytes, the last four of which are the checksum. */
export function isBase58Address(word: string): boolean {
  let value = 0n;
  for (const char of word) {
    const digit = base58.indexOf(char);
    if (digit < 0) return false;
    value = value * 58n + BigInt(digit);
  }
  const hex = value.toString(16);
  if (hex.length > 50) return false;
  const bytes = Buffer.from(hex.padStart(50, '0'), 'hex');
  return sha256(sha256(bytes.subarray(0, 21)))
    .subarray(0, 4)
    .equals(bytes.subarray(21));
}

/** Verifies the checksum of a `bc1` address (BIP 173, and BIP 350 for version 1 and later). */
export function isBech32Address(word: string): boolean {
  const digits = Array.from(word.slice(3), (char) => bech32.indexOf(char));
  if (digits.includes(-1)) return false;
  // The first five values are the expanded prefix `bc`.
  let sum = 1;
  for (const value of [3, 3, 0, 2, 3, ...digits]) {
    const top = sum >>> 25;
    sum = ((sum & 0x1_ff_ff_ff) << 5) ^ value;
    for (const [bit, generator] of [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3].entries())
      if ((top >>> bit) & 1) sum ^= generator;
  }
  return sum === (digits[0] === 0 ? 1 : 0x2bc830a3);
}
