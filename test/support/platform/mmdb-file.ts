type Value = string | number | { [name: string]: Value } | readonly string[];

/** Returns the control byte of a value with its size, as the specification of MaxMind DB 2.0 encodes it. */
function control(type: number, size: number): number[] {
  const [small, extra] = size < 29 ? [size, []] : [29, [size - 29]];
  return type > 7 ? [small, type - 7, ...extra] : [(type << 5) | small, ...extra];
}

function encode(value: Value): Buffer {
  if (typeof value === 'string') {
    const text = Buffer.from(value);
    return Buffer.concat([Buffer.from(control(2, text.length)), text]);
  }
  if (typeof value === 'number') {
    const isWhole = Number.isInteger(value) && value >= 0;
    const bytes = Buffer.alloc(isWhole ? 4 : 8);
    if (isWhole) bytes.writeUInt32BE(value);
    else bytes.writeDoubleBE(value);
    return Buffer.concat([Buffer.from(control(isWhole ? 6 : 3, bytes.length)), bytes]);
  }
  if (Array.isArray(value)) return Buffer.concat([Buffer.from(control(11, value.length)), ...value.map(encode)]);
  const entries = Object.entries(value);
  return Buffer.concat([
    Buffer.from(control(7, entries.length)),
    ...entries.flatMap(([name, one]) => [encode(name), encode(one as Value)]),
  ]);
}

/** Returns a database in the MMDB format with a record for each IPv4 network, such as `8.8.8.0/24`. */
export function createMmdb(records: Record<string, Value>): Buffer {
  const nodes: [number, number][] = [[0, 0]];
  const data: Buffer[] = [];
  // Records point at nodes by positive numbers, at data by negative ones, and at nothing by 0.
  let offset = 0;
  for (const [network, value] of Object.entries(records)) {
    const [address = '', length = '32'] = network.split('/');
    const bits = address.split('.').map((part) => Number(part).toString(2).padStart(8, '0')).join('').slice(0, Number(length)); // prettier-ignore
    let node = nodes[0]!;
    for (const [index, bit] of [...bits].entries()) {
      const side = Number(bit) as 0 | 1;
      if (index === bits.length - 1) node[side] = -1 - offset;
      else {
        if (node[side] === 0) node[side] = nodes.push([0, 0]) - 1;
        node = nodes[node[side]]!;
      }
    }
    const bytes = encode(value);
    data.push(bytes);
    offset += bytes.length;
  }
  const tree = Buffer.alloc(nodes.length * 6);
  for (const [index, sides] of nodes.entries())
    for (const side of [0, 1] as const) {
      const to = sides[side];
      tree.writeUIntBE(to > 0 ? to : to === 0 ? nodes.length : nodes.length + 16 - 1 - to, index * 6 + side * 3, 3);
    }
  const metadata = {
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_700_000_000,
    database_type: 'Test-City',
    description: { en: 'Test' },
    ip_version: 4,
    languages: ['en'],
    node_count: nodes.length,
    record_size: 24,
  };
  const marker = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');
  return Buffer.concat([tree, Buffer.alloc(16), ...data, marker, encode(metadata)]);
}

/** Places of public addresses, as a database of cities and networks has them. */
export const someMmdb = (): Buffer =>
  createMmdb({
    '8.8.8.0/24': {
      country: { iso_code: 'NO' },
      city: { names: { en: 'Oslo' } },
      location: { latitude: 59.9, longitude: 10.7 },
      autonomous_system_number: 64500,
      autonomous_system_organization: 'Nordnett',
    },
    '9.9.9.0/24': {
      country: { iso_code: 'SG' },
      city: { names: { en: 'Singapore' } },
      location: { latitude: 1.3, longitude: 103.8 },
    },
  });
