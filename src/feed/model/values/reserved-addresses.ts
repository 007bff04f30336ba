const reservedFirstOctets = new Set([0, 10, 100, 127, 169, 172, 192, 198, 203]);

/** Classifies special-purpose IPv4 addresses (RFC 6890 and its successors). */
export function reservedV4Reason(address: string): string | undefined {
  // Fast path: the first octet rules out most addresses.
  const first = Number.parseInt(address, 10);
  if (first < 224 && !reservedFirstOctets.has(first)) return undefined;
  const [a = 0, b = 0, c = 0] = address.split('.').map(Number);
  if (a === 10 || (a === 172 && b >= 16 && b < 32) || (a === 192 && b === 168) || (a === 100 && b >= 64 && b < 128))
    return 'private address';
  if (a === 127) return 'loopback address';
  if (a === 169 && b === 254) return 'link-local address';
  if (
    (a === 192 && b === 0 && (c === 2 || c === 0)) ||
    (a === 198 && b === 51 && c === 100) ||
    (a === 203 && b === 0 && c === 113)
  )
    return 'documentation address';
  if (a === 198 && (b === 18 || b === 19)) return 'benchmark address';
  return a === 0 || a >= 224 ? 'reserved address' : undefined;
}

/** Classifies special-purpose IPv6 addresses. */
export function reservedV6Reason(address: string): string | undefined {
  if (address === '::1' || address === '::') return 'loopback address';
  if (address.startsWith('::ffff:')) return reservedV4Reason(address.slice(7));
  if (/^fe[89ab]/.test(address)) return 'link-local address';
  if (/^f[cd]/.test(address)) return 'private address';
  if (address.startsWith('2001:db8:')) return 'documentation address';
  return address.startsWith('ff') ? 'reserved address' : undefined;
}
